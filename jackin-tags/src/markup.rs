//! The grammar of a single mark, `<namespace:kind>` or `</namespace:kind>`.
//!
//! Everything here is a pure function of a slice. Streaming parsers tell "not a mark" from "not yet a mark", which is
//! what lets the scanner cut its input anywhere.

use nom::branch::alt;
use nom::bytes::streaming::{tag, take_while_m_n};
use nom::combinator::{opt, recognize, value};
use nom::sequence::{pair, terminated};
use nom::{Err, IResult, Parser};

use crate::namespace::Namespace;

/// A kind is a name, not a sentence.
pub(crate) const KIND_MAX: usize = 32;

/// No mark is longer than this: `</`, the longest namespace, `:`, a kind and `>`.
pub(crate) const MARK_MAX: usize = 2 + Namespace::LONGEST + 1 + KIND_MAX + 1;

/// What a `<` turned out to begin.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read<'a> {
    /// A well-formed mark.
    Mark { mark: Mark<'a>, len: usize },
    /// Begins like a mark of the protocol, but is none. `len` covers the part that is certain; `kind` may be empty.
    Broken { namespace: Namespace, kind: &'a [u8], len: usize, why: Broken },
    /// Nothing of ours.
    Text,
    /// A mark so far; the rest has not arrived.
    Partial,
}

/// A well-formed mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark<'a> {
    pub(crate) close: bool,
    pub(crate) namespace: Namespace,
    pub(crate) kind: &'a [u8],
}

/// Why `<namespace:` did not become a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// A good kind with something between it and `>`.
    Attributes,
    /// No name of a kind follows the colon.
    Kind,
}

/// Reads the mark at the start of `input`, which begins with `<`.
pub(crate) fn read(input: &[u8]) -> Read<'_> {
    let (rest, (close, namespace)) = match prefix(input) {
        Ok(found) => found,
        Err(Err::Incomplete(_)) => return Read::Partial,
        Err(_) => return Read::Text,
    };
    let consumed = |rest: &[u8]| input.len() - rest.len();
    match terminated(kind, tag(">")).parse(rest) {
        Ok((after, kind)) => Read::Mark { mark: Mark { close, namespace, kind }, len: consumed(after) },
        Err(Err::Incomplete(_)) => Read::Partial,
        Err(_) => {
            let (kind, why) = blame(rest);
            Read::Broken { namespace, kind, len: consumed(rest), why }
        }
    }
}

/// Whether a `<` followed by `next` can begin a mark at all; spares the grammar most of a text's angle brackets.
pub(crate) fn plausible(next: u8) -> bool {
    next == b'/' || Namespace::ALL.iter().any(|namespace| namespace.as_str().as_bytes()[0] == next)
}

fn prefix(input: &[u8]) -> IResult<&[u8], (bool, Namespace)> {
    let (rest, _) = tag("<")(input)?;
    let (rest, close) = opt(tag("/")).parse(rest)?;
    let (rest, namespace) = terminated(namespace, tag(":")).parse(rest)?;
    Ok((rest, (close.is_some(), namespace)))
}

#[cfg(not(feature = "vendor-namespaces"))]
fn namespace(input: &[u8]) -> IResult<&[u8], Namespace> {
    alt((
        value(Namespace::Jackin, tag(Namespace::Jackin.as_str())),
        value(Namespace::Multicode, tag(Namespace::Multicode.as_str())),
    ))
    .parse(input)
}

#[cfg(feature = "vendor-namespaces")]
fn namespace(input: &[u8]) -> IResult<&[u8], Namespace> {
    alt((
        value(Namespace::Jackin, tag(Namespace::Jackin.as_str())),
        value(Namespace::Multicode, tag(Namespace::Multicode.as_str())),
        value(Namespace::Conductor, tag(Namespace::Conductor.as_str())),
        value(Namespace::Sandbox, tag(Namespace::Sandbox.as_str())),
    ))
    .parse(input)
}

fn kind(input: &[u8]) -> IResult<&[u8], &[u8]> {
    recognize(pair(
        take_while_m_n(1, 1, |byte: u8| byte.is_ascii_lowercase()),
        take_while_m_n(0, KIND_MAX - 1, is_kind_byte),
    ))
    .parse(input)
}

fn is_kind_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_'
}

fn blame(after_prefix: &[u8]) -> (&[u8], Broken) {
    match kind(after_prefix) {
        Ok((rest, kind)) if rest.first().is_some_and(|&b| b == b'/' || b.is_ascii_whitespace()) => {
            (kind, Broken::Attributes)
        }
        _ => (b"", Broken::Kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_of_a_mark_is_partial() {
        for whole in [&b"<jackin:pr>"[..], b"</multicode:a-very-long_kind-0123456789>"] {
            for cut in 1..whole.len() {
                assert_eq!(read(&whole[..cut]), Read::Partial, "{:?}", &whole[..cut]);
            }
            assert!(matches!(read(whole), Read::Mark { len, .. } if len == whole.len()));
        }
    }

    #[test]
    fn a_mark_is_decided_within_its_longest_form() {
        let endless = [b"</multicode:".as_slice(), &[b'a'; 200]].concat();
        assert!(matches!(read(&endless[..MARK_MAX]), Read::Broken { why: Broken::Kind, .. }));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let why = |input: &[u8]| match read(input) {
            Read::Broken { why, .. } => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(why(b"<jackin:pr href='x'>"), Broken::Attributes);
        assert_eq!(why(b"<jackin:pr/>"), Broken::Attributes);
        assert_eq!(why(b"<jackin:PR>"), Broken::Kind);
        assert_eq!(why(b"<jackin:>"), Broken::Kind);
        assert_eq!(read(b"<jackal:pr>"), Read::Text);
        assert_eq!(read(b"</div>"), Read::Text);
    }
}
