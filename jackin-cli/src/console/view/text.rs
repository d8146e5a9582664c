//! Texts of strangers on their way to a cell: nothing in them drives the terminal, and each takes the room that it is
//! said to take.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many marks a character may carry. More of them are a trick.
const MOST_MARKS: usize = 3;

/// A text as it may be shown in one line: control characters and line ends become spaces, what turns the reading direction
/// around or is invisible is left out, and of characters on whose width terminals disagree (families, flags, variants)
/// the first part stays.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| (b' '..0x7f).contains(&byte)) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    for grapheme in text.graphemes(true) {
        let mut chars = grapheme.chars();
        let Some(first) = chars.next() else { continue };
        if first.is_control() || matches!(first, '\u{2028}' | '\u{2029}') {
            clean.push(' ');
        } else if first.width().unwrap_or(0) > 0 && !is_direction(first) {
            clean.push(first);
            clean.extend(chars.filter(|c| is_mark(*c)).take(MOST_MARKS));
        }
    }
    Cow::Owned(clean)
}

fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character only decorates the one before it.
fn is_mark(c: char) -> bool {
    c.width() == Some(0)
        && !c.is_control()
        && !is_direction(c)
        && !matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e01ef}' | '\u{1160}'..='\u{11ff}')
}

/// The columns that a clean text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A text cut to so many columns, with an ellipsis where something is missing.
pub(crate) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    // What is far longer than the room need not be looked at whole.
    let enough = text.char_indices().nth(columns.saturating_mul(4) + 64).map_or(text.len(), |(at, _)| at);
    let clean = clean(&text[..enough]);
    if clean.width() <= columns && enough == text.len() {
        return clean;
    }
    if columns == 0 {
        return Cow::Borrowed("");
    }
    let mut kept = String::new();
    let mut used = 0;
    for grapheme in clean.graphemes(true) {
        let wide = grapheme.width();
        if used + wide > columns - 1 {
            break;
        }
        used += wide;
        kept.push_str(grapheme);
    }
    kept.push('…');
    Cow::Owned(kept)
}

/// A text in lines of at most so many columns and at most so many of them, broken at blanks where there are some.
pub(crate) fn wrap(text: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    if columns == 0 || most == 0 {
        return lines;
    }
    for paragraph in text.split('\n') {
        let mut line = String::new();
        let mut used = 0;
        for word in clean(paragraph).split_inclusive(' ') {
            let wide = word.trim_end().width();
            if used + wide > columns && used > 0 {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
                used = 0;
            }
            if wide > columns {
                for grapheme in word.trim_end().graphemes(true) {
                    if used + grapheme.width() > columns && used > 0 {
                        lines.push(std::mem::take(&mut line));
                        used = 0;
                    }
                    used += grapheme.width();
                    line.push_str(grapheme);
                }
                line.push(' ');
                used += 1;
            } else {
                used += word.width();
                line.push_str(word);
            }
            if lines.len() > most {
                break;
            }
        }
        lines.push(line.trim_end().to_owned());
        if lines.len() > most {
            break;
        }
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = cut(&format!("{last} …and more"), columns).into_owned();
        }
    }
    lines
}

/// A text that is being typed, in lines that are broken where they are full, and the line and the column of its cursor,
/// which stands before this byte.
pub(crate) fn typed(text: &str, cursor: usize, columns: usize) -> (Vec<String>, (usize, usize)) {
    let (mut lines, mut used) = (vec![String::new()], 0);
    let mut place = (0, 0);
    for (at, grapheme) in text.grapheme_indices(true) {
        let shown = if grapheme == "\n" { Cow::Borrowed("") } else { clean(grapheme) };
        if used + shown.width() > columns {
            lines.push(String::new());
            used = 0;
        }
        if at == cursor {
            place = (lines.len() - 1, used);
        }
        lines.last_mut().expect("there is always one").push_str(&shown);
        used += shown.width();
        if grapheme == "\n" {
            lines.push(String::new());
            used = 0;
        }
    }
    if cursor >= text.len() {
        // What is typed next comes there.
        if used >= columns {
            lines.push(String::new());
            used = 0;
        }
        place = (lines.len() - 1, used);
    }
    (lines, place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_drives_a_terminal_or_lies_about_its_width_is_gone() {
        for (text, shown) in [
            ("plain", "plain"),
            ("a\u{1b}[2Jb\u{7}\u{9b}31m", "a [2Jb  31m"),
            ("e\u{301}", "e\u{301}"),
            ("\u{202e}evil\u{2066}", "evil"),
            ("zero\u{200b}width\u{feff}", "zerowidth"),
            ("👨\u{200d}👩\u{200d}👧", "👨"),
            ("❤\u{fe0f}", "❤"),
            ("日本", "日本"),
        ] {
            assert_eq!(clean(text), shown, "{text:?}");
        }
        let zalgo = format!("x{}", "\u{336}".repeat(500));
        assert_eq!(clean(&zalgo).chars().count(), 4);
    }

    #[test]
    fn cut_keeps_wide_characters_whole() {
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(cut(&"y".repeat(1 << 20), 3), "yy…");
    }

    #[test]
    fn a_question_is_broken_at_blanks() {
        assert_eq!(wrap("Run the test suite?", 10, 9), ["Run the", "test", "suite?"]);
        assert_eq!(wrap("one\ntwo", 10, 9), ["one", "two"]);
        assert_eq!(wrap("abcdefgh", 3, 9), ["abc", "def", "gh"]);
        assert_eq!(wrap("a b c d e f", 1, 2).len(), 2);
    }

    #[test]
    fn the_cursor_stands_where_the_next_character_comes() {
        for (text, cursor, lines, place) in [
            ("", 0, vec![""], (0, 0)),
            ("abc", 1, vec!["abc"], (0, 1)),
            ("abcd", 4, vec!["abcd", ""], (1, 0)),
            ("abcde", 4, vec!["abcd", "e"], (1, 0)),
            ("ab \ncd", 3, vec!["ab ", "cd"], (0, 3)),
            ("ab\n", 3, vec!["ab", ""], (1, 0)),
            ("日本語", 6, vec!["日本", "語"], (1, 0)),
        ] {
            let lines = lines.into_iter().map(str::to_owned).collect();
            assert_eq!(typed(text, cursor, 4), (lines, place), "{text:?} {cursor}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_ever_wider_than_it_may_be(text in "\\PC*|.*", columns in 0_usize..40) {
            let shown = cut(&text, columns);
            prop_assert!(shown.width() <= columns, "{shown:?}");
            prop_assert!(!shown.contains(char::is_control));
            for line in wrap(&text, columns, 5) {
                // A wide character in one column has no place at all.
                prop_assert!(line.width() <= columns.max(2), "{line:?}");
                prop_assert!(!line.contains(char::is_control));
            }
        }
    }
}
