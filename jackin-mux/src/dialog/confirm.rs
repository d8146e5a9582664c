use jackin_core::Size;
use unicode_width::UnicodeWidthStr;

use super::panel::Panel;
use super::{Answer, Verdict};
use crate::chrome::Theme;
use crate::client::{Key, KeyCode};

/// A question whose answer is No unless the operator says otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Confirm {
    question: String,
    verdict: Verdict,
    yes: bool,
}

const NO: &str = "  No  ";
const YES: &str = "  Yes  ";

impl Confirm {
    pub(crate) fn new(question: String, verdict: Verdict) -> Self {
        Self { question, verdict, yes: false }
    }

    pub(super) fn key(&mut self, key: Key) -> Answer {
        match key.code {
            KeyCode::Char('y' | 'Y') if !key.mods.ctrl => self.close(true),
            KeyCode::Enter => self.close(self.yes),
            KeyCode::Left | KeyCode::Right | KeyCode::Tab | KeyCode::Char('h' | 'l') => {
                self.yes = !self.yes;
                Answer::Changed
            }
            KeyCode::Escape | KeyCode::Char(_) => self.close(false),
            _ => Answer::Ignored,
        }
    }

    pub(super) fn click(&mut self, row: u16, col: u16) -> Answer {
        let (no, yes) = (NO.width() as u16, YES.width() as u16);
        match col {
            col if row == 1 && col < no => self.close(false),
            col if row == 1 && col > no && col <= no + yes => self.close(true),
            _ => Answer::Ignored,
        }
    }

    fn close(&self, yes: bool) -> Answer {
        Answer::Closed(yes.then(|| self.verdict.clone()))
    }

    pub(super) fn draw(&self, size: Size) -> Panel {
        let width = self.question.width().clamp(18, 68) as u16;
        let mut panel = Panel::new(size, 2, width, "Sure?");
        let inside = panel.inside();
        let end = inside.right();
        panel.cells.write_cut(inside.row, inside.col, end, &self.question, Theme::PANEL);
        if inside.rows > 1 {
            let (no, yes) = if self.yes {
                (Theme::PANEL, Theme::PANEL_CHOSEN)
            } else {
                (Theme::PANEL_CHOSEN, Theme::PANEL)
            };
            let col = panel.cells.write(inside.row + 1, inside.col, end, NO, no);
            panel.cells.write(inside.row + 1, col + 1, end, YES, yes);
        }
        panel
    }
}
