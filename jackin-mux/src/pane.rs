use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use jackin_core::{AgentStatus, Attention, PaneId, Size, Timestamp};
use memchr::memmem;

use crate::copy::{CopyMode, Selection};
use crate::layout::Rect;
use crate::vt::{self, Mode, Row, Terminal};

/// How long a program may keep a frame to itself (mode 2026).
pub(crate) const HOLD_LIMIT: Duration = Duration::from_millis(150);

/// How long a program that has begun another frame waits for the one before it to be drawn, when that is due.
const PAUSE_LIMIT: Duration = Duration::from_millis(5);

/// The work that one pane's output may cost before others get their turn, in drawn characters.
const WORK_BUDGET: usize = 512 * 1024;

/// One program's terminal, with what is known of the program.
#[derive(Debug)]
pub(crate) struct Pane {
    pub(crate) id: PaneId,
    pub(crate) terminal: Terminal,
    settings: vt::Settings,
    /// Output that the terminal has not taken yet.
    backlog: Vec<u8>,
    /// The name that it was opened with.
    pub(crate) name: String,
    pub(crate) status: AgentStatus,
    pub(crate) attention: Attention,
    /// The frame that is being rendered is another pane's.
    pub(crate) waits: bool,
    /// Since when a frame is being drawn that must not be seen yet.
    held_since: Option<Timestamp>,
    /// Until when output waits that begins a frame, so that the one before it is seen.
    paused_until: Option<Timestamp>,
    /// It has waited for a frame that was not drawn yet.
    has_paused: bool,
    /// The viewport and the reverse-video mode as last drawn; none when all of it has to be drawn anew.
    pub(crate) drawn: Option<(usize, bool)>,
    pub(crate) copy: Option<CopyMode>,
    pub(crate) selection: Option<Selection>,
    /// Where the mouse went down: a selection begins there if it moves.
    pub(crate) pressed: Option<Selection>,
    /// The emulator has a defect that the next output meets.
    #[cfg(test)]
    pub(crate) fail_next: bool,
}

/// What came of feeding a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fed {
    Well,
    /// The emulator panicked and was replaced: the program must draw again.
    Replaced,
}

impl Pane {
    pub(crate) fn new(id: PaneId, name: String, size: Size, settings: vt::Settings) -> Self {
        Self {
            id,
            terminal: Terminal::new(size, settings.clone()),
            settings,
            backlog: Vec::new(),
            name,
            status: AgentStatus::Initializing,
            attention: Attention::Unknown,
            waits: false,
            held_since: None,
            paused_until: None,
            has_paused: false,
            drawn: Some((0, false)),
            copy: None,
            selection: None,
            pressed: None,
            #[cfg(test)]
            fail_next: false,
        }
    }

    pub(crate) fn size(&self) -> Size {
        self.terminal.size()
    }

    pub(crate) fn title(&self) -> &str {
        let title = self.terminal.title();
        if title.is_empty() { &self.name } else { title }
    }

    /// What changes every row without changing any: the viewport and reverse video.
    pub(crate) fn looks(&self) -> (usize, bool) {
        (self.terminal.view(), self.terminal.modes().contains(Mode::ReverseVideo))
    }

    /// Output that waits for its turn.
    pub(crate) fn backlog(&self) -> usize {
        self.backlog.len()
    }

    /// Takes output, as much as the budget allows; the rest waits for [`Pane::catch_up`]. Whatever it is, the pane
    /// survives. Events must be taken in between, so `each` is called whenever some wait. When a frame is due, the
    /// beginning of a synchronized frame does not hide the one before it: it waits until that was drawn.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        now: Timestamp,
        frame_due: bool,
        each: impl FnMut(&mut Terminal),
    ) -> Fed {
        if self.backlog.is_empty() {
            let until = if frame_due && !self.has_paused { end_of_frames(bytes) } else { None };
            let (taken, fed) = self.take(&bytes[..until.unwrap_or(bytes.len())], now, each);
            if until == Some(taken) && self.held_since.is_none() {
                self.paused_until = Some(now + PAUSE_LIMIT);
                self.has_paused = true;
            }
            self.backlog.extend_from_slice(&bytes[taken..]);
            fed
        } else {
            self.backlog.extend_from_slice(bytes);
            self.catch_up(now, each)
        }
    }

    /// When output that waits gets its turn: at once, unless a frame has to be drawn first.
    pub(crate) fn poll_timeout(&self) -> Option<Timestamp> {
        (!self.backlog.is_empty()).then(|| self.paused_until.unwrap_or_default())
    }

    /// All that it shows was drawn.
    pub(crate) fn was_drawn(&mut self) {
        self.terminal.clear_damage();
        self.paused_until = None;
        self.has_paused = false;
    }

    /// Takes what waited.
    pub(crate) fn catch_up(&mut self, now: Timestamp, each: impl FnMut(&mut Terminal)) -> Fed {
        if self.paused_until.is_some_and(|until| now < until) {
            return Fed::Well;
        }
        self.paused_until = None;
        let mut waiting = std::mem::take(&mut self.backlog);
        let (taken, fed) = self.take(&waiting, now, each);
        waiting.drain(..taken);
        self.backlog = waiting;
        fed
    }

    fn take(&mut self, bytes: &[u8], now: Timestamp, mut each: impl FnMut(&mut Terminal)) -> (usize, Fed) {
        #[cfg(test)]
        let fails = std::mem::take(&mut self.fail_next);
        let frames = self.terminal.frames();
        let terminal = &mut self.terminal;
        let run = catch_unwind(AssertUnwindSafe(|| {
            #[cfg(test)]
            assert!(!fails, "a defect of the emulator");
            let mut at = 0;
            // A full event queue stops the terminal early; the budget does so for good.
            for _ in 0..64 {
                at += terminal.feed(&bytes[at..], WORK_BUDGET);
                each(terminal);
                if at == bytes.len() {
                    break;
                }
            }
            at
        }));
        let Ok(taken) = run else {
            let size = self.terminal.size();
            self.terminal = Terminal::new(size, self.settings.clone());
            self.copy = None;
            self.selection = None;
            self.held_since = None;
            return (bytes.len(), Fed::Replaced);
        };
        if self.terminal.frames() != frames {
            self.held_since = None;
        }
        if self.terminal.modes().contains(Mode::Synchronized) {
            self.held_since.get_or_insert(now);
        } else {
            self.held_since = None;
        }
        self.follow_text();
        (taken, Fed::Well)
    }

    /// Until when the program's unfinished frame is not shown.
    pub(crate) fn held_until(&self) -> Option<Timestamp> {
        self.held_since.map(|since| since + HOLD_LIMIT)
    }

    pub(crate) fn is_held(&self, now: Timestamp) -> bool {
        self.waits || self.held_until().is_some_and(|until| now < until)
    }

    pub(crate) fn resize(&mut self, size: Size) {
        let resized = catch_unwind(AssertUnwindSafe(|| self.terminal.resize(size)));
        if resized.is_err() {
            self.terminal = Terminal::new(size, self.settings.clone());
        }
        // Rows have other numbers now.
        self.selection = None;
        self.pressed = None;
        self.copy = None;
        self.terminal.set_view(0);
    }

    /// Scrolls back (up) or forward by rows; false when that changes nothing.
    pub(crate) fn scroll(&mut self, up: bool, rows: usize) -> bool {
        let before = self.terminal.view();
        let to = if up { before.saturating_add(rows) } else { before.saturating_sub(rows) };
        self.terminal.set_view(to);
        self.terminal.view() != before
    }

    /// The number of a viewport row that stays with its text: rows are counted from the first that was ever printed.
    pub(crate) fn line_of(&self, view_row: u16) -> i64 {
        self.terminal.scrolled_rows() as i64 - self.terminal.view() as i64 + i64::from(view_row)
    }

    /// Reads a row by that number.
    pub(crate) fn read_line(&self, line: i64, into: &mut Row) -> bool {
        let row = line - self.terminal.scrolled_rows() as i64;
        self.terminal.read_row(row as isize, into)
    }

    /// The first and the last line that can be read.
    pub(crate) fn lines(&self) -> (i64, i64) {
        let top = self.terminal.scrolled_rows() as i64;
        let rows = i64::from(self.terminal.size().rows);
        // The alternate screen has no history of its own to look at, but nothing is wrong with showing it.
        (top - self.terminal.history_rows() as i64, top + rows - 1)
    }

    /// In copy mode the viewport stays where it is whatever is printed, as long as that is kept.
    fn follow_text(&mut self) {
        if self.copy.is_none() {
            return;
        }
        let (first, last) = self.lines();
        if let Some(copy) = &mut self.copy {
            let back = self.terminal.scrolled_rows() as i64 - copy.top;
            self.terminal.set_view(back.max(0) as usize);
            copy.top = self.terminal.scrolled_rows() as i64 - self.terminal.view() as i64;
            copy.cursor.line = copy.cursor.line.clamp(first, last);
        }
    }

    /// The screen as text, with `history` rows before it, each row ended by a newline.
    pub(crate) fn text(&self, history: usize) -> String {
        let mut text = String::new();
        let mut row = Row::new();
        let from = -(history.min(self.terminal.history_rows()) as isize);
        for at in from..self.size().rows as isize {
            self.terminal.read_row(at, &mut row);
            text.push_str(&row.to_text());
            text.push('\n');
        }
        text
    }

    /// The same with its colours and attributes as SGR sequences.
    pub(crate) fn styled(&self, history: usize) -> String {
        let mut bytes = Vec::new();
        let mut row = Row::new();
        let from = -(history.min(self.terminal.history_rows()) as isize);
        for at in from..self.size().rows as isize {
            self.terminal.read_row(at, &mut row);
            let mut pen = vt::Pen::default();
            for cell in row.cells().iter().take(row.used()).filter(|cell| cell.width() > 0) {
                let wanted = vt::Pen { link: vt::LinkId::NONE, ..cell.pen };
                vt::write_sgr(&mut bytes, &pen, &wanted);
                pen = wanted;
                let text = row.text(cell);
                bytes.extend_from_slice(if text.is_empty() { b" " } else { text.as_bytes() });
            }
            vt::write_sgr(&mut bytes, &pen, &vt::Pen::default());
            bytes.push(b'\n');
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The rectangle of the viewport's cursor on the operator's terminal, if it is inside.
    pub(crate) fn cursor_at(&self, rect: Rect) -> Option<(u16, u16)> {
        let cursor = self.terminal.cursor();
        let row = usize::from(cursor.row) + self.terminal.view();
        let inside = cursor.visible && row < usize::from(rect.rows) && cursor.column < rect.cols;
        inside.then(|| (rect.row + row as u16, rect.col + cursor.column))
    }
}

/// Where the last synchronized frame ends, if another one begins behind it and does not end.
fn end_of_frames(bytes: &[u8]) -> Option<usize> {
    const BEGIN: &[u8] = b"\x1b[?2026h";
    const END: &[u8] = b"\x1b[?2026l";
    let end = memmem::rfind(bytes, END)? + END.len();
    memmem::find(&bytes[end..], BEGIN).map(|_| end)
}
