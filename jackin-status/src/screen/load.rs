use std::fmt;
use std::ops::Range;

use memchr::memmem::Finder;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use thiserror::Error;
use toml::Spanned;

use super::rule::{Condition, Pattern, Region, Rule};
use super::{Confidence, ScreenSays};

/// A rule that could not be used. The others of its file are.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{line}: {problem}")]
#[non_exhaustive]
pub struct RuleProblem {
    /// The file, as it was named.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

/// The largest compiled regular expression. What agents print is matched against it again and again, in time linear
/// in the text and in this.
const MAX_REGEX: usize = 256 << 10;
/// The most rules of one file; far more than a set of agents needs.
const MAX_RULES: usize = 1_000;

pub(super) struct Loaded {
    /// With their agents, in the file's order.
    pub(super) rules: Vec<(String, Rule)>,
    /// Names of rules to take away.
    pub(super) disabled: Vec<String>,
    pub(super) problems: Vec<RuleProblem>,
}

/// Reads a rule file. Each `[[rule]]` is read on its own, so that a slip in one, even one of syntax, costs that one.
pub(super) fn load(file: &str, toml: &str) -> Loaded {
    let mut loaded = Loaded { rules: Vec::new(), disabled: Vec::new(), problems: Vec::new() };
    for (number, section) in sections(toml).enumerate() {
        if number > MAX_RULES {
            let problem = format!("more than {MAX_RULES} rules; the rest is left out");
            loaded.problems.push(RuleProblem { file: file.to_owned(), line: section.line, problem });
            break;
        }
        match read(&section) {
            Ok(Section::Rule(agent, rule)) => loaded.rules.push((agent, rule)),
            Ok(Section::Disabled(name)) => loaded.disabled.push(name),
            Ok(Section::Nothing) => {}
            Err(fault) => {
                let line = section.line_of(fault.at);
                loaded.problems.push(RuleProblem { file: file.to_owned(), line, problem: fault.problem });
            }
        }
    }
    loaded
}

/// A part of the file, and the number of its first line.
struct Text<'a> {
    text: &'a str,
    line: usize,
}

impl Text<'_> {
    fn line_of(&self, at: usize) -> usize {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        self.line + memchr::memchr_iter(b'\n', before).count()
    }
}

/// What stands before the first `[[rule]]`, then each of them.
fn sections(toml: &str) -> impl Iterator<Item = Text<'_>> {
    let mut cuts = vec![0];
    let mut at = 0;
    for line in toml.split_inclusive('\n') {
        if line.trim_start().starts_with("[[rule]]") && at > 0 {
            cuts.push(at);
        }
        at += line.len();
    }
    cuts.push(toml.len());
    let mut line = 1;
    (0..cuts.len() - 1).map(move |i| {
        let text = &toml[cuts[i]..cuts[i + 1]];
        let first = line;
        line += memchr::memchr_iter(b'\n', text.as_bytes()).count();
        Text { text, line: first }
    })
}

enum Section {
    Nothing,
    Rule(String, Rule),
    Disabled(String),
}

struct Fault {
    at: usize,
    problem: String,
}

impl Fault {
    fn new(at: &Range<usize>, problem: impl fmt::Display) -> Self {
        Self { at: at.start, problem: problem.to_string() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Spanned<RuleText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    name: Spanned<String>,
    agent: Spanned<String>,
    #[serde(default)]
    disabled: bool,
    status: Option<StatusText>,
    strength: Option<StrengthText>,
    #[serde(default)]
    when: Vec<Spanned<ConditionText>>,
    #[serde(default)]
    unless: Vec<Spanned<ConditionText>>,
    #[serde(default)]
    prompt: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum StatusText {
    Busy,
    Question,
    Idle,
    Hold,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum StrengthText {
    Strong,
    Weak,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConditionText {
    region: Option<Spanned<String>>,
    text: Option<Spanned<String>>,
    regex: Option<Spanned<String>>,
}

fn read(section: &Text<'_>) -> Result<Section, Fault> {
    let file: File = toml::from_str(section.text)
        .map_err(|error| Fault::new(&error.span().unwrap_or_default(), error.message()))?;
    let Some(rule) = file.rule.into_iter().next() else { return Ok(Section::Nothing) };
    let span = rule.span();
    let rule = rule.into_inner();
    let name = format!("{}/{}", word(&rule.agent, "agent")?, word(&rule.name, "name")?);
    if rule.disabled {
        return Ok(Section::Disabled(name));
    }
    let Some(status) = rule.status else {
        return Err(Fault::new(&span, "the rule has no `status`: write busy, question, idle or hold"));
    };
    if rule.when.is_empty() {
        return Err(Fault::new(&span, "the rule has no `when`, so it would match every screen"));
    }
    let agent = rule.agent.into_inner();
    let rule = Rule {
        name: name.into(),
        says: match status {
            StatusText::Busy => ScreenSays::Busy,
            StatusText::Question => ScreenSays::Question,
            StatusText::Idle => ScreenSays::Idle,
            StatusText::Hold => ScreenSays::Hold,
        },
        confidence: match rule.strength {
            None | Some(StrengthText::Strong) => Confidence::Strong,
            Some(StrengthText::Weak) => Confidence::Weak,
        },
        when: rule.when.into_iter().map(condition).collect::<Result<_, _>>()?,
        unless: rule.unless.into_iter().map(condition).collect::<Result<_, _>>()?,
        prompt: rule.prompt.iter().map(regex).collect::<Result<_, _>>()?,
    };
    Ok(Section::Rule(agent, rule))
}

fn word<'a>(text: &'a Spanned<String>, key: &str) -> Result<&'a str, Fault> {
    let (span, text) = (text.span(), text.get_ref());
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    if text.is_empty() || text.len() > 64 || !text.bytes().all(fits) {
        let problem = format!("`{key}` must be 1 to 64 letters, digits, `-`, `_` or `.`");
        return Err(Fault::new(&span, problem));
    }
    Ok(text)
}

fn condition(text: Spanned<ConditionText>) -> Result<Condition, Fault> {
    let span = text.span();
    let ConditionText { region, text, regex: expression } = text.into_inner();
    let region = region.as_ref().map_or(Ok(Region::Whole), self::region)?;
    let pattern = match (&text, &expression) {
        (Some(text), None) if !text.get_ref().is_empty() => {
            Pattern::Text(Box::new(Finder::new(text.get_ref().as_bytes()).into_owned()))
        }
        (None, Some(expression)) => Pattern::Regex(regex(expression)?),
        _ => return Err(Fault::new(&span, "a condition has either a `text`, not empty, or a `regex`")),
    };
    Ok(Condition { region, pattern })
}

fn region(text: &Spanned<String>) -> Result<Region, Fault> {
    let unknown = || {
        let problem = "`region` must be \"bottom N\", \"whole\", \"title\" or \"progress\"";
        Fault::new(&text.span(), problem)
    };
    match text.get_ref().as_str() {
        "whole" => Ok(Region::Whole),
        "title" => Ok(Region::Title),
        "progress" => Ok(Region::Progress),
        other => {
            let rows = other.strip_prefix("bottom ").and_then(|rows| rows.parse().ok());
            rows.filter(|rows| *rows > 0).map(Region::Bottom).ok_or_else(unknown)
        }
    }
}

fn regex(text: &Spanned<String>) -> Result<Regex, Fault> {
    RegexBuilder::new(text.get_ref()).size_limit(MAX_REGEX).dfa_size_limit(1 << 20).build().map_err(|error| {
        // The library's message is several lines with a drawing; the last one says what is wrong.
        let message = error.to_string();
        let said = message.lines().last().unwrap_or_default();
        Fault::new(&text.span(), format!("bad regex: {}", said.trim_start_matches("error: ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RuleSet;

    #[test]
    fn bad_rules_are_reported_with_their_line_and_the_good_ones_are_taken() {
        let toml = r#"# my rules

[[rule]]
name = "good"
agent = "x"
status = "busy"
when = [{ region = "bottom 3", text = "working" }]

[[rule]]
name = "bad-regex"
agent = "x"
status = "busy"
when = [
    { region = "bottom 3", regex = '(' },
]

[[rule]]
name = "bad syntax"
agent = = "x"

[[rule]]
name = "bad-region"
agent = "x"
status = "idle"
when = [{ region = "top", text = "x" }]

[[rule]]
name = "bad-status"
agent = "x"
status = "sleeping"
when = [{ text = "x" }]

[[rule]]
name = "typo"
agent = "x"
status = "idle"
wen = [{ text = "x" }]

[[rule]]
name = "everything"
agent = "x"
status = "idle"

[[rule]]
name = "also-good"
agent = "x"
status = "idle"
when = [{ region = "title", text = "ready" }]
"#;
        let mut rules = RuleSet::empty();
        let problems = rules.add("mine.toml", toml);
        assert_eq!(rules.names("x").collect::<Vec<_>>(), ["x/good", "x/also-good"]);
        assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [14, 19, 25, 30, 37, 39]);
        assert!(problems[0].to_string().starts_with("mine.toml:14: bad regex: "), "{}", problems[0]);
        assert!(problems[3].problem.contains("unknown variant"), "{}", problems[3]);
    }

    #[test]
    fn an_absurd_regex_is_refused_and_not_compiled() {
        let toml = "[[rule]]\nname=\"a\"\nagent=\"x\"\nstatus=\"busy\"\nwhen=[{regex='(a{1000}){1000}'}]\n";
        let problems = RuleSet::empty().add("f", toml);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].line, 5);
    }

    #[test]
    fn later_rules_come_first_replace_and_disable() {
        let rule = |name: &str, more: &str| {
            format!(
                "[[rule]]\nname = \"{name}\"\nagent = \"x\"\nstatus = \"busy\"\nwhen = [{{ text = \"{name}\" }}]\n{more}\n"
            )
        };
        let mut rules = RuleSet::empty();
        rules.add("base", &[rule("a", ""), rule("b", ""), rule("c", "")].concat());
        rules.add(
            "mine",
            &[rule("n", ""), rule("b", "strength = \"weak\""), rule("a", "disabled = true")].concat(),
        );
        assert_eq!(rules.names("x").collect::<Vec<_>>(), ["x/n", "x/b", "x/c"]);
        let screen = crate::Screen::from_text("b");
        assert_eq!(rules.verdict("x", &screen).unwrap().confidence, Confidence::Weak);
        assert!(rules.verdict("y", &screen).is_none());
    }

    #[test]
    fn the_built_in_rules_have_no_problem() {
        for (file, text) in RuleSet::builtin_sources() {
            assert_eq!(RuleSet::empty().add(file, text), []);
        }
        for agent in ["claude", "codex", "amp", "gemini", "opencode"] {
            assert!(RuleSet::builtin().knows(agent), "{agent}");
        }
    }
}
