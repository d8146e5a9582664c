//! The state of one terminal: what tokens act on.
//!
//! Each kind of token has a file: `print` (text), `control` (C0 and escapes), `csi`, `osc`, `string` (DCS, APC), `query` (answers).

use jackin_core::Size;

use super::canvas::{Canvas, Place};
use super::charset::Charsets;
use super::event::Events;
use super::history::History;
use super::keyboard::KeyboardStack;
use super::link::LinkId;
use super::modes::{Mode, Modes};
use super::pen::Pen;
use super::print::Last;
use super::settings::Settings;
use super::string::Strings;
use super::tabs::Tabs;
use super::title::Titles;

/// The shape of the cursor (DECSCUSR).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CursorShape {
    /// Whatever the operator's terminal uses.
    #[default]
    Default,
    /// A blinking block.
    BlinkingBlock,
    /// A steady block.
    SteadyBlock,
    /// A blinking underline.
    BlinkingUnderline,
    /// A steady underline.
    SteadyUnderline,
    /// A blinking bar.
    BlinkingBar,
    /// A steady bar.
    SteadyBar,
}

impl CursorShape {
    /// The parameter of DECSCUSR that sets this shape.
    pub fn number(self) -> u8 {
        self as u8
    }

    pub(super) fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Default,
            1 => Self::BlinkingBlock,
            2 => Self::SteadyBlock,
            3 => Self::BlinkingUnderline,
            4 => Self::SteadyUnderline,
            5 => Self::BlinkingBar,
            6 => Self::SteadyBar,
            _ => return None,
        })
    }
}

/// What DECSC saves.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Saved {
    pub(super) place: Place,
    pub(super) pen: Pen,
    pub(super) charsets: Charsets,
    pub(super) origin: bool,
}

#[derive(Debug)]
pub(super) struct Screen {
    pub(super) canvas: Canvas,
    pub(super) settings: Settings,
    pub(super) pen: Pen,
    pub(super) modes: Modes,
    pub(super) charsets: Charsets,
    pub(super) tabs: Tabs,
    /// For the main and the alternate screen.
    pub(super) saved: [Saved; 2],
    pub(super) keyboard: [KeyboardStack; 2],
    pub(super) modify_other_keys: u8,
    pub(super) cursor_shape: CursorShape,
    pub(super) titles: Titles,
    pub(super) events: Events,
    pub(super) strings: Strings,
    pub(super) last: Last,
    /// The character that REP repeats.
    pub(super) last_char: Option<char>,
    /// Synchronized updates that ended.
    pub(super) frames: u64,
}

impl Screen {
    pub(super) fn new(size: Size, settings: Settings) -> Self {
        let history = History::new(settings.history_lines, settings.history_bytes);
        Self {
            canvas: Canvas::new(size, history, settings.jump_scroll),
            settings,
            pen: Pen::default(),
            modes: Modes::default(),
            charsets: Charsets::default(),
            tabs: Tabs::default(),
            saved: [Saved::default(); 2],
            keyboard: Default::default(),
            modify_other_keys: 0,
            cursor_shape: CursorShape::Default,
            titles: Titles::default(),
            events: Events::default(),
            strings: Strings::default(),
            last: Last::NONE,
            last_char: None,
            frames: 0,
        }
    }

    pub(super) fn save_cursor(&mut self) {
        self.saved[usize::from(self.canvas.is_alternate())] = Saved {
            place: self.canvas.cursor,
            pen: self.pen,
            charsets: self.charsets,
            origin: self.modes.contains(Mode::Origin),
        };
        self.hold_links();
    }

    pub(super) fn restore_cursor(&mut self) {
        let saved = self.saved[usize::from(self.canvas.is_alternate())];
        self.modes.set(Mode::Origin, saved.origin);
        // In origin mode the cursor stays within the margins, which may have been set since.
        let (top, bottom) = self.address_rows();
        self.canvas.cursor = Place {
            row: saved.place.row.clamp(top, bottom),
            column: saved.place.column.min(self.canvas.columns()),
        };
        self.pen = saved.pen;
        self.charsets = saved.charsets;
        self.hold_links();
    }

    /// Tells the canvas which links pens still need.
    pub(super) fn hold_links(&mut self) {
        self.canvas.held_links =
            [self.pen.link, self.saved[0].pen.link, self.saved[1].pen.link, LinkId::NONE, LinkId::NONE];
    }

    /// A pending wrap ends: the cursor is in the last column.
    #[inline]
    pub(super) fn settle(&mut self) {
        let last = self.canvas.columns() - 1;
        self.canvas.cursor.column = self.canvas.cursor.column.min(last);
    }

    /// Moves to a row and column as addressed by the program: from the top margin in origin mode.
    pub(super) fn go_to(&mut self, row: u32, column: u32) {
        let (top, bottom) = self.address_rows();
        let row = u32::from(top).saturating_add(row).min(u32::from(bottom)) as u16;
        let column = column.min(u32::from(self.canvas.columns()) - 1) as u16;
        self.canvas.cursor = Place { row, column };
    }

    /// The rows that can be addressed.
    pub(super) fn address_rows(&self) -> (u16, u16) {
        if self.modes.contains(Mode::Origin) { self.canvas.margins() } else { (0, self.canvas.rows() - 1) }
    }

    /// Switches between the main and the alternate screen.
    pub(super) fn switch_screen(&mut self, alternate: bool) {
        self.canvas.switch(alternate);
    }

    /// Everything as it was at the start (RIS), except history and title.
    pub(super) fn reset(&mut self) {
        let erase = Pen::default();
        let rows = self.canvas.rows();
        self.canvas.set_margins(0, rows - 1);
        self.canvas.erase_rows(0, rows, &erase);
        let other = !self.canvas.is_alternate();
        self.canvas.switch(other);
        self.canvas.erase_rows(0, rows, &erase);
        self.canvas.switch(false);
        self.canvas.cursor = Place::default();
        self.pen = Pen::default();
        self.end_frame();
        self.modes = Modes::default();
        self.charsets = Charsets::default();
        self.tabs = Tabs::default();
        self.saved = [Saved::default(); 2];
        self.keyboard = Default::default();
        self.modify_other_keys = 0;
        self.cursor_shape = CursorShape::Default;
        self.last_char = None;
        self.hold_links();
    }

    /// Counts a synchronized update, if there is one, as ended.
    pub(super) fn end_frame(&mut self) {
        self.frames += u64::from(self.modes.contains(Mode::Synchronized));
    }

    /// The milder reset (DECSTR): nothing on the screen changes.
    pub(super) fn soft_reset(&mut self) {
        self.modes.set(Mode::CursorVisible, true);
        self.modes.set(Mode::Autowrap, true);
        for mode in [Mode::Origin, Mode::Insert, Mode::ApplicationCursor, Mode::ApplicationKeypad] {
            self.modes.set(mode, false);
        }
        let bottom = self.canvas.rows() - 1;
        self.canvas.set_margins(0, bottom);
        self.pen = Pen::default();
        self.charsets = Charsets::default();
        self.saved[usize::from(self.canvas.is_alternate())] = Saved::default();
        self.cursor_shape = CursorShape::Default;
        self.hold_links();
    }
}
