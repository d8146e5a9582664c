//! One file in `cases/` is one case: a message, the tags in it, and what is skipped and why. Each is read whole, cut in
//! two at every byte, and byte by byte.
//!
//! A file begins with `# ` and what it shows, may have `options:` and `feature:` lines, then the sections `=== input`,
//! `=== tags` (line, namespace, kind, value) and `=== skipped` (line, namespace:kind, reason). The line feed before a
//! section's heading is not part of the input. In `=== input escaped`, Rust's escapes count, and `{x*3}` is `xxx`.
#![allow(clippy::disallowed_methods, reason = "the cases are files beside this one")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use jackin_tags::{Finding, ParserOptions, TagParser};

struct Case {
    options: ParserOptions,
    input: Vec<u8>,
    tags: String,
    skipped: String,
}

#[test]
fn every_case_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 80, "{} case files", files.len());
    let mut failures = String::new();
    for file in &files {
        let name = file.file_stem().unwrap().to_string_lossy();
        let Some(case) = read(&std::fs::read_to_string(file).unwrap()) else { continue };
        if let Err(difference) = check(&case) {
            writeln!(failures, "--- {name}\n{difference}").unwrap();
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

fn check(case: &Case) -> Result<(), String> {
    let compare = |what: &str, expected: &str, got: &str| {
        if expected == got { Ok(()) } else { Err(format!("{what}: expected\n{expected}but got\n{got}")) }
    };
    let whole = run(case.options, &[&case.input]);
    compare("tags", &case.tags, &tags(&whole))?;
    let explained = run(ParserOptions { explain: true, ..case.options }, &[&case.input]);
    compare("tags when explaining", &case.tags, &tags(&explained))?;
    compare("skipped", &case.skipped, &skipped(&explained))?;
    for cut in 0..=case.input.len() {
        let (head, tail) = case.input.split_at(cut);
        let halves = run(case.options, &[head, tail]);
        compare(&format!("tags when cut at byte {cut}"), &case.tags, &tags(&halves))?;
    }
    let bytes: Vec<&[u8]> = case.input.chunks(1).collect();
    compare("tags byte by byte", &case.tags, &tags(&run(case.options, &bytes)))?;
    compare("a second message", &case.tags, &tags(&again(case.options, &case.input)))
}

fn run(options: ParserOptions, pieces: &[&[u8]]) -> Vec<Finding> {
    feed(&mut TagParser::with_options(options), pieces)
}

/// Nothing is left of a message when the next one begins.
fn again(options: ParserOptions, input: &[u8]) -> Vec<Finding> {
    let mut parser = TagParser::with_options(options);
    feed(&mut parser, &[b"x\n- > ~~~\n  > ```` <jackin:status>`` <jackin:pr>"]);
    feed(&mut parser, &[input]);
    feed(&mut parser, &[input])
}

fn feed(parser: &mut TagParser, pieces: &[&[u8]]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for piece in pieces {
        parser.feed_with(piece, &mut |finding| findings.push(finding));
    }
    parser.end_message_with(&mut |finding| findings.push(finding));
    findings
}

fn tags(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        if let Finding::Tag(found) = finding {
            let tag = &found.tag;
            assert_eq!(found.value.as_str(), tag.value);
            writeln!(text, "{} {} {} {}", found.place.line, tag.namespace, tag.kind, tag.value).unwrap();
        }
    }
    text
}

fn skipped(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        if let Finding::Skipped(skipped) = finding {
            let kind = skipped.kind.as_deref().unwrap_or_default();
            writeln!(text, "{} {}:{kind} {:?}", skipped.place.line, skipped.namespace, skipped.reason)
                .unwrap();
        }
    }
    text
}

/// `None` for a case of a feature that is off.
fn read(file: &str) -> Option<Case> {
    let (head, rest) = file.split_once("=== input").expect("a case has an input");
    let (how, rest) = rest.split_once('\n').expect("the input's heading is a line");
    let (input, rest) = rest.split_once("\n=== tags\n").expect("a case has tags");
    let (tags, skipped) = rest.split_once("=== skipped\n").expect("a case says what is skipped");
    if head.contains("feature: vendor-namespaces") && !cfg!(feature = "vendor-namespaces") {
        return None;
    }
    let options =
        ParserOptions { tags_in_code_spans: head.contains("options: tags-in-code-spans"), explain: false };
    let escaped = how == " escaped";
    let text = |text: &str| if escaped { unescape(text) } else { text.as_bytes().to_vec() };
    let tags = String::from_utf8(text(tags)).expect("expected values are text");
    Some(Case { options, input: text(input), tags, skipped: skipped.to_owned() })
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '{' => {
                let (unit, times) = rest.split_once('*').expect("{x*3}");
                let (times, after) = times.split_once('}').expect("{x*3}");
                bytes.extend(unit.repeat(times.parse().expect("a number")).bytes());
                rest = after;
            }
            '\\' => rest = escape(rest, &mut bytes),
            c => bytes.extend(c.to_string().bytes()),
        }
    }
    bytes
}

fn escape<'a>(rest: &'a str, bytes: &mut Vec<u8>) -> &'a str {
    let (code, after) = rest.split_at(1);
    match code {
        "n" => bytes.push(b'\n'),
        "r" => bytes.push(b'\r'),
        "t" => bytes.push(b'\t'),
        "0" => bytes.push(0),
        "\\" => bytes.push(b'\\'),
        "x" => {
            let (hex, after) = after.split_at(2);
            bytes.push(u8::from_str_radix(hex, 16).expect("two hexadecimal digits"));
            return after;
        }
        "u" => {
            let (hex, after) = after[1..].split_once('}').expect("\\u{…}");
            let scalar = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32).expect("a character");
            bytes.extend(scalar.to_string().bytes());
            return after;
        }
        other => panic!("unknown escape \\{other}"),
    }
    after
}
