//! The control codec against generated messages, cuts and garbage.

use jackin_core::protocol::control::{Call, Decoder, MAX_MESSAGE, MessageTooLong, encode};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

fn messages_of(wire: &[u8], cuts: &[Index]) -> Result<Vec<Vec<u8>>, MessageTooLong> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(wire.len() + 1)).collect();
    at.extend([0, wire.len()]);
    at.sort_unstable();
    let mut decoder = Decoder::new();
    let mut messages = Vec::new();
    for piece in at.windows(2) {
        let mut rest = &wire[piece[0]..piece[1]];
        loop {
            rest = &rest[decoder.feed(rest)..];
            assert!(decoder.memory() <= MAX_MESSAGE + 4);
            while let Some(json) = decoder.next_message()? {
                messages.push(json.to_vec());
            }
            if rest.is_empty() {
                break;
            }
        }
    }
    Ok(messages)
}

proptest! {
    #[test]
    fn messages_survive_any_cut(texts in vec(".*", 0..20), cuts in vec(any::<Index>(), 0..40)) {
        let mut wire = Vec::new();
        for text in &texts {
            encode(text, &mut wire).unwrap();
        }
        let expected: Vec<Vec<u8>> = texts.iter().map(|text| serde_json::to_vec(text).unwrap()).collect();
        prop_assert_eq!(messages_of(&wire, &cuts).unwrap(), expected);
    }

    #[test]
    fn any_bytes_are_survived(wire in vec(any::<u8>(), 0..2_000), cuts in vec(any::<Index>(), 0..10)) {
        for json in messages_of(&wire, &cuts).unwrap_or_default() {
            drop(Call::from_json(&json));
        }
    }

    /// Any JSON object with a method's name is either a call or an error that names the method.
    #[test]
    fn any_parameters_are_survived(
        method in prop::sample::select(&jackin_core::protocol::control::METHODS[..]),
        params in prop::collection::btree_map("session_id|text|until|kind|command|focus|direction", json(), 0..5),
    ) {
        let call = serde_json::json!({ "method": method, "params": params });
        if let Err(error) = Call::from_json(&serde_json::to_vec(&call).unwrap()) {
            prop_assert!(error.to_string().starts_with(&format!("parameters of {method}: ")), "{}", error);
        }
    }
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        ".{0,8}".prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

#[test]
fn a_length_over_the_limit_ends_the_stream() {
    let mut decoder = Decoder::new();
    assert_eq!(decoder.feed(&(MAX_MESSAGE as u32 + 1).to_be_bytes()), 4);
    for _ in 0..2 {
        let error = decoder.next_message().unwrap_err();
        assert_eq!(error.to_string(), "a control message of 4194305 bytes is over the limit of 4194304");
        assert_eq!(decoder.feed(&[1; 50]), 50);
    }
    assert_eq!(decoder.memory(), 0);
}

#[test]
fn a_message_over_the_limit_is_not_sent() {
    let mut wire = b"before".to_vec();
    assert_eq!(encode(&"x".repeat(MAX_MESSAGE), &mut wire), Err(MessageTooLong { len: MAX_MESSAGE + 2 }));
    assert_eq!(wire, b"before");
}
