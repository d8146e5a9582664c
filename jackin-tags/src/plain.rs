use std::collections::VecDeque;

use jackin_core::{InstanceName, SessionId, Timestamp};

use crate::event::{AgentTagEvent, TagSource};
use crate::parser::TagParser;

/// Lines of the operator's that are remembered, to know their echo.
const TYPED_MAX: usize = 32;

/// A longer line of the operator's is remembered by its beginning.
const TYPED_BYTES_MAX: usize = 8 * 1024;

/// Makes tag events out of the completed lines of an agent that offers nothing better than its screen.
///
/// What the operator types comes back on that screen, tags and all, and must not pass for the agent's word: tell it
/// with [`typed`](Self::typed), before the lines that show it. That also ends the message that the lines are taken for,
/// so that a code fence left open does not hide the rest of the session.
///
/// ```
/// use jackin_core::{SessionId, Timestamp};
/// use jackin_tags::{PlainExtractor, TagSource};
///
/// let mut extractor = PlainExtractor::new("api-fix".parse()?, SessionId::new(1).unwrap());
/// let now = Timestamp::from_millis(0);
/// extractor.typed("write <jackin:status>hello</jackin:status>");
/// assert!(extractor.line("> write <jackin:status>hello</jackin:status>", now).is_empty());
/// let found = extractor.line("<jackin:status>reading</jackin:status>", now);
/// assert_eq!(found[0].source, TagSource::Plain);
/// # Ok::<(), jackin_core::NameError>(())
/// ```
#[derive(Debug)]
pub struct PlainExtractor {
    instance: InstanceName,
    session: SessionId,
    parser: TagParser,
    typed: VecDeque<String>,
}

impl PlainExtractor {
    /// An extractor for one session.
    pub fn new(instance: InstanceName, session: SessionId) -> Self {
        Self { instance, session, parser: TagParser::new(), typed: VecDeque::new() }
    }

    /// The operator sent this to the agent.
    pub fn typed(&mut self, input: &str) {
        // The tags of the message so far are out; what its end would add was not certain.
        self.parser.end_message();
        // Without a bracket there is no tag to mistake.
        for line in input.lines().map(str::trim).filter(|line| line.contains('<')) {
            if self.typed.len() >= TYPED_MAX {
                self.typed.pop_front();
            }
            let end = (0..=TYPED_BYTES_MAX.min(line.len())).rfind(|&end| line.is_char_boundary(end));
            self.typed.push_back(line[..end.unwrap_or(0)].to_owned());
        }
    }

    /// The agent's screen has completed a line, given without its line end.
    pub fn line(&mut self, line: &str, now: Timestamp) -> Vec<AgentTagEvent> {
        if self.is_echo(line) {
            return Vec::new();
        }
        let mut tags = self.parser.feed(line);
        tags.extend(self.parser.feed("\n"));
        let event = |tag| AgentTagEvent {
            instance: self.instance.clone(),
            session: self.session,
            tag,
            at: now,
            source: TagSource::Plain,
        };
        tags.into_iter().map(|found| event(found.tag)).collect()
    }

    /// Whether a line shows the operator's input, or a part of it where the screen has wrapped it.
    fn is_echo(&self, line: &str) -> bool {
        let line = line.trim();
        let is_part = |typed: &String| line.contains('<') && typed.contains(line);
        self.typed.iter().any(|typed| line.contains(typed.as_str()) || is_part(typed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: &str = "<jackin:repo>/w</jackin:repo>";

    fn extractor() -> PlainExtractor {
        PlainExtractor::new("demo".parse().unwrap(), SessionId::new(1).unwrap())
    }

    fn count(extractor: &mut PlainExtractor, line: &str) -> usize {
        extractor.line(line, Timestamp::from_millis(0)).len()
    }

    #[test]
    fn an_echo_is_not_the_agents_word() {
        let mut extractor = extractor();
        extractor.typed(&format!("please print\n  {TAG} and more\ny\n"));
        assert_eq!(count(&mut extractor, &format!("│ > {TAG} and more │")), 0);
        assert_eq!(count(&mut extractor, TAG), 0, "wrapped before `and more`");
        assert_eq!(count(&mut extractor, "<jackin:repo>/mine</jackin:repo> y"), 1);
    }

    #[test]
    fn input_ends_a_fence_that_was_left_open() {
        let mut extractor = extractor();
        assert_eq!(count(&mut extractor, "```"), 0);
        assert_eq!(count(&mut extractor, TAG), 0);
        extractor.typed("go on");
        assert_eq!(count(&mut extractor, TAG), 1);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut extractor = extractor();
        for number in 0..1000 {
            extractor.typed(&format!("<{number}{}", "é".repeat(10_000)));
        }
        assert_eq!(extractor.typed.len(), TYPED_MAX);
        assert!(extractor.typed.iter().all(|line| line.len() <= TYPED_BYTES_MAX));
    }
}
