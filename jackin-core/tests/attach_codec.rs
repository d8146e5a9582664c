//! The attach codec against generated frames, cuts and garbage.

use std::collections::BTreeMap;

use jackin_core::protocol::Version;
use jackin_core::protocol::attach::{
    DecodeError, Decoder, Frame, HEADER_LEN, Hello, MAX_PAYLOAD, Shutdown, ShutdownReason, Welcome, encode,
};
use jackin_core::{InstanceName, Size};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::Index;

/// A frame that owns its bytes, so that it can be generated and compared.
#[derive(Clone, Debug)]
enum Owned {
    Input(Vec<u8>),
    Output(Vec<u8>),
    Other(Frame<'static>),
}

impl Owned {
    fn frame(&self) -> Frame<'_> {
        match self {
            Self::Input(bytes) => Frame::Input(bytes),
            Self::Output(bytes) => Frame::Output(bytes),
            Self::Other(frame) => frame.clone(),
        }
    }
}

fn frame() -> impl Strategy<Value = Owned> {
    let size = (any::<u16>(), any::<u16>()).prop_map(|(rows, cols)| Size { rows, cols });
    let hello = (size.clone(), vec(".*", 0..3), btree_map("[A-Z]{1,8}", ".*", 0..3), any::<Option<String>>())
        .prop_map(|(size, spawn, env, term): (_, _, BTreeMap<_, _>, _)| Hello {
            version: Version { minor: 7, ..Version::CURRENT },
            size,
            spawn,
            env,
            term,
            ..Hello::default()
        });
    let welcome =
        ("[a-z][a-z0-9]{0,9}", any::<u16>(), any::<bool>()).prop_map(|(name, count, taken)| Welcome {
            version: Version::CURRENT,
            instance: InstanceName::new(name).unwrap(),
            session_count: count.into(),
            terminal_taken: taken,
        });
    let shutdown = (any::<i32>(), ".*").prop_map(|(exit_code, message)| Shutdown {
        reason: ShutdownReason::AllSessionsEnded { exit_code },
        message,
    });
    let command = btree_map(".*", any::<i64>().prop_map(serde_json::Value::from), 0..4)
        .prop_map(|object| Frame::Command(object.into_iter().collect()));
    prop_oneof![
        vec(any::<u8>(), 0..600).prop_map(Owned::Input),
        vec(any::<u8>(), 0..600).prop_map(Owned::Output),
        prop_oneof![
            hello.prop_map(Frame::Hello),
            welcome.prop_map(Frame::Welcome),
            shutdown.prop_map(Frame::Shutdown),
            command,
            size.prop_map(Frame::Resize),
            Just(Frame::SessionList(Vec::new())),
            Just(Frame::Detach),
            Just(Frame::FocusIn),
            Just(Frame::FocusOut),
            Just(Frame::Bell),
        ]
        .prop_map(Owned::Other),
    ]
}

/// Feeds `wire` in the given pieces and hands every outcome to `each`.
fn decode_in_pieces(wire: &[u8], cuts: &[Index], mut each: impl FnMut(Result<Frame<'_>, DecodeError>)) {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(wire.len() + 1)).collect();
    at.extend([0, wire.len()]);
    at.sort_unstable();
    let mut decoder = Decoder::new();
    for piece in at.windows(2) {
        let mut rest = &wire[piece[0]..piece[1]];
        loop {
            rest = &rest[decoder.feed(rest)..];
            assert!(decoder.memory() <= HEADER_LEN + MAX_PAYLOAD);
            loop {
                match decoder.next_frame() {
                    Ok(Some(frame)) => each(Ok(frame)),
                    Ok(None) => break,
                    Err(error) if error.is_fatal() => return each(Err(error)),
                    Err(error) => each(Err(error)),
                }
            }
            if rest.is_empty() {
                break;
            }
        }
    }
}

proptest! {
    #[test]
    fn frames_survive_any_cut(frames in vec(frame(), 0..20), cuts in vec(any::<Index>(), 0..40)) {
        let mut wire = Vec::new();
        for owned in &frames {
            encode(&owned.frame(), &mut wire).unwrap();
        }
        let mut expected = frames.iter();
        decode_in_pieces(&wire, &cuts, |decoded| {
            assert_eq!(decoded.unwrap(), expected.next().expect("no more frames than were sent").frame());
        });
        prop_assert_eq!(expected.len(), 0);
    }

    #[test]
    fn any_bytes_are_survived(wire in vec(any::<u8>(), 0..4_000), cuts in vec(any::<Index>(), 0..10)) {
        decode_in_pieces(&wire, &cuts, |_| {});
    }

    /// Garbage whose lengths are plausible gets further into the decoder than random bytes do.
    #[test]
    fn well_framed_garbage_is_survived(
        frames in vec((any::<u8>(), vec(any::<u8>(), 0..64)), 0..30),
        cuts in vec(any::<Index>(), 0..10),
    ) {
        let mut wire = Vec::new();
        for (tag, payload) in &frames {
            wire.push(*tag);
            wire.extend_from_slice(&(payload.len() as u32).to_be_bytes());
            wire.extend_from_slice(payload);
        }
        let mut outcomes = 0;
        decode_in_pieces(&wire, &cuts, |_| outcomes += 1);
        prop_assert_eq!(outcomes, frames.len(), "each frame is either read or reported");
    }
}

fn raw(tag: u8, payload: &[u8]) -> Vec<u8> {
    let mut wire = vec![tag];
    wire.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    wire.extend_from_slice(payload);
    wire
}

fn only_error(wire: &[u8]) -> DecodeError {
    let mut decoder = Decoder::new();
    assert_eq!(decoder.feed(wire), wire.len());
    decoder.next_frame().unwrap_err()
}

#[test]
fn a_frame_from_the_future_is_skipped_and_reported() {
    let mut wire = raw(0x5f, b"whatever");
    encode(&Frame::Bell, &mut wire).unwrap();
    let mut decoder = Decoder::new();
    assert_eq!(decoder.feed(&wire), wire.len());
    assert_eq!(decoder.next_frame().unwrap(), Some(Frame::Unknown { tag: 0x5f, len: 8 }));
    assert_eq!(decoder.next_frame().unwrap(), Some(Frame::Bell));
}

#[test]
fn a_hello_with_fields_from_the_future_is_understood() {
    let wire = raw(1, b"\x00\x01\x00\x63{\"size\":{\"rows\":5,\"cols\":9,\"depth\":3},\"mood\":\"good\"}");
    let mut decoder = Decoder::new();
    assert_eq!(decoder.feed(&wire), wire.len());
    let Some(Frame::Hello(hello)) = decoder.next_frame().unwrap() else { panic!("a Hello was sent") };
    assert_eq!((hello.size, hello.version.minor), (Size::new(5, 9), 99));
}

#[test]
fn a_hello_of_another_major_version_is_refused_whatever_follows_the_version() {
    let error = only_error(&raw(1, b"\x00\x02\x00\x00\xff\xfe not JSON"));
    let own = Version::CURRENT;
    assert_eq!(
        error.to_string(),
        format!(
            "Hello frame speaks protocol 2.0, this program speaks {own}: use the same jackin release on both sides"
        )
    );
    assert!(!error.is_fatal());
}

#[test]
fn bad_payloads_are_named() {
    for (wire, message) in [
        (raw(1, b"\x00"), "Hello frame has 1 bytes of payload, at least 4 are needed"),
        (raw(2, b"\x00\x18\x00"), "Resize frame has 3 bytes of payload, at least 4 are needed"),
        (
            raw(1, b"\x00\x01\x00\x00[1]"),
            "Hello frame: invalid type: integer `1`, expected struct Size at line 1",
        ),
        (raw(4, b"[1,2]"), "Command frame: invalid type: sequence, expected a map at line 1 column 0"),
        (raw(4, b"{\"a\xff\":1}"), "Command frame: invalid unicode code point at line 1 column 4"),
        (
            raw(0x81, b"\x00\x01\x00\x00{\"instance\":\"No Name\",\"session_count\":1}"),
            "Welcome frame: instance name \"No Name\" has 'N' at character 1",
        ),
    ] {
        let error = only_error(&wire).to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn a_bad_frame_does_not_cost_the_next_one() {
    let mut wire = raw(4, b"nonsense");
    encode(&Frame::Detach, &mut wire).unwrap();
    let mut decoder = Decoder::new();
    assert_eq!(decoder.feed(&wire), wire.len());
    assert!(!decoder.next_frame().unwrap_err().is_fatal());
    assert_eq!(decoder.next_frame().unwrap(), Some(Frame::Detach));
}

#[test]
fn an_announced_length_allocates_nothing() {
    let mut decoder = Decoder::new();
    let mut header = vec![0x82];
    header.extend_from_slice(&(MAX_PAYLOAD as u32).to_be_bytes());
    assert_eq!(decoder.feed(&header), header.len());
    assert_eq!(decoder.next_frame().unwrap(), None);
    assert!(decoder.memory() < 100, "{}", decoder.memory());
}

#[test]
fn after_a_length_over_the_limit_the_stream_is_dead_and_holds_no_memory() {
    let mut wire = raw(0x82, &[0; 100]);
    wire.push(3);
    wire.extend_from_slice(&(MAX_PAYLOAD as u32 + 1).to_be_bytes());
    let mut decoder = Decoder::new();
    assert_eq!(decoder.feed(&wire), wire.len());
    assert!(matches!(decoder.next_frame().unwrap(), Some(Frame::Output(payload)) if payload.len() == 100));
    for _ in 0..2 {
        let error = decoder.next_frame().unwrap_err();
        assert!(error.is_fatal());
        assert!(
            error.to_string().starts_with("Input frame announces 4194305 bytes, over the limit of 4194304")
        );
        assert_eq!(decoder.feed(&[0; 4_096]), 4_096);
    }
    assert_eq!(decoder.memory(), 0);
}

#[test]
fn long_output_becomes_several_frames_and_other_long_frames_are_refused() {
    let bytes = vec![7; MAX_PAYLOAD + 5];
    let mut wire = Vec::new();
    encode(&Frame::Output(&bytes), &mut wire).unwrap();
    let mut lengths = Vec::new();
    decode_in_pieces(&wire, &[], |frame| match frame.unwrap() {
        Frame::Output(payload) => lengths.push(payload.len()),
        other => panic!("{other:?}"),
    });
    assert_eq!(lengths, [MAX_PAYLOAD, 5]);

    let long = Shutdown { reason: ShutdownReason::Stopped, message: "x".repeat(MAX_PAYLOAD) };
    let mut wire = b"before".to_vec();
    assert!(encode(&Frame::Shutdown(long), &mut wire).unwrap_err().to_string().contains("over the limit"));
    assert!(encode(&Frame::Unknown { tag: 9, len: 0 }, &mut wire).is_err());
    assert_eq!(wire, b"before");
}
