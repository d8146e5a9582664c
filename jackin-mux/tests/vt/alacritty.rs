//! An independent emulator in the same form as ours, so that the two can be compared.

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::{Color as Theirs, NamedColor, Processor};
use jackin_mux::vt::{Attributes, Color, Mode, Pen, Row, Terminal, Underline};

pub(crate) struct Alacritty {
    term: Term<VoidListener>,
    parser: Processor,
}

struct Dims(u16, u16);

impl Dimensions for Dims {
    fn total_lines(&self) -> usize {
        usize::from(self.0)
    }

    fn screen_lines(&self) -> usize {
        usize::from(self.0)
    }

    fn columns(&self) -> usize {
        usize::from(self.1)
    }
}

/// What both say about a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Both {
    text: String,
    pen: Pen,
}

impl Alacritty {
    pub(crate) fn fed(rows: u16, columns: u16, bytes: &[u8]) -> Self {
        let term = Term::new(Config::default(), &Dims(rows, columns), VoidListener);
        let mut this = Self { term, parser: Processor::new() };
        this.parser.advance(&mut this.term, bytes);
        this
    }

    /// Row, column, and whether the next character wraps.
    pub(crate) fn cursor(&self) -> (u16, u16, bool) {
        let cursor = &self.term.grid().cursor;
        (cursor.point.line.0 as u16, cursor.point.column.0 as u16, cursor.input_needs_wrap)
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let text = |row: Vec<Both>| row.into_iter().map(|cell| cell.text).collect::<String>();
        self.rows().into_iter().map(|row| text(row).trim_end().to_owned()).collect()
    }

    pub(crate) fn rows(&self) -> Vec<Vec<Both>> {
        let grid = self.term.grid();
        (0..grid.screen_lines())
            .map(|line| {
                (0..grid.columns()).map(|column| cell(&grid[Line(line as i32)][Column(column)])).collect()
            })
            .collect()
    }
}

fn cell(cell: &Cell) -> Both {
    if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
        return Both { text: String::new(), pen: Pen::default() };
    }
    // A tab leaves its mark in the cell that it left; on the screen it is a blank.
    let mut text = if cell.c == '\t' { " ".to_owned() } else { cell.c.to_string() };
    text.extend(cell.zerowidth().into_iter().flatten());
    let mut attributes = Attributes::NONE;
    for (flag, attribute) in [
        (Flags::BOLD, Attributes::BOLD),
        (Flags::DIM, Attributes::DIM),
        (Flags::ITALIC, Attributes::ITALIC),
        (Flags::INVERSE, Attributes::INVERSE),
        (Flags::HIDDEN, Attributes::HIDDEN),
        (Flags::STRIKEOUT, Attributes::STRIKE),
    ] {
        if cell.flags.contains(flag) {
            attributes |= attribute;
        }
    }
    let underline = [
        (Flags::UNDERLINE, Underline::Single),
        (Flags::DOUBLE_UNDERLINE, Underline::Double),
        (Flags::UNDERCURL, Underline::Curly),
        (Flags::DOTTED_UNDERLINE, Underline::Dotted),
        (Flags::DASHED_UNDERLINE, Underline::Dashed),
    ]
    .into_iter()
    .find(|(flag, _)| cell.flags.contains(*flag))
    .map_or(Underline::None, |(_, underline)| underline);
    let underline_color = if underline == Underline::None { None } else { cell.underline_color() };
    Both {
        text,
        pen: Pen {
            foreground: color(cell.fg),
            background: color(cell.bg),
            underline_color: underline_color.map_or(Color::Default, color),
            underline,
            attributes,
            ..Pen::default()
        },
    }
}

fn color(color: Theirs) -> Color {
    match color {
        Theirs::Named(NamedColor::Foreground | NamedColor::Background) => Color::Default,
        Theirs::Named(named) => Color::Indexed(named as u8),
        Theirs::Indexed(n) => Color::Indexed(n),
        Theirs::Spec(rgb) => Color::Rgb(rgb.r, rgb.g, rgb.b),
    }
}

pub(crate) fn ours(terminal: &Terminal) -> Vec<Vec<Both>> {
    let mut row = Row::new();
    (0..terminal.size().rows)
        .map(|at| {
            terminal.read_row(at as isize, &mut row);
            row.cells()
                .iter()
                .map(|cell| {
                    if cell.width() == 0 {
                        return Both { text: String::new(), pen: Pen::default() };
                    }
                    let text = row.text(cell);
                    Both {
                        text: if text.is_empty() { " ".to_owned() } else { text.to_owned() },
                        pen: cell.pen,
                    }
                })
                .collect()
        })
        .collect()
}

/// The first difference, in words.
pub(crate) fn difference(terminal: &Terminal, other: &Alacritty) -> Option<String> {
    let cursor = terminal.cursor();
    // Without autowrap a pending wrap means nothing.
    let wraps = terminal.modes().contains(Mode::Autowrap);
    let ours = (cursor.row, cursor.column, cursor.wraps && wraps);
    let mut theirs = other.cursor();
    theirs.2 &= wraps;
    if ours != theirs {
        return Some(format!("cursor: ours {ours:?}, theirs {theirs:?}"));
    }
    for (row, (ours, theirs)) in self::ours(terminal).iter().zip(other.rows()).enumerate() {
        for (column, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            if ours != theirs {
                return Some(format!("cell {row},{column}: ours {ours:?}, theirs {theirs:?}"));
            }
        }
    }
    None
}
