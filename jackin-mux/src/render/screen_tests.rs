use jackin_core::Size;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::layout::Rect;
use crate::vt::{Attributes, Color, CursorShape, Row, Settings, Terminal, Underline};

const SIZE: Size = Size { rows: 6, cols: 24 };

/// The operator's terminal: an emulator that is fed every byte.
struct Operator(Terminal);

impl Operator {
    fn new() -> Self {
        let mut terminal = Terminal::new(SIZE, Settings::default());
        terminal.feed_all(b"\x1b[?1;25h\x1b[31;7mwhat the shell left behind\x1b[5;3r\x1b[3;3H");
        Self(terminal)
    }

    fn check(&mut self, bytes: &[u8], grid: &Grid, modes: OuterModes, links: &LinkTable) {
        self.0.feed_all(bytes);
        let mut row = Row::new();
        for line in 0..SIZE.rows {
            self.0.read_row(line as isize, &mut row);
            for (col, (shown, wanted)) in row.cells().iter().zip(grid.row(line)).enumerate() {
                let text = if shown.width() == 0 { "" } else { row.text(shown) };
                let shown_link = row.link(shown.pen.link).map(|link| format!("{};{}", link.id, link.uri));
                let shown_pen = Pen { link: LinkId::NONE, ..shown.pen };
                let place = format!("row {line} column {col} after {}", bytes.escape_ascii());
                assert_eq!(shown.width(), wanted.width, "{place}");
                if wanted.width > 0 {
                    let wanted_text = String::from_utf8_lossy(wanted.bytes()).into_owned();
                    assert_eq!(if text.is_empty() { " " } else { text }, wanted_text, "{place}");
                    assert_eq!(shown_pen, Pen { link: LinkId::NONE, ..wanted.pen }, "{place}");
                    assert_eq!(shown_link.as_deref(), links.key(wanted.pen.link), "{place}");
                }
            }
        }
        let cursor = self.0.cursor();
        assert_eq!(cursor.visible, modes.cursor.is_some());
        if let Some((row, col)) = modes.cursor {
            assert_eq!((cursor.row, cursor.column), (row, col), "after {}", bytes.escape_ascii());
        }
        assert_eq!(cursor.shape, modes.cursor_shape);
        assert_eq!(self.0.keyboard_flags(), modes.keyboard_flags);
        assert_eq!(self.0.modify_other_keys(), modes.modify_other_keys);
    }
}

#[derive(Clone, Debug)]
enum Edit {
    Write(u16, u16, String, Pen),
    Fill(Rect, Pen),
    Scroll(u16, u16, i32),
    Modes(OuterModes),
    Forget,
}

fn pen() -> impl Strategy<Value = Pen> {
    let colour = prop_oneof![
        Just(Color::Default),
        (0..=255u8).prop_map(Color::Indexed),
        (any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(r, g, b)| Color::Rgb(r, g, b)),
    ];
    let attributes = prop::sample::select(vec![
        Attributes::NONE,
        Attributes::BOLD,
        Attributes::BOLD | Attributes::DIM,
        Attributes::DIM | Attributes::STRIKE,
        Attributes::INVERSE | Attributes::OVERLINE | Attributes::BLINK,
        Attributes::HIDDEN | Attributes::ITALIC,
    ]);
    let underline = prop::sample::select(vec![Underline::None, Underline::Single, Underline::Curly]);
    prop_oneof![
        2 => Just(Pen::default()),
        3 => (colour.clone(), colour, attributes, underline, 0..3u16).prop_map(|(foreground, background, attributes, underline, link)| Pen {
            foreground,
            background,
            attributes,
            underline,
            link: LinkId(link),
            ..Pen::default()
        }),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let text = prop::collection::vec(
        prop::sample::select(vec!["a", "b", " ", "日", "é", "e\u{301}", "👨‍👩‍👧", "❤\u{fe0f}", "|"]),
        1..12,
    )
    .prop_map(|parts| parts.concat());
    let rect = (0..SIZE.rows, 0..SIZE.cols, 1..SIZE.rows, 1..SIZE.cols)
        .prop_map(|(row, col, rows, cols)| Rect { row, col, rows, cols });
    let modes = (
        prop::option::of((0..SIZE.rows, 0..SIZE.cols)),
        prop::sample::select(vec![CursorShape::Default, CursorShape::SteadyBar]),
        any::<bool>(),
        0..4u8,
        0..3u8,
    )
        .prop_map(|(cursor, cursor_shape, application, keyboard_flags, modify_other_keys)| OuterModes {
            cursor,
            cursor_shape,
            application_cursor: application,
            application_keypad: application,
            keyboard_flags,
            modify_other_keys,
        });
    prop_oneof![
        6 => (0..SIZE.rows, 0..SIZE.cols, text, pen()).prop_map(|(row, col, text, pen)| Edit::Write(row, col, text, pen)),
        2 => (rect, pen()).prop_map(|(rect, pen)| Edit::Fill(rect, pen)),
        2 => (0..SIZE.rows - 1, 1..SIZE.rows, -5..5i32)
            .prop_map(|(top, height, up)| Edit::Scroll(top, (top + height).min(SIZE.rows - 1), up)),
        2 => modes.prop_map(Edit::Modes),
        1 => Just(Edit::Forget),
    ]
}

proptest! {
    #[test]
    fn the_terminal_shows_the_grid_after_every_frame(
        frames in vec(vec(edit(), 0..6), 1..8),
        synchronized in any::<bool>(),
    ) {
        let mut links = LinkTable::default();
        links.intern("a;http://one");
        links.intern(";http://two");
        let capabilities = Capabilities { synchronized, ..Capabilities::default() };
        let mut screen = Screen::new(SIZE, capabilities);
        let mut operator = Operator::new();
        let mut grid = Grid::new(SIZE);
        let mut modes = OuterModes::default();
        for edits in frames {
            let mut scroll = None;
            for edit in edits {
                match edit {
                    Edit::Write(row, col, text, pen) => {
                        grid.write(row, col, SIZE.cols, &text, pen);
                    }
                    Edit::Fill(rect, pen) => grid.fill(rect, pen),
                    Edit::Scroll(top, bottom, up) => {
                        if scroll.is_none() {
                            grid.scroll(top, bottom, up);
                            scroll = Some(Scroll { top, bottom, up });
                        }
                    }
                    Edit::Modes(wanted) => modes = wanted,
                    Edit::Forget => screen.forget(),
                }
            }
            let mut bytes = Vec::new();
            screen.draw(&grid, modes, scroll, 0..SIZE.rows, &links, &mut bytes);
            operator.check(&bytes, &grid, modes, &links);
            bytes.clear();
            screen.draw(&grid, modes, None, 0..SIZE.rows, &links, &mut bytes);
            prop_assert!(bytes.is_empty(), "nothing changed: {}", bytes.escape_ascii());
        }
    }
}

fn drawn(screen: &mut Screen, grid: &Grid, cursor: (u16, u16), scroll: Option<Scroll>) -> String {
    let modes = OuterModes { cursor: Some(cursor), ..OuterModes::default() };
    let mut bytes = Vec::new();
    screen.draw(grid, modes, scroll, 0..grid.size().rows, &LinkTable::default(), &mut bytes);
    bytes.escape_ascii().to_string()
}

#[test]
fn a_typed_character_costs_little() {
    let mut grid = Grid::new(SIZE);
    let mut screen = Screen::new(SIZE, Capabilities::default());
    grid.write(2, 0, 24, "$ l", Pen::default());
    drawn(&mut screen, &grid, (2, 3), None);
    grid.write(2, 3, 24, "s", Pen::default());
    assert_eq!(drawn(&mut screen, &grid, (2, 4), None), "\\x1b[?2026hs\\x1b[?2026l");
    grid.fill(Rect { row: 2, col: 2, rows: 1, cols: 2 }, Pen::default());
    assert_eq!(drawn(&mut screen, &grid, (2, 2), None), "\\x1b[?2026h\\x08\\x08\\x1b[K\\x1b[?2026l");
}

#[test]
fn a_scrolled_region_is_moved_not_drawn() {
    let mut grid = Grid::new(SIZE);
    for row in 0..SIZE.rows {
        grid.write(row, 0, 24, &format!("line number {row}"), Pen::default());
    }
    let mut screen = Screen::new(SIZE, Capabilities::default());
    drawn(&mut screen, &grid, (5, 0), None);
    grid.scroll(1, 5, 1);
    grid.write(5, 0, 24, "new", Pen::default());
    let scroll = Scroll { top: 1, bottom: 5, up: 1 };
    assert_eq!(
        drawn(&mut screen, &grid, (5, 3), Some(scroll)),
        "\\x1b[?2026h\\x1b[2;6r\\x1b[S\\x1b[r\\x1b[6Hnew\\x1b[?2026l"
    );
}
