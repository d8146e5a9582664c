//! Generated messages: the parser agrees with the model, and where a message is cut makes no difference.

mod model;

use jackin_tags::{Finding, ParserOptions, TagParser};
use proptest::prelude::*;

fn found(parser: &mut TagParser, pieces: &[&[u8]]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for piece in pieces {
        parser.feed_with(piece, &mut |finding| findings.push(finding));
    }
    parser.end_message_with(&mut |finding| findings.push(finding));
    findings
}

fn tags(findings: &[Finding]) -> Vec<model::Found> {
    let tag = |finding: &Finding| match finding {
        Finding::Tag(tag) => Some((
            tag.tag.namespace.clone(),
            tag.tag.kind.to_string(),
            tag.tag.value.clone(),
            tag.place.line,
            tag.place.offset,
        )),
        Finding::Skipped(_) => None,
    };
    findings.iter().filter_map(tag).collect()
}

fn options() -> impl Strategy<Value = ParserOptions> {
    (any::<bool>(), any::<bool>())
        .prop_map(|(tags_in_code_spans, explain)| ParserOptions { tags_in_code_spans, explain })
}

/// Pieces of text at which a reader of Markdown can go wrong.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let fixed = |choices: &'static [&'static str]| {
        prop::sample::select(choices).prop_map(|text| text.as_bytes().to_vec())
    };
    prop_oneof![
        6 => fixed(&["\n", "\n", "\n\n", "\r\n", "\r", "\n \n", "\n>\n"]),
        6 => fixed(&["`", "``", "```", "````", "~~~", "~~~~", "\n```", "\n~~~", "\n```\n", "\n~~~\n", "\\`", "\\"]),
        4 => fixed(&["> ", ">", "- ", "* ", "+", "1. ", "1)", "2. ", "  ", "   ", "    ", "\t", "-\n", "\n- ", "\n> ", "\n  "]),
        2 => fixed(&["# ", "---", "\n---\n", "===", "***", "* * *", "_", "=", "-"]),
        6 => fixed(&[
            "<jackin:pr>https://h/a/b/pull/7</jackin:pr>",
            "<multicode:issue>https://h/a/b/issues/8</multicode:issue>",
            "<jackin:status>busy</jackin:status>",
            "<jackin:status>`x` y</jackin:status>",
            "<jackin:repo> /w </jackin:repo>",
            "<jackin:x>1</jackin:x>",
        ]),
        4 => fixed(&["<jackin:status>", "</jackin:status>", "<jackin:pr>", "</jackin:pr>", "</multicode:status>",
            "<jackin:", "</jackin:", "<jackin:pr a>", "<jackin:PR>", "<", "</", "<jack", "<b>"]),
        3 => fixed(&["word", "é", "日本", "\u{1b}[0m", "https://h/a/b/pull/7", "\u{2028}", "x"]),
        1 => prop::collection::vec(any::<u8>(), 1..4),
        1 => (0_usize..1400, prop::sample::select(b"x `\n".as_slice())).prop_map(|(len, byte)| vec![byte; len]),
        1 => (4090_usize..4100).prop_map(|len| [b"<jackin:status>", "x".repeat(len).as_bytes(), b"</jackin:status>"].concat()),
    ]
}

/// A run and another at about the distance at which the first is given up, a tag between them.
fn at_a_bound() -> impl Strategy<Value = Vec<u8>> {
    let tag = "<jackin:status>busy</jackin:status>";
    let ends = prop::sample::select(&["`", "``", "\n", "```", "\n```", "\\`"][..]);
    (prop::sample::select(&["`", "``", "\n```", "x\n~~~"][..]), -3_isize..4, ends).prop_map(
        move |(begin, off, end)| {
            let bound = if begin.len() > 3 { 256 } else { jackin_tags::SPAN_MAX };
            let filler = bound.saturating_add_signed(off) - tag.len();
            [begin, tag, &"x".repeat(filler), end].concat().into_bytes()
        },
    )
}

/// A line with what decides about blocks at its head.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let head = prop::sample::select(
        &[
            "> ", ">", "- ", "-", "+ ", "1. ", "2. ", "-     ", "-    ", "-\t", "1)", " ", "  ", "   ",
            "    ", "\t", " \t",
        ][..],
    );
    let body = prop::sample::select(
        &[
            "",
            "",
            "```",
            "```",
            "~~~",
            "````",
            "```rust",
            "``` a`b",
            "~~~ a`b",
            "``` x",
            "text",
            "text `",
            "` text",
            "# h",
            "#h",
            "---",
            "- - -",
            "* *",
            "===",
            "-",
            "<jackin:status>",
            "</jackin:status>",
            "<jackin:status>busy</jackin:status>",
            "<jackin:pr>https://h/a/b/pull/7</jackin:pr>",
            "``` <jackin:x>1</jackin:x>",
        ][..],
    );
    let end = prop::sample::select(&["\n", "\n", "\n", "\r\n", " \n"][..]);
    (prop::collection::vec(head, 0..4), body, end)
        .prop_map(|(heads, body, end)| [heads.concat().as_str(), body, end].concat().into_bytes())
}

/// The model knows no bound on the head of a line or the depth of containers.
fn within_model(message: &[u8]) -> bool {
    let structure = |byte: &u8| b" \t\r>-+*_=#~`.)0123456789".contains(byte);
    message
        .split(|&byte| byte == b'\n')
        .all(|line| line.iter().take_while(|byte| structure(byte)).count() < 60)
}

fn message() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(fragment(), 0..24).prop_map(|fragments| fragments.concat()),
        prop::collection::vec(line(), 0..12).prop_map(|lines| lines.concat()),
        prop::collection::vec(prop_oneof![3 => fragment(), 1 => at_a_bound(), 1 => line()], 0..8)
            .prop_map(|parts| parts.concat()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn the_model_agrees(message in message(), options in options()) {
        prop_assume!(within_model(&message));
        let findings = found(&mut TagParser::with_options(options), &[&message]);
        prop_assert_eq!(tags(&findings), model::tags(&message, options.tags_in_code_spans));
    }

    #[test]
    fn cuts_make_no_difference(
        message in message(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        options in options(),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(message.len() + 1)).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for cut in cuts.into_iter().chain([message.len()]) {
            pieces.push(&message[start..cut]);
            start = cut;
        }
        let mut parser = TagParser::with_options(options);
        let whole = found(&mut parser, &[&message]);
        prop_assert_eq!(&found(&mut parser, &pieces), &whole);
        let bytes: Vec<&[u8]> = message.chunks(1).collect();
        prop_assert_eq!(&found(&mut parser, &bytes), &whole);
    }

    #[test]
    fn explaining_finds_the_same_tags(message in message()) {
        let plain = found(&mut TagParser::new(), &[&message]);
        let explained = TagParser::explain(&message);
        prop_assert_eq!(tags(&plain), tags(&explained));
        prop_assert!(plain.iter().all(|finding| matches!(finding, Finding::Tag(_))));
    }

    #[test]
    fn no_value_has_a_control_character(message in prop::collection::vec(any::<u8>(), 0..40)) {
        let wrapped = [b"<jackin:status>", message.as_slice(), b"</jackin:status>"].concat();
        for (_, _, value, _, _) in tags(&found(&mut TagParser::new(), &[&wrapped])) {
            prop_assert!(!value.chars().any(char::is_control));
        }
    }
}
