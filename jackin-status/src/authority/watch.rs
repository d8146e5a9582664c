use std::time::Duration;

use jackin_core::{Source, Timestamp};

use super::claim::{Claim, Says};
use crate::{Confidence, Look, ScreenSays, ScreenVerdict};

/// How long a screen must show the same before it counts: two frames at the pace at which panes are looked at. A screen
/// that is being redrawn shows anything for one.
pub(super) const SETTLE: Duration = Duration::from_millis(200);

/// What the screen has shown, with flicker taken out.
#[derive(Debug, Default)]
pub(super) struct ScreenWatch {
    settled: Option<Seen>,
    pending: Option<Pending>,
    /// Since when no look has shown a dialog; none while one is shown or nothing was looked at.
    no_dialog: Option<Timestamp>,
    /// Until when a dialog was shown, as far as is known.
    dialog: Option<Timestamp>,
    text: Option<u64>,
}

#[derive(Debug, Clone)]
struct Seen {
    verdict: ScreenVerdict,
    since: Timestamp,
}

#[derive(Debug)]
struct Pending {
    /// None: no rule matches any more.
    verdict: Option<ScreenVerdict>,
    since: Timestamp,
}

impl ScreenWatch {
    /// Takes a look. Returns whether the screen's text is new.
    pub(super) fn look(&mut self, look: Look, now: Timestamp) -> bool {
        let news = self.text.replace(look.text) != Some(look.text);
        match look.verdict.as_ref().map(|verdict| verdict.says) {
            // A menu hides what is behind it.
            Some(ScreenSays::Hold) => self.pending = None,
            Some(ScreenSays::Question) => {
                self.no_dialog = None;
                self.dialog = Some(now);
                self.show(look.verdict, now);
            }
            _ => {
                // A dialog that stands still is looked at once; it was there until now.
                if self.no_dialog.is_none() && self.dialog.is_some() {
                    self.dialog = Some(now);
                }
                self.no_dialog.get_or_insert(now);
                self.show(look.verdict, now);
            }
        }
        news
    }

    fn show(&mut self, verdict: Option<ScreenVerdict>, now: Timestamp) {
        let kind = |verdict: &ScreenVerdict| (verdict.says, verdict.confidence);
        if self.settled.as_ref().map(|seen| kind(&seen.verdict)) == verdict.as_ref().map(kind) {
            self.pending = None;
            // The same, perhaps in other words: another prompt, another rule.
            if let (Some(seen), Some(verdict)) = (&mut self.settled, verdict) {
                seen.verdict = verdict;
            }
            return;
        }
        let since = match &self.pending {
            Some(pending) if pending.verdict.as_ref().map(kind) == verdict.as_ref().map(kind) => {
                pending.since
            }
            _ => now,
        };
        self.pending = Some(Pending { verdict, since });
        self.advance(now);
    }

    /// Takes what has been shown for long enough as settled.
    pub(super) fn advance(&mut self, now: Timestamp) {
        if self.settles_at().is_some_and(|at| at <= now)
            && let Some(pending) = self.pending.take()
        {
            self.settled = pending.verdict.map(|verdict| Seen { verdict, since: pending.since });
        }
    }

    fn settles_at(&self) -> Option<Timestamp> {
        let pending = self.pending.as_ref()?;
        let after_dialog = self.shows(ScreenSays::Question);
        // Work shows in an instant and is believed in one, unless it would take away a dialog.
        let at_once = pending.verdict.as_ref().is_some_and(|verdict| verdict.says == ScreenSays::Busy);
        Some(if at_once && !after_dialog { pending.since } else { pending.since + SETTLE })
    }

    pub(super) fn shows(&self, says: ScreenSays) -> bool {
        self.settled.as_ref().is_some_and(|seen| seen.verdict.says == says)
    }

    /// Since when a rule that is sure has said this, if it does.
    pub(super) fn strong_since(&self, says: ScreenSays) -> Option<Timestamp> {
        let seen = self.settled.as_ref()?;
        let fits = seen.verdict.says == says && seen.verdict.confidence == Confidence::Strong;
        fits.then_some(seen.since)
    }

    /// Since when no dialog has been shown, if one was shown at or after `asked`.
    pub(super) fn dialog_gone(&self, asked: Timestamp) -> Option<Timestamp> {
        self.dialog.filter(|until| *until >= asked).and(self.no_dialog)
    }

    /// What it says, and whether that counts as screen evidence or only as a hint.
    pub(super) fn claim(&self) -> Option<(Claim, Confidence)> {
        let Seen { verdict, since } = self.settled.as_ref()?;
        let says = match verdict.says {
            ScreenSays::Busy => Says::Busy,
            ScreenSays::Question => Says::Question(verdict.prompt.clone()),
            ScreenSays::Idle | ScreenSays::Hold => Says::Idle(None),
        };
        let claim = Claim::new(says, Source::Screen, format!("rule {}", verdict.rule), *since);
        Some((claim, verdict.confidence))
    }

    /// What is shown but has not settled yet, for the explanation.
    pub(super) fn unsettled(&self) -> Option<Claim> {
        let pending = self.pending.as_ref()?;
        let (says, evidence) = match &pending.verdict {
            Some(verdict) => {
                let says = match verdict.says {
                    ScreenSays::Busy => Says::Busy,
                    ScreenSays::Question => Says::Question(verdict.prompt.clone()),
                    ScreenSays::Idle | ScreenSays::Hold => Says::Idle(None),
                };
                (says, format!("rule {}", verdict.rule))
            }
            None => (Says::Unknown, "no rule matches".to_owned()),
        };
        Some(Claim::new(says, Source::Screen, evidence, pending.since))
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.settles_at()
    }
}
