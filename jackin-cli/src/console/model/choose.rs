//! Something to choose out of a list, by arrows, by mouse or by typing some of its letters.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jackin_mux::fuzzy_score;

use super::input::{Input, closes};

/// A list to choose from.
#[derive(Clone, Debug)]
pub(crate) struct Choose<T> {
    pub(crate) choices: Vec<Choice<T>>,
    pub(crate) filter: Input,
    /// The choices that fit the filter, best first.
    pub(crate) found: Vec<usize>,
    /// The chosen one of those.
    pub(crate) at: usize,
}

/// One line of a list.
#[derive(Clone, Debug)]
pub(crate) struct Choice<T> {
    pub(crate) text: String,
    /// Shown at the right.
    pub(crate) hint: String,
    pub(crate) value: T,
}

/// What a key meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// This choice.
    This(usize),
    Nothing,
    /// The list stays.
    Open,
}

impl<T> Choose<T> {
    pub(crate) fn new(choices: Vec<Choice<T>>) -> Self {
        let found = (0..choices.len()).collect();
        Self { choices, filter: Input::default(), found, at: 0 }
    }

    /// Takes a key. `page` is how many rows are shown.
    pub(crate) fn key(&mut self, key: KeyEvent, page: usize) -> Chosen {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            _ if closes(key) => return Chosen::Nothing,
            KeyCode::Enter => return self.chosen(),
            KeyCode::Up | KeyCode::BackTab => self.step(-1),
            KeyCode::Down | KeyCode::Tab => self.step(1),
            KeyCode::Char('p') if ctrl => self.step(-1),
            KeyCode::Char('n') if ctrl => self.step(1),
            KeyCode::PageUp => self.at = self.at.saturating_sub(page),
            KeyCode::PageDown => self.at = (self.at + page).min(self.found.len().saturating_sub(1)),
            _ => {
                if self.filter.key(key) {
                    self.narrow();
                }
            }
        }
        Chosen::Open
    }

    pub(crate) fn paste(&mut self, text: &str) {
        self.filter.insert(text);
        self.narrow();
    }

    /// Moves by one, round at the ends.
    pub(crate) fn step(&mut self, by: isize) {
        let len = self.found.len();
        if len > 0 {
            self.at = (self.at + len).saturating_add_signed(by) % len;
        }
    }

    /// The choice that Enter takes.
    pub(crate) fn chosen(&self) -> Chosen {
        self.found.get(self.at).map_or(Chosen::Open, |at| Chosen::This(*at))
    }

    fn narrow(&mut self) {
        let filter = self.filter.text();
        let mut found: Vec<(i32, usize)> = (self.choices.iter().enumerate())
            .filter_map(|(at, choice)| Some((fuzzy_score(&choice.text, filter)?, at)))
            .collect();
        found.sort_by_key(|(score, at)| (-score, *at));
        self.found = found.into_iter().map(|(_, at)| at).collect();
        self.at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_narrows_and_steps_go_round() {
        let choice = |text: &str| Choice { text: text.to_owned(), hint: String::new(), value: () };
        let mut list = Choose::new(["Attach", "Eject", "Explain"].map(choice).to_vec());
        list.step(-1);
        assert_eq!(list.chosen(), Chosen::This(2));
        list.key(KeyCode::Char('e').into(), 9);
        list.key(KeyCode::Char('j').into(), 9);
        assert_eq!(list.key(KeyCode::Enter.into(), 9), Chosen::This(1));
        list.paste("zzz");
        assert_eq!(list.key(KeyCode::Enter.into(), 9), Chosen::Open);
        list.step(1);
        assert_eq!(list.key(KeyCode::Esc.into(), 9), Chosen::Nothing);
    }
}
