//! Operating system commands: titles, links, directories, marks, progress.

use super::event::{Event, Query, QueryKind};
use super::link::{LONGEST_LINK, LinkId};
use super::number::read_number;
use super::prompt::PromptMark;
use super::screen::Screen;

/// Progress of a task (OSC 9;4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Progress {
    /// Nothing to show.
    #[default]
    None,
    /// Per cent done.
    Normal(u8),
    /// Failed, at per cent.
    Error(u8),
    /// Busy without a known end.
    Indeterminate,
    /// Waiting or paused, at per cent.
    Paused(u8),
}

/// What is to be done with an OSC beyond what we keep of it ourselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was for us.
    Ours,
    /// It goes on to the operator's terminal.
    Pass,
}

/// The number in front of an OSC's first `;`.
pub(super) fn number(body: &[u8]) -> u32 {
    read_number(body).0
}

/// Whether an OSC that is too long to be kept whole is one that we only keep.
pub(super) fn is_ours(body: &[u8]) -> bool {
    matches!(number(body), 0..=2 | 4 | 7 | 8 | 10..=19 | 133)
}

impl Screen {
    /// Obeys a whole OSC; `raw` rebuilds the bytes as they came.
    pub(super) fn osc(&mut self, body: &[u8], raw: impl FnOnce() -> Vec<u8>) -> Fate {
        let (number, used) = read_number(body);
        if used == 0 {
            return Fate::Ours;
        }
        let rest = body.get(used..).and_then(|rest| rest.strip_prefix(b";")).unwrap_or_default();
        match number {
            0 | 2 => {
                if self.titles.set(rest) && !self.events.ends_with_title() {
                    self.events.push(Event::Title);
                }
            }
            1 => {}
            4 if rest.rsplit(|b| *b == b';').any(|part| part == b"?") => self.ask(QueryKind::Palette, raw()),
            10..=19 if rest.split(|b| *b == b';').any(|part| part == b"?") => {
                self.ask(QueryKind::Color(number), raw());
            }
            7 => self.events.push(Event::Directory(String::from_utf8_lossy(rest).into_owned())),
            8 => self.link(rest),
            9 => {
                if let Some(progress) = rest.strip_prefix(b"4;").map(progress) {
                    self.events.push(Event::Progress(progress));
                }
                return Fate::Pass;
            }
            52 if rest.ends_with(b";?") => self.ask(QueryKind::Clipboard, raw()),
            133 => {
                if let Some(mark) = prompt_mark(rest) {
                    self.canvas.add_mark(mark);
                    self.events.push(Event::Prompt(mark));
                }
            }
            _ => return Fate::Pass,
        }
        Fate::Ours
    }

    fn ask(&mut self, kind: QueryKind, bytes: Vec<u8>) {
        self.events.push(Event::Query(Query { kind, bytes }));
    }

    /// OSC 8: `params;uri`, of which `id=` and the address are kept.
    fn link(&mut self, rest: &[u8]) {
        let split = rest.iter().position(|b| *b == b';').unwrap_or(rest.len());
        let (params, uri) = rest.split_at(split);
        let uri = uri.get(1..).unwrap_or_default();
        let id = params.split(|b| *b == b':').find_map(|p| p.strip_prefix(b"id=")).unwrap_or_default();
        self.pen.link = self.intern_link(id, uri).unwrap_or(LinkId::NONE);
        self.hold_links();
    }

    fn intern_link(&mut self, id: &[u8], uri: &[u8]) -> Option<LinkId> {
        if uri.is_empty() || id.len() + uri.len() > LONGEST_LINK || id.contains(&b';') {
            return None;
        }
        let key = format!("{};{}", std::str::from_utf8(id).ok()?, std::str::from_utf8(uri).ok()?);
        if key.chars().any(char::is_control) {
            return None;
        }
        if let Some(id) = self.canvas.past_mut().styles.links.intern(&key) {
            return Some(id);
        }
        if self.canvas.past_mut().styles.worth_collecting() {
            self.canvas.collect();
        }
        self.canvas.past_mut().styles.links.intern(&key)
    }
}

fn progress(rest: &[u8]) -> Progress {
    let mut parts = rest.split(|b| *b == b';').map(|part| read_number(part).0);
    let state = parts.next().unwrap_or(0);
    let percent = parts.next().unwrap_or(0).min(100) as u8;
    match state {
        1 => Progress::Normal(percent),
        2 => Progress::Error(percent),
        3 => Progress::Indeterminate,
        4 => Progress::Paused(percent),
        _ => Progress::None,
    }
}

fn prompt_mark(rest: &[u8]) -> Option<PromptMark> {
    let mut parts = rest.split(|b| *b == b';');
    Some(match parts.next()? {
        b"A" | b"P" | b"N" => PromptMark::Prompt,
        b"B" | b"I" => PromptMark::Command,
        b"C" => PromptMark::Output,
        b"D" => PromptMark::Done(parts.next().and_then(|code| std::str::from_utf8(code).ok()?.parse().ok())),
        _ => return None,
    })
}
