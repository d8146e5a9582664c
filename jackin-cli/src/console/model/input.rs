//! A text that the operator types.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

/// The longest text in bytes: a prompt may be a page, not a book.
const LONGEST: usize = 32 * 1024;

/// A text with a cursor in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Input {
    text: String,
    /// In bytes, at the border of two graphemes.
    cursor: usize,
}

/// Whether a key closes whatever is open.
pub(crate) fn closes(key: KeyEvent) -> bool {
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    key.code == KeyCode::Esc || (ctrl && matches!(key.code, KeyCode::Char('c' | 'g' | '[')))
}

impl Input {
    pub(crate) fn new(text: &str) -> Self {
        let mut input = Self::default();
        input.insert(text);
        input
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What stands before the cursor.
    pub(crate) fn before(&self) -> &str {
        &self.text[..self.cursor]
    }

    pub(crate) fn set(&mut self, text: &str) {
        *self = Self::new(text);
    }

    /// Puts text at the cursor. Line ends stay, tabs become blanks, other control characters are left out.
    pub(crate) fn insert(&mut self, text: &str) {
        for c in text.replace("\r\n", "\n").chars() {
            let c = match c {
                '\r' => '\n',
                '\t' => ' ',
                c => c,
            };
            if (c.is_control() && c != '\n') || self.text.len() + c.len_utf8() > LONGEST {
                continue;
            }
            self.text.insert(self.cursor, c);
            self.cursor += c.len_utf8();
        }
    }

    /// Takes a key; whether it meant something.
    pub(crate) fn key(&mut self, key: KeyEvent) -> bool {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Char('a') if ctrl => self.cursor = 0,
            KeyCode::Char('e') if ctrl => self.cursor = self.text.len(),
            KeyCode::Char('u') if ctrl => {
                self.text.drain(..self.cursor);
                self.cursor = 0;
            }
            KeyCode::Char('k') if ctrl => self.text.truncate(self.cursor),
            KeyCode::Char('w') if ctrl => {
                let kept = self.before().trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1);
                self.text.drain(kept..self.cursor);
                self.cursor = kept;
            }
            KeyCode::Char(c) if !ctrl && !alt => self.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => {
                let start = self.left();
                self.text.drain(start..self.cursor);
                self.cursor = start;
            }
            KeyCode::Delete => {
                let end = self.right();
                self.text.drain(self.cursor..end);
            }
            KeyCode::Left => self.cursor = self.left(),
            KeyCode::Right => self.cursor = self.right(),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.text.len(),
            _ => return false,
        }
        true
    }

    fn left(&self) -> usize {
        self.cursor - self.before().graphemes(true).next_back().map_or(0, str::len)
    }

    fn right(&self) -> usize {
        self.cursor + self.text[self.cursor..].graphemes(true).next().map_or(0, str::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_and_pasted_stays_a_text_with_a_cursor_in_it() {
        let mut input = Input::new("fix the e\u{301}x\u{1b}[2J");
        assert_eq!(input.text(), "fix the e\u{301}x[2J");
        for _ in 0..4 {
            assert!(input.key(KeyCode::Backspace.into()));
        }
        input.key(KeyCode::Left.into());
        assert_eq!(input.before(), "fix the ", "a character with its accent is one step");
        input.key(KeyCode::Delete.into());
        input.insert("a\r\nb\tc\0");
        assert_eq!(input.text(), "fix the a\nb c");
        input.key(KeyEvent::new(KeyCode::Char('w'), KeyModifiers::CONTROL));
        assert_eq!(input.text(), "fix the a\nb ");
        input.key(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL));
        assert_eq!(input.text(), "");
        input.insert(&"x".repeat(LONGEST + 9));
        assert_eq!(input.text().len(), LONGEST);
    }
}
