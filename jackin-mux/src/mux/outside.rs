//! A terminal that is not ours: what it shows after the bytes that it was sent.

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::ansi::{self, Processor};
use jackin_core::Size;

use crate::chrome::Theme;
use crate::render::{Capabilities, Grid, LinkTable, OuterModes};
use crate::vt::{Attributes, Color, CursorShape, LinkId, Pen, Underline};

pub(super) struct Outside {
    term: Term<VoidListener>,
    parser: Processor,
    size: Size,
    /// The last bytes that it was sent.
    last: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Sides(Size);

impl Dimensions for Sides {
    fn total_lines(&self) -> usize {
        self.0.rows.into()
    }

    fn screen_lines(&self) -> usize {
        self.0.rows.into()
    }

    fn columns(&self) -> usize {
        self.0.cols.into()
    }
}

impl Outside {
    pub(super) fn new(size: Size) -> Self {
        let config = Config { kitty_keyboard: true, ..Config::default() };
        let mut outside = Self {
            term: Term::new(config, &Sides(size), VoidListener),
            parser: Processor::new(),
            size,
            last: Vec::new(),
        };
        // What the shell left behind must not matter.
        outside.send(b"\x1b[31;7mleft\x1b[2;2H\x1b[?25l\x1b[4 q");
        outside
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.size = size;
        self.term.resize(Sides(size));
    }

    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.term, bytes);
        self.last = bytes.to_vec();
    }

    fn cell(&self, row: u16, col: u16) -> &Cell {
        &self.term.grid()[Line(row.into())][Column(col.into())]
    }

    pub(super) fn mode(&self) -> TermMode {
        *self.term.mode()
    }

    /// What it shows, as text.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for row in 0..self.size.rows {
            let mut line = String::new();
            for cell in (0..self.size.cols).map(|col| self.cell(row, col)) {
                if !cell.flags.intersects(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER) {
                    line.push(cell.c);
                    line.extend(cell.zerowidth().unwrap_or_default());
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// How each cell looks, by one letter: `i`nverse, `u`nderlined, `d`im, `h`ighlighted, another `b`ackground of its own,
    /// `c`oloured text.
    pub(super) fn looks(&self) -> String {
        let mut text = String::new();
        for row in 0..self.size.rows {
            for cell in (0..self.size.cols).map(|col| self.cell(row, col)) {
                text.push(match cell.flags {
                    flags if flags.contains(Flags::INVERSE) => 'i',
                    flags if flags.intersects(Flags::ALL_UNDERLINES) => 'u',
                    flags if flags.contains(Flags::DIM) => 'd',
                    _ if colour(cell.bg) == Theme::PANEL_CHOSEN.background => 'h',
                    _ if colour(cell.bg) != Color::Default => 'b',
                    _ if colour(cell.fg) != Color::Default => 'c',
                    _ => '.',
                });
            }
            text.push('\n');
        }
        text
    }

    /// Shows a grid, cell for cell, as far as such a terminal can.
    pub(super) fn check_cells(&self, grid: &Grid, links: &LinkTable, capabilities: Capabilities) {
        assert_eq!(grid.size(), self.size);
        for row in 0..self.size.rows {
            for col in 0..self.size.cols {
                self.check_cell(row, col, grid, links, capabilities);
            }
        }
    }

    fn check_cell(&self, row: u16, col: u16, grid: &Grid, links: &LinkTable, capabilities: Capabilities) {
        let wanted = &grid.row(row)[usize::from(col)];
        let shown = self.cell(row, col);
        let place = || format!("row {row} column {col} after {}", self.last.escape_ascii());
        let spacer = shown.flags.contains(Flags::WIDE_CHAR_SPACER);
        assert_eq!(wanted.width() == 0, spacer, "{}", place());
        if spacer {
            return;
        }
        let mut text = [0; 4];
        let mut text = shown.c.encode_utf8(&mut text).as_bytes().to_vec();
        for mark in shown.zerowidth().unwrap_or_default() {
            text.extend_from_slice(mark.encode_utf8(&mut [0; 4]).as_bytes());
        }
        assert_eq!(text, wanted.bytes(), "{}", place());
        let pen = capabilities.reduce(wanted.pen());
        assert_eq!(colour(shown.fg), pen.foreground, "{}", place());
        assert_eq!(colour(shown.bg), pen.background, "{}", place());
        assert_eq!(shown.flags & LOOKS, flags(pen), "{}", place());
        if pen.underline != Underline::None {
            let underline = shown.underline_color().map_or(Color::Default, colour);
            assert_eq!(underline, pen.underline_color, "{}", place());
        }
        let link = if capabilities.links { wanted.pen().link } else { LinkId::NONE };
        let uri = links.key(link).and_then(|key| key.split_once(';')).map(|(_, uri)| uri);
        let shown = shown.hyperlink();
        assert_eq!(shown.as_ref().map(alacritty_terminal::term::cell::Hyperlink::uri), uri, "{}", place());
    }

    pub(super) fn check_modes(&self, modes: OuterModes) {
        let mode = self.mode();
        let after = self.last.escape_ascii();
        assert_eq!(mode.contains(TermMode::SHOW_CURSOR), modes.cursor.is_some(), "after {after}");
        if let Some((row, col)) = modes.cursor {
            let point = self.term.grid().cursor.point;
            assert_eq!((point.line.0, point.column.0), (row.into(), col.into()), "cursor after {after}");
        }
        assert_eq!(mode.contains(TermMode::APP_CURSOR), modes.application_cursor);
        assert_eq!(mode.contains(TermMode::APP_KEYPAD), modes.application_keypad);
        for (bit, flag) in KITTY.into_iter().enumerate() {
            assert_eq!(mode.contains(flag), modes.keyboard_flags >> bit & 1 == 1, "after {after}");
        }
        let shape = match modes.cursor_shape {
            CursorShape::Default | CursorShape::BlinkingBlock | CursorShape::SteadyBlock => {
                ansi::CursorShape::Block
            }
            CursorShape::BlinkingUnderline | CursorShape::SteadyUnderline => ansi::CursorShape::Underline,
            CursorShape::BlinkingBar | CursorShape::SteadyBar => ansi::CursorShape::Beam,
        };
        assert_eq!(self.term.cursor_style().shape, shape, "after {after}");
        let origin = TermMode::ORIGIN | TermMode::INSERT | TermMode::ALT_SCREEN;
        assert!(!mode.intersects(origin) && mode.contains(TermMode::LINE_WRAP));
    }

    /// Is as a shell wants to find it.
    pub(super) fn check_restored(&self) {
        let mode = self.mode();
        let ours =
            KITTY.into_iter().fold(ASKED | TermMode::APP_CURSOR | TermMode::APP_KEYPAD, TermMode::union);
        assert!(!mode.intersects(ours), "{mode:?}");
        assert!(mode.contains(TermMode::SHOW_CURSOR | TermMode::ALTERNATE_SCROLL | TermMode::LINE_WRAP));
        let template = &self.term.grid().cursor.template;
        assert_eq!((colour(template.fg), colour(template.bg)), (Color::Default, Color::Default));
        assert!(template.hyperlink().is_none() && !template.flags.intersects(LOOKS));
        assert_eq!(self.term.cursor_style().shape, ansi::CursorShape::Block);
    }
}

const KITTY: [TermMode; 5] = [
    TermMode::DISAMBIGUATE_ESC_CODES,
    TermMode::REPORT_EVENT_TYPES,
    TermMode::REPORT_ALTERNATE_KEYS,
    TermMode::REPORT_ALL_KEYS_AS_ESC,
    TermMode::REPORT_ASSOCIATED_TEXT,
];

/// What we ask of every terminal that can.
pub(super) const ASKED: TermMode = TermMode::MOUSE_MOTION
    .union(TermMode::SGR_MOUSE)
    .union(TermMode::FOCUS_IN_OUT)
    .union(TermMode::BRACKETED_PASTE);

const LOOKS: Flags = Flags::INVERSE
    .union(Flags::BOLD)
    .union(Flags::ITALIC)
    .union(Flags::DIM)
    .union(Flags::HIDDEN)
    .union(Flags::STRIKEOUT)
    .union(Flags::ALL_UNDERLINES);

/// Blinking and overlined are all that this terminal does not keep.
fn flags(pen: Pen) -> Flags {
    let mut flags = Flags::empty();
    for (attribute, flag) in [
        (Attributes::BOLD, Flags::BOLD),
        (Attributes::DIM, Flags::DIM),
        (Attributes::ITALIC, Flags::ITALIC),
        (Attributes::INVERSE, Flags::INVERSE),
        (Attributes::HIDDEN, Flags::HIDDEN),
        (Attributes::STRIKE, Flags::STRIKEOUT),
    ] {
        if pen.attributes.contains(attribute) {
            flags |= flag;
        }
    }
    flags
        | match pen.underline {
            Underline::None => Flags::empty(),
            Underline::Single => Flags::UNDERLINE,
            Underline::Double => Flags::DOUBLE_UNDERLINE,
            Underline::Curly => Flags::UNDERCURL,
            Underline::Dotted => Flags::DOTTED_UNDERLINE,
            Underline::Dashed => Flags::DASHED_UNDERLINE,
        }
}

fn colour(colour: ansi::Color) -> Color {
    match colour {
        ansi::Color::Named(named) if (named as usize) < 16 => Color::Indexed(named as u8),
        ansi::Color::Named(_) => Color::Default,
        ansi::Color::Indexed(index) => Color::Indexed(index),
        ansi::Color::Spec(rgb) => Color::Rgb(rgb.r, rgb.g, rgb.b),
    }
}
