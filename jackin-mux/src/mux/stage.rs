//! A multiplexer with an operator's terminal that is not ours: every byte goes to another emulator.

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::ansi::{self, Processor};
use jackin_core::{PaneId, Size, Timestamp};

use super::{Mux, Place};
use crate::input::{Client, Input};
use crate::output::Output;
use crate::render::{Grid, OuterModes};
use crate::settings::Settings;
use crate::vt::{Attributes, Color, CursorShape, Pen, Underline};

pub(super) struct Stage {
    pub(super) mux: Mux,
    /// Milliseconds.
    pub(super) now: u64,
    /// The last frame.
    pub(super) frame: Vec<u8>,
    term: Term<VoidListener>,
    parser: Processor,
    size: Size,
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

impl Stage {
    /// With one pane and an attached terminal.
    pub(super) fn new(size: Size, settings: Settings) -> Self {
        let mut stage = Self::empty(size, settings);
        stage.mux.open(Place::Tab, "shell", true, Timestamp::default()).unwrap();
        stage.attach(Client::modern(size));
        stage
    }

    pub(super) fn plain(size: Size) -> Self {
        Self::new(size, Settings { chrome: false, ..Settings::default() })
    }

    /// With nothing.
    pub(super) fn empty(size: Size, settings: Settings) -> Self {
        Self {
            mux: Mux::new(settings),
            now: 1_000,
            frame: Vec::new(),
            term: term(size),
            parser: Processor::new(),
            size,
        }
    }

    pub(super) fn at(&self) -> Timestamp {
        Timestamp::from_millis(self.now)
    }

    pub(super) fn attach(&mut self, client: Client<'_>) {
        self.size = client.size;
        self.term = term(client.size);
        self.parser = Processor::new();
        self.input(Input::Attached(client));
        self.draw();
        self.outputs();
    }

    pub(super) fn input(&mut self, input: Input<'_>) {
        let at = self.at();
        self.mux.handle_input(input, at);
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.size = size;
        self.term.resize(Sides(size));
        self.input(Input::Resized(size));
    }

    pub(super) fn focused(&self) -> PaneId {
        self.mux.focused().unwrap()
    }

    /// The focused pane's program prints.
    pub(super) fn print(&mut self, text: &str) {
        let pane = self.focused();
        self.print_in(pane, text);
    }

    pub(super) fn print_in(&mut self, pane: PaneId, text: &str) {
        self.input(Input::Pty { pane, bytes: text.as_bytes() });
    }

    pub(super) fn types(&mut self, text: &str) {
        self.input(Input::Client(text.as_bytes()));
    }

    pub(super) fn wait(&mut self, ms: u64) {
        self.now += ms;
        self.input(Input::Tick);
    }

    pub(super) fn outputs(&mut self) -> Vec<Output> {
        std::iter::from_fn(|| self.mux.poll_output()).collect()
    }

    /// What was written to a pane's program.
    pub(super) fn written(&mut self, to: PaneId) -> String {
        let mut written = Vec::new();
        for output in self.outputs() {
            match output {
                Output::WritePty { pane, bytes } if pane == to => written.extend(bytes),
                _ => {}
            }
        }
        written.escape_ascii().to_string()
    }

    /// Renders a frame and shows it; returns its bytes in readable form.
    pub(super) fn draw(&mut self) -> String {
        self.frame.clear();
        let at = self.at();
        self.mux.render(at, &mut self.frame);
        self.parser.advance(&mut self.term, &self.frame);
        self.frame.escape_ascii().to_string()
    }

    /// Opens a pane with the focus and forgets the outputs.
    pub(super) fn open(&mut self, place: Place) -> PaneId {
        let at = self.at();
        let pane = self.mux.open(place, "shell", true, at).unwrap();
        self.outputs();
        pane
    }

    /// What the terminal shows, as text.
    pub(super) fn shown(&self) -> String {
        let mut text = String::new();
        for row in 0..self.size.rows {
            let mut line = String::new();
            for col in 0..self.size.cols {
                let cell = &self.term.grid()[Line(row.into())][Column(col.into())];
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

    /// The last frame puts this text into the clipboard.
    #[track_caller]
    pub(super) fn check_copied(&mut self, text: &str) {
        let frame = self.draw();
        let wanted = crate::copy::clipboard_sequence(text).escape_ascii().to_string();
        assert!(frame.contains(&wanted), "{frame}");
    }

    /// The law: the terminal shows what a frame composed from scratch says, cell for cell, with cursor and modes.
    pub(super) fn check(&mut self) {
        let (grid, modes, operator) = self.mux.composed();
        let reduce = |pen| operator.capabilities.reduce(pen);
        for row in 0..self.size.rows {
            for col in 0..self.size.cols {
                self.check_cell(row, col, &grid, reduce, |link| {
                    operator.capabilities.links.then(|| operator.links.key(link).map(str::to_owned)).flatten()
                });
            }
        }
        self.check_modes(modes);
        self.mux.put_back(operator);
    }

    fn check_cell(
        &self,
        row: u16,
        col: u16,
        grid: &Grid,
        reduce: impl Fn(Pen) -> Pen,
        link: impl Fn(crate::vt::LinkId) -> Option<String>,
    ) {
        let wanted = &grid.row(row)[usize::from(col)];
        let shown = &self.term.grid()[Line(row.into())][Column(col.into())];
        let place = format!("row {row} column {col} after {}", self.frame.escape_ascii());
        let spacer = shown.flags.contains(Flags::WIDE_CHAR_SPACER);
        assert_eq!(wanted.width() == 0, spacer, "{place}");
        if spacer {
            return;
        }
        let mut text = shown.c.to_string();
        text.extend(shown.zerowidth().unwrap_or_default());
        assert_eq!(text.as_bytes(), wanted.bytes(), "{place}");
        let pen = reduce(wanted.pen());
        assert_eq!(colour(shown.fg), pen.foreground, "{place}");
        assert_eq!(colour(shown.bg), pen.background, "{place}");
        assert_eq!(shown.flags & LOOKS, flags(pen), "{place}");
        if pen.underline != Underline::None {
            let underline = shown.underline_color().map_or(Color::Default, colour);
            assert_eq!(underline, pen.underline_color, "{place}");
        }
        let shown_link = shown.hyperlink().map(|link| link.uri().to_owned());
        let wanted_link = link(wanted.pen().link);
        let wanted_uri = wanted_link.as_deref().and_then(|key| key.split_once(';')).map(|(_, uri)| uri);
        assert_eq!(shown_link.as_deref(), wanted_uri, "{place}");
    }

    fn check_modes(&self, modes: OuterModes) {
        let mode = *self.term.mode();
        let after = self.frame.escape_ascii();
        assert_eq!(mode.contains(TermMode::SHOW_CURSOR), modes.cursor.is_some(), "after {after}");
        if let Some((row, col)) = modes.cursor {
            let point = self.term.grid().cursor.point;
            assert_eq!((point.line.0, point.column.0), (row.into(), col.into()), "cursor after {after}");
        }
        assert_eq!(mode.contains(TermMode::APP_CURSOR), modes.application_cursor);
        assert_eq!(mode.contains(TermMode::APP_KEYPAD), modes.application_keypad);
        let kitty = [
            TermMode::DISAMBIGUATE_ESC_CODES,
            TermMode::REPORT_EVENT_TYPES,
            TermMode::REPORT_ALTERNATE_KEYS,
            TermMode::REPORT_ALL_KEYS_AS_ESC,
            TermMode::REPORT_ASSOCIATED_TEXT,
        ];
        for (bit, flag) in kitty.into_iter().enumerate() {
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
        let origin = TermMode::ORIGIN | TermMode::INSERT;
        assert!(!mode.intersects(origin) && mode.contains(TermMode::LINE_WRAP));
    }
}

fn term(size: Size) -> Term<VoidListener> {
    let config = Config { kitty_keyboard: true, ..Config::default() };
    let mut term = Term::new(config, &Sides(size), VoidListener);
    // What the shell left behind must not matter.
    Processor::<ansi::StdSyncHandler>::new().advance(&mut term, b"\x1b[31;7mleft\x1b[2;2H\x1b[?25l\x1b[4 q");
    term
}

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
