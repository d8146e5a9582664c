//! Any bytes, cut anywhere: the parser neither panics nor yields a value with a control character, what it finds does
//! not depend on the cuts, and explaining finds the same tags.
#![no_main]

use jackin_tags::{Finding, ParserOptions, TagParser};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, bool, &[u8])| {
    let (piece, tags_in_code_spans, bytes) = input;
    let piece = usize::from(piece) + 1;
    let options = |explain| ParserOptions { tags_in_code_spans, explain };

    let whole = findings(options(true), bytes, bytes.len().max(1));
    assert_eq!(findings(options(true), bytes, piece), whole);

    let tags = findings(options(false), bytes, piece);
    assert!(tags.iter().eq(whole.iter().filter(|finding| matches!(finding, Finding::Tag(_)))));
    for finding in &whole {
        let shown = match finding {
            Finding::Tag(tag) => Some(&tag.tag.value),
            Finding::Skipped(skipped) => skipped.value.as_ref(),
        };
        assert!(shown.is_none_or(|value| !value.chars().any(char::is_control)), "{finding:?}");
    }
});

fn findings(options: ParserOptions, bytes: &[u8], piece: usize) -> Vec<Finding> {
    let mut parser = TagParser::with_options(options);
    let mut findings = Vec::new();
    for piece in bytes.chunks(piece) {
        parser.feed_with(piece, &mut |finding| findings.push(finding));
    }
    parser.end_message_with(&mut |finding| findings.push(finding));
    findings
}
