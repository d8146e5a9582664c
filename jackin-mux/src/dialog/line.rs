use jackin_core::Size;
use unicode_segmentation::UnicodeSegmentation;

use super::panel::Panel;
use super::{Answer, Verdict};
use crate::chrome::Theme;
use crate::client::{Key, KeyCode};

/// The longest line that can be typed.
const LONGEST: usize = 256;

/// A line of text that is being typed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    text: String,
}

impl Line {
    pub(crate) fn new(text: &str) -> Self {
        let mut line = Self::default();
        line.paste(text);
        line
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Takes a key; false when it means nothing here.
    pub(super) fn edit(&mut self, key: Key) -> bool {
        match key.code {
            KeyCode::Char('u') if key.mods.ctrl => self.text.clear(),
            KeyCode::Char('w') if key.mods.ctrl => {
                let kept = self.text.trim_end().rfind(' ').map_or(0, |at| at + 1);
                self.text.truncate(kept);
            }
            KeyCode::Char(c) if !key.mods.ctrl && !key.mods.alt && self.text.len() < LONGEST => {
                self.text.push(c);
            }
            KeyCode::Backspace => {
                let last = self.text.graphemes(true).next_back().map_or(0, str::len);
                self.text.truncate(self.text.len() - last);
            }
            _ => return false,
        }
        true
    }

    pub(super) fn paste(&mut self, text: &str) -> Answer {
        let room = LONGEST.saturating_sub(self.text.len());
        self.text.extend(
            text.chars().take_while(|c| !matches!(c, '\r' | '\n')).filter(|c| !c.is_control()).take(room),
        );
        Answer::Changed
    }

    pub(super) fn key(&mut self, key: Key, tab: u32) -> Answer {
        match key.code {
            KeyCode::Escape => Answer::Closed(None),
            KeyCode::Char('c' | 'g') if key.mods.ctrl => Answer::Closed(None),
            KeyCode::Enter => {
                Answer::Closed(Some(Verdict::Rename { tab, label: self.text.trim().to_owned() }))
            }
            _ if self.edit(key) => Answer::Changed,
            _ => Answer::Ignored,
        }
    }

    pub(super) fn draw(&self, size: Size) -> Panel {
        let mut panel = Panel::new(size, 2, 42, "Rename tab");
        let inside = panel.inside();
        let end = inside.right();
        let col = panel.cells.write(inside.row, inside.col, end, &self.text, Theme::PANEL);
        panel.cursor = Some((inside.row, col.min(end.saturating_sub(1))));
        if inside.rows > 1 {
            let hint = "Enter takes it, empty gives the name back";
            panel.cells.write_cut(inside.row + 1, inside.col, end, hint, Theme::PANEL_QUIET);
        }
        panel
    }
}
