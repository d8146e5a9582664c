use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use jackin_core::{PaneId, Timestamp};

use crate::vt::number::read_number;
use crate::vt::{Query, QueryKind};

/// How long the operator's terminal may take to answer: longer than any link, shorter than a person notices.
const PATIENCE: Duration = Duration::from_millis(500);
/// Questions of programs that the operator's terminal has not answered; beyond this the oldest are given up.
const MOST_PENDING: usize = 256;
/// What one sequence may ask for.
const MOST_ASKED: usize = 32;

/// Something that only the operator's terminal knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Asked {
    /// One of the dynamic colours, by the OSC's number.
    Color(u32),
    Palette(u32),
    Clipboard,
    Scheme,
}

/// Who asked what, and what was answered before.
#[derive(Debug, Default)]
pub(crate) struct Queries {
    /// Oldest first, each with the time at which it is given up.
    pending: VecDeque<(PaneId, Asked, Timestamp)>,
    known: HashMap<Asked, Vec<u8>>,
}

impl Queries {
    /// Notes a question that goes to the operator's terminal.
    pub(crate) fn ask(&mut self, pane: PaneId, query: &Query, now: Timestamp) {
        let until = now + PATIENCE;
        self.pending.extend(asked(query).into_iter().map(|asked| (pane, asked, until)));
        // Too many to remember: whoever asked first has waited long enough.
        let excess = self.pending.len().saturating_sub(MOST_PENDING);
        self.pending.iter_mut().take(excess).for_each(|(.., until)| *until = now);
    }

    /// When the next question is given up.
    pub(crate) fn poll_timeout(&self) -> Option<Timestamp> {
        self.pending.front().map(|(.., until)| *until)
    }

    /// The operator's terminal answered: who is to be told.
    pub(crate) fn answered(&mut self, asked: Asked, raw: &[u8]) -> Option<PaneId> {
        if asked != Asked::Clipboard && raw.len() < 128 {
            self.known.insert(asked, raw.to_vec());
        }
        let at = self.pending.iter().position(|(_, pending, _)| *pending == asked)?;
        self.pending.remove(at).map(|(pane, ..)| pane)
    }

    /// Takes out the oldest question whose time is over; without a time, the oldest.
    pub(crate) fn give_up(&mut self, now: Option<Timestamp>) -> Option<(PaneId, Asked)> {
        let due = now.is_none_or(|now| self.poll_timeout().is_some_and(|until| until <= now));
        let (pane, asked, _) = if due { self.pending.pop_front()? } else { return None };
        Some((pane, asked))
    }

    pub(crate) fn forget_pane(&mut self, pane: PaneId) {
        self.pending.retain(|(asker, ..)| *asker != pane);
    }

    /// The answers when there is no terminal to ask: what the last one said, or what most would say.
    pub(crate) fn answer_unasked(&self, query: &Query) -> Vec<u8> {
        asked(query).into_iter().flat_map(|asked| self.known_or_usual(asked)).collect()
    }

    pub(crate) fn known_or_usual(&self, asked: Asked) -> Vec<u8> {
        if let Some(known) = self.known.get(&asked) {
            return known.clone();
        }
        match asked {
            Asked::Color(number @ (11 | 17)) => {
                format!("\x1b]{number};rgb:0000/0000/0000\x1b\\").into_bytes()
            }
            Asked::Color(number) => format!("\x1b]{number};rgb:d0d0/d0d0/d0d0\x1b\\").into_bytes(),
            Asked::Palette(index) => {
                let (r, g, b) = crate::render::palette_colour(index as u8);
                let wide = |value: u8| format!("{value:02x}{value:02x}");
                format!("\x1b]4;{index};rgb:{}/{}/{}\x1b\\", wide(r), wide(g), wide(b)).into_bytes()
            }
            Asked::Scheme => b"\x1b[?997;1n".to_vec(),
            Asked::Clipboard => Vec::new(),
        }
    }
}

/// What a sequence asks for; some ask for several things at once.
fn asked(query: &Query) -> Vec<Asked> {
    let body = query.bytes.strip_prefix(b"\x1b]").unwrap_or_default();
    let (_, used) = read_number(body);
    let parts = || {
        let body = body.get(used + 1..).unwrap_or_default();
        let end = body.iter().position(|byte| matches!(byte, 0x07 | 0x1b)).unwrap_or(body.len());
        body[..end].split(|byte| *byte == b';')
    };
    match query.kind {
        QueryKind::Clipboard => vec![Asked::Clipboard],
        QueryKind::ColorScheme => vec![Asked::Scheme],
        QueryKind::Color(first) => {
            let numbered = (first..=19).zip(parts());
            numbered.filter(|(_, part)| *part == b"?").map(|(number, _)| Asked::Color(number)).collect()
        }
        QueryKind::Palette => {
            let parts: Vec<_> = parts().take(2 * MOST_ASKED).collect();
            let pairs = parts.chunks_exact(2).filter(|pair| pair[1] == b"?");
            pairs.map(|pair| Asked::Palette(read_number(pair[0]).0 & 0xff)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(kind: QueryKind, text: &str) -> Query {
        Query { kind, bytes: text.as_bytes().to_vec() }
    }

    #[test]
    fn one_sequence_may_ask_for_several_colours() {
        let colours = query(QueryKind::Color(10), "\x1b]10;?;?\x07");
        assert_eq!(asked(&colours), [Asked::Color(10), Asked::Color(11)]);
        let palette = query(QueryKind::Palette, "\x1b]4;1;?;2;red;300;?\x1b\\");
        assert_eq!(asked(&palette), [Asked::Palette(1), Asked::Palette(44)]);
    }

    #[test]
    fn the_answer_goes_to_who_asked_first_and_is_remembered() {
        let [one, two] = [1, 2].map(|number| PaneId::new(number).unwrap());
        let background = query(QueryKind::Color(11), "\x1b]11;?\x07");
        let mut queries = Queries::default();
        assert_eq!(queries.answer_unasked(&background), b"\x1b]11;rgb:0000/0000/0000\x1b\\");
        queries.ask(one, &background, Timestamp::default());
        queries.ask(two, &background, Timestamp::default());
        let raw = b"\x1b]11;rgb:1111/2222/3333\x07";
        assert_eq!(queries.answered(Asked::Color(11), raw), Some(one));
        assert_eq!(queries.answered(Asked::Color(11), raw), Some(two));
        assert_eq!(queries.answered(Asked::Color(11), raw), None);
        assert_eq!(queries.answer_unasked(&background), raw);
        assert_eq!(
            queries.answer_unasked(&query(QueryKind::Palette, "\x1b]4;9;?\x07")),
            b"\x1b]4;9;rgb:ffff/0000/0000\x1b\\"
        );
    }
}
