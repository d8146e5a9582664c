//! What programs and a modern terminal say to each other, through the whole daemon: byte for byte where the table of the
//! design says so, and by effect where it says that.

mod support;

#[path = "support/raw.rs"]
mod raw;

use jackin_core::Size;
use raw::RawClient;
use support::{Capsule, Place, eventually};

/// A program that prints what it is told to, as octal escapes, and shows what it reads when asked.
const PRINTER: &str = "stty -echo; printf 'ready\\n'; while read -r line; do case $line in \
    READ*) stty raw; printf 'reading\\r\\n'; dd bs=1 count=${line#READ } 2>/dev/null | od -An -v -c -w120; stty -raw; printf '\\r\\n';; \
    *) printf \"$line\";; esac; done";

fn start(place: &Place) -> (Capsule, RawClient) {
    let daemon = place.daemon(PRINTER);
    let mut client = RawClient::ghostty(place, Size::new(24, 130));
    client.wait_for("ready");
    (daemon, client)
}

/// Bytes as `printf` takes them.
fn octal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |octal, byte| octal + &format!("\\{byte:03o}"))
}

/// Has the program print bytes.
fn print(place: &Place, session: &str, bytes: &[u8]) {
    assert!(place.ctl(&["send", "--force", "--session", session, &octal(bytes)]).status.success());
}

/// What the focused pane prints reaches the terminal byte for byte, and what another pane prints does not.
#[test]
fn what_passes_unchanged() {
    let place = Place::new();
    let (_daemon, mut client) = start(&place);
    place.ctl(&["create", "--no-focus", "--", "sh", "-c", PRINTER]);
    eventually("the second is ready", || {
        place.ctl_json(&["read", "--session", "2"])["text"].as_str().unwrap().contains("ready")
    });
    for sequence in [
        "\x1b]9;build finished\x07",
        "\x1b]9;4;1;42\x07",
        "\x1b]9;4;0\x1b\\",
        "\x1b]99;i=7:d=0:p=title;Done\x1b\\",
        "\x1b]777;notify;title;body\x07",
        "\x1b]52;c;Z2hvc3R0eQ==\x07",
        "\x1b]52;c;Z2hvc3R0eQ==\x1b\\",
        "\x1b]1337;SetMark\x07",
        "\x1b]31337;not known;to us\x1b\\",
        "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\",
        "\x1b_Ga=T,f=24,s=1,v=1,c=1,r=1;/wAA\x1b\\",
        "\x1bPq#0;2;0;0;0#0~~@@vv@@~~@@~~$\x1b\\",
    ] {
        print(&place, "2", sequence.as_bytes());
        // Once what follows it is on the hidden screen, it was taken and not passed on.
        print(&place, "2", b"hidden");
        eventually("it was printed", || {
            place.ctl_json(&["read", "--session", "2"])["text"].as_str().unwrap().contains("hidden")
        });
        print(&place, "2", b"\x1b[2J\x1b[H");
        let told = |client: &RawClient| {
            client.output.windows(sequence.len()).any(|sent| sent == sequence.as_bytes())
        };
        assert!(!told(&client), "{}", sequence.escape_debug());
        print(&place, "1", sequence.as_bytes());
        client.wait_for_bytes(sequence.as_bytes());
        client.output.clear();
    }
}

#[test]
fn links_colours_and_the_cursors_shape_pass_by_effect() {
    let place = Place::new();
    let (_daemon, mut client) = start(&place);
    print(&place, "1", b"\x1b]8;;https://example.com/a?b=c\x1b\\linked\x1b]8;;\x1b\\ ");
    client.wait_for_bytes(b"\x1b]8;;https://example.com/a?b=c\x1b\\");
    client.wait_for("linked");
    print(&place, "1", b"\x1b[38;2;12;34;56mdeep\x1b[m \x1b[4:3m\x1b[58;2;1;2;3mcurly\x1b[m\x1b[6 q");
    client.wait_for("curly");
    client.wait_for_bytes(b"38;2;12;34;56");
    client.wait_for_bytes(b"4:3");
    client.wait_for_bytes(b"\x1b[6 q");
    // Whoever attaches next gets them again.
    let mut again = RawClient::ghostty(&place, Size::new(24, 130));
    again.wait_for("curly");
    again.wait_for_bytes(b"\x1b]8;;https://example.com/a?b=c\x1b\\");
    again.wait_for_bytes(b"\x1b[6 q");
}

/// A block is drawn at its end, inside one of our own.
#[test]
fn synchronized_output_is_held_together() {
    let place = Place::new();
    let (_daemon, mut client) = start(&place);
    client.output.clear();
    print(&place, "1", b"\x1b[?2026h\x1b[2J\x1b[Hone\r\ntwo\r\nthree\x1b[?2026l");
    client.wait_for("three");
    let frame = client.output.escape_ascii().to_string();
    let (begin, end) = (frame.find(r"\x1b[?2026h").unwrap(), frame.rfind(r"\x1b[?2026l").unwrap());
    let (first, last) = (frame.find("one").unwrap(), frame.find("three").unwrap());
    assert!(begin < first && last < end, "{frame}");
    assert_eq!(frame[first..last].matches("2026").count(), 0, "in one piece: {frame}");
}

/// The terminal's keyboard is switched to what the focused pane asked for, and its keys arrive as they were sent.
#[test]
fn the_keyboard_protocol_is_the_focused_panes() {
    let place = Place::new();
    let (_daemon, mut client) = start(&place);
    print(&place, "1", b"\x1b[>1u");
    client.wait_for_bytes(b"\x1b[=1;1u");
    client.output.clear();
    place.ctl(&["create", "--", "sh", "-c", PRINTER]);
    client.wait_for_bytes(b"\x1b[=0;1u");
    client.output.clear();
    place.ctl(&["focus", "--session", "1"]);
    client.wait_for_bytes(b"\x1b[=1;1u");
    // Shift+Enter, Ctrl+Alt+i, a release.
    let keys = "\x1b[13;2u\x1b[105;7u\x1b[97;1:3u";
    assert!(place.ctl(&["send", "--force", &format!("READ {}", keys.len())]).status.success());
    client.wait_for("reading");
    client.send(keys);
    client.wait_for(
        "033   [   1   3   ;   2   u 033   [   1   0   5   ;   7   u 033   [   9   7   ;   1   :   3   u",
    );
}

/// Questions are answered at once, by us or by the terminal, and only whoever asked hears the answer.
#[test]
fn questions_are_answered() {
    let place = Place::new();
    let (_daemon, mut client) = start(&place);
    // What we answer: the keyboard's flags, who we are, where the cursor is, whether a mode is known.
    for (question, answer) in [
        (&b"\x1b[?u"[..], r"033   [   ?   0   u"),
        (b"\x1b[?2026$p", r"033   [   ?   2   0   2   6   ;   2   $   y"),
        (b"\x1b[5n", r"033   [   0   n"),
    ] {
        let length = answer.split_whitespace().count();
        let octal = octal(question);
        let script = format!(
            "printf '{octal}'; stty raw -echo; dd bs=1 count={length} 2>/dev/null | od -An -v -c -w120; read -r x"
        );
        place.ctl(&["create", "--", "sh", "-c", &script]);
        client.wait_for(answer);
        place.ctl(&["focus", "--session", "1"]);
        client.wait_for("ready");
    }
    // What only the terminal knows: it is asked, and its answer goes back.
    let script = "stty raw -echo; printf '\\033]11;?\\007'; dd bs=1 count=24 2>/dev/null | od -An -v -c -w120; read -r x";
    client.output.clear();
    place.ctl(&["create", "--", "sh", "-c", script]);
    client.wait_for_bytes(b"\x1b]11;?");
    client.send("\x1b]11;rgb:1e1e/2020/3030\x07");
    client.wait_for(
        "033   ]   1   1   ;   r   g   b   :   1   e   1   e   /   2   0   2   0   /   3   0   3   0",
    );
}
