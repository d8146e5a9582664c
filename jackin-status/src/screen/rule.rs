use std::sync::Arc;

use memchr::memmem::Finder;
use regex::Regex;

use super::{Confidence, Look, Screen, ScreenSays, ScreenVerdict, load};
use crate::RuleProblem;
use crate::decode::words;

/// The rules for all agents.
///
/// An agent's rules are tried in their order and the first that matches decides; a weak one only when no strong one
/// does. Rules that are added later come before those that were there, and one with the same name takes its place.
///
/// A rule file is TOML:
///
/// ```toml
/// [[rule]]
/// name = "dialog"            # with the agent's name before it, `claude/dialog`, this is what `explain` shows
/// agent = "claude"
/// status = "question"        # busy, question, idle, or hold: a menu of the operator's, the status before it stands
/// strength = "strong"        # or "weak": could be coincidence, counts no more than silence; strong if left out
/// when = [                   # each must be found on a row of its region
///     { region = "bottom 3", text = "Esc to cancel" },
///     { region = "bottom 12", regex = '^\s*❯\s+\d+\.\s' },
/// ]
/// unless = [{ region = "title", regex = '^[⠂⠐]' }]    # none may be found
/// prompt = ['^\s*(Do you want .*\?)']                 # what is asked: group 1 on the lowest row that matches
/// disabled = false           # true takes the rule of that name away
/// ```
///
/// A region is `bottom N` (rows, counted up from the last one with something on it), `whole` (if left out), `title` or
/// `progress` (`none`, `percent`, `indeterminate`, `error` or `paused`).
///
/// ```
/// use jackin_status::{RuleSet, Screen, ScreenSays};
///
/// let rules = RuleSet::builtin();
/// let screen = Screen::from_text("✻ Baking… (3s · esc to interrupt)\n\n──────────────────────\n❯\n");
/// let verdict = rules.verdict("claude", &screen).unwrap();
/// assert_eq!(verdict.says, ScreenSays::Busy);
/// assert_eq!(&*verdict.rule, "claude/spinner");
/// ```
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    agents: Vec<(String, Vec<Arc<Rule>>)>,
}

const BUILTIN: [(&str, &str); 5] = [
    ("claude.toml", include_str!("../../rules/claude.toml")),
    ("codex.toml", include_str!("../../rules/codex.toml")),
    ("amp.toml", include_str!("../../rules/amp.toml")),
    ("gemini.toml", include_str!("../../rules/gemini.toml")),
    ("opencode.toml", include_str!("../../rules/opencode.toml")),
];

impl RuleSet {
    /// No rules.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The rules that come with this crate, for `claude`, `codex`, `amp`, `gemini` and `opencode`.
    pub fn builtin() -> Self {
        let mut rules = Self::empty();
        for (file, text) in BUILTIN {
            let problems = rules.add(file, text);
            // Not for debug builds only: which regexes compile depends on the features that a program is built with.
            assert!(problems.is_empty(), "the built-in rules are good ones: {problems:?}");
        }
        rules
    }

    /// The texts that [`RuleSet::builtin`] is made of, with their file names: a start for rules of one's own.
    pub fn builtin_sources() -> impl Iterator<Item = (&'static str, &'static str)> {
        BUILTIN.into_iter()
    }

    /// Adds the rules of a TOML file. Bad ones are reported and left out, and the good ones are taken. `file` is only
    /// named in the reports.
    pub fn add(&mut self, file: &str, toml: &str) -> Vec<RuleProblem> {
        let load::Loaded { rules, disabled, problems } = load::load(file, toml);
        for name in &disabled {
            for (_, known) in &mut self.agents {
                known.retain(|rule| *rule.name != **name);
            }
        }
        // From the last to the first, each to the front: the file's order is kept.
        for (agent, rule) in rules.into_iter().rev() {
            let at = self.agents.iter().position(|(known, _)| *known == agent).unwrap_or_else(|| {
                self.agents.push((agent, Vec::new()));
                self.agents.len() - 1
            });
            let known = &mut self.agents[at].1;
            match known.iter().position(|old| old.name == rule.name) {
                Some(same) => known[same] = Arc::new(rule),
                None => known.insert(0, Arc::new(rule)),
            }
        }
        problems
    }

    /// The names of an agent's rules, in the order in which they are tried.
    pub fn names(&self, agent: &str) -> impl Iterator<Item = &str> {
        self.of(agent).iter().map(|rule| &*rule.name)
    }

    /// Whether there are rules for the agent.
    pub fn knows(&self, agent: &str) -> bool {
        !self.of(agent).is_empty()
    }

    /// What the agent's rules say of the screen.
    pub fn verdict(&self, agent: &str, screen: &Screen) -> Option<ScreenVerdict> {
        let view = View::of(screen);
        self.decide(agent, &view).map(|(rule, _)| rule.verdict(&view))
    }

    /// The same, with what is needed to tell whether anything on the screen is new.
    pub fn look(&self, agent: &str, screen: &Screen) -> Look {
        let view = View::of(screen);
        let decided = self.decide(agent, &view);
        let matched = decided.as_ref().map_or(&[][..], |(_, rows)| rows);
        let verdict = decided.as_ref().map(|(rule, _)| rule.verdict(&view));
        Look { verdict, text: view.fingerprint(matched) }
    }

    fn decide(&self, agent: &str, view: &View<'_>) -> Option<(&Rule, Vec<usize>)> {
        let mut weak = None;
        for rule in self.of(agent) {
            if weak.is_some() && rule.confidence == Confidence::Weak {
                continue;
            }
            if let Some(rows) = rule.matches(view) {
                if rule.confidence == Confidence::Strong {
                    return Some((rule, rows));
                }
                weak = Some((&**rule, rows));
            }
        }
        weak
    }

    fn of(&self, agent: &str) -> &[Arc<Rule>] {
        self.agents.iter().find(|(known, _)| known == agent).map_or(&[], |(_, rules)| rules)
    }
}

/// One rule: a screen matches when every condition of `when` holds and none of `unless` does.
#[derive(Debug)]
pub(super) struct Rule {
    /// `agent/name`.
    pub(super) name: Arc<str>,
    pub(super) says: ScreenSays,
    pub(super) confidence: Confidence,
    pub(super) when: Vec<Condition>,
    pub(super) unless: Vec<Condition>,
    pub(super) prompt: Vec<Regex>,
}

#[derive(Debug)]
pub(super) struct Condition {
    pub(super) region: Region,
    pub(super) pattern: Pattern,
}

/// Where a condition looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    /// So many rows, counted up from the last one with something on it.
    Bottom(usize),
    /// Every row.
    Whole,
    Title,
    Progress,
}

#[derive(Debug)]
pub(super) enum Pattern {
    /// Boxed: its tables are ten times the size of the other's handle.
    Text(Box<Finder<'static>>),
    Regex(Regex),
}

impl Pattern {
    fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Text(finder) => finder.find(text.as_bytes()).is_some(),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

impl Rule {
    /// The rows that matched; none of a title or progress.
    fn matches(&self, view: &View<'_>) -> Option<Vec<usize>> {
        let mut rows = Vec::new();
        for condition in &self.when {
            match condition.find(view) {
                Found::Nowhere => return None,
                Found::OnRow(row) => rows.push(row),
                Found::Elsewhere => {}
            }
        }
        let excluded = self.unless.iter().any(|condition| condition.find(view) != Found::Nowhere);
        (!excluded).then_some(rows)
    }

    fn verdict(&self, view: &View<'_>) -> ScreenVerdict {
        ScreenVerdict {
            says: self.says,
            confidence: self.confidence,
            prompt: self.capture(view),
            rule: self.name.clone(),
        }
    }

    /// What each prompt pattern captures on the lowest row where it matches, put together.
    fn capture(&self, view: &View<'_>) -> Option<String> {
        const ROWS: usize = 40;
        let mut parts: Vec<&str> = Vec::new();
        for pattern in &self.prompt {
            let found = view.bottom(ROWS).rev().find_map(|(_, row)| pattern.captures(row));
            if let Some(part) = found.and_then(|captures| captures.get(1).or(captures.get(0)))
                && !parts.contains(&part.as_str())
            {
                parts.push(part.as_str());
            }
        }
        words::some_line(&parts.join(" — "))
    }
}

impl Condition {
    fn find(&self, view: &View<'_>) -> Found {
        let beside = |text: &str| if self.pattern.is_in(text) { Found::Elsewhere } else { Found::Nowhere };
        let rows = match self.region {
            Region::Title => return beside(&view.screen.title),
            Region::Progress => return beside(view.screen.progress.word()),
            Region::Bottom(rows) => rows,
            Region::Whole => usize::MAX,
        };
        // The lowest rows change most and are the ones that rules are about.
        let found = view.bottom(rows).rev().find(|(_, row)| self.pattern.is_in(row));
        found.map_or(Found::Nowhere, |(at, _)| Found::OnRow(at))
    }
}

/// Where a pattern was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nowhere,
    OnRow(usize),
    /// In the title or the progress.
    Elsewhere,
}

/// A screen without the blank rows at its end, and without the blanks at the end of its rows.
struct View<'a> {
    screen: &'a Screen,
    rows: Vec<&'a str>,
}

impl<'a> View<'a> {
    fn of(screen: &'a Screen) -> Self {
        let mut rows: Vec<_> = screen.rows.iter().map(|row| row.trim_end_matches(' ')).collect();
        while rows.last().is_some_and(|row| row.trim_end().is_empty()) {
            rows.pop();
        }
        Self { screen, rows }
    }

    fn bottom(&self, rows: usize) -> impl DoubleEndedIterator<Item = (usize, &'a str)> {
        let first = self.rows.len().saturating_sub(rows);
        self.rows[first..].iter().enumerate().map(move |(i, row)| (first + i, *row))
    }

    fn fingerprint(&self, without: &[usize]) -> u64 {
        let mut hash = Fingerprint::default();
        for (at, row) in self.rows.iter().enumerate() {
            if !without.contains(&at) {
                hash.add(row.as_bytes());
            }
        }
        hash.0
    }
}

/// A quick hash of text, only ever compared with itself: a collision costs a "stuck" that comes late.
struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }
}

impl Fingerprint {
    fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last));
        self.mix(bytes.len() as u64);
    }

    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517C_C1B7_2722_0A95);
    }
}
