//! The front door: bytes in; cells, damage, events out.

use jackin_core::Size;

use super::bulk::Jump;
use super::damage::Damage;
use super::event::Event;
use super::modes::{Mode, Modes};
use super::overdraw::Overdraw;
use super::pen::Pen;
use super::row::Row;
use super::scan::{Scanner, Token};
use super::screen::{CursorShape, Screen};
use super::settings::Settings;

/// One pane's terminal.
///
/// Rule: [`feed`](Self::feed) and [`resize`](Self::resize) change it; afterwards [`poll_event`](Self::poll_event) is called until it
/// returns `None`. Everything else may be asked at any time and tells the state after the last change.
///
/// ```
/// use jackin_core::Size;
/// use jackin_mux::vt::{Event, Row, Settings, Terminal};
///
/// let mut terminal = Terminal::new(Size::new(24, 80), Settings::default());
/// terminal.feed_all(b"\x1b[1mhello\x1b[m\x1b[6n");
/// assert_eq!(terminal.poll_event(), Some(Event::Reply(b"\x1b[1;6R".to_vec())));
///
/// let mut row = Row::new();
/// terminal.read_row(0, &mut row);
/// assert_eq!(row.to_text(), "hello");
/// ```
#[derive(Debug)]
pub struct Terminal {
    scan: Scanner,
    pub(super) screen: Screen,
    jump: Jump,
    overdraw: Overdraw,
    /// Rows that the viewport is scrolled back.
    view: usize,
    pub(super) reflows: u64,
}

/// Where the cursor is and how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cursor {
    /// Row, from 0.
    pub row: u16,
    /// Column, from 0, always on the screen.
    pub column: u16,
    /// Whether the next character goes to the next row.
    pub wraps: bool,
    /// Whether it is shown.
    pub visible: bool,
    /// Its shape.
    pub shape: CursorShape,
}

/// Most input that is taken as one token.
const LONGEST_TOKEN: usize = 16 * 1024;

impl Terminal {
    /// An empty terminal, of the nearest size that can be drawn ([`Size::clamped`]).
    pub fn new(size: Size, settings: Settings) -> Self {
        Self {
            scan: Scanner::default(),
            screen: Screen::new(size.clamped(), settings),
            jump: Jump::default(),
            overdraw: Overdraw::default(),
            view: 0,
            reflows: 0,
        }
    }

    /// Takes output of the program and returns how many bytes it took: fewer than given when `budget` is used up or events wait
    /// to be taken. The rest is to be given again.
    ///
    /// The budget counts work in units of about one drawn character: a byte costs one, a cleared or scrolled screen as many as
    /// its cells cost. Giving about 64 KB at a time lets lines that nobody could have seen go straight to history.
    pub fn feed(&mut self, bytes: &[u8], budget: usize) -> usize {
        self.take(bytes, budget, u64::MAX)
    }

    /// [`feed`](Self::feed) that also stops behind the end of a synchronized update (mode 2026): when [`frames`](Self::frames) has
    /// grown, the screen is as the program wants it seen, although the rest of `bytes` may begin the next update.
    ///
    /// ```
    /// use jackin_core::Size;
    /// use jackin_mux::vt::{Settings, Terminal};
    ///
    /// let mut terminal = Terminal::new(Size::new(24, 80), Settings::default());
    /// let bytes = b"\x1b[?2026hwhole\x1b[?2026l\x1b[?2026h\rhal";
    /// let used = terminal.feed_frame(bytes, 1000);
    /// assert_eq!((terminal.frames(), terminal.screen_text().as_str()), (1, "whole"));
    /// terminal.feed_frame(&bytes[used..], 1000);
    /// assert_eq!((terminal.frames(), terminal.screen_text().as_str()), (1, "halle"));
    /// ```
    pub fn feed_frame(&mut self, bytes: &[u8], budget: usize) -> usize {
        self.take(bytes, budget, self.screen.frames + 1)
    }

    /// Takes output until the budget is used up, events wait, or `frames` is reached.
    fn take(&mut self, bytes: &[u8], budget: usize, frames: u64) -> usize {
        let pushed = self.screen.canvas.past().pushed;
        self.screen.canvas.work = 0;
        let mut at = 0;
        let mut retry = 0;
        while at < bytes.len()
            && self.screen.canvas.work < budget
            && self.screen.frames < frames
            && !self.screen.events.is_full()
        {
            if at >= retry && self.scan.is_ground() && self.screen.can_jump() {
                let left = budget - self.screen.canvas.work;
                let end = bytes.len().min(at.saturating_add(left.saturating_mul(Jump::CHEAPNESS)));
                let done = self.jump.run(&mut self.screen, &bytes[at..end]);
                self.screen.canvas.work += done.taken / Jump::CHEAPNESS;
                at += done.taken;
                retry = at + done.retry;
                if done.taken > 0 {
                    continue;
                }
            }
            let limit = (budget.saturating_sub(self.screen.canvas.work)).clamp(64, LONGEST_TOKEN);
            let piece = &bytes[at..bytes.len().min(at + limit)];
            let (token, used) = self.scan.next(piece);
            self.screen.canvas.work += used;
            at += used;
            match token {
                Token::Ascii(text) => self.screen.print_ascii(text),
                Token::Text(text) => self.screen.print(text),
                Token::Csi(body) => {
                    self.screen.end_grapheme();
                    let places = matches!(body.last(), Some(b'H' | b'f'));
                    self.screen.csi(body);
                    if places {
                        at += self
                            .overdraw
                            .take(&mut self.screen, &bytes[at..bytes.len().min(at + LONGEST_TOKEN)]);
                    }
                }
                Token::Control(byte) => {
                    self.screen.end_grapheme();
                    self.screen.control(byte);
                }
                Token::Invalid => self.screen.print_invalid(),
                Token::Escape(sequence) => {
                    self.screen.end_grapheme();
                    self.screen.escape(sequence);
                }
                Token::Start(kind) => self.screen.string_start(kind),
                Token::Data(data) => self.screen.string_data(data),
                Token::End(terminator) => {
                    self.screen.end_grapheme();
                    self.screen.string_end(terminator);
                }
                Token::Nothing => {}
            }
        }
        self.screen.canvas.flush();
        if self.view > 0 {
            let moved = self.screen.canvas.past().pushed - pushed;
            self.view = (self.view + moved as usize).min(self.history_rows());
        }
        at
    }

    /// [`feed`](Self::feed) without a budget; replies and other events that do not fit the queue are waited for by nobody, so this
    /// drops the oldest. For tests and for recordings.
    pub fn feed_all(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            let used = self.feed(&bytes[at..], usize::MAX);
            if used == 0 {
                self.poll_event();
            }
            at += used;
        }
    }

    /// Whether the next byte begins something new.
    pub(super) fn is_between_sequences(&self) -> bool {
        self.scan.is_ground()
    }

    /// The next thing that the embedder has to act on.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.screen.events.pop()
    }

    /// Rows and columns, each at least 1 and at most [`Size::MAX_SIDE`].
    pub fn size(&self) -> Size {
        self.screen.canvas.size()
    }

    /// The cursor.
    pub fn cursor(&self) -> Cursor {
        let place = self.screen.canvas.cursor;
        let last = self.screen.canvas.columns() - 1;
        Cursor {
            row: place.row,
            column: place.column.min(last),
            wraps: place.column > last,
            visible: self.screen.modes.contains(Mode::CursorVisible),
            shape: self.screen.cursor_shape,
        }
    }

    /// The modes that are set.
    pub fn modes(&self) -> Modes {
        self.screen.modes
    }

    /// Synchronized updates (mode 2026) that ended so far.
    pub fn frames(&self) -> u64 {
        self.screen.frames
    }

    /// The kitty keyboard flags in force on the screen that is shown.
    pub fn keyboard_flags(&self) -> u8 {
        self.screen.keyboard[usize::from(self.is_alternate())].flags()
    }

    /// The level of xterm's modifyOtherKeys, 0 to 3.
    pub fn modify_other_keys(&self) -> u8 {
        self.screen.modify_other_keys
    }

    /// Whether the alternate screen is shown.
    pub fn is_alternate(&self) -> bool {
        self.screen.canvas.is_alternate()
    }

    /// First and last row of the scrolling region.
    pub fn margins(&self) -> (u16, u16) {
        self.screen.canvas.margins()
    }

    /// The window title, without control characters.
    pub fn title(&self) -> &str {
        self.screen.titles.get()
    }

    /// The pen that the next character would be drawn with. Its link means nothing outside.
    pub fn pen(&self) -> Pen {
        self.screen.pen
    }

    /// Whether the operator's terminal has the kitty keyboard protocol; without it, the program is told of none.
    pub fn set_kitty_keyboard(&mut self, supported: bool) {
        self.screen.settings.kitty_keyboard = supported;
    }

    /// Width and height of a cell in pixels, for programs that ask.
    pub fn set_cell_pixels(&mut self, width: u16, height: u16) {
        self.screen.settings.cell_pixels = (width, height);
    }

    /// What changed since [`clear_damage`](Self::clear_damage).
    pub fn damage(&self) -> &Damage {
        self.screen.canvas.damage()
    }

    /// Moves the damage to `into`, whose buffer is used again.
    pub fn take_damage(&mut self, into: &mut Damage) {
        into.clone_from(self.screen.canvas.damage());
        self.clear_damage();
    }

    /// Forgets the damage: all of it was seen.
    pub fn clear_damage(&mut self) {
        self.screen.canvas.damage_mut().clear();
    }

    /// Reads a row: 0 and up on the screen, negative in history (-1 is the row that left last). False, and a blank row, if there is
    /// no such row.
    pub fn read_row(&self, row: isize, into: &mut Row) -> bool {
        let size = self.size();
        if let Ok(row) = u16::try_from(row)
            && row < size.rows
        {
            self.screen.canvas.read_row(row, into);
            return true;
        }
        let rows = self.history_rows() as isize;
        let found = row < 0
            && row + rows >= 0
            && self.screen.canvas.past().history.read_row((row + rows) as usize, size.cols, into);
        if !found {
            into.clear();
            into.pad(usize::from(size.cols));
        }
        found
    }

    /// Rows in history at the present width.
    pub fn history_rows(&self) -> usize {
        self.screen.canvas.past().history.rows(self.screen.canvas.columns())
    }

    /// Rows that ever left the top of the main screen. A row's place in history changes by as much as this does, until the terminal
    /// is resized ([`reflows`](Self::reflows)).
    pub fn scrolled_rows(&self) -> u64 {
        self.screen.canvas.past().pushed
    }

    /// How often lines were laid out anew; row numbers from before mean nothing after.
    pub fn reflows(&self) -> u64 {
        self.reflows
    }

    /// Drops all history.
    pub fn clear_history(&mut self) {
        self.screen.canvas.past_mut().history.clear();
        self.view = 0;
    }

    /// Rows that the viewport is scrolled back; 0 shows the screen. It stays with its text while output arrives.
    pub fn view(&self) -> usize {
        self.view.min(self.history_rows())
    }

    /// Scrolls the viewport to `back` rows into history.
    pub fn set_view(&mut self, back: usize) {
        self.view = back.min(self.history_rows());
    }

    /// Reads a row of the viewport, 0 at its top.
    pub fn read_view_row(&self, row: u16, into: &mut Row) -> bool {
        self.read_row(row as isize - self.view() as isize, into)
    }
}
