use crate::finding::{Finding, ParsedTag};
use crate::scan::Scan;

/// Finds the tags in an agent's messages, fed in pieces.
///
/// The rule: [`feed`](Self::feed) the pieces of one message in order, cut anywhere, even inside a character; then
/// [`end_message`](Self::end_message). What is found does not depend on where the pieces are cut. A tag is yielded as
/// soon as it is certain, which is when it is closed, or, where a single backtick before it may still turn out to open a
/// code span, when that is settled: at the end of the paragraph, or [`SPAN_MAX`](crate::SPAN_MAX) bytes on.
///
/// It takes time in proportion to the input and holds [`MEMORY_MAX`](Self::MEMORY_MAX) bytes at most.
///
/// ```
/// use jackin_tags::TagParser;
///
/// let mut parser = TagParser::new();
/// assert!(parser.feed("Opened <jackin:pr>https://github.com/a/b/pu").is_empty());
/// let tags = parser.feed("ll/7</jackin:pr>.\n```\n<jackin:pr>in code</jackin:pr>\n```\n");
/// assert_eq!(tags.len(), 1);
/// assert_eq!(tags[0].tag.value, "https://github.com/a/b/pull/7");
/// assert_eq!(tags[0].place.line, 1);
/// assert!(parser.end_message().is_empty());
/// ```
#[derive(Debug)]
pub struct TagParser {
    scan: Scan,
}

/// What counts, and what is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParserOptions {
    /// Tags in inline code spans count too. Fenced code never does.
    pub tags_in_code_spans: bool,
    /// Report what was skipped and why, as [`Finding::Skipped`].
    pub explain: bool,
}

impl TagParser {
    /// The most memory that one parser holds, itself included.
    pub const MEMORY_MAX: usize = size_of::<Self>() + Scan::HEAP_MAX;

    /// A parser at the start of a message.
    pub fn new() -> Self {
        Self::with_options(ParserOptions::default())
    }

    /// A parser with other than the usual rules.
    pub fn with_options(options: ParserOptions) -> Self {
        Self { scan: Scan::new(options) }
    }

    /// Reads the next piece of the message and returns the tags that are certain now.
    pub fn feed(&mut self, piece: impl AsRef<[u8]>) -> Vec<ParsedTag> {
        let mut tags = Vec::new();
        self.feed_with(piece, &mut tags_into(&mut tags));
        tags
    }

    /// The same, handing out each finding as it is made.
    pub fn feed_with(&mut self, piece: impl AsRef<[u8]>, sink: &mut dyn FnMut(Finding)) {
        self.scan.feed(piece.as_ref(), sink);
    }

    /// The message is complete: returns the tags that only its end makes certain, and forgets it.
    pub fn end_message(&mut self) -> Vec<ParsedTag> {
        let mut tags = Vec::new();
        self.end_message_with(&mut tags_into(&mut tags));
        tags
    }

    /// The same, handing out each finding as it is made.
    pub fn end_message_with(&mut self, sink: &mut dyn FnMut(Finding)) {
        self.scan.end(sink);
    }

    /// Everything there is to say about one whole message, in the order of the text.
    pub fn explain(message: impl AsRef<[u8]>) -> Vec<Finding> {
        let mut parser = Self::with_options(ParserOptions { explain: true, ..ParserOptions::default() });
        let mut findings = Vec::new();
        parser.feed_with(message, &mut |finding| findings.push(finding));
        parser.end_message_with(&mut |finding| findings.push(finding));
        findings.sort_by_key(Finding::place);
        findings
    }
}

const _: () = assert!(TagParser::MEMORY_MAX <= 16 * 1024);

impl Default for TagParser {
    fn default() -> Self {
        Self::new()
    }
}

fn tags_into(tags: &mut Vec<ParsedTag>) -> impl FnMut(Finding) {
    |finding| {
        if let Finding::Tag(tag) = finding {
            tags.push(tag);
        }
    }
}
