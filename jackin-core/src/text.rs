/// A text of a stranger as one line that can be shown, kept and sent: control characters and line ends become spaces,
/// characters that turn the reading direction around are left out, and what is longer than `max` characters is cut with
/// an ellipsis.
///
/// Titles, questions and errors are an agent's words. Whatever they contain, they must neither drive the operator's
/// terminal nor fill memory or a frame.
///
/// ```
/// use jackin_core::one_line;
///
/// assert_eq!(one_line("Delete\u{1b}[2J\n it?", 80), "Delete [2J it?");
/// assert_eq!(one_line("a very long title", 6), "a ver…");
/// ```
pub fn one_line(text: &str, max: usize) -> String {
    let mut line = String::new();
    let mut blank = true;
    let mut left = max;
    for c in text.chars() {
        let c = if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c };
        if matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') || (c == ' ' && blank) {
            continue;
        }
        if left <= 1 {
            line.truncate(line.trim_end().len());
            line.push('…');
            return line;
        }
        blank = c == ' ';
        left -= 1;
        line.push(c);
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_drives_a_terminal_is_left() {
        assert_eq!(one_line("\u{1b}]0;x\u{7}\u{9b}31m a\tb\r\nc\u{202e}d", 99), "]0;x 31m a b cd");
        assert_eq!(one_line("  \n ", 9), "");
    }

    #[test]
    fn the_length_is_counted_in_characters() {
        assert_eq!(one_line("äöü", 4), "äöü");
        assert_eq!(one_line("äöüß", 4), "äöü…");
        assert_eq!(one_line(&"x".repeat(1_000_000), 100).chars().count(), 100);
    }
}
