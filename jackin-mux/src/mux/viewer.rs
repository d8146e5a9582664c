use jackin_core::{Size, Timestamp};

use super::Mux;
use super::pace::Pace;
use crate::input::Client;
use crate::render::{Capabilities, Grid, LinkTable, OuterModes, Screen};
use crate::vt::Row;

/// A terminal that looks on: it is shown what the operator's terminal shows, and sends nothing.
///
/// A [`Mux`] serves one operator, whose terminal decides how large everything is, and any number of viewers, which the
/// embedder keeps. Each is rendered by a call of its own, at its own pace and with what its own terminal can show. One
/// that is smaller than the operator's terminal shows the top left of it; one that is larger is blank beyond it. What
/// programs send to the operator's terminal beside what they show (clipboard, notifications, images) is not for viewers.
///
/// When [`Mux::viewer_due`] is due and the viewer can take a frame, [`Mux::render_viewer`]. After the last one,
/// [`RESTORE`](crate::RESTORE) brings its terminal back.
///
/// ```
/// use jackin_core::{Size, Timestamp};
/// use jackin_mux::{Client, Input, Mux, Place, Settings, Viewer};
///
/// let now = Timestamp::from_millis(0);
/// let mut mux = Mux::new(Settings::default());
/// let pane = mux.open(Place::Tab, "shell", true, now).expect("a tab has room");
/// mux.handle_input(Input::Pty { pane, bytes: b"hello" }, now);
///
/// let mut viewer = Viewer::new(Client::modern(Size::new(24, 80)));
/// assert!(mux.viewer_due(&viewer).is_some_and(|due| due <= now));
/// let mut frame = Vec::new();
/// mux.render_viewer(&mut viewer, now, &mut frame);
/// assert!(String::from_utf8(frame)?.contains("hello"));
/// assert_eq!(mux.viewer_due(&viewer), None, "it shows what is true");
/// # Ok::<(), std::string::FromUtf8Error>(())
/// ```
#[derive(Debug)]
pub struct Viewer {
    screen: Screen,
    /// What the operator's terminal shows, or would.
    whole: Grid,
    /// What of it this terminal shows.
    part: Grid,
    links: LinkTable,
    cursor: Option<(u16, u16)>,
    scratch: Row,
    /// The state of the multiplexer that was rendered last.
    seen: Option<Revision>,
    /// A pane held its frame back then, until that time.
    held_until: Option<Timestamp>,
    pace: Pace,
}

/// Counts what changed, for those who look on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Revision {
    /// Anything that may be seen.
    pub(super) any: u64,
    /// What frames that are held back must not hide: where everything is.
    pub(super) all: u64,
}

impl Viewer {
    /// A terminal that shows nothing of ours yet.
    pub fn new(client: Client<'_>) -> Self {
        let size = client.size.clamped();
        let capabilities = Capabilities::from_environment(client.term, client.colorterm);
        Self {
            screen: Screen::new(size, capabilities),
            whole: Grid::new(size),
            part: Grid::new(size),
            links: LinkTable::default(),
            cursor: None,
            scratch: Row::new(),
            seen: None,
            held_until: None,
            pace: Pace::default(),
        }
    }

    /// The size of its terminal.
    pub fn size(&self) -> Size {
        self.part.size()
    }

    /// The terminal has another size now.
    pub fn resize(&mut self, size: Size) {
        self.part = Grid::new(size.clamped());
        // Terminals differ in what they keep of a screen whose size changes.
        self.screen.forget();
        self.seen = None;
    }
}

impl Mux {
    /// When a frame for a viewer is to be rendered; none while it shows what is true.
    pub fn viewer_due(&self, viewer: &Viewer) -> Option<Timestamp> {
        let next = viewer.pace.next();
        if viewer.seen == Some(self.revision) {
            return viewer.held_until.map(|until| until.max(next));
        }
        Some(next)
    }

    /// Appends the bytes that bring a viewer's terminal from what it shows to what is true.
    pub fn render_viewer(&self, viewer: &mut Viewer, now: Timestamp, out: &mut Vec<u8>) {
        if self.viewer_due(viewer).is_none() {
            return;
        }
        let Viewer { screen, whole, part, links, scratch, .. } = viewer;
        if links.is_full() {
            *links = LinkTable::default();
            screen.forget();
            viewer.seen = None;
        }
        let mut holding = Some(now);
        if whole.size() != self.size || viewer.seen.is_none_or(|seen| seen.all != self.revision.all) {
            *whole = Grid::new(self.size);
            holding = None;
        }
        for row in 0..self.size.rows {
            self.compose_row(row, whole, links, scratch, holding);
        }
        viewer.cursor = self.cursor(viewer.cursor, holding);
        let size = part.size();
        let cursor = viewer.cursor.filter(|(row, col)| *row < size.rows && *col < size.cols);
        let focused = self.focused().and_then(|pane| self.panes.get(&pane));
        let cursor_shape = focused.map(|pane| pane.terminal.cursor().shape).unwrap_or_default();
        let modes = OuterModes { cursor, cursor_shape, ..OuterModes::default() };
        let grid = if size == whole.size() {
            &*whole
        } else {
            part.copy_from(whole);
            part
        };
        screen.draw(grid, modes, None, 0..size.rows, links, out);
        let visible = self.view.placement.panes.iter().filter_map(|(id, _)| self.panes.get(id));
        let held = visible.filter(|pane| holding.is_some() && pane.is_held(now));
        viewer.held_until = held.filter_map(crate::pane::Pane::held_until).min();
        viewer.seen = Some(self.revision);
        viewer.pace.drawn(now);
    }
}
