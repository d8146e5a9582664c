use jackin_core::{AgentStatus, Attention, Cause, Timestamp};
use serde::Serialize;

use crate::decode::decode_line;
use crate::lines::keep;
use crate::{Authority, Decoder, Evidence, LineSplitter, MAX_LINE, ReportedUsage, Runtime, Tally};

/// Plays a recording and tells when the status changes and by which line.
///
/// Time is that of the lines, where they have one; otherwise it stands still. Between two lines it passes, so that what
/// silence means is told too. The recording's end says nothing: it may still grow.
///
/// ```
/// use jackin_status::{Replay, Runtime};
///
/// let recording = "{\"type\":\"turn.started\"}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"no quota\"}}\n";
/// let mut told = Vec::new();
/// let mut replay = Replay::new(Runtime::CodexExec);
/// replay.feed(recording.as_bytes(), |transition| told.push(format!("{}: {}", transition.line, transition.status)));
/// replay.finish(|_| {});
/// assert_eq!(told, ["1: busy", "2: idle (last turn failed: no quota)"]);
/// assert_eq!(replay.tally().broken, 0);
/// ```
pub struct Replay {
    runtime: Runtime,
    splitter: LineSplitter,
    player: Player,
    /// All of a document that is not made of lines.
    document: Vec<u8>,
    oversized: bool,
}

struct Player {
    runtime: Runtime,
    decoder: Box<dyn Decoder>,
    authority: Option<Authority>,
    clock: Timestamp,
    line: u64,
    tally: Tally,
    usage: ReportedUsage,
}

/// A change of status in a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Transition {
    /// The line that made it, counted from 1. When time did, the last line before.
    pub line: u64,
    /// When it happened, by the recording's clock.
    pub at: Timestamp,
    /// The status from here on.
    pub status: AgentStatus,
    /// What the operator sees from here on.
    pub attention: Attention,
    /// Why.
    pub cause: Cause,
}

impl Replay {
    /// At the beginning of a recording.
    pub fn new(runtime: Runtime) -> Self {
        let player = Player {
            runtime,
            decoder: runtime.decoder(),
            authority: None,
            clock: Timestamp::default(),
            line: 0,
            tally: Tally::default(),
            usage: ReportedUsage::default(),
        };
        Self { runtime, splitter: LineSplitter::new(), player, document: Vec::new(), oversized: false }
    }

    /// Takes a piece of the recording and calls `each` for every change in it.
    pub fn feed(&mut self, chunk: &[u8], mut each: impl FnMut(Transition)) {
        if self.runtime.is_document() {
            if self.document.len() + chunk.len() > MAX_LINE {
                self.oversized = true;
                self.document = Vec::new();
            }
            if !self.oversized {
                keep(&mut self.document, chunk, MAX_LINE);
            }
            return;
        }
        let player = &mut self.player;
        self.splitter.feed(chunk, |number, line| player.play(number, line, &mut each));
    }

    /// The recording is over: plays a last line that had no line end.
    pub fn finish(&mut self, mut each: impl FnMut(Transition)) {
        let player = &mut self.player;
        if self.runtime.is_document() {
            player.play(1, &std::mem::take(&mut self.document), &mut each);
        } else {
            self.splitter.finish(|number, line| player.play(number, line, &mut each));
        }
    }

    /// What came by so far.
    pub fn tally(&self) -> Tally {
        let oversized = self.splitter.oversized() + u64::from(self.oversized);
        Tally { lines: self.player.tally.lines + oversized, oversized, ..self.player.tally }
    }

    /// What the agent reported to have used.
    pub fn usage(&self) -> ReportedUsage {
        self.player.usage
    }

    /// The authority as it stands: its status, and `explain`. None before the first line that says something.
    pub fn authority(&self) -> Option<&Authority> {
        self.player.authority.as_ref()
    }
}

impl Player {
    fn play(&mut self, number: u64, line: &[u8], each: &mut impl FnMut(Transition)) {
        if line.trim_ascii().is_empty() {
            return;
        }
        self.tally.lines += 1;
        let mut events = Vec::new();
        if decode_line(&mut *self.decoder, line, &mut events).is_err() {
            self.tally.broken += 1;
            return;
        }
        self.clock = self.decoder.line_time().map_or(self.clock, |time| time.max(self.clock));
        if events.is_empty() && self.authority.is_none() {
            return;
        }
        let (clock, channel) = (self.clock, self.runtime.channel());
        let authority = self.authority.get_or_insert_with(|| Authority::for_agent(clock));
        // What time alone changed before this line belongs to the line before.
        let mut verdict = authority.look(authority.now());
        while let Some(deadline) = verdict.look_again.filter(|deadline| *deadline <= clock) {
            verdict = authority.look(deadline);
            if verdict.changed {
                each(Transition::of(self.line, &verdict));
            }
        }
        self.line = number;
        for event in &events {
            self.usage.observe(event);
        }
        let evidence = events.into_iter().map(|event| Evidence::Runtime { channel, event });
        let verdict = authority.observe_all(evidence, clock, clock);
        if verdict.changed {
            each(Transition::of(number, &verdict));
        }
    }
}

impl Transition {
    fn of(line: u64, verdict: &crate::Verdict) -> Self {
        Self {
            line,
            at: verdict.at,
            status: verdict.status.clone(),
            attention: verdict.attention,
            cause: verdict.cause.clone(),
        }
    }
}

impl std::fmt::Display for Transition {
    /// One line for a person.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {} [{}]", self.line, self.status, self.cause)
    }
}
