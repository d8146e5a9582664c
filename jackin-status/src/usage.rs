use jackin_core::{RuntimeEvent, Usage, UsageScope};

/// Tokens and cost as the agent itself reports them, per turn and per session. An estimate of anybody else's does not
/// belong in here.
///
/// ```
/// use jackin_core::{RuntimeEvent, Usage};
/// use jackin_status::ReportedUsage;
///
/// let report = |tokens| RuntimeEvent::Usage(Usage { output_tokens: Some(tokens), ..Usage::default() });
/// let mut usage = ReportedUsage::default();
/// for event in [RuntimeEvent::TurnStarted, report(10), report(5), RuntimeEvent::TurnStarted, report(1)] {
///     usage.observe(&event);
/// }
/// assert_eq!(usage.turn().output_tokens, Some(1));
/// assert_eq!(usage.session().output_tokens, Some(16));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReportedUsage {
    turn: Usage,
    session: Usage,
    /// The session's figures when the turn began, to tell a turn's share where only the session is reported.
    before: Usage,
}

impl ReportedUsage {
    /// Takes what an event says about usage. Returns whether anything changed.
    pub fn observe(&mut self, event: &RuntimeEvent) -> bool {
        match event {
            RuntimeEvent::TurnStarted => {
                self.turn = Usage::default();
                self.before = self.session;
                false
            }
            RuntimeEvent::Usage(report) => {
                let old = *self;
                match report.scope {
                    UsageScope::Turn => {
                        self.turn = each(&self.turn, report, add);
                        self.session = each(&self.session, report, add);
                    }
                    UsageScope::Session => self.replace(report),
                }
                self.session.scope = UsageScope::Session;
                *self != old
            }
            _ => false,
        }
    }

    /// The current or last turn.
    pub fn turn(&self) -> Usage {
        self.turn
    }

    /// The session so far.
    pub fn session(&self) -> Usage {
        Usage { scope: UsageScope::Session, ..self.session }
    }

    fn replace(&mut self, report: &Usage) {
        let latest = |old: Option<f64>, new: Option<f64>| new.or(old);
        let share =
            |new: Option<f64>, before: Option<f64>| new.map(|new| (new - before.unwrap_or(0.0)).max(0.0));
        self.session = each(&self.session, report, latest);
        let turn = each(report, &self.before, share);
        self.turn = Usage { scope: UsageScope::Turn, ..each(&self.turn, &turn, latest) };
    }
}

fn add(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
    }
}

/// Applies `f` to every figure. Tokens pass through `f64`, which holds every count below 2^53 exactly.
fn each(a: &Usage, b: &Usage, f: impl Fn(Option<f64>, Option<f64>) -> Option<f64>) -> Usage {
    let tokens = |a: Option<u64>, b: Option<u64>| {
        f(a.map(|a| a as f64), b.map(|b| b as f64)).map(|tokens| tokens as u64)
    };
    Usage {
        scope: a.scope,
        input_tokens: tokens(a.input_tokens, b.input_tokens),
        cached_tokens: tokens(a.cached_tokens, b.cached_tokens),
        output_tokens: tokens(a.output_tokens, b.output_tokens),
        cost_usd: f(a.cost_usd, b.cost_usd),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(output: u64, cost: Option<f64>) -> RuntimeEvent {
        RuntimeEvent::Usage(Usage {
            scope: UsageScope::Session,
            output_tokens: Some(output),
            cost_usd: cost,
            ..Usage::default()
        })
    }

    #[test]
    fn a_session_report_replaces_and_leaves_the_turn_its_share() {
        let mut usage = ReportedUsage::default();
        usage.observe(&RuntimeEvent::TurnStarted);
        assert!(usage.observe(&session(100, Some(0.25))));
        assert!(!usage.observe(&session(100, Some(0.25))));
        usage.observe(&RuntimeEvent::TurnStarted);
        usage.observe(&session(130, None));
        assert_eq!(usage.turn().output_tokens, Some(30));
        assert_eq!(usage.turn().cost_usd, None);
        assert_eq!((usage.session().output_tokens, usage.session().cost_usd), (Some(130), Some(0.25)));
        assert_eq!(usage.session().input_tokens, None);
    }
}
