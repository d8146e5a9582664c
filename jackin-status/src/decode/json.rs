//! Reading JSON that strangers wrote: only the fields that are asked for, borrowed where possible, and a field of an
//! unexpected type is an absent field. What fails to parse is then really not JSON.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer,
};

use super::BrokenLine;

/// Parses one line, which must be one object.
pub(super) fn parse<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, BrokenLine> {
    match serde_json::from_slice(line) {
        Ok(Maybe(Some(object))) => Ok(object),
        Ok(Maybe(None)) | Err(_) => Err(BrokenLine),
    }
}

/// A string, or nothing.
#[derive(Default, Clone)]
pub(super) struct Text<'a>(pub(super) Option<Cow<'a, str>>);

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// The text, if there is any of it.
    pub(super) fn some(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

/// A non-negative whole number, or nothing.
#[derive(Default, Clone, Copy)]
pub(super) struct Number(pub(super) Option<u64>);

/// Any number, or nothing.
#[derive(Default, Clone, Copy)]
pub(super) struct Real(pub(super) Option<f64>);

/// A boolean, or nothing.
#[derive(Default, Clone, Copy)]
pub(super) struct Flag(pub(super) Option<bool>);

/// An object of the shape `T`, or nothing.
#[derive(Clone, Copy)]
pub(super) struct Maybe<T>(pub(super) Option<T>);

/// The elements of an array that are objects of the shape `T`.
#[derive(Clone)]
pub(super) struct Many<T>(pub(super) Vec<T>);

/// Whether there was a value other than null, and for an array or object whether it had elements.
#[derive(Default, Clone, Copy)]
pub(super) struct Filled(pub(super) bool);

/// An id that some write as a string and some as a number.
#[derive(Default, Clone)]
pub(super) struct Id<'a>(pub(super) Option<Cow<'a, str>>);

/// A complaint, however it is wrapped: a string, the first string of a list, or an object's `message`, looked for in its
/// `data` and `error` too.
#[derive(Default, Clone)]
pub(super) struct Told<'a>(pub(super) Option<Cow<'a, str>>);

impl Told<'_> {
    pub(super) fn some(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

/// What a message holds: bare text, or blocks.
#[derive(Default)]
pub(super) enum Content<'a, B> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Blocks(Vec<B>),
}

// Derived `Default` would ask the same of `T`.
impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Default for Many<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Visitor methods that take a value of a type that is not wanted and return the default.
macro_rules! otherwise_default {
    ($($kind:ident),* $(,)?) => { $(otherwise_default!(@ $kind);)* };
    (@ bool) => { fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> { Ok(Self::Value::default()) } };
    (@ number) => {
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> { Ok(Self::Value::default()) }
    };
    (@ string) => { fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> { Ok(Self::Value::default()) } };
    (@ null) => { fn visit_unit<E>(self) -> Result<Self::Value, E> { Ok(Self::Value::default()) } };
    (@ list) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (@ object) => {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

fn expect_anything(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("any value")
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_anything(f)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }

    otherwise_default!(bool, number, null, list, object);
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct ToldVisitor;

impl<'de> Visitor<'de> for ToldVisitor {
    type Value = Told<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_anything(f)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Told<'de>, E> {
        Ok(Told(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Told<'de>, E> {
        Ok(Told(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Told<'de>, A::Error> {
        let mut first = Told::default();
        while let Some(told) = list.next_element::<Told<'de>>()? {
            first = if first.some().is_some() { first } else { told };
        }
        Ok(first)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Told<'de>, A::Error> {
        let (mut message, mut inner) = (Told::default(), Told::default());
        while let Some(Text(key)) = map.next_key()? {
            match key.as_deref() {
                Some("message") => message = map.next_value()?,
                Some("data" | "error") => inner = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(if message.some().is_some() { message } else { inner })
    }

    otherwise_default!(bool, number, null);
}

impl<'de: 'a, 'a> Deserialize<'de> for Told<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ToldVisitor)
    }
}

struct IdVisitor;

impl<'de> Visitor<'de> for IdVisitor {
    type Value = Id<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_anything(f)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Id<'de>, E> {
        Ok(Id(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Id<'de>, E> {
        Ok(Id(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Id<'de>, E> {
        Ok(Id(Some(Cow::Owned(number.to_string()))))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Id<'de>, E> {
        Ok(Id(Some(Cow::Owned(number.to_string()))))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Id<'de>, E> {
        Ok(Id(None))
    }

    otherwise_default!(bool, null, list, object);
}

impl<'de: 'a, 'a> Deserialize<'de> for Id<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_anything(f)
    }

    fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
        Ok(Number(Some(number)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
        Ok(Number(u64::try_from(number).ok()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
        Ok(Number((number >= 0.0).then_some(number as u64)))
    }

    otherwise_default!(bool, string, null, list, object);
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct RealVisitor;

impl<'de> Visitor<'de> for RealVisitor {
    type Value = Real;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_anything(f)
    }

    fn visit_u64<E>(self, number: u64) -> Result<Real, E> {
        Ok(Real(Some(number as f64)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Real, E> {
        Ok(Real(Some(number as f64)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Real, E> {
        Ok(Real(Some(number)))
    }

    otherwise_default!(bool, string, null, list, object);
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RealVisitor)
    }
}

struct FlagVisitor;

impl<'de> Visitor<'de> for FlagVisitor {
    type Value = Flag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_anything(f)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Flag, E> {
        Ok(Flag(Some(flag)))
    }

    otherwise_default!(number, string, null, list, object);
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlagVisitor)
    }
}

struct MaybeVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for MaybeVisitor<T> {
    type Value = Maybe<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_anything(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Maybe<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|value| Maybe(Some(value)))
    }

    otherwise_default!(bool, number, string, null, list);
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MaybeVisitor(PhantomData))
    }
}

struct ManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ManyVisitor<T> {
    type Value = Many<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_anything(f)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Many<T>, A::Error> {
        objects(list).map(Many)
    }

    otherwise_default!(bool, number, string, null, object);
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ManyVisitor(PhantomData))
    }
}

/// The most elements of a list that are looked at. Real ones have a handful; a hostile one has a million empty objects,
/// each of which costs a hundred times its length once it is read.
const MAX_ELEMENTS: usize = 256;

fn objects<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(mut list: A) -> Result<Vec<T>, A::Error> {
    let mut all = Vec::new();
    while all.len() < MAX_ELEMENTS {
        match list.next_element::<Maybe<T>>()? {
            Some(Maybe(element)) => all.extend(element),
            None => return Ok(all),
        }
    }
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(all)
}

struct FilledVisitor;

impl<'de> Visitor<'de> for FilledVisitor {
    type Value = Filled;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_anything(f)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Filled, E> {
        Ok(Filled(flag))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Filled, E> {
        Ok(Filled(true))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Filled, E> {
        Ok(Filled(true))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Filled, E> {
        Ok(Filled(true))
    }

    fn visit_str<E>(self, text: &str) -> Result<Filled, E> {
        Ok(Filled(!text.is_empty()))
    }

    fn visit_unit<E>(self) -> Result<Filled, E> {
        Ok(Filled(false))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Filled, A::Error> {
        let mut filled = false;
        while list.next_element::<IgnoredAny>()?.is_some() {
            filled = true;
        }
        Ok(Filled(filled))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Filled, A::Error> {
        let mut filled = false;
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            filled = true;
        }
        Ok(Filled(filled))
    }
}

impl<'de> Deserialize<'de> for Filled {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FilledVisitor)
    }
}

struct ContentVisitor<B>(PhantomData<B>);

impl<'de, B: Deserialize<'de>> Visitor<'de> for ContentVisitor<B> {
    type Value = Content<'de, B>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_anything(f)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Content<'de, B>, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Content<'de, B>, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Content<'de, B>, A::Error> {
        objects(list).map(Content::Blocks)
    }

    otherwise_default!(bool, number, null, object);
}

impl<'de: 'a, 'a, B: Deserialize<'de>> Deserialize<'de> for Content<'a, B> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor(PhantomData))
    }
}

/// Replaces escapes of half a surrogate pair, which JavaScript writes and Rust's strings cannot hold, by U+FFFD.
/// `None` when there are none, and nothing is gained by parsing again.
pub(super) fn without_lone_surrogates(line: &[u8]) -> Option<Vec<u8>> {
    memchr::memmem::find(line, b"\\ud").or_else(|| memchr::memmem::find(line, b"\\uD"))?;
    let unit = |at: usize| -> Option<u16> {
        let escape = line.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(escape).ok()?, 16).ok()
    };
    let mut repaired = line.to_vec();
    let (mut at, mut changed) = (0, false);
    while let Some(step) = memchr::memchr(b'\\', &line[at..]) {
        at += step;
        at += match (unit(at), unit(at + 6)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => 12,
            (Some(0xD800..0xE000), _) => {
                repaired[at..at + 6].copy_from_slice(b"\\ufffd");
                changed = true;
                6
            }
            (Some(_), _) => 6,
            // Any other escape is a backslash and one character, which may itself be a backslash.
            (None, _) => 2,
        };
        if at >= line.len() {
            break;
        }
    }
    changed.then_some(repaired)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize, Default)]
    #[serde(default)]
    struct Shape<'a> {
        #[serde(borrow)]
        text: Text<'a>,
        number: Number,
        real: Real,
        flag: Flag,
        #[serde(borrow)]
        object: Maybe<Inner<'a>>,
        #[serde(borrow)]
        list: Many<Inner<'a>>,
        #[serde(borrow)]
        id: Id<'a>,
        filled: Filled,
    }

    #[derive(serde::Deserialize, Default)]
    #[serde(default)]
    struct Inner<'a> {
        #[serde(borrow)]
        name: Text<'a>,
    }

    #[test]
    fn a_field_of_a_wrong_type_is_an_absent_field() {
        for wrong in ["null", "true", "-1.5", "\"x\"", "[1,{}]", "{\"name\":[{\"deep\":[]}]}"] {
            for field in ["text", "number", "real", "flag", "object", "list", "id", "filled"] {
                let json = format!("{{\"{field}\":{wrong},\"unknown\":{wrong}}}");
                assert!(parse::<Shape<'_>>(json.as_bytes()).is_ok(), "{json}");
            }
        }
        let json = br#"{"text":7,"number":"7","object":[],"list":{"a":1},"flag":0}"#;
        let shape: Shape<'_> = parse(json).unwrap();
        assert!(shape.text.0.is_none() && shape.number.0.is_none() && shape.object.0.is_none());
        assert!(shape.list.0.is_empty() && shape.flag.0.is_none());
    }

    #[test]
    fn wanted_types_are_read() {
        let json = br#"{"text":"a\nb","number":7,"real":0.5,"flag":true,"object":{"name":"n"},"list":[1,{"name":"m"},null],"id":12,"filled":[0]}"#;
        let shape: Shape<'_> = parse(json).unwrap();
        assert_eq!(shape.text.as_str(), "a\nb");
        assert_eq!((shape.number.0, shape.real.0, shape.flag.0), (Some(7), Some(0.5), Some(true)));
        assert_eq!(shape.object.0.unwrap().name.as_str(), "n");
        assert_eq!(shape.list.0.len(), 1);
        assert_eq!(shape.id.0.as_deref(), Some("12"));
        assert!(shape.filled.0);
    }

    #[test]
    fn a_complaint_is_found_in_every_wrapping() {
        for json in [
            r#""no""#,
            r#"["no","other"]"#,
            r#"[null,{"message":"no"}]"#,
            r#"{"message":"no"}"#,
            r#"{"name":"E","data":{"message":"no","statusCode":504}}"#,
            r#"{"error":{"message":"no"}}"#,
        ] {
            assert_eq!(serde_json::from_str::<Told<'_>>(json).unwrap().some(), Some("no"), "{json}");
        }
        assert!(serde_json::from_str::<Told<'_>>(r#"{"code":1}"#).unwrap().some().is_none());
    }

    #[test]
    fn what_is_not_an_object_is_broken() {
        for broken in [&b""[..], b"{", b"7", b"[]", b"null", b"\"text\"", b"{} {}", b"\xff"] {
            assert!(parse::<Shape<'_>>(broken).is_err());
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_mended() {
        let mended = |line: &str| {
            without_lone_surrogates(line.as_bytes()).map(|line| String::from_utf8(line).unwrap())
        };
        assert_eq!(mended(r#"{"a":"\ud83d"}"#).as_deref(), Some(r#"{"a":"\ufffd"}"#));
        assert_eq!(mended(r#"{"a":"\uDE00\ud83d\ude00"}"#).as_deref(), Some(r#"{"a":"\ufffd\ud83d\ude00"}"#));
        assert_eq!(mended(r#"{"a":"\ud83d\ude00"}"#), None);
        assert_eq!(mended(r#"{"a":"\\ud83d"}"#), None);
        assert_eq!(mended(r#"{"a":"\ud8"#), None);
        assert_eq!(mended(r"\"), None);
    }
}
