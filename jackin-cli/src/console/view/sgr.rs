//! A row of a session's screen, which is text with SGR sequences, as styled pieces. Any other sequence is dropped: a
//! capsule sends none, and one that does is not to be trusted.

use jackin_mux::vt::{Attributes, Color as Ink, Pen, Underline, apply_sgr};
use ratatui::style::{Color, Modifier, Style};

/// The pieces of a row, in order.
pub(crate) fn pieces(row: &str, mut each: impl FnMut(&str, Style)) {
    let mut pen = Pen::default();
    let mut rest = row;
    while let Some(at) = rest.find('\u{1b}') {
        if at > 0 {
            each(&rest[..at], style(&pen));
        }
        rest = sequence(&rest[at + 1..], &mut pen);
    }
    if !rest.is_empty() {
        each(rest, style(&pen));
    }
}

/// The text of a row alone.
pub(crate) fn plain(row: &str) -> String {
    let mut text = String::new();
    pieces(row, |piece, _| text.push_str(&super::text::clean(piece)));
    text
}

/// Takes what follows an ESC; what is left after it.
fn sequence<'a>(after: &'a str, pen: &mut Pen) -> &'a str {
    let bytes = after.as_bytes();
    match bytes.first() {
        Some(b'[') => {
            let Some(end) = bytes[1..].iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
                return "";
            };
            let end = end + 1;
            if bytes[end] == b'm' && bytes[1..end].iter().all(|byte| matches!(byte, b'0'..=b';')) {
                apply_sgr(pen, &bytes[1..end]);
            }
            after.get(end + 1..).unwrap_or("")
        }
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let bell = after.find('\u{7}').map(|at| at + 1);
            let terminator = after.find("\u{1b}\\").map(|at| at + 2);
            let end = [bell, terminator].into_iter().flatten().min().unwrap_or(after.len());
            &after[end..]
        }
        // A character that an ESC stands before is no text.
        Some(_) => {
            let mut chars = after.chars();
            chars.next();
            chars.as_str()
        }
        None => "",
    }
}

fn style(pen: &Pen) -> Style {
    let mut style = Style::new();
    if let Some(color) = color(pen.foreground) {
        style = style.fg(color);
    }
    if let Some(color) = color(pen.background) {
        style = style.bg(color);
    }
    let has =
        |attribute, modifier| if pen.attributes.contains(attribute) { modifier } else { Modifier::empty() };
    // What blinks in an agent's screen would blink in the operator's eye.
    let mut modifier = has(Attributes::BOLD, Modifier::BOLD)
        | has(Attributes::DIM, Modifier::DIM)
        | has(Attributes::ITALIC, Modifier::ITALIC)
        | has(Attributes::INVERSE, Modifier::REVERSED)
        | has(Attributes::HIDDEN, Modifier::HIDDEN)
        | has(Attributes::STRIKE, Modifier::CROSSED_OUT);
    if pen.underline != Underline::None {
        modifier |= Modifier::UNDERLINED;
    }
    style.add_modifier(modifier)
}

fn color(ink: Ink) -> Option<Color> {
    match ink {
        Ink::Default => None,
        Ink::Indexed(index) => Some(Color::Indexed(index)),
        Ink::Rgb(red, green, blue) => Some(Color::Rgb(red, green, blue)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(row: &str) -> Vec<(String, Style)> {
        let mut read = Vec::new();
        pieces(row, |text, style| read.push((text.to_owned(), style)));
        read
    }

    #[test]
    fn colours_and_attributes_are_kept() {
        let row = "plain \x1b[1;31mred\x1b[0m \x1b[38;5;208;4morange\x1b[38;2;1;2;3mrgb";
        let plain = Style::new();
        let orange = plain.fg(Color::Indexed(208)).add_modifier(Modifier::UNDERLINED);
        assert_eq!(
            read(row),
            [
                ("plain ".to_owned(), plain),
                ("red".to_owned(), plain.fg(Color::Indexed(1)).add_modifier(Modifier::BOLD)),
                (" ".to_owned(), plain),
                ("orange".to_owned(), orange),
                ("rgb".to_owned(), orange.fg(Color::Rgb(1, 2, 3))),
            ]
        );
    }

    #[test]
    fn other_sequences_are_dropped_with_what_belongs_to_them() {
        for row in [
            "a\x1b[2Jb",
            "a\x1b]0;title\x07b",
            "a\x1b]8;;http://x\x1b\\b",
            "a\x1bP$q\x1b\\b",
            "a\x1b[?1049hb",
            "a\x1bcb",
        ] {
            assert_eq!(plain(row), "ab", "{row:?}");
        }
        for row in ["a\x1b", "a\x1b[", "a\x1b[31", "a\x1b]8;;x"] {
            assert_eq!(plain(row), "a", "{row:?}");
        }
    }

    proptest! {
        #[test]
        fn no_row_breaks_it(row in "(\\x1b|\\[|\\]|[0-9;:m?a-z]|\\PC|.)*") {
            prop_assert!(!plain(&row).contains(char::is_control));
        }
    }
}
