//! What stands beside the panes: branch, pull request, usage. The branch is seen here, the rest is what the agents report
//! and what the host pushes.

use std::time::{Duration, Instant};

use jackin_core::protocol::control::{Confidence, Done, HostContext, Quota};
use jackin_core::{SessionId, Timestamp, Usage, one_line};
use jackin_mux::{Context, Input};

use super::super::watch::Branch;
use super::Daemon;

/// How old what is shown of passing time may get before a key brings it up to date.
const FRESH: Duration = Duration::from_secs(1);

/// The longest text of the host's that is kept, in characters, and how many quotas.
const LONGEST: usize = 200;
const MOST_QUOTAS: usize = 32;

/// What is known of the surroundings.
#[derive(Debug, Default)]
pub(super) struct Surrounding {
    branch: Option<Branch>,
    /// What the host said last, and when.
    host: Option<HostContext>,
    /// What sessions that have ended had used.
    spent: Totals,
    shown: Context,
    told: Option<Instant>,
}

impl Daemon {
    /// Another branch was checked out.
    pub(super) fn branch_changed(&mut self, branch: Option<Branch>) {
        self.surrounding.branch = branch;
        self.tell_context();
    }

    /// The host says what it knows.
    pub(in crate::capsule) fn set_context(&mut self, context: HostContext) -> Done {
        self.surrounding.host = Some(bounded(context));
        self.tell_context();
        Done {}
    }

    /// Brings what passes with time up to date for an operator who may be about to look at it.
    pub(super) fn refresh_context(&mut self) {
        if self.surrounding.told.is_none_or(|told| told.elapsed() >= FRESH) {
            self.tell_context();
        }
    }

    /// A session has ended: what it used still counts.
    pub(super) fn count_usage(&mut self, id: SessionId) {
        if let Some(usage) = self.sessions.get(&id).and_then(|session| session.observed.usage()) {
            self.surrounding.spent.add(&usage);
        }
    }

    /// Tells the multiplexer, if there is news.
    pub(in crate::capsule) fn tell_context(&mut self) {
        self.surrounding.told = Some(Instant::now());
        let context = self.compose_context();
        if context != self.surrounding.shown {
            self.mux.handle_input(Input::Context(&context), self.steady());
            self.surrounding.shown = context;
        }
    }

    fn compose_context(&self) -> Context {
        let host = self.surrounding.host.as_ref();
        let own = self.surrounding.branch.as_ref();
        let branch = own.map(|branch| &branch.name).or_else(|| host?.branch.as_ref());
        let usual = host.and_then(|host| host.default_branch.as_ref());
        let is_usual = match (usual, branch) {
            (Some(usual), Some(branch)) => usual == branch,
            _ => own.is_some_and(|branch| branch.is_usual),
        };
        // What the host knew of another branch is not true of this one.
        let is_current = |host: &&HostContext| host.branch.is_none() || host.branch.as_ref() == branch;
        let pull_request = host.filter(is_current).and_then(|host| host.pull_request.as_ref());
        let branch = branch.filter(|_| !is_usual).cloned();
        // On the usual branch, with nothing to tell of it, the row is the panes'.
        let worth_a_row = branch.is_some() || pull_request.is_some();
        let usage = self.focused_usage().map(|usage| in_short(&usage)).filter(|usage| !usage.is_empty());
        let mut details = Vec::new();
        if !worth_a_row {
            details.push(("instance".to_owned(), self.instance.to_string()));
        }
        if let Some(pull_request) = pull_request {
            let more = [("title", &pull_request.title), ("address", &pull_request.url)];
            details
                .extend(more.into_iter().filter_map(|(what, text)| Some((what.to_owned(), text.clone()?))));
        }
        details.extend(self.recording_details());
        Context {
            workspace: self.config.workspace.as_deref().map(|name| one_line(name, LONGEST)),
            branch,
            pull_request: pull_request.map(ToString::to_string),
            instance: worth_a_row.then(|| self.instance.to_string()),
            usage: usage.filter(|_| worth_a_row),
            details,
            usage_details: self.usage_rows(),
        }
    }

    fn focused_usage(&self) -> Option<Usage> {
        let pane = self.mux.focused()?;
        self.sessions.values().find(|session| session.pane == pane)?.observed.usage()
    }

    /// The rows of the usage overlay: what the agents report, then what the providers have left, each named for what it
    /// is.
    fn usage_rows(&self) -> Vec<(String, String)> {
        let now = self.clock.now();
        let mut rows = Vec::new();
        let pane = self.mux.focused();
        if let Some(session) = self.sessions.values().find(|session| Some(session.pane) == pane) {
            let agent = session.observed.agent().unwrap_or(&session.title);
            rows.push(("agent".to_owned(), agent.to_owned()));
            let told = session.observed.usage().map(|usage| in_full(&usage));
            rows.push((
                "session, as reported".to_owned(),
                told.unwrap_or_else(|| "nothing reported".to_owned()),
            ));
            let times = session.observed.times(now);
            let times: Vec<String> =
                times.map(|(state, time)| format!("{state} {}", duration(time))).collect();
            rows.push(("time in states".to_owned(), times.join(", ")));
        }
        let mut all = self.surrounding.spent;
        let reported = self.sessions.values().filter_map(|session| session.observed.usage());
        reported.for_each(|usage| all.add(&usage));
        if all.sessions > 0 {
            let sessions =
                if all.sessions == 1 { "1 session" } else { &format!("{} sessions", all.sessions) };
            rows.push(("workspace total".to_owned(), format!("{}, {sessions}", in_full(&all.usage()))));
        }
        rows.extend(self.quota_rows(now));
        rows
    }

    fn quota_rows(&self, now: Timestamp) -> Vec<(String, String)> {
        let what = "provider quota".to_owned();
        let Some(host) = &self.surrounding.host else {
            return vec![(what, "usage unavailable: host not connected".to_owned())];
        };
        let quotas = host.quotas.iter().map(|quota| (what.clone(), quota_text(quota, now)));
        let logins =
            host.needs_login.iter().map(|provider| (what.clone(), format!("{provider}: needs login")));
        let rows: Vec<_> = quotas.chain(logins).collect();
        if rows.is_empty() { vec![(what, "the host knows of none".to_owned())] } else { rows }
    }
}

/// What several sessions used together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Totals {
    sessions: u32,
    input: u64,
    cached: u64,
    output: u64,
    cost: Option<f64>,
}

impl Totals {
    fn add(&mut self, usage: &Usage) {
        self.sessions += 1;
        self.input = self.input.saturating_add(usage.input_tokens.unwrap_or(0));
        self.cached = self.cached.saturating_add(usage.cached_tokens.unwrap_or(0));
        self.output = self.output.saturating_add(usage.output_tokens.unwrap_or(0));
        if let Some(cost) = usage.cost_usd {
            self.cost = Some(self.cost.unwrap_or(0.0) + cost);
        }
    }

    fn usage(self) -> Usage {
        Usage {
            input_tokens: Some(self.input),
            cached_tokens: Some(self.cached),
            output_tokens: Some(self.output),
            cost_usd: self.cost,
            ..Usage::default()
        }
    }
}

/// For the bottom row.
fn in_short(usage: &Usage) -> String {
    let tokens = usage.input_tokens.unwrap_or(0).saturating_add(usage.output_tokens.unwrap_or(0));
    let tokens = (tokens > 0).then(|| format!("{} tokens", count(tokens)));
    let parts: Vec<String> = tokens.into_iter().chain(usage.cost_usd.map(money)).collect();
    parts.join(", ")
}

fn in_full(usage: &Usage) -> String {
    let part = |tokens: Option<u64>, what: &str| tokens.map(|tokens| format!("{} {what}", count(tokens)));
    let parts = [
        part(usage.input_tokens, "in"),
        part(usage.cached_tokens.filter(|tokens| *tokens > 0), "cached"),
        part(usage.output_tokens, "out"),
        usage.cost_usd.map(money),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn money(usd: f64) -> String {
    format!("${usd:.2}")
}

/// A number in as few characters as it can be read in.
fn count(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{:.1}k", number as f64 / 1e3),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

fn quota_text(quota: &Quota, now: Timestamp) -> String {
    let left = quota.remaining_percent.map(|percent| format!(" {percent:.0} % left"));
    let resets =
        quota.resets_at.filter(|at| *at > now).map(|at| format!(", resets in {}", duration(at.since(now))));
    let sure = match quota.confidence {
        Confidence::Reported => "reported",
        Confidence::Estimated => "estimated",
    };
    let (left, resets) = (left.unwrap_or_default(), resets.unwrap_or_default());
    let age = duration(now.since(quota.as_of));
    format!("{} {}:{left}{resets} ({sure}, {age} ago)", quota.provider, quota.window)
}

/// The host is trusted, and its texts come from elsewhere.
fn bounded(context: HostContext) -> HostContext {
    let line = |text: String| one_line(&text, LONGEST);
    let mut context = context;
    context.branch = context.branch.map(line);
    context.default_branch = context.default_branch.map(line);
    if let Some(pull_request) = &mut context.pull_request {
        pull_request.url = pull_request.url.take().map(line);
        pull_request.title = pull_request.title.take().map(line);
        pull_request.state = pull_request.state.take().map(line);
    }
    context.quotas.truncate(MOST_QUOTAS);
    for quota in &mut context.quotas {
        quota.provider = one_line(&quota.provider, LONGEST);
        quota.window = one_line(&quota.window, LONGEST);
    }
    context.needs_login.truncate(MOST_QUOTAS);
    context.needs_login.iter_mut().for_each(|provider| *provider = one_line(provider, LONGEST));
    context
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!([count(0), count(999), count(1_234), count(2_500_000)], ["0", "999", "1.2k", "2.5M"]);
        let usage = Usage { input_tokens: Some(12_000), output_tokens: Some(345), ..Usage::default() };
        assert_eq!(in_short(&usage), "12.3k tokens");
        assert_eq!(in_full(&Usage { cost_usd: Some(0.5), ..usage }), "12.0k in, 345 out, $0.50");
        assert_eq!(in_short(&Usage::default()), "");
        assert_eq!(duration(Duration::from_secs(3_725)), "1 h 2 min");
    }

    #[test]
    fn a_quota_says_how_sure_and_how_old_it_is() {
        let minute = 60_000;
        let quota = Quota {
            provider: "claude".into(),
            window: "5h".into(),
            remaining_percent: Some(41.6),
            resets_at: Some(Timestamp::from_millis(90 * minute)),
            confidence: Confidence::Reported,
            as_of: Timestamp::from_millis(8 * minute),
        };
        let text = quota_text(&quota, Timestamp::from_millis(10 * minute));
        assert_eq!(text, "claude 5h: 42 % left, resets in 1 h 20 min (reported, 2 min ago)");
        let past = Quota { resets_at: Some(Timestamp::from_millis(1)), remaining_percent: None, ..quota };
        assert_eq!(
            quota_text(&past, Timestamp::from_millis(10 * minute)),
            "claude 5h: (reported, 2 min ago)"
        );
    }
}
