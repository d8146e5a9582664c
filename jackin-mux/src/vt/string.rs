//! Strings as they stream in: kept whole while short, passed on in pieces when long.

use super::event::{Event, Part, Passthrough, SequenceKind};
use super::osc::{self, Fate};
use super::scan::{StringKind, Terminator};
use super::screen::Screen;

/// A string longer than this is passed on in pieces, or dropped if it is one that we keep ourselves.
const LONGEST_WHOLE: usize = 64 * 1024;

/// The string that is being read.
#[derive(Debug, Default)]
pub(super) struct Strings {
    open: Option<Open>,
    body: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    kind: StringKind,
    state: State,
    row: u16,
    column: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Whole,
    /// The first piece went out already.
    Streaming,
    /// Too long, and for nobody.
    Dropped,
}

impl Screen {
    pub(super) fn string_start(&mut self, kind: StringKind) {
        let cursor = self.canvas.cursor;
        self.strings.body.clear();
        self.strings.open = Some(Open {
            kind,
            state: State::Whole,
            row: cursor.row,
            column: cursor.column.min(self.canvas.columns() - 1),
        });
    }

    pub(super) fn string_data(&mut self, data: &[u8]) {
        let Some(open) = self.strings.open else { return };
        match open.state {
            State::Dropped => {}
            State::Streaming => self.pass(open, Part::Middle, data.to_vec()),
            State::Whole => {
                self.strings.body.extend_from_slice(data);
                if self.strings.body.len() > LONGEST_WHOLE {
                    self.overflow(open);
                }
            }
        }
    }

    fn overflow(&mut self, open: Open) {
        let body = std::mem::take(&mut self.strings.body);
        let ours = match open.kind {
            StringKind::Osc => osc::is_ours(&body),
            StringKind::Dcs => is_request(&body).is_some(),
            StringKind::Apc => false,
            StringKind::Pm | StringKind::Sos => true,
        };
        let state = if ours { State::Dropped } else { State::Streaming };
        self.strings.open = Some(Open { state, ..open });
        if !ours {
            // The number is asked for again with each piece.
            self.strings.body.extend_from_slice(&body[..body.len().min(16)]);
            let bytes = [introducer(open.kind), &body].concat();
            self.pass(open, Part::First, bytes);
        }
    }

    pub(super) fn string_end(&mut self, terminator: Terminator) {
        let Some(open) = self.strings.open.take() else { return };
        let body = std::mem::take(&mut self.strings.body);
        match (open.state, terminator) {
            (State::Dropped, _) | (State::Whole, Terminator::Aborted) => {}
            (State::Streaming, Terminator::Aborted) => {
                self.strings.body = body;
                self.pass(open, Part::Aborted, Vec::new());
            }
            (State::Streaming, _) => {
                self.strings.body = body;
                self.pass(open, Part::Last, ending(terminator).to_vec());
            }
            (State::Whole, _) => {
                self.whole(open, &body, terminator);
                self.strings.body = body;
            }
        }
        self.strings.body.clear();
        self.strings.body.shrink_to(LONGEST_WHOLE / 16);
    }

    fn whole(&mut self, open: Open, body: &[u8], terminator: Terminator) {
        let raw = || [introducer(open.kind), body, ending(terminator)].concat();
        match open.kind {
            StringKind::Osc => {
                if self.osc(body, raw) == Fate::Pass {
                    self.strings.body = body[..body.len().min(16)].to_vec();
                    self.pass(open, Part::Whole, raw());
                }
            }
            StringKind::Dcs => match is_request(body) {
                Some(Request::Setting(what)) => self.report_setting(what),
                Some(Request::Capabilities(names)) => self.report_capabilities(names),
                None => self.pass(open, Part::Whole, raw()),
            },
            StringKind::Apc => self.pass(open, Part::Whole, raw()),
            StringKind::Pm | StringKind::Sos => {}
        }
    }

    fn pass(&mut self, open: Open, part: Part, bytes: Vec<u8>) {
        let kind = match open.kind {
            StringKind::Osc => SequenceKind::Osc(osc::number(&self.strings.body)),
            StringKind::Dcs => SequenceKind::Dcs,
            StringKind::Apc => SequenceKind::Apc,
            StringKind::Pm | StringKind::Sos => SequenceKind::Other,
        };
        self.events.push(Event::Passthrough(Passthrough {
            kind,
            part,
            bytes,
            row: open.row,
            column: open.column,
        }));
    }
}

/// A device control string that asks us something.
enum Request<'a> {
    Setting(&'a [u8]),
    Capabilities(&'a [u8]),
}

fn is_request(body: &[u8]) -> Option<Request<'_>> {
    if let Some(what) = body.strip_prefix(b"$q") {
        return Some(Request::Setting(what));
    }
    body.strip_prefix(b"+q").map(Request::Capabilities)
}

fn introducer(kind: StringKind) -> &'static [u8] {
    match kind {
        StringKind::Osc => b"\x1b]",
        StringKind::Dcs => b"\x1bP",
        StringKind::Apc => b"\x1b_",
        StringKind::Pm => b"\x1b^",
        StringKind::Sos => b"\x1bX",
    }
}

fn ending(terminator: Terminator) -> &'static [u8] {
    match terminator {
        Terminator::Bell => b"\x07",
        Terminator::St => b"\x1b\\",
        Terminator::Aborted => b"",
    }
}
