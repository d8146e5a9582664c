use std::ops::Range;

/// A configuration's text, for finding places in it.
#[derive(Debug)]
pub(super) struct Source<'a> {
    text: &'a str,
    line_starts: Vec<usize>,
}

/// A place in a configuration's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The bytes of the text.
    pub span: Range<usize>,
    /// The line of its beginning, counted from 1.
    pub line: usize,
    /// The character of that line, counted from 1.
    pub column: usize,
    /// What stands there, up to the end of the line.
    pub text: String,
    /// That line, as much of it as is worth showing.
    pub(super) excerpt: String,
    /// Where in the excerpt the place is, in characters.
    pub(super) marked: Range<usize>,
}

/// How much of a long line is shown around a place.
const CHARS_BEFORE: usize = 60;
const CHARS_SHOWN: usize = 110;

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, line_starts }
    }

    pub(super) fn place(&self, span: Range<usize>) -> Place {
        let start = floor_char_boundary(self.text, span.start);
        let end = floor_char_boundary(self.text, span.end).max(start);
        let line = self.line_starts.partition_point(|&line_start| line_start <= start);
        let line_start = self.line_starts[line - 1];
        let line_text = self.text[line_start..].split('\n').next().unwrap_or_default();
        let line_text = line_text.strip_suffix('\r').unwrap_or(line_text);
        let before = self.text[line_start..start].chars().count();
        let text = self.text[start..end].split(['\n', '\r']).next().unwrap_or_default();
        let cut = before.saturating_sub(CHARS_BEFORE);
        let mut excerpt: String = line_text.chars().skip(cut).take(CHARS_SHOWN).map(printable).collect();
        let mut marked = before - cut..(before - cut + text.chars().count()).min(CHARS_SHOWN);
        if cut > 0 {
            excerpt.insert(0, '…');
            marked = marked.start + 1..marked.end + 1;
        }
        if line_text.chars().nth(cut + CHARS_SHOWN).is_some() {
            excerpt.push('…');
        }
        let text = text.chars().take(CHARS_SHOWN).map(printable).collect();
        Place { span: start..end, line, column: before + 1, text, excerpt, marked }
    }

    /// Where `inner`, a part of a string's value, stands in the text, given where the string does.
    pub(super) fn within_string(&self, string: &Range<usize>, inner: &Range<usize>) -> Range<usize> {
        let Some(raw) = self.text.get(string.clone()) else { return string.clone() };
        match (raw_offset(raw, inner.start), raw_offset(raw, inner.end)) {
            (Some(start), Some(end)) if start <= end => string.start + start..string.start + end,
            _ => string.clone(),
        }
    }
}

fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Where the byte `wanted` of a TOML string's value stands in its source, quotes included.
fn raw_offset(raw: &str, wanted: usize) -> Option<usize> {
    let (quotes, literal) = if raw.starts_with("\"\"\"") {
        (3, false)
    } else if raw.starts_with("'''") {
        (3, true)
    } else if raw.starts_with('"') {
        (1, false)
    } else if raw.starts_with('\'') {
        (1, true)
    } else {
        return None;
    };
    let mut at = quotes;
    if quotes == 3 {
        // A newline directly after the quotes is not part of the value.
        at += ["\r\n", "\n"].into_iter().find(|newline| raw[at..].starts_with(newline)).map_or(0, str::len);
    }
    let mut value_at = 0;
    while value_at < wanted {
        let rest = raw.get(at..)?;
        let c = rest.chars().next()?;
        let (raw_len, value_len) = match (c, literal) {
            ('\\', false) => escape(rest)?,
            // Line ends are read as one character.
            ('\r', _) if rest.starts_with("\r\n") => (2, 1),
            _ => (c.len_utf8(), c.len_utf8()),
        };
        at += raw_len;
        value_at += value_len;
    }
    // What the line's end swallows belongs to what stood before it.
    if !literal
        && let Some((swallowed, 0)) = raw.get(at..).filter(|rest| rest.starts_with('\\')).and_then(escape)
    {
        at += swallowed;
    }
    (value_at == wanted && at + quotes <= raw.len()).then_some(at)
}

/// The length of the escape that `rest` begins with, and of what it stands for.
fn escape(rest: &str) -> Option<(usize, usize)> {
    let digits = match rest.chars().nth(1)? {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        ' ' | '\t' | '\n' | '\r' => {
            // At the end of a line it swallows all blanks up to the next text.
            let swallowed = rest[1..].find(|c: char| !c.is_ascii_whitespace()).unwrap_or(rest.len() - 1);
            return Some((1 + swallowed, 0));
        }
        _ => return Some((2, 1)),
    };
    let code = u32::from_str_radix(rest.get(2..2 + digits)?, 16).ok()?;
    Some((2 + digits, char::from_u32(code)?.len_utf8()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters() {
        let source = Source::new("a = 1\nß = \"é\"\r\nlast");
        let place = source.place(11..15);
        assert_eq!((place.line, place.column), (2, 5));
        assert_eq!((place.text.as_str(), place.excerpt.as_str()), ("\"é\"", "ß = \"é\""));
        assert_eq!(place.marked, 4..7);
        assert_eq!(source.place(400..500).line, 3, "a place behind the end is at the end");
    }

    #[test]
    fn a_long_line_is_shown_in_part() {
        let text = format!("{}HERE{}", "x".repeat(500), "y".repeat(500));
        let place = Source::new(&text).place(500..504);
        assert_eq!(place.column, 501);
        let marked: String =
            place.excerpt.chars().skip(place.marked.start).take(place.marked.len()).collect();
        assert_eq!(marked, "HERE");
        assert!(place.excerpt.chars().count() <= CHARS_SHOWN + 2);
    }

    #[test]
    fn places_within_strings_survive_escapes() {
        for (toml, value) in [
            ("\"a {x}\"", "a {x}"),
            ("'a {x}'", "a {x}"),
            ("\"\\t\\\"\\u00e9\\x41\\U0001F600{x}\"", "\t\"éA😀{x}"),
            ("\"\"\"\na\n{x}\"\"\"", "a\n{x}"),
            ("\"\"\"a \\\n   {x}\"\"\"", "a {x}"),
            ("'''\r\na\r\n{x}'''", "a\n{x}"),
        ] {
            let text = format!("exec = {toml}");
            let at = value.find("{x}").unwrap();
            let span = Source::new(&text).within_string(&(7..text.len()), &(at..at + 3));
            assert_eq!(&text[span], "{x}", "{toml}");
        }
        let text = "exec = \"\\q\"";
        assert_eq!(Source::new(text).within_string(&(7..11), &(3..4)), 7..11, "in doubt, the whole string");
    }
}
