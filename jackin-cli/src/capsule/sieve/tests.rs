use jackin_core::{Size, Timestamp};
use jackin_mux::{Client, Input, Mux, Place, RESTORE, Settings};

use super::*;

fn sifted(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Sieve::new(false).pass(bytes, &mut out);
    out
}

/// However it is cut.
fn assert_sifted(bytes: &[u8], expected: &[u8]) {
    let told = |bytes: &[u8]| bytes.escape_ascii().to_string();
    assert_eq!(told(&sifted(bytes)), told(expected), "of {}", told(bytes));
    for cut in 1..bytes.len().min(600) {
        let (mut sieve, mut out) = (Sieve::new(false), Vec::new());
        sieve.pass(&bytes[..cut], &mut out);
        sieve.pass(&bytes[cut..], &mut out);
        assert_eq!(told(&out), told(expected), "of {}, cut at {cut}", told(bytes));
    }
}

#[test]
fn what_our_renderer_and_the_passthrough_table_say_passes() {
    for sequence in [
        "plain text, wörter, 日本語, 👩‍👩‍👧\r\n\t\x08\x07",
        "\x1b[m\x1b[0;1;38:2::1:2:3;48;5;7m\x1b[H\x1b[3;4H\x1b[C\x1b[12C\x1b[K\x1b[2J\x1b[2;9r\x1b[3S\x1b[T\x1b[r",
        "\x1b[?2026h\x1b[?25l\x1b[?1l\x1b>\x1b=\x1b[0 q\x1b[=0;1u\x1b[>4;0m\x1b[?25h\x1b[?2026l",
        "\x1b[?1003h\x1b[?1006h\x1b[?1007l\x1b[?1004h\x1b[?2004h\x1b[?2031h\x1b[?2026$p\x1b[?u\x1b[16t\x1b[c",
        "\x1b[?996n\x1b]10;?\x07\x1b]11;?\x1b\\\x1b]4;1;?\x07",
        "\x1b]2;api · fix · #7\x07\x1b]8;id=1;https://example.com/ä\x1b\\link\x1b]8;;\x1b\\",
        "\x1b]9;build done\x07\x1b]9;4;1;50\x07\x1b]99;i=1:d=0;Hello\x1b\\\x1b]777;notify;a;b\x07",
        "\x1b]52;c;aGVsbG8=\x07\x1b]52;;aGVsbG8=\x1b\\\x1b]52;c;\x07",
        "\x1b]1337;File=inline=1:AAAA\x07\x1b]133;A\x07\x1b]31337;whatever\x1b\\",
        "\x1b_Ga=T,f=32,s=1,v=1;AAAAAA==\x1b\\\x1bP0;1q\"1;1;2;2#0;2;0;0;0\r\n#0~~\x1b\\\x1bP+q544e\x1b\\\x1bP$qm\x1b\\",
        RESTORE,
    ] {
        assert_sifted(sequence.as_bytes(), sequence.as_bytes());
    }
    for long in [
        format!("\x1b]52;c;{}\x07", "QUJD".repeat(9_999)),
        format!("\x1b_Gf=100;{}\x1b\\", "QUJD".repeat(999)),
    ] {
        assert_sifted(long.as_bytes(), long.as_bytes());
    }
}

#[test]
fn what_could_drive_the_terminal_does_not() {
    for (sequence, expected) in [
        // Leaving the screen that the client made, resetting, resizing, printing, reporting.
        ("a\x1b[?1049lb\x1b[?47hc\x1b[?1047hd", "abcd"),
        ("a\x1bcb\x1b[!pc\x1b[3;0;0td\x1b[8;1;1te", "abcde"),
        ("a\x1b[5ib\x1b[?5ic\x1b[21td\x1b[20te\x1b[22tf", "abcdef"),
        ("a\x1b[6nb\x1b[5nc\x1b[>cd\x1b[=ce\x1b[>qf\x1b[x", "abcdef"),
        ("a\x1b[?3hb\x1b[?5hc\x1b[?1000hd\x1b[4he\x1b[20hf\x1b[?1;1049hg", "abcdefg"),
        // Character sets, double height, eight-bit controls, answerback, shifts.
        ("a\x1b(0b\x1b#8c\x1b%@d\x1b Fe\x05f\x0e\x0fg\x7fh", "abcdefgh"),
        ("a\u{9b}2Jb\u{90}q\u{9c}c\u{9d}52;c;?\u{9c}", "a2Jbqc52;c;?"),
        // The clipboard is not read, nor fonts, properties, functions and log files touched.
        ("a\x1b]52;c;?\x07b\x1b]52;c;?\x1b\\c\x1b]52\x07d\x1b]5522;type=read;Lg==\x1b\\e", "abcde"),
        ("a\x1b]50;?\x07b\x1b]3;WM_NAME=x\x07c\x1b]51;[\"call\",\"f\"]\x07d\x1b]46;/tmp/x\x07e", "abcde"),
        ("a\x1b]9;7;calc.exe\x07b\x1b]9;6;Close\x07c\x1b]9;8;PATH\x07d", "abcd"),
        ("a\x1b]lTitle\x1b\\b\x1b]x\x07c\x1b];\x07d\x1b]99999999999;x\x07e", "abcde"),
        // Modes that run commands, keys that type them, and tunnels past us.
        ("a\x1bP1000pb\x1b\\c\x1bPtmux;\x1b\x1b]52;c;?\x07\x1b\\d", "acd"),
        ("a\x1bP@kitty-cmd{\"cmd\":\"launch\"}\x1b\\b\x1bP0;1|17/6C73\x1b\\c\x1bP1$tx\x1b\\d", "abcd"),
        ("a\x1b_tmux-title\x1b\\b\x1b^private\x1b\\c\x1bXsos\x1b\\d\x1bktitle\x1b\\e", "abcde"),
        // Broken off, or never ended.
        ("a\x1b]2;x\x1b[?1049lb", "ab"),
        ("a\x1b]2;x\x18b\x1b]2;y\x1ac", "abc"),
        ("a\x1b[31\x18mb\x1b[31\x1b[32mc", "amb\x1b[32mc"),
        ("a\x1b]2;never ends", "a"),
    ] {
        assert_sifted(sequence.as_bytes(), expected.as_bytes());
    }
    assert_sifted(b"a\xff\xc3(b\xe2\x82c\xed\xa0\x80d\x9b2Je", b"a(bcd2Je");
}

#[test]
fn the_clipboard_is_read_where_the_operator_wants_it() {
    let (mut sieve, mut out) = (Sieve::new(true), Vec::new());
    sieve.pass(b"\x1b]52;c;?\x07", &mut out);
    assert_eq!(out, b"\x1b]52;c;?\x07");
}

/// A long string that is broken off is closed, so that the terminal does not go on with it.
#[test]
fn a_string_that_is_broken_off_is_closed() {
    let long = "x".repeat(LONGEST_HEAD);
    assert_sifted(
        format!("\x1b]2;{long}\x1b[?1049lb").as_bytes(),
        format!("\x1b]2;{long}\x1b\\b").as_bytes(),
    );
    assert_sifted(format!("\x1b]2;{long}\x18b").as_bytes(), format!("\x1b]2;{long}\x1b\\b").as_bytes());
}

#[test]
fn no_more_than_a_head_is_kept_of_anything() {
    for begin in [&b"\x1b["[..], b"\x1b]2;", b"\x1bP", b"\x1b_G", b"\x1b^", b""] {
        let (mut sieve, mut out) = (Sieve::new(false), Vec::new());
        sieve.pass(begin, &mut out);
        for _ in 0..100 {
            out.clear();
            sieve.pass(&[b'1'; 1_000], &mut out);
            assert!(sieve.head.capacity() <= 2 * LONGEST_HEAD && sieve.character.capacity() <= 16);
        }
    }
}

/// Whatever programs print, the frames that our renderer makes of it pass unchanged.
#[test]
fn every_frame_of_the_multiplexer_passes_unchanged() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/vt");
    let corpus =
        std::fs::read_dir(directory).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let said = [
        "\x1b[?1049h\x1b[?2004h\x1b[?1h\x1b=\x1b[>1u\x1b[>4;2m\x1b[5 q\x1b[?2031h\x1b[38;2;1;2;3mx\x1b[4:3;58:5:9my",
        "\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\\x1b]9;hi\x07\x1b]52;c;eA==\x07\x1b]777;notify;a;b\x07",
        "\x1b_Ga=T,f=24,s=1,v=1;AAAA\x1b\\\x1bPq#0~\x1b\\\x1b]11;?\x07\x1b]4;3;?\x07\x1b[?996n\x1b[?u\x1b[c\x1b]2;t\x07",
    ];
    let mut now = Timestamp::from_millis(1_000);
    let mut compared = 0;
    for bytes in corpus.chain(said.map(|said| said.as_bytes().to_vec())) {
        let mut mux = Mux::new(Settings::default());
        let pane = mux.open(Place::Tab, "x", true, now).unwrap();
        mux.handle_input(Input::Attached(Client::modern(Size::new(24, 80))), now);
        // A terminal that can do everything.
        mux.handle_input(Input::Client(b"\x1b[?2026;2$y\x1b[?0u\x1b[6;16;8t\x1b[?62;4c"), now);
        let mut sieve = Sieve::new(false);
        for piece in bytes.chunks(97) {
            mux.handle_input(Input::Pty { pane, bytes: piece }, now);
            mux.handle_input(Input::Tick, now);
            while mux.poll_output().is_some() {}
            let mut frame = Vec::new();
            now = now + std::time::Duration::from_millis(200);
            mux.render(now, &mut frame);
            let mut passed = Vec::new();
            sieve.pass(&frame, &mut passed);
            assert_eq!(passed.escape_ascii().to_string(), frame.escape_ascii().to_string());
            compared += frame.len();
        }
    }
    assert!(compared > 10_000, "{compared} bytes were compared");
}

/// Bytes of which most begin, are in, or end a sequence; the same in every run.
fn noise(seed: u64) -> Vec<u8> {
    const LIKELY: &[u8] =
        b"\x1b\x1b\x1b[[]]PP_^X\\\x07\x18\x9b\x9d\xc2\xe2\x9c0123459;;:?<=>$ !q+mhltncuGHJK\r\n";
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as usize
    };
    let length = next() % 80;
    (0..length).map(|_| if next() % 8 == 0 { next() as u8 } else { LIKELY[next() % LIKELY.len()] }).collect()
}

/// What passed once passes again, unchanged and however it was cut: nothing is put together that would not pass.
#[test]
fn what_passes_is_what_may() {
    for seed in 0..50_000 {
        let bytes = noise(seed);
        let passed = sifted(&bytes);
        let told = |bytes: &[u8]| bytes.escape_ascii().to_string();
        // A sequence that has not ended may be kept back, so that its end must not come from elsewhere.
        assert_eq!(told(&sifted(&passed)), told(&passed), "of {}", told(&bytes));
        let cut = bytes.len() / 2;
        let (mut sieve, mut out) = (Sieve::new(false), Vec::new());
        sieve.pass(&bytes[..cut], &mut out);
        sieve.pass(&bytes[cut..], &mut out);
        assert_eq!(told(&out), told(&passed), "of {}, cut at {cut}", told(&bytes));
        for forbidden in [&b"\x1b[?1049"[..], b"\x1bc", b"\x1b]52;c;?", b"\x1bP1000p", b"\x05", b"\x9b"] {
            let is_there = passed.windows(forbidden.len()).any(|bytes| bytes == forbidden);
            assert!(
                !is_there || forbidden == b"\x9b" && std::str::from_utf8(&passed).is_ok(),
                "{}",
                told(&passed)
            );
        }
    }
}
