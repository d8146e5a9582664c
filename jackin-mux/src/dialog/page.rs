use jackin_core::Size;
use unicode_width::UnicodeWidthStr;

use super::Answer;
use super::panel::Panel;
use crate::chrome::Theme;
use crate::client::{Key, KeyCode};

/// Something to read: rows of two columns.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    title: &'static str,
    rows: Vec<(String, String)>,
    from: usize,
    shown: usize,
}

impl Page {
    pub(crate) fn new(title: &'static str, rows: Vec<(String, String)>) -> Self {
        Self { title, rows, from: 0, shown: 1 }
    }

    pub(super) fn key(&mut self, key: Key) -> Answer {
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.scroll(true, 1),
            KeyCode::Down | KeyCode::Char('j') => self.scroll(false, 1),
            KeyCode::PageUp => self.scroll(true, self.shown),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll(false, self.shown),
            KeyCode::Home => self.scroll(true, self.rows.len()),
            KeyCode::End => self.scroll(false, self.rows.len()),
            KeyCode::Escape | KeyCode::Enter | KeyCode::Char(_) => Answer::Closed(None),
            _ => Answer::Ignored,
        }
    }

    pub(super) fn scroll(&mut self, up: bool, by: usize) -> Answer {
        let before = self.from;
        let last = self.rows.len().saturating_sub(self.shown);
        self.from = if up { before.saturating_sub(by) } else { (before + by).min(last) };
        if self.from == before { Answer::Ignored } else { Answer::Changed }
    }

    pub(super) fn draw(&mut self, size: Size) -> Panel {
        let left = self.rows.iter().map(|(left, _)| left.width()).max().unwrap_or(0);
        let right = self.rows.iter().map(|(_, right)| right.width()).max().unwrap_or(0);
        let width = (left + right + 4).clamp(24, 96) as u16;
        let most = usize::from(size.rows).saturating_sub(4).max(1);
        let mut panel = Panel::new(size, self.rows.len().min(most) as u16, width, self.title);
        let inside = panel.inside();
        self.shown = usize::from(inside.rows).max(1);
        self.from = self.from.min(self.rows.len().saturating_sub(self.shown));
        let end = inside.right();
        for (row, (what, value)) in self.rows.iter().skip(self.from).take(self.shown).enumerate() {
            let row = inside.row + row as u16;
            let col = panel.cells.write(row, inside.col, end, what, Theme::PANEL_TITLE);
            let col = col.max(inside.col + left as u16).saturating_add(2);
            panel.cells.write(row, col, end, value, Theme::PANEL);
        }
        panel
    }
}
