//! A terminal's state as bytes: what another terminal has to be sent to go on from there.

use jackin_core::Size;

use super::canvas::Place;
use super::modes::{Mode, Modes};
use super::number::push_number;
use super::pen::Pen;
use super::row::Row;
use super::sgr::write_sgr;
use super::terminal::Terminal;

impl Terminal {
    /// The bytes after which a fresh terminal of this size shows the same, and treats what the program prints next as
    /// this one does. None in the middle of a sequence: what comes next belongs to what came before.
    ///
    /// Left out are history, the screen behind the alternate one, and what has no effect on what is shown.
    ///
    /// ```
    /// use jackin_core::Size;
    /// use jackin_mux::vt::{Settings, Terminal};
    ///
    /// let terminal = || Terminal::new(Size::new(24, 80), Settings::default());
    /// let (mut one, mut other) = (terminal(), terminal());
    /// one.feed_all(b"\x1b[31mhello\x1b[5;7r\x1b[6;3H");
    /// other.feed_all(&one.repaint().expect("no sequence is open"));
    /// assert_eq!((one.screen_text(), one.cursor()), (other.screen_text(), other.cursor()));
    /// one.feed_all(b"\x1b[");
    /// assert_eq!(one.repaint(), None);
    /// ```
    pub fn repaint(&self) -> Option<Vec<u8>> {
        if !self.is_between_sequences() {
            return None;
        }
        let mut out = Vec::new();
        if !self.title().is_empty() {
            out.extend_from_slice(b"\x1b]2;");
            out.extend_from_slice(self.title().as_bytes());
            out.push(0x07);
        }
        if self.is_alternate() {
            out.extend_from_slice(b"\x1b[?1049h");
        }
        out.extend_from_slice(b"\x1b[m\x1b[H\x1b[2J");
        let mut pen = Pen::default();
        let mut wraps = false;
        for row in 0..self.size().rows {
            wraps = self.paint_row(row, wraps, &mut pen, &mut out);
        }
        self.paint_saved_cursor(&mut pen, &mut out);
        self.screen.tabs.write(self.size().cols, &mut out);
        let (top, bottom) = self.margins();
        if (top, bottom) != (0, self.size().rows - 1) {
            csi(&mut out, &[u32::from(top) + 1, u32::from(bottom) + 1], b"r");
        }
        self.paint_modes(&mut out);
        self.paint_cursor(&mut pen, &mut out);
        self.screen.charsets.write(&mut out);
        Some(out)
    }

    /// Returns whether the row's text goes on in the next one: printing that wraps, and both stay one line.
    fn paint_row(&self, at: u16, wrapped: bool, pen: &mut Pen, out: &mut Vec<u8>) -> bool {
        let mut row = Row::new();
        self.read_row(at as isize, &mut row);
        let cells = &row.cells()[..row.used()];
        let Some(first) = cells.first() else { return false };
        if !wrapped || row.text(first).is_empty() {
            csi(out, &[u32::from(at) + 1], b"H");
        }
        for cell in cells.iter().filter(|cell| cell.width() > 0) {
            take_pen(pen, cell.pen, &row, out);
            let text = row.text(cell);
            out.extend_from_slice(if text.is_empty() { b" " } else { text.as_bytes() });
        }
        take_pen(pen, Pen::default(), &row, out);
        row.is_wrapped() && cells.len() == usize::from(self.size().cols)
    }

    /// What DECRC would bring back. There are no margins yet, so that rows are counted from the top in origin mode too.
    fn paint_saved_cursor(&self, pen: &mut Pen, out: &mut Vec<u8>) {
        let saved = self.screen.saved[usize::from(self.is_alternate())];
        if saved.origin {
            out.extend_from_slice(b"\x1b[?6h");
        }
        let Size { rows, cols } = self.size();
        let place = Place { row: saved.place.row.min(rows - 1), column: saved.place.column.min(cols) };
        self.paint_place(place, 0, pen, out);
        self.paint_pen(saved.pen, pen, out);
        saved.charsets.write(out);
        out.extend_from_slice(b"\x1b7");
        if saved.origin {
            out.extend_from_slice(b"\x1b[?6l");
        }
        super::charset::Charsets::default().write(out);
        self.paint_pen(Pen::default(), pen, out);
    }

    fn paint_modes(&self, out: &mut Vec<u8>) {
        let (usual, modes) = (Modes::default(), self.modes());
        // A frame that is being drawn is one that must not be waited for.
        let differing = Modes::numbered().filter(|(_, mode)| *mode != Mode::Synchronized);
        for (number, mode) in differing.filter(|(_, mode)| modes.contains(*mode) != usual.contains(*mode)) {
            out.extend_from_slice(b"\x1b[?");
            push_number(out, number);
            out.push(if modes.contains(mode) { b'h' } else { b'l' });
        }
        for number in modes.mouse_numbers() {
            out.extend_from_slice(b"\x1b[?");
            push_number(out, number);
            out.push(b'h');
        }
        for (number, mode) in [(4, Mode::Insert), (20, Mode::NewLine)] {
            if modes.contains(mode) {
                csi(out, &[number], b"h");
            }
        }
        if self.keyboard_flags() != 0 {
            out.extend_from_slice(b"\x1b[=");
            push_number(out, self.keyboard_flags().into());
            out.extend_from_slice(b";1u");
        }
        if self.modify_other_keys() != 0 {
            out.extend_from_slice(b"\x1b[>4;");
            push_number(out, self.modify_other_keys().into());
            out.push(b'm');
        }
        if self.cursor().shape.number() != 0 {
            csi(out, &[self.cursor().shape.number().into()], b" q");
        }
    }

    /// The cursor, the wrap that waits for the next character, and the pen.
    fn paint_cursor(&self, pen: &mut Pen, out: &mut Vec<u8>) {
        let origin = if self.modes().contains(Mode::Origin) { self.margins().0 } else { 0 };
        // Only with wrapping on does a wrap wait; it may be off since.
        let is_off = self.cursor().wraps && !self.modes().contains(Mode::Autowrap);
        if is_off {
            out.extend_from_slice(b"\x1b[?7h");
        }
        self.paint_place(self.screen.canvas.cursor, origin, pen, out);
        if is_off {
            out.extend_from_slice(b"\x1b[?7l");
        }
        self.paint_pen(self.pen(), pen, out);
    }

    /// Brings the cursor to a place, whose row is counted from `origin`. Behind the last column, where the next character wraps, it
    /// gets by printing what is there.
    fn paint_place(&self, place: Place, origin: u16, pen: &mut Pen, out: &mut Vec<u8>) {
        let line = u32::from(place.row.saturating_sub(origin)) + 1;
        if place.column < self.size().cols {
            csi(out, &[line, u32::from(place.column) + 1], b"H");
            return;
        }
        let mut row = Row::new();
        self.read_row(place.row as isize, &mut row);
        let cells = row.cells();
        let is_wide = cells.last().is_some_and(|cell| cell.width() == 0);
        let last = cells.len().saturating_sub(if is_wide { 2 } else { 1 });
        csi(out, &[line, last as u32 + 1], b"H");
        if let Some(cell) = cells.get(last) {
            take_pen(pen, cell.pen, &row, out);
            let text = row.text(cell);
            out.extend_from_slice(if text.is_empty() { b" " } else { text.as_bytes() });
            take_pen(pen, Pen::default(), &row, out);
        }
    }

    /// Changes from the default pen, or one that this painted, to a pen of the screen's.
    fn paint_pen(&self, wanted: Pen, pen: &mut Pen, out: &mut Vec<u8>) {
        let links = &self.screen.canvas.past().styles.links;
        if pen.link != wanted.link {
            link(links.key(wanted.link), out);
        }
        write_sgr(out, &Pen { link: wanted.link, ..*pen }, &wanted);
        *pen = wanted;
    }
}

/// Changes the pen, and the link where that is another one.
fn take_pen(pen: &mut Pen, wanted: Pen, row: &Row, out: &mut Vec<u8>) {
    if pen.link != wanted.link {
        link(row.link_key(wanted.link), out);
    }
    write_sgr(out, &Pen { link: wanted.link, ..*pen }, &wanted);
    *pen = wanted;
}

/// Begins a link, or ends the one that is open.
fn link(key: Option<&str>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\x1b]8;");
    let (id, uri) = key.and_then(|key| key.split_once(';')).unwrap_or_default();
    if !id.is_empty() {
        out.extend_from_slice(b"id=");
        out.extend_from_slice(id.as_bytes());
    }
    out.push(b';');
    out.extend_from_slice(uri.as_bytes());
    out.extend_from_slice(b"\x1b\\");
}

fn csi(out: &mut Vec<u8>, numbers: &[u32], end: &[u8]) {
    out.extend_from_slice(b"\x1b[");
    for (at, number) in numbers.iter().enumerate() {
        if at > 0 {
            out.push(b';');
        }
        push_number(out, *number);
    }
    out.extend_from_slice(end);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Settings;
    use super::*;

    const SIZE: Size = Size { rows: 6, cols: 12 };

    fn fed(bytes: &[u8]) -> Terminal {
        let mut terminal = Terminal::new(SIZE, Settings::default());
        terminal.feed_all(bytes);
        terminal
    }

    fn rows(terminal: &Terminal) -> Vec<Row> {
        let read = |at: u16| {
            let mut row = Row::new();
            terminal.read_row(at as isize, &mut row);
            row
        };
        (0..SIZE.rows).map(read).collect()
    }

    #[track_caller]
    fn check_same(a: &Terminal, b: &Terminal, after: &str) {
        for (at, (a, b)) in rows(a).iter().zip(rows(b)).enumerate() {
            assert_eq!(a.to_text(), b.to_text(), "row {at} {after}");
            assert!(*a == b, "the looks of row {at} {after}");
        }
        assert_eq!(a.cursor(), b.cursor(), "{after}");
        assert_eq!(a.margins(), b.margins(), "{after}");
        assert_eq!(a.is_alternate(), b.is_alternate(), "{after}");
        assert_eq!(a.title(), b.title(), "{after}");
    }

    /// Pieces of what programs print.
    fn piece() -> impl Strategy<Value = Vec<u8>> {
        let fixed = prop::sample::select(vec![
            "\r\n",
            "\r",
            "\n",
            "\t",
            "\x08",
            "\x1b[2J",
            "\x1b[K",
            "\x1b[H",
            "\x1b[31;1m",
            "\x1b[m",
            "\x1b[48;5;20m",
            "\x1b[38;2;1;2;3m",
            "\x1b[4:3m",
            "\x1b[2;4r",
            "\x1b[r",
            "\x1b[?6h",
            "\x1b[?6l",
            "\x1b[?7l",
            "\x1b[?7h",
            "\x1b[4h",
            "\x1b[4l",
            "\x1b7",
            "\x1b8",
            "\x1b(0",
            "\x1b(B",
            "\x0e",
            "\x0f",
            "\x1b)0",
            "\x1b[?25l",
            "\x1b[?1h",
            "\x1b[?1049h",
            "\x1b[5 q",
            "\x1bH",
            "\x1b[3g",
            "\x1bM",
            "\x1bD",
            "\x1b[2S",
            "\x1b[L",
            "\x1b[P",
            "\x1b[?1002h\x1b[?1006h",
            "\x1b[?2004h",
            "漢字",
            "e\u{301}",
            "\u{1f468}\u{200d}\u{1f469}",
            "\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\",
            "\x1b]8;id=y;http://y/\x1b\\",
            "\x1b]8;;\x1b\\",
            "\x1b[?6h\x1b[3;2H\x1b7",
            "\x1b[s",
            "\x1b[u",
            "\x1b]2;a title\x07",
            "lqqk",
            "long text that wraps at the edge",
        ]);
        prop_oneof![
            3 => fixed.prop_map(|text| text.as_bytes().to_vec()),
            2 => "[ -~]{1,14}".prop_map(String::into_bytes),
            1 => (1u8..8, 1u8..14).prop_map(|(row, col)| format!("\x1b[{row};{col}H").into_bytes()),
        ]
    }

    proptest! {
        #[test]
        fn another_terminal_goes_on_from_there(
            before in prop::collection::vec(piece(), 0..24),
            after in prop::collection::vec(piece(), 0..12),
        ) {
            let mut one = fed(&before.concat());
            let mut other = fed(&one.repaint().expect("whole pieces"));
            check_same(&one, &other, "at once");
            // A character that joins the one before it is not the next character.
            let goes_on = |piece: &Vec<u8>| piece[0] < 0x80;
            let after: Vec<u8> = after.into_iter().filter(goes_on).flatten().collect();
            for terminal in [&mut one, &mut other] {
                terminal.feed_all(&after);
            }
            check_same(&one, &other, "later");
        }
    }

    #[test]
    fn a_saved_cursor_comes_back_with_its_origin_its_link_and_the_wrap_that_waits() {
        for (saved, next) in [
            ("\x1b[2;4r\x1b[?6h\x1b[2;5H\x1b7\x1b[?6l\x1b[H", "\x1b8x\x1b[1;1Hy"),
            ("0123456789ab\x1b7\x1b[H", "\x1b8x"),
            ("\x1b]8;id=1;http://x/\x1b\\\x1b[31m\x1b7\x1b]8;;\x1b\\\x1b[m\x1b[3;3H", "\x1b8x"),
        ] {
            let mut one = fed(saved.as_bytes());
            let mut other = fed(&one.repaint().expect("whole sequences"));
            for terminal in [&mut one, &mut other] {
                terminal.feed_all(next.as_bytes());
            }
            check_same(&one, &other, saved);
        }
    }

    #[test]
    fn in_the_middle_of_a_sequence_there_is_nothing_to_tell() {
        for cut in ["\x1b", "\x1b[3", "\x1b]2;t", "\x1bP", "\u{e9}"] {
            let whole = cut.len() - usize::from(cut == "\u{e9}");
            assert_eq!(fed(&cut.as_bytes()[..whole]).repaint(), None, "{cut:?}");
        }
    }
}
