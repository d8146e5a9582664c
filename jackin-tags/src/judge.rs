use jackin_core::{AgentTag, TagKind};

use crate::finding::{Finding, ParsedTag, Place, SkipReason, SkippedTag};
use crate::namespace::Namespace;
use crate::value::TagValue;

/// A tag as it stands in the text: marks in order, value not looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    pub(crate) namespace: Namespace,
    /// Letters, digits and dashes, by the grammar; empty where the mark had no kind.
    pub(crate) kind: &'a [u8],
    pub(crate) value: &'a [u8],
    pub(crate) place: Place,
}

/// Looks at the value.
pub(crate) fn judge(element: &Element<'_>) -> Finding {
    let Ok(text) = std::str::from_utf8(element.value) else {
        return element.skipped(SkipReason::NotUtf8);
    };
    let kind = TagKind::from(String::from_utf8_lossy(element.kind).as_ref());
    match TagValue::parse(&kind, text) {
        Ok(value) => Finding::Tag(ParsedTag {
            tag: AgentTag { namespace: element.namespace.to_string(), kind, value: value.to_string() },
            value,
            place: element.place,
        }),
        Err(error) => element.skipped(SkipReason::Value(error)),
    }
}

impl Element<'_> {
    pub(crate) fn skipped(&self, reason: SkipReason) -> Finding {
        let kind = String::from_utf8_lossy(self.kind);
        let value = String::from_utf8_lossy(self.value);
        Finding::Skipped(SkippedTag {
            namespace: self.namespace,
            kind: (!kind.is_empty()).then(|| kind.into_owned()),
            value: (!value.is_empty()).then(|| visible(&value)),
            reason,
            place: self.place,
        })
    }
}

/// The value for an operator's eyes: a control character must not reach the terminal this way either.
fn visible(value: &str) -> String {
    value
        .chars()
        .flat_map(|c| {
            let escaped = TagValue::is_hostile(c);
            escaped.then(|| c.escape_default()).into_iter().flatten().chain((!escaped).then_some(c))
        })
        .collect()
}
