use std::collections::VecDeque;
use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};

use jackin_core::{PaneId, Size};

use crate::Output;

/// One program's screen.
pub(crate) struct Pane {
    id: PaneId,
    size: Size,
    emulator: vt100::Parser<Said>,
}

/// What the program said to the terminal beside drawing, until it is passed on.
#[derive(Default)]
pub(crate) struct Said {
    title: Option<String>,
    bells: bool,
}

impl vt100::Callbacks for Said {
    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.title = Some(String::from_utf8_lossy(title).chars().filter(|c| !c.is_control()).collect());
    }

    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.bells = true;
    }
}

/// Without scrollback.
pub(crate) fn parser<S: vt100::Callbacks + Default>(size: Size) -> vt100::Parser<S> {
    let (rows, cols) = sides(size);
    vt100::Parser::new_with_callbacks(rows, cols, 0, S::default())
}

fn sides(size: Size) -> (NonZeroU16, NonZeroU16) {
    let side = |cells| NonZeroU16::new(cells).unwrap_or(NonZeroU16::MIN);
    (side(size.rows), side(size.cols))
}

impl Pane {
    pub(crate) fn new(id: PaneId, size: Size) -> Self {
        Self { id, size, emulator: parser(size) }
    }

    pub(crate) fn id(&self) -> PaneId {
        self.id
    }

    pub(crate) fn size(&self) -> Size {
        self.size
    }

    pub(crate) fn screen(&self) -> &vt100::Screen {
        self.emulator.screen()
    }

    /// Emulates what the program printed. Whatever it is, the pane survives: an emulator that panics is replaced, and
    /// the program is made to draw again by a change of its size and back.
    pub(crate) fn feed(&mut self, bytes: &[u8], outputs: &mut VecDeque<Output>) {
        let (pane, size) = (self.id, self.size);
        if catch_unwind(AssertUnwindSafe(|| self.emulator.process(bytes))).is_err() {
            self.emulator = parser(size);
            let other = Size { rows: if size.rows > 1 { size.rows - 1 } else { 2 }, ..size };
            outputs.extend([other, size].map(|size| Output::ResizePty { pane, size }));
            return;
        }
        let said = std::mem::take(self.emulator.callbacks_mut());
        outputs.extend(said.title.map(|title| Output::Title { pane, title }));
        if said.bells {
            outputs.push_back(Output::Bell { pane });
        }
    }

    pub(crate) fn resize(&mut self, size: Size) {
        self.size = size;
        let (rows, cols) = sides(size);
        self.emulator.screen_mut().set_size(rows, cols);
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for row in self.screen().rows(0, self.size.cols) {
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }
}

impl std::fmt::Debug for Pane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pane").field("id", &self.id).field("size", &self.size).finish_non_exhaustive()
    }
}
