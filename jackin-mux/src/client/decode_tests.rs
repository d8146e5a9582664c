use proptest::collection::vec;
use proptest::prelude::*;

use super::super::event::{Button, Mouse, MouseAction, Wheel};
use super::*;

const ESCAPE_TIME: Duration = Duration::from_millis(25);

fn at(ms: u64) -> Timestamp {
    Timestamp::from_millis(ms)
}

/// An event in words, so that it can be kept and compared.
fn words(event: &ClientEvent<'_>) -> String {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
    match event {
        ClientEvent::Key { key, raw } => format!("{key} {}", text(raw)),
        ClientEvent::KeyUp { raw } => format!("up {}", text(raw)),
        ClientEvent::Paste(bytes) => format!("paste {}", text(bytes)),
        ClientEvent::Raw(raw) => format!("raw {}", text(raw)),
        ClientEvent::Reply(Reply::Osc { number, raw }) => format!("osc {number} {}", text(raw)),
        ClientEvent::Reply(Reply::Dcs(raw)) => format!("dcs {}", text(raw)),
        ClientEvent::Reply(Reply::Apc(raw)) => format!("apc {}", text(raw)),
        other => format!("{other:?}"),
    }
}

/// Everything that pieces mean, and then, after a long time, what is left. Pieces of a paste are joined.
fn decoded(pieces: &[&[u8]]) -> Vec<String> {
    let mut decoder = Decoder::new(ESCAPE_TIME);
    let mut events: Vec<String> = Vec::new();
    let mut note = |event: ClientEvent<'_>| match (event, events.last_mut()) {
        (ClientEvent::Paste(more), Some(last)) if last.starts_with("paste ") => {
            last.push_str(&more.escape_ascii().to_string());
        }
        (event, _) => events.push(words(&event)),
    };
    for piece in pieces {
        decoder.feed(piece, at(0), &mut note);
    }
    decoder.expire(at(10_000), &mut note);
    events
}

#[test]
fn keys_in_all_their_encodings() {
    for (bytes, expected) in [
        (&b"a"[..], "a a"),
        (b"\r", "enter \\r"),
        (b"\n", "ctrl+j \\n"),
        (b"\x02", "ctrl+b \\x02"),
        (b"\x1b[98;5u", "ctrl+b \\x1b[98;5u"),
        (b"\x1b[27;5;98~", "ctrl+b \\x1b[27;5;98~"),
        (b"\x1b[13;2u", "shift+enter \\x1b[13;2u"),
        (b"\x1b[97;2u", "A \\x1b[97;2u"),
        (b"\x1b[47:63;2u", "? \\x1b[47:63;2u"),
        (b"\x1b[97;6u", "ctrl+shift+a \\x1b[97;6u"),
        (b"\x1b[9;6u", "ctrl+shift+tab \\x1b[9;6u"),
        (b"\x1b[98;5:1u", "ctrl+b \\x1b[98;5:1u"),
        (b"\x1b[98;5:3u", "up \\x1b[98;5:3u"),
        (b"\x1b[98;69u", "ctrl+b \\x1b[98;69u"),
        (b"\x1b[57399u", "0 \\x1b[57399u"),
        (b"\x1b[A", "up \\x1b[A"),
        (b"\x1b[1;5A", "ctrl+up \\x1b[1;5A"),
        (b"\x1bOA", "up \\x1bOA"),
        (b"\x1bOP", "f1 \\x1bOP"),
        (b"\x1b[15~", "f5 \\x1b[15~"),
        (b"\x1b[24;2~", "shift+f12 \\x1b[24;2~"),
        (b"\x1b[1;2R", "shift+f3 \\x1b[1;2R"),
        (b"\x1b[[B", "f2 \\x1b[[B"),
        (b"\x1b[Z", "shift+tab \\x1b[Z"),
        (b"\x1b[3~", "delete \\x1b[3~"),
        (b"\x1bx", "alt+x \\x1bx"),
        (b"\x1b\r", "alt+enter \\x1b\\r"),
        (b"\x1b\x02", "ctrl+alt+b \\x1b\\x02"),
        (b"\x1b", "escape \\x1b"),
        (b"\x1b[", "alt+[ \\x1b["),
        (b"\x1bO", "alt+O \\x1bO"),
        ("é".as_bytes(), "é \\xc3\\xa9"),
        ("\x1bü".as_bytes(), "alt+ü \\x1b\\xc3\\xbc"),
        (b"\xff", "raw \\xff"),
        (b"\x1b[5;9;9x", "raw \\x1b[5;9;9x"),
    ] {
        assert_eq!(decoded(&[bytes]), [expected], "{}", bytes.escape_ascii());
    }
}

#[test]
fn replies_focus_and_paste() {
    for (bytes, expected) in [
        (&b"\x1b[I"[..], vec!["Focus(true)"]),
        (b"\x1b[O", vec!["Focus(false)"]),
        (b"\x1b[?2026;2$y", vec!["Reply(Mode { mode: 2026, state: 2 })"]),
        (b"\x1b[?5u", vec!["Reply(Keyboard { flags: 5 })"]),
        (b"\x1b[?997;1n", vec!["Reply(ColourScheme { dark: true })"]),
        (b"\x1b]11;rgb:0/0/0\x07", vec!["osc 11 \\x1b]11;rgb:0/0/0\\x07"]),
        (b"\x1b]4;1;rgb:0/0/0\x1b\\", vec!["osc 4 \\x1b]4;1;rgb:0/0/0\\x1b\\\\"]),
        (b"\x1bP>|term 1\x1b\\", vec!["dcs \\x1bP>|term 1\\x1b\\\\"]),
        (b"\x1b_Gi=1;OK\x1b\\", vec!["apc \\x1b_Gi=1;OK\\x1b\\\\"]),
        (b"\x1bPa\x07b\x1b\\", vec!["dcs \\x1bPa\\x07b\\x1b\\\\"]),
        (b"\x1b]11;rgb\x1b[A", vec!["raw \\x1b]11;rgb", "up \\x1b[A"]),
        (
            b"\x1b[200~a\x02\x1b[Ab\x1b[201~\x02",
            vec!["PasteStart", "paste a\\x02\\x1b[Ab", "PasteEnd", "ctrl+b \\x02"],
        ),
        (b"\x1b[200~\x1b[201~", vec!["PasteStart", "PasteEnd"]),
    ] {
        assert_eq!(decoded(&[bytes]), expected);
    }
}

#[test]
fn the_mouse_in_both_encodings() {
    let mouse = |bytes: &[u8]| {
        let mut seen = None;
        Decoder::new(ESCAPE_TIME).feed(bytes, at(0), |event| {
            if let ClientEvent::Mouse(mouse) = event {
                seen = Some(mouse);
            }
        });
        seen
    };
    let plain = Mouse {
        action: MouseAction::Press(Button::Left),
        row: 4,
        col: 9,
        shift: false,
        alt: false,
        ctrl: false,
    };
    assert_eq!(mouse(b"\x1b[<0;10;5M"), Some(plain));
    assert_eq!(mouse(b"\x1b[M\x20\x2a\x25"), Some(plain));
    for (bytes, action) in [
        (&b"\x1b[<0;10;5m"[..], MouseAction::Release(Button::Left)),
        (b"\x1b[<2;10;5M", MouseAction::Press(Button::Right)),
        (b"\x1b[<32;10;5M", MouseAction::Move(Some(Button::Left))),
        (b"\x1b[<35;10;5M", MouseAction::Move(None)),
        (b"\x1b[<64;10;5M", MouseAction::Wheel(Wheel::Up)),
        (b"\x1b[<65;10;5M", MouseAction::Wheel(Wheel::Down)),
        (b"\x1b[<128;10;5M", MouseAction::Press(Button::Extra(8))),
        (b"\x1b[M\x23\x2a\x25", MouseAction::Release(Button::Left)),
        (b"\x1b[M\x60\x2a\x25", MouseAction::Wheel(Wheel::Up)),
    ] {
        assert_eq!(mouse(bytes), Some(Mouse { action, ..plain }), "{}", bytes.escape_ascii());
    }
    assert!(mouse(b"\x1b[<28;10;5M").is_some_and(|mouse| mouse.shift && mouse.alt && mouse.ctrl));
    assert_eq!(mouse(b"\x1b[<0;0;5M"), None);
    assert_eq!(mouse(b"\x1b[<0;99999999;5M"), None);
}

#[test]
fn a_lone_escape_waits_for_the_escape_time_and_no_longer() {
    let mut decoder = Decoder::new(ESCAPE_TIME);
    let mut seen = Vec::new();
    decoder.feed(b"\x1b", at(100), |event| seen.push(words(&event)));
    assert_eq!(decoder.poll_timeout(), Some(at(125)));
    decoder.expire(at(124), |event| seen.push(words(&event)));
    assert!(seen.is_empty());
    decoder.expire(at(125), |event| seen.push(words(&event)));
    assert_eq!(seen, ["escape \\x1b"]);
    assert_eq!(decoder.poll_timeout(), None);

    decoder.feed(b"\x1b[1;", at(200), |event| seen.push(words(&event)));
    assert_eq!(decoder.poll_timeout(), Some(at(1_200)), "a sequence that has begun may take its time");
    decoder.feed(b"5C", at(900), |event| seen.push(words(&event)));
    assert_eq!(seen[1..], ["ctrl+right \\x1b[1;5C"]);

    decoder.feed(b"\x1b[200~text\x1b[20", at(2_000), |_| {});
    assert_eq!(decoder.poll_timeout(), None, "a paste ends with its marker only");
}

#[test]
fn what_is_held_is_bounded() {
    for begin in [&b"\x1b]"[..], b"\x1bP", b"\x1b[", b"\x1b[200~"] {
        let mut decoder = Decoder::new(ESCAPE_TIME);
        decoder.feed(begin, at(0), |_| {});
        for _ in 0..64 {
            decoder.feed(&vec![b'1'; 65_536], at(0), |_| {});
            assert!(decoder.held.len() <= MAX_STRING + 65_536);
        }
    }
}

/// Pieces of what terminals send, well-formed and not.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        vec(any::<u8>(), 0..6),
        prop::sample::select(vec![
            &b"\x1b"[..],
            b"\x1b[",
            b"\x1b[A",
            b"\x1bOP",
            b"\x1b[13;2u",
            b"\x1b[27;5;98~",
            b"\x1b[<0;3;4M",
            b"\x1b[M !!",
            b"\x1b[200~",
            b"\x1b[201~",
            b"\x1b[I",
            b"\x1b]11;rgb:1/2/3\x07",
            b"\x1b]52;c;aGk=\x1b\\",
            b"\x1bP1$r0m\x1b\\",
            b"\x1b_Gi=1;OK\x1b\\",
            b"\x1b[?1;2c",
            b"\x02",
            b"\x1b\x1b[A",
            b"\xc3\xa9",
            b"\xe2\x82",
            b"\xf0\x9f\x98\x80",
        ])
        .prop_map(<[u8]>::to_vec),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_way_of_cutting_means_the_same(bytes in stream(), cuts in vec(any::<prop::sample::Index>(), 0..12)) {
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let pieces: Vec<&[u8]> = at.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
        prop_assert_eq!(decoded(&pieces), decoded(&[&bytes]));
    }
}
