use jackin_core::Size;
use unicode_width::UnicodeWidthStr;

use super::panel::Panel;
use super::{Answer, Line, Verdict};
use crate::chrome::Theme;
use crate::client::{Key, KeyCode};
use crate::layout::Rect;

/// The most rows that a list shows at once.
const MOST_ROWS: usize = 16;
const WIDTH: u16 = 54;

/// Something to choose, by arrows, by mouse or by typing some of its letters.
#[derive(Clone, Debug)]
pub(crate) struct List {
    title: &'static str,
    choices: Vec<Choice>,
    filter: Line,
    /// Indices of the choices that fit the filter, best first.
    found: Vec<usize>,
    at: usize,
    /// The first one that is shown.
    from: usize,
    shown: usize,
}

/// One line of a list.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) text: String,
    /// Shown at the right: its key.
    pub(crate) hint: String,
    pub(crate) verdict: Verdict,
}

impl List {
    pub(crate) fn new(title: &'static str, choices: Vec<Choice>, at: usize) -> Self {
        let found = (0..choices.len()).collect();
        let mut list = Self { title, choices, filter: Line::default(), found, at, from: 0, shown: 1 };
        list.at = list.at.min(list.found.len().saturating_sub(1));
        list
    }

    pub(super) fn key(&mut self, key: Key) -> Answer {
        let ctrl = |c| key == Key::ctrl(c);
        match key.code {
            KeyCode::Escape => return Answer::Closed(None),
            _ if ctrl('c') || ctrl('g') => return Answer::Closed(None),
            KeyCode::Enter => return self.choose(self.at),
            KeyCode::Up => return self.step(false, 1),
            KeyCode::Down => return self.step(true, 1),
            KeyCode::PageUp => return self.step(false, self.shown),
            KeyCode::PageDown => return self.step(true, self.shown),
            _ if ctrl('p') || ctrl('k') => return self.step(false, 1),
            _ if ctrl('n') || ctrl('j') => return self.step(true, 1),
            KeyCode::Tab => return self.step(!key.mods.shift, 1),
            _ => {}
        }
        if !self.filter.edit(key) {
            return Answer::Ignored;
        }
        self.narrow();
        Answer::Changed
    }

    pub(super) fn paste(&mut self, text: &str) -> Answer {
        let answer = self.filter.paste(text);
        self.narrow();
        answer
    }

    pub(super) fn step(&mut self, down: bool, by: usize) -> Answer {
        let before = self.at;
        let last = self.found.len().saturating_sub(1);
        self.at = match (down, by) {
            // One step goes round.
            (true, 1) if before == last => 0,
            (false, 1) if before == 0 => last,
            (true, by) => (before + by).min(last),
            (false, by) => before.saturating_sub(by),
        };
        if self.at == before { Answer::Ignored } else { Answer::Changed }
    }

    pub(super) fn click(&mut self, row: u16) -> Answer {
        match usize::from(row).checked_sub(1) {
            Some(row) if row < self.shown => self.choose(self.from + row),
            _ => Answer::Ignored,
        }
    }

    fn choose(&self, at: usize) -> Answer {
        match self.found.get(at) {
            Some(&choice) => Answer::Closed(Some(self.choices[choice].verdict.clone())),
            None => Answer::Ignored,
        }
    }

    fn narrow(&mut self) {
        let mut found: Vec<(i32, usize)> = self
            .choices
            .iter()
            .enumerate()
            .filter_map(|(at, choice)| Some((score(&choice.text, self.filter.text())?, at)))
            .collect();
        found.sort_by_key(|(score, at)| (-score, *at));
        self.found = found.into_iter().map(|(_, at)| at).collect();
        self.at = 0;
        self.from = 0;
    }

    pub(super) fn draw(&mut self, size: Size) -> Panel {
        let rows = self.choices.len().min(MOST_ROWS) as u16 + 1;
        let mut panel = Panel::new(size, rows, WIDTH, self.title);
        let Rect { row, col, rows, cols } = panel.inside();
        let end = col + cols;
        self.shown = usize::from(rows.saturating_sub(1)).max(1);
        if self.at < self.from {
            self.from = self.at;
        } else if self.at >= self.from + self.shown {
            self.from = self.at + 1 - self.shown;
        }
        let at = panel.cells.write(row, col, end, "> ", Theme::PANEL_QUIET);
        let at = panel.cells.write(row, at, end, self.filter.text(), Theme::PANEL);
        panel.cursor = Some((row, at.min(end.saturating_sub(1))));
        for (offset, place) in (self.from..self.found.len()).take(self.shown).enumerate() {
            let choice = &self.choices[self.found[place]];
            let line = row + 1 + offset as u16;
            if line >= row + rows {
                break;
            }
            let (pen, quiet) = if place == self.at {
                (Theme::PANEL_CHOSEN, Theme::PANEL_CHOSEN)
            } else {
                (Theme::PANEL, Theme::PANEL_QUIET)
            };
            panel.cells.fill(Rect { row: line, col, rows: 1, cols }, pen);
            let hint = choice.hint.width() as u16;
            let text_end = if hint > 0 && hint + 8 < cols { end - hint - 1 } else { end };
            panel.cells.write_cut(line, col, text_end, &choice.text, pen);
            if text_end < end {
                panel.cells.write(line, text_end + 1, end, &choice.hint, quiet);
            }
        }
        if self.found.is_empty() && rows > 1 {
            panel.cells.write(row + 1, col, end, "nothing fits", Theme::PANEL_QUIET);
        }
        panel.tell_part(self.from, self.shown, self.found.len());
        panel
    }
}

/// How well a text fits a filter whose letters it must have in this order; better where they stand together and where
/// words begin. None when it does not fit.
///
/// ```
/// use jackin_mux::fuzzy_score;
///
/// assert!(fuzzy_score("Kill pane", "kp") > fuzzy_score("Break up", "kp"));
/// assert_eq!(fuzzy_score("Zoom pane", "pz"), None);
/// ```
pub fn score(text: &str, filter: &str) -> Option<i32> {
    let mut wanted = filter.chars().filter(|c| !c.is_whitespace());
    let Some(first) = wanted.next().map(lower) else { return Some(0) };
    // The first letter may stand in several places, and the best of them need not be the first.
    let starts = text.char_indices().filter(|(_, c)| lower(*c) == first);
    starts.filter_map(|(at, _)| score_from(text, at, filter)).max()
}

fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// The score when the first letter is the one at a place.
fn score_from(text: &str, at: usize, filter: &str) -> Option<i32> {
    let mut wanted = filter.chars().filter(|c| !c.is_whitespace()).map(lower).peekable();
    // Of equals, the one whose match begins the text.
    let mut score = i32::from(at == 0);
    let mut before = text[..at].chars().next_back().unwrap_or(' ');
    let mut run = 0;
    for c in text[at..].chars().map(lower) {
        match wanted.peek() {
            None => break,
            Some(&letter) if letter == c => {
                run += 1;
                // Letters that stand together say more than beginnings of words, and those more than any others.
                score += match (run, before.is_alphanumeric()) {
                    (2.., _) => 6,
                    (_, false) => 5,
                    _ => 1,
                };
                wanted.next();
            }
            Some(_) => run = 0,
        }
        before = c;
    }
    wanted.peek().is_none().then_some(score)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;

    #[test]
    fn letters_in_order_fit_and_beginnings_of_words_fit_best() {
        assert!(score("Split side by side", "sss").is_some());
        assert_eq!(score("Zoom pane", "pz"), None);
        assert!(score("Kill pane", "kp") > score("Break up", "kp"));
        assert!(score("Next tab", "ta") > score("Restart", "ta"), "the second t is the better one");
        assert!(score("Tab 1", "ta") > score("Next tab", "ta"));
        assert!(score("Next tab", "ta") > score("Split top and bottom", "ta"));
        assert_eq!(score("anything", ""), Some(0));
    }

    #[test]
    fn typing_narrows_and_enter_chooses() {
        let choice = |command: Command| Choice {
            text: command.title().to_owned(),
            hint: String::new(),
            verdict: Verdict::Run(command),
        };
        let mut list = List::new("Commands", Command::all().map(choice).collect(), 0);
        for c in "zoo".chars() {
            list.key(Key::char(c));
        }
        assert_eq!(list.key(Key::plain(KeyCode::Enter)), Answer::Closed(Some(Verdict::Run(Command::Zoom))));
        for c in "zzzz".chars() {
            list.key(Key::char(c));
        }
        assert_eq!(list.key(Key::plain(KeyCode::Enter)), Answer::Ignored);
        for size in [Size::new(1, 1), Size::new(3, 9), Size::new(5, 20), Size::new(200, 300)] {
            list.draw(size);
        }
    }
}
