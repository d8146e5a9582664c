mod channel;
mod claim;
#[cfg(test)]
mod tests;
mod watch;

use std::time::Duration;

use jackin_core::protocol::control::{Considered, Explanation};
use jackin_core::{AgentStatus, Attention, Cause, Source, Standing, Timestamp};

use channel::{Bearing, ChannelState};
use claim::{Claim, Says, Weighed};
use watch::{SETTLE, ScreenWatch};

use crate::{Channel, Confidence, ContainerState, Evidence, Foreground, Progress, ScreenSays, TerminalMark};

/// How long a session that says nothing is "initializing"; after that it is "unknown".
const INITIALIZING: Duration = Duration::from_secs(20);
/// How long neither output nor keyboard input must come until a weak "idle" is concluded.
const QUIET: Duration = Duration::from_secs(30);
/// How long output is a sign of work that beats what a screen only hints at.
const ACTIVE: Duration = Duration::from_secs(3);
/// Output this soon after a key is its echo and no sign of work.
const ECHO: Duration = Duration::from_millis(500);
/// How long a dialog on the screen must contradict a hook or a transcript to be believed instead.
const DIALOG_PATIENCE: Duration = Duration::from_millis(500);
/// The same for anything else on the screen.
const SCREEN_PATIENCE: Duration = Duration::from_secs(2);
/// How long the screen must show work until a question that nobody here typed an answer to counts as answered elsewhere.
const ANSWERED_ELSEWHERE: Duration = Duration::from_secs(5);
/// How long an agent works without anything new until it is called stuck.
const STUCK: Duration = Duration::from_secs(10 * 60);

/// Weighs the evidence about one session and says what its agent does, and why.
///
/// The rule: hand over evidence with the time ([`Authority::observe`]); the [`Verdict`] that comes back says when to look
/// again ([`Authority::look`]) if nothing is heard until then. Time never runs backwards: evidence that comes with an
/// earlier time than the last is taken as of now. Looking more often changes nothing, and neither does handing evidence
/// over one by one or together.
///
/// Whom it believes, strongest first:
/// 1. The process or container ended. Nothing later changes that but [`Evidence::Relaunched`].
/// 2. A structured channel: of several, the one that spoke last. A stream stands until it ends. "Busy" goes stale on a
///    hook after 15 minutes, on a transcript after 10 minutes, or after 10 seconds when the agent had the last word.
/// 3. The screen, where a rule is sure and has been for two frames (work counts at once). It beats a hook or transcript
///    that it contradicts for half a second (a dialog) or two seconds (anything else) since that last spoke.
/// 4. Marks in the terminal's stream.
/// 5. Child processes, output, rules that are not sure, and 30 seconds of silence, which mean "idle", weakly.
///
/// A question stays, whatever is printed, until a structured channel says that it was answered or the turn is over;
/// until the operator has typed and the screen shows no dialog for two frames; or until the screen has shown work for 5
/// seconds, because it was answered elsewhere.
///
/// ```
/// use jackin_core::{Attention, RuntimeEvent, Timestamp};
/// use jackin_status::{Authority, Channel, Evidence};
///
/// let at = Timestamp::from_millis;
/// let mut authority = Authority::for_agent(at(0));
/// let event = RuntimeEvent::TurnStarted;
/// authority.observe(Evidence::Runtime { channel: Channel::Hook, event }, at(10));
/// let event = RuntimeEvent::Waiting { id: None, prompt: Some("Run it?".into()) };
/// let verdict = authority.observe(Evidence::Runtime { channel: Channel::Hook, event }, at(20));
/// assert_eq!(verdict.attention, Attention::Blocked);
///
/// // Output alone does not answer it.
/// assert!(!authority.observe(Evidence::Output, at(5_000)).changed);
/// assert_eq!(authority.explain().cause.to_string(), "hook: asks: Run it?");
/// ```
#[derive(Debug)]
pub struct Authority {
    is_agent: bool,
    /// An agent was here and has left its shell behind.
    left: bool,
    now: Timestamp,
    launched: Timestamp,
    standing: Standing,
    ended: Option<Claim>,
    channels: [ChannelState; 3],
    heard: u64,
    screen: ScreenWatch,
    mark: Option<Claim>,
    foreground: Option<Claim>,
    /// When anything was last printed, and when it was last a sign of work.
    printed: Option<Timestamp>,
    output: Option<Timestamp>,
    input: Option<Timestamp>,
    /// When silence was last long enough. Typing does not take that back; work does.
    quiet: Option<Timestamp>,
    asked: Option<Asked>,
    news: Timestamp,
}

/// A question that stands.
#[derive(Debug)]
struct Asked {
    claim: Claim,
    since: Timestamp,
    /// When the operator last typed since.
    key: Option<Timestamp>,
}

/// What an agent does, as of a moment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// The moment.
    pub at: Timestamp,
    /// The status.
    pub status: AgentStatus,
    /// What the operator sees.
    pub attention: Attention,
    /// Why.
    pub cause: Cause,
    /// Whether status or attention differ from what they were before the call.
    pub changed: bool,
    /// When to look again if nothing is heard until then.
    pub look_again: Option<Timestamp>,
    /// Since when there has been nothing new, where the agent seems to work and has been for suspiciously long.
    pub stuck: Option<Timestamp>,
}

impl Authority {
    /// For a session that was started at `now` and whose program is an agent.
    pub fn for_agent(now: Timestamp) -> Self {
        Self::new(true, now)
    }

    /// For a session whose program is no agent: a shell. Its screen, output and silence say nothing about anybody, so it
    /// is unknown until an agent in it reports.
    pub fn for_shell(now: Timestamp) -> Self {
        Self::new(false, now)
    }

    fn new(is_agent: bool, now: Timestamp) -> Self {
        Self {
            is_agent,
            left: false,
            now,
            launched: now,
            standing: Standing::new(now),
            ended: None,
            channels: [Channel::Stream, Channel::Hook, Channel::Transcript].map(ChannelState::new),
            heard: 0,
            screen: ScreenWatch::default(),
            mark: None,
            foreground: None,
            printed: None,
            output: None,
            input: None,
            quiet: None,
            asked: None,
            news: now,
        }
    }

    /// Takes a piece of evidence seen at `now`.
    pub fn observe(&mut self, evidence: Evidence, now: Timestamp) -> Verdict {
        self.observe_late(evidence, now, now)
    }

    /// Takes a piece of evidence that was true at `at` and is seen only `now`, such as a line of a file with its own
    /// time. Of two channels that contradict each other the later line counts, not the later reading.
    pub fn observe_late(&mut self, evidence: Evidence, at: Timestamp, now: Timestamp) -> Verdict {
        self.observe_all([evidence], at, now)
    }

    /// Takes several at once, in their order; the verdict tells what changed over all of them.
    pub fn observe_all(
        &mut self,
        evidence: impl IntoIterator<Item = Evidence>,
        at: Timestamp,
        now: Timestamp,
    ) -> Verdict {
        let before = self.seen();
        self.advance(now);
        for evidence in evidence {
            self.apply(evidence, at.min(self.now));
            self.settle();
        }
        self.verdict(&before)
    }

    /// Lets time pass.
    pub fn look(&mut self, now: Timestamp) -> Verdict {
        let before = self.seen();
        self.advance(now);
        self.verdict(&before)
    }

    /// The operator looked at it, by command.
    pub fn acknowledge(&mut self, now: Timestamp) -> Verdict {
        let before = self.seen();
        self.advance(now);
        self.standing.acknowledge();
        self.verdict(&before)
    }

    /// The operator's focus has been on it since `focused`. [`Authority::dwell_deadline`] says when that counts.
    pub fn dwell(&mut self, focused: Timestamp, now: Timestamp) -> Verdict {
        let before = self.seen();
        self.advance(now);
        self.standing.dwell(focused, self.now);
        self.verdict(&before)
    }

    /// When a focus that began at `focused` will count as having looked; none when there is nothing to see.
    pub fn dwell_deadline(&self, focused: Timestamp) -> Option<Timestamp> {
        self.standing.dwell_deadline(focused)
    }

    /// The time as of the last call.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The status as of the last call.
    pub fn status(&self) -> &AgentStatus {
        self.standing.status()
    }

    /// What the operator sees as of the last call.
    pub fn attention(&self) -> Attention {
        self.standing.attention()
    }

    /// Why the status is what it is, as of the last call.
    pub fn cause(&self) -> &Cause {
        self.standing.cause()
    }

    /// Since when the status has been what it is.
    pub fn since(&self) -> Timestamp {
        self.standing.since()
    }

    /// Whether the session's program is taken for an agent.
    pub fn is_agent(&self) -> bool {
        self.is_agent
    }

    /// The session's program turned out to be an agent: one was started in a shell. What it has said of itself stays.
    pub fn agent_started(&mut self, now: Timestamp) -> Verdict {
        let before = self.seen();
        self.advance(now);
        if !self.is_agent && self.ended.is_none() {
            let silent = self.channels.iter().all(|channel| channel.claim(self.now).is_none());
            if silent {
                *self = Self::new(true, self.now);
            }
            self.is_agent = true;
            self.left = false;
            self.launched = self.now;
            self.settle();
        }
        self.verdict(&before)
    }

    /// The agent in a shell has ended and the shell goes on. Nothing that was known of the agent counts any more.
    pub fn agent_left(&mut self, now: Timestamp) -> Verdict {
        let before = self.seen();
        self.advance(now);
        if self.is_agent && self.ended.is_none() {
            *self = Self { left: true, ..Self::new(false, self.now) };
            self.settle();
        }
        self.verdict(&before)
    }

    /// Why the status is what it is: what won, what lost to it and why.
    pub fn explain(&self) -> Explanation {
        let (_, lost) = self.weigh();
        let considered = lost
            .into_iter()
            .map(|Weighed { claim, lost }| Considered {
                status: claim.says.status(claim.at),
                cause: claim.cause(),
                because: lost,
            })
            .collect();
        Explanation {
            status: self.standing.status().clone(),
            cause: self.standing.cause().clone(),
            considered,
            diagnosis: self.stuck().map(|since| {
                let minutes = self.now.since(since).as_secs() / 60;
                format!("stuck? It seems to work, but nothing new has come for {minutes} minutes")
            }),
        }
    }

    fn seen(&self) -> (AgentStatus, Attention) {
        (self.standing.status().clone(), self.standing.attention())
    }

    fn verdict(&self, before: &(AgentStatus, Attention)) -> Verdict {
        Verdict {
            at: self.now,
            status: self.standing.status().clone(),
            attention: self.standing.attention(),
            cause: self.standing.cause().clone(),
            changed: *before != self.seen(),
            look_again: self.deadline(),
            stuck: self.stuck(),
        }
    }

    /// Passes through every moment at which time alone changes something, so that it makes no difference whether
    /// anybody looked then.
    fn advance(&mut self, to: Timestamp) {
        while let Some(deadline) = self.deadline().filter(|deadline| *deadline <= to) {
            self.now = deadline;
            self.settle();
        }
        self.now = self.now.max(to);
    }

    fn apply(&mut self, evidence: Evidence, at: Timestamp) {
        if matches!(evidence, Evidence::Relaunched) {
            *self = Self::new(self.is_agent, self.now);
            return;
        }
        match evidence {
            Evidence::Process(end) => self.end(end.status(), "process ended", end.exit_code, at),
            Evidence::Container(ContainerState::Exited(end)) => {
                self.end(end.status(), "container ended", end.exit_code, at);
            }
            Evidence::Container(ContainerState::Gone) if self.ended.is_none() => {
                let says = Says::Over(AgentStatus::Unknown);
                self.ended = Some(Claim::new(says, Source::Process, "the container is gone", at));
            }
            Evidence::Container(_) => {}
            // The tail of a stream that is read after the end tells nothing any more.
            _ if self.ended.is_some() => {}
            Evidence::Runtime { channel, event } => self.hear(channel, &event, at),
            Evidence::Closed(channel) => self.channels[channel as usize].close(at),
            Evidence::Screen(look) => {
                if self.screen.look(look, at) {
                    self.news = self.news.max(at);
                }
            }
            Evidence::Mark(mark) => self.mark = marked(mark, at),
            Evidence::Foreground(foreground) => self.foreground = in_front(&foreground, at),
            Evidence::Output => {
                self.printed = Some(at);
                // What a program prints as it comes up is no work, unless somebody has asked for some.
                let starting = self.input.is_none() && at < self.launched + INITIALIZING;
                let echo = self.input.is_some_and(|key| at.since(key) < ECHO);
                if !starting && !echo {
                    self.output = Some(at);
                    self.quiet = None;
                }
            }
            Evidence::Input => {
                self.input = Some(at);
                self.standing.acknowledge();
                if let Some(asked) = &mut self.asked {
                    asked.key = Some(at);
                }
            }
            Evidence::Relaunched => {}
        }
    }

    fn end(&mut self, status: AgentStatus, what: &str, exit_code: i32, at: Timestamp) {
        let better = match &self.ended {
            None => true,
            Some(ended) => {
                // That it was memory is learnt after the wait status, and how a vanished container ended even later.
                status == AgentStatus::OomKilled || ended.says == Says::Over(AgentStatus::Unknown)
            }
        };
        if better {
            let evidence = format!("{what}, exit code {exit_code}");
            self.ended = Some(Claim::new(Says::Over(status), Source::Process, evidence, at));
        }
    }

    fn hear(&mut self, channel: Channel, event: &jackin_core::RuntimeEvent, at: Timestamp) {
        self.heard += 1;
        let bearing = self.channels[channel as usize].apply(event, at, self.heard);
        self.news = self.news.max(at);
        let stands = self.asked.as_ref().filter(|asked| asked.since <= at);
        match bearing {
            Bearing::Settles => {
                for other in self.channels.iter_mut().filter(|other| other.channel() != channel) {
                    other.settle_waits(at);
                }
                if stands.is_some() {
                    self.asked = None;
                }
            }
            Bearing::GoesOn => {
                let by_screen = stands.is_some_and(|asked| asked.claim.source == Source::Screen);
                if by_screen && !self.screen.shows(ScreenSays::Question) {
                    self.asked = None;
                }
            }
            Bearing::None | Bearing::Asks => {}
        }
    }

    fn settle(&mut self) {
        self.screen.advance(self.now);
        if self.quiet.is_none() {
            self.quiet = self.quiet_at().filter(|at| *at <= self.now);
        }
        if self.answered_at().is_some_and(|at| at <= self.now) {
            self.asked = None;
            for channel in &mut self.channels {
                channel.settle_waits(self.now);
            }
        }
        let (winner, _) = self.weigh();
        if winner.says.is_question() {
            let old = self.asked.take();
            let since = old.as_ref().map_or(winner.at, |old| old.since);
            self.asked = Some(Asked { since, key: old.and_then(|old| old.key), claim: winner.clone() });
        } else {
            self.asked = None;
        }
        self.publish(&winner);
    }

    /// When the question that stands will count as answered without anybody saying so, as things are now.
    fn answered_at(&self) -> Option<Timestamp> {
        let asked = self.asked.as_ref()?;
        let busy = self.screen.strong_since(ScreenSays::Busy);
        let by_key = asked.key.and_then(|key| {
            let free = busy.or_else(|| self.screen.strong_since(ScreenSays::Idle));
            let gone = self.screen.dialog_gone(asked.since).or(free)?;
            Some(key.max(gone) + SETTLE)
        });
        let elsewhere = busy.map(|busy| busy.max(asked.since) + ANSWERED_ELSEWHERE);
        [by_key, elsewhere].into_iter().flatten().min()
    }

    fn publish(&mut self, winner: &Claim) {
        let same = match (self.standing.status(), &winner.says) {
            (AgentStatus::Busy { since }, Says::Busy) => Some(*since),
            (AgentStatus::Question { since, .. }, Says::Question(_)) => Some(*since),
            _ => None,
        };
        // The moment at which it is known, not the claim's own: an older claim can win when a newer one goes stale, and
        // what is told must not run backwards.
        let status = winner.says.status(same.unwrap_or(self.now));
        let mut cause = winner.cause();
        let old = self.standing.cause();
        let as_before = old.source == cause.source && old.evidence == cause.evidence;
        cause.at =
            if as_before && status.word() == self.standing.status().word() { old.at } else { self.now };
        self.standing.set(status, cause);
    }

    /// What wins now, and what loses to it and why.
    fn weigh(&self) -> (Claim, Vec<Weighed>) {
        let mut scale = Scale::default();
        if let Some(ended) = &self.ended {
            scale.put(ended.clone());
        }
        self.weigh_channels_and_screen(&mut scale);
        for claim in self.weak() {
            scale.put(claim);
        }
        scale.put(self.launch());
        let (mut winner, mut lost) = scale.read();
        if let Some(asked) = &self.asked
            && !winner.says.is_question()
            && self.ended.is_none()
        {
            let beaten = std::mem::replace(&mut winner, asked.claim.clone());
            lost.insert(
                0,
                Weighed { claim: beaten, lost: "a question stays until it is answered".to_owned() },
            );
        }
        (winner, lost)
    }

    fn weigh_channels_and_screen(&self, scale: &mut Scale) {
        let mut fresh: Vec<(&ChannelState, Claim)> = Vec::new();
        let mut stale = Vec::new();
        for channel in &self.channels {
            let Some(claim) = channel.claim(self.now) else { continue };
            match channel.stale(self.now) {
                Some(why) => stale.push(Weighed { claim, lost: why.to_owned() }),
                None => fresh.push((channel, claim)),
            }
        }
        // A question first, then who spoke last.
        fresh.sort_by_key(|(channel, claim)| std::cmp::Reverse((claim.says.is_question(), channel.age())));
        let screen =
            self.screen.claim().filter(|(_, confidence)| self.is_agent && *confidence == Confidence::Strong);
        let screen = screen.map(|(claim, _)| claim);

        match (fresh.first(), screen) {
            (Some((channel, _)), Some(screen)) if self.overrules(channel, &fresh[0].1, &screen) => {
                let why = "the screen has shown something else since".to_owned();
                scale.put(screen);
                stale.extend(fresh.into_iter().map(|(_, claim)| Weighed { claim, lost: why.clone() }));
            }
            (Some(_), screen) => {
                let mut fresh = fresh.into_iter().map(|(_, claim)| claim);
                if let Some(mut best) = fresh.next() {
                    // The channel knows that it asks; the screen may know what.
                    if let (Says::Question(prompt @ None), Some(Says::Question(shown))) =
                        (&mut best.says, screen.as_ref().map(|screen| &screen.says))
                    {
                        prompt.clone_from(shown);
                    }
                    scale.put(best);
                }
                for claim in fresh {
                    scale.lose(claim, "another channel has spoken since");
                }
                if let Some(screen) = screen {
                    scale.put(screen);
                }
            }
            (None, Some(screen)) => scale.put(screen),
            (None, None) => {}
        }
        for Weighed { claim, lost } in stale {
            scale.lose(claim, &lost);
        }
        if let Some(unsettled) = self.screen.unsettled().filter(|_| self.is_agent) {
            scale.lose(unsettled, "it has not stood for two frames yet");
        }
    }

    /// Whether the screen is believed against a channel: not against a stream, which is complete, and not to take a
    /// question back.
    fn overrules(&self, channel: &ChannelState, said: &Claim, screen: &Claim) -> bool {
        overruled_at(channel, said, screen).is_some_and(|at| at <= self.now)
    }

    /// Circumstances, the most telling first. Of a session that is no agent they say nothing.
    fn weak(&self) -> Vec<Claim> {
        if !self.is_agent {
            return Vec::new();
        }
        let mut claims = Vec::new();
        let hint = self.screen.claim().filter(|(_, confidence)| *confidence == Confidence::Weak);
        let active = self.output.filter(|output| self.now < *output + ACTIVE);
        let output = |at| Claim::new(Says::Busy, Source::Activity, "output", at);
        // A mark that says "runs" may be the shell's about the agent itself; silence tells that apart.
        claims.extend(self.mark.clone().filter(|mark| self.quiet.is_none() || mark.says != Says::Busy));
        claims.extend(self.foreground.clone().filter(|front| front.says == Says::Busy));
        claims.extend(active.map(output));
        claims.extend(hint.map(|(claim, _)| claim));
        if let Some(at) = self.quiet {
            let evidence = format!("no output and no input for {} s", QUIET.as_secs());
            claims.push(Claim::new(Says::Idle(None), Source::Quiet, evidence, at));
        } else if active.is_none() {
            claims.extend(self.output.map(output));
        }
        claims.extend(self.foreground.clone().filter(|front| front.says != Says::Busy));
        claims
    }

    fn launch(&self) -> Claim {
        let over = self.launched + INITIALIZING;
        if self.left {
            return Claim::new(Says::Unknown, Source::Foreground, "the agent has ended", self.launched);
        }
        if !matches!(self.standing.status(), AgentStatus::Initializing | AgentStatus::Unknown) {
            Claim::new(Says::Unknown, Source::Launch, "no evidence is left", self.launched)
        } else if *self.standing.status() == AgentStatus::Initializing && self.now < over {
            Claim::new(Says::Initializing, Source::Launch, "started", self.launched)
        } else {
            let evidence = format!("nothing conclusive after {} s", INITIALIZING.as_secs());
            Claim::new(Says::Unknown, Source::Launch, evidence, over)
        }
    }

    /// When silence will have lasted long enough; never where nothing was heard to begin with.
    fn quiet_at(&self) -> Option<Timestamp> {
        let printed = self.printed?;
        Some(self.input.map_or(printed, |input| input.max(printed)) + QUIET)
    }

    fn stuck_at(&self) -> Option<Timestamp> {
        let busy = matches!(self.standing.status(), AgentStatus::Busy { .. });
        busy.then(|| self.news.max(self.standing.since()) + STUCK)
    }

    fn stuck(&self) -> Option<Timestamp> {
        let lively = self.screen.shows(ScreenSays::Busy)
            || self.printed.is_some_and(|printed| self.now < printed + QUIET);
        let since = self.news.max(self.standing.since());
        self.stuck_at().filter(|at| lively && *at <= self.now).map(|_| since)
    }

    /// The next moment at which time alone may change something.
    fn deadline(&self) -> Option<Timestamp> {
        if self.ended.is_some() {
            return None;
        }
        let screen = self.screen.claim().filter(|(_, confidence)| *confidence == Confidence::Strong);
        let overrules = self
            .channels
            .iter()
            .filter_map(|channel| overruled_at(channel, &channel.claim(self.now)?, &screen.as_ref()?.0));
        self.channels
            .iter()
            .flat_map(ChannelState::deadlines)
            .chain(overrules)
            .chain(self.screen.deadline())
            .chain(self.answered_at())
            .chain(self.output.map(|output| output + ACTIVE))
            .chain(self.quiet_at())
            .chain(self.stuck_at())
            .chain([self.launched + INITIALIZING])
            .filter(|deadline| *deadline > self.now)
            .min()
    }
}

fn overruled_at(channel: &ChannelState, said: &Claim, screen: &Claim) -> Option<Timestamp> {
    if channel.channel() == Channel::Stream || said.says.is_question() || said.says.agrees(&screen.says) {
        return None;
    }
    let patience = if screen.says.is_question() { DIALOG_PATIENCE } else { SCREEN_PATIENCE };
    Some(channel.at().max(screen.at) + patience)
}

fn marked(mark: TerminalMark, at: Timestamp) -> Option<Claim> {
    let (says, evidence) = match mark {
        TerminalMark::Prompt => (Says::Idle(None), "OSC 133 prompt"),
        TerminalMark::Running => (Says::Busy, "OSC 133 command runs"),
        TerminalMark::Finished => (Says::Idle(None), "OSC 133 command ended"),
        TerminalMark::Progress(Progress::Percent(_) | Progress::Indeterminate) => {
            (Says::Busy, "OSC 9;4 progress")
        }
        TerminalMark::Progress(Progress::None) => (Says::Idle(None), "OSC 9;4 progress taken away"),
        TerminalMark::Progress(Progress::Error | Progress::Paused) => return None,
    };
    Some(Claim::new(says, Source::TerminalMark, evidence, at))
}

fn in_front(foreground: &Foreground, at: Timestamp) -> Option<Claim> {
    let Foreground { name, is_agent, children } = foreground;
    let name = crate::decode::words::line(name);
    match (is_agent, children) {
        (true, 0) => None,
        (true, children) => {
            let evidence = format!("{name} has {children} child processes");
            Some(Claim::new(Says::Busy, Source::Foreground, evidence, at))
        }
        (false, _) => {
            let evidence = format!("{name} is in front of the agent");
            Some(Claim::new(Says::Unknown, Source::Foreground, evidence, at))
        }
    }
}

/// Claims in the order in which they count; the first wins.
#[derive(Default)]
struct Scale {
    winner: Option<Claim>,
    lost: Vec<Weighed>,
}

impl Scale {
    fn put(&mut self, claim: Claim) {
        match &self.winner {
            None => self.winner = Some(claim),
            Some(winner) => {
                let (strong, weak) = (winner.source.strength(), claim.source.strength());
                let lost = if strong > weak {
                    format!("{} is stronger than {}", winner.source.word(), claim.source.word())
                } else {
                    format!("{} tells more", winner.source.word())
                };
                self.lost.push(Weighed { claim, lost });
            }
        }
    }

    fn lose(&mut self, claim: Claim, why: &str) {
        self.lost.push(Weighed { claim, lost: why.to_owned() });
    }

    fn read(self) -> (Claim, Vec<Weighed>) {
        (self.winner.expect("the launch is always put"), self.lost)
    }
}
