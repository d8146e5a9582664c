//! Short, safe words out of agents' strings: what ends up in a status line must not be long and must not drive the
//! operator's terminal.

/// The longest prompt, error or tool name that is kept, in bytes.
const MAX_WORDS: usize = 400;
/// The longest id that is kept, in bytes. Real ones are below 80.
pub(crate) const MAX_ID: usize = 200;

/// The text in one line without control characters, cut to a length for people.
pub(crate) fn line(text: &str) -> String {
    let mut out = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if out.len() + word.len() + 1 > MAX_WORDS {
            let room = MAX_WORDS.saturating_sub(out.len() + 1);
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(cut(word, room));
            out.push('…');
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// The same, where there is any text.
pub(crate) fn some_line(text: &str) -> Option<String> {
    Some(line(text)).filter(|line| !line.is_empty())
}

/// The id, cut where it is absurdly long.
pub(crate) fn id(text: &str) -> String {
    cut(text, MAX_ID).to_owned()
}

/// The first `max` bytes at most, ending between characters.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short_and_harmless() {
        assert_eq!(line("  a\x1b[31m\n\tb\u{85}c "), "a [31m b c");
        assert_eq!(some_line(" \n"), None);
        let long = line(&"wörter ".repeat(1_000));
        assert!(long.len() <= MAX_WORDS + 4 && long.ends_with('…'));
        let one_word = line(&"é".repeat(1_000));
        assert!(one_word.len() <= MAX_WORDS + 4 && one_word.starts_with('é'));
        assert_eq!(id(&"é".repeat(1_000)).len(), MAX_ID);
    }
}
