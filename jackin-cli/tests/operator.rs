//! What an operator does, with keys and mouse, at a real terminal in front of real programs.

mod support;

#[path = "support/raw.rs"]
mod raw;

use jackin_core::Size;
use raw::RawClient;
use support::{Place, Terminal, cells, eventually};

const ECHO: &str = "printf 'ready\\n'; while read -r line; do printf 'got <%s>\\n' \"$line\"; done";

/// A capsule whose shell is one that answers, on a terminal.
fn start(place: &Place) -> (support::Capsule, Terminal) {
    let shell = place.dir().join("shell");
    std::fs::write(&shell, format!("#!/bin/sh\n{ECHO}")).unwrap();
    std::fs::set_permissions(&shell, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let daemon = place.daemon_with(&["--", "sh", "-c", ECHO], &[("SHELL", shell.to_str().unwrap())]);
    let terminal = place.attach(24, 80);
    terminal.wait_for("ready");
    (daemon, terminal)
}

fn size(place: &Place, session: usize) -> (u64, u64) {
    let size = place.ctl_json(&["status"])["sessions"][session]["size"].clone();
    (size["rows"].as_u64().unwrap(), size["cols"].as_u64().unwrap())
}

#[test]
fn a_pane_is_zoomed_and_back() {
    let place = Place::new();
    let (_daemon, terminal) = start(&place);
    terminal.type_in("left\r");
    terminal.wait_for("got <left>");
    terminal.type_in(b"\x02%");
    eventually("a pane stands beside it", || place.ctl_json(&["status"])["sessions"][1]["id"] == 2);
    terminal.type_in("right\r");
    terminal.wait_for("got <right>");
    assert!(terminal.text().contains("got <left>"));
    let half = size(&place, 1);
    terminal.type_in(b"\x02z");
    eventually("it has the whole screen", || size(&place, 1) == (23, 80));
    eventually("the other is hidden", || !terminal.text().contains("got <left>"));
    terminal.type_in("zoomed\r");
    terminal.wait_for("got <zoomed>");
    terminal.type_in(b"\x02z");
    eventually("it has its half again", || size(&place, 1) == half);
    terminal.wait_for("got <left>");
    terminal.type_in(b"\x02h");
    terminal.type_in("back\r");
    terminal.wait_for("got <back>");
}

#[test]
fn tabs_are_opened_named_and_walked_through() {
    let place = Place::new();
    let (_daemon, terminal) = start(&place);
    terminal.type_in("first\r");
    terminal.wait_for("got <first>");
    terminal.type_in(b"\x02c");
    eventually("a tab was opened", || place.ctl_json(&["status"])["sessions"][1]["tab"] == 2);
    eventually("and is shown", || !terminal.text().contains("got <first>"));
    terminal.type_in("second\r");
    terminal.wait_for("got <second>");
    terminal.type_in(b"\x02,");
    terminal.wait_for("Rename");
    terminal.type_in(b"\x15mine\r");
    terminal.wait_for(" mine ");
    for (keys, shown) in [
        (&b"\x02p"[..], "got <first>"),
        (b"\x02n", "got <second>"),
        (b"\x020", "got <first>"),
        (b"\x021", "got <second>"),
        (b"\x02\t", "got <first>"),
    ] {
        terminal.type_in(keys);
        terminal.wait_for(shown);
    }
    // The list of tabs, by its own filter.
    terminal.type_in(b"\x02w");
    terminal.wait_for("1: mine");
    terminal.type_in("mine\r");
    terminal.wait_for("got <second>");
    terminal.type_in(b"\x02x");
    terminal.wait_for("?");
    terminal.type_in("y");
    eventually("its program has ended", || {
        place.ctl_json(&["status"])["sessions"].as_array().unwrap().len() == 1
    });
    terminal.wait_for("got <first>");
}

#[test]
fn a_command_is_found_in_the_palette() {
    let place = Place::new();
    let (_daemon, terminal) = start(&place);
    terminal.type_in(b"\x02:");
    terminal.wait_for("Commands");
    terminal.type_in("top and bottom\r");
    eventually("the pane was split", || size(&place, 0).0 < 12);
    terminal.type_in("below\r");
    terminal.wait_for("got <below>");
    terminal.type_in(b"\x02?");
    terminal.wait_for("Keys");
    terminal.type_in("q");
    eventually("the help is gone", || !terminal.text().contains("Keys"));
}

#[test]
fn text_is_copied_to_the_operators_clipboard() {
    let place = Place::new();
    let (_daemon, terminal) = start(&place);
    terminal.type_in("precious\r");
    terminal.wait_for("got <precious>");
    // Up to the answer, its first five characters.
    terminal.type_in(b"\x02[");
    terminal.type_in("k0vlllly");
    // "got <"
    terminal.wait_for_bytes(b"\x1b]52;c;Z290IDw=\x07");
    terminal.type_in("still here\r");
    terminal.wait_for("got <still here>");
}

#[test]
fn history_is_searched() {
    let place = Place::new();
    let (_daemon, terminal) = start(&place);
    place.ctl(&[
        "create",
        "--",
        "sh",
        "-c",
        "i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo \"line $i.\"; done; read -r x",
    ]);
    terminal.wait_for("line 200.");
    terminal.type_in(b"\x02[");
    terminal.type_in("?line 42.\r");
    terminal.wait_for("line 42.");
    terminal.type_in("q");
    terminal.wait_for("line 200.");
}

#[test]
fn the_mouse_focuses_scrolls_and_reaches_programs() {
    let place = Place::new();
    let (_daemon, terminal) = start(&place);
    terminal.type_in(b"\x02%");
    eventually("a pane stands beside it", || place.ctl_json(&["status"])["sessions"][1]["id"] == 2);
    terminal.type_in("right\r");
    terminal.wait_for("got <right>");
    // A click on the left pane, and keys go there.
    terminal.type_in(b"\x1b[<0;5;10M\x1b[<0;5;10m");
    terminal.type_in("left\r");
    terminal.wait_for("got <left>");
    let screen = place.ctl_json(&["read", "--session", "1"]);
    assert!(screen["text"].as_str().unwrap().contains("got <left>"));
    // The wheel over a pane with history goes back in it.
    place.ctl(&[
        "create",
        "--",
        "sh",
        "-c",
        "i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo \"line $i.\"; done; read -r x",
    ]);
    terminal.wait_for("line 200.");
    for _ in 0..12 {
        terminal.type_in(b"\x1b[<64;10;10M");
    }
    eventually("it shows what was", || !terminal.text().contains("line 200."));
    terminal.type_in("q");
    terminal.wait_for("line 200.");
    // A program that asked for it gets the mouse, in its own coordinates.
    place.ctl(&[
        "create",
        "--",
        "sh",
        "-c",
        "stty raw -echo; printf '\\033[?1000h\\033[?1006hmouse'; dd bs=1 count=20 2>/dev/null | od -An -c; read -r x",
    ]);
    terminal.wait_for("mouse");
    terminal.type_in(b"\x1b[<0;30;10M\x1b[<0;30;10m");
    // A row less: the bar is not the program's.
    terminal.wait_for("033   [   <   0   ;   3   0   ;   9   M");
}

/// However a paste is cut, the program gets the markers and every byte, once and in order.
#[test]
fn a_paste_is_cut_at_every_byte() {
    let place = Place::new();
    let paste = "\x1b[200~wörter\x02d \x1b[A;\x1b[201~";
    let script = format!(
        "stty raw -echo; printf '\\033[?2004hready'; while :; do dd bs=1 count={} 2>/dev/null | od -An -v -tx1 -w99; printf '\\r'; done",
        paste.len()
    );
    let _daemon = place.daemon(&script);
    let mut client = RawClient::attach(&place, Size::new(60, 160));
    client.wait_for("ready");
    let whole: Vec<String> = paste.bytes().map(|byte| format!("{byte:02x}")).collect();
    let whole = whole.join(" ");
    for cut in 0..paste.len() {
        let (before, after) = paste.as_bytes().split_at(cut);
        client.send(before);
        client.send(after);
        let times = cut + 1;
        client.wait_until(&format!("a paste cut at {cut}"), |client| {
            client.text().matches(&whole).count() == times
        });
    }
    for byte in paste.as_bytes() {
        client.send([*byte]);
    }
    let times = paste.len() + 1;
    client.wait_until("one byte at a time", |client| client.text().matches(&whole).count() == times);
}

#[test]
fn attaching_again_shows_the_same_screen_with_its_colours() {
    let place = Place::new();
    let script = "printf '\\033[1;31mred\\033[m \\033[4mline\\033[m \\033[48;2;10;20;30mdeep\\033[m\\n\\033]2;a title\\007'; \
                  printf '\\033[3;5H\\033[7mthere\\033[m'; read -r x";
    let _daemon = place.daemon(script);
    let size = Size::new(24, 80);
    let mut first = RawClient::attach(&place, size);
    first.wait_for("there");
    place.ctl(&["split", "--right", "--", "sh", "-c", "echo beside; read -r x"]);
    first.wait_for("beside");
    first.wait_for("a title");
    let mut again = RawClient::attach(&place, size);
    again.wait_for("beside");
    // Both are drawn to the end when they show the same.
    let shown = cells(first.screen.screen());
    again.wait_until("the same screen", |again| cells(again.screen.screen()) == shown);
    assert_eq!(again.screen.screen().cursor_position(), first.screen.screen().cursor_position());
    assert!(
        shown
            .iter()
            .flatten()
            .any(|cell| cell.text == "d" && cell.background == vt100::Color::Rgb(10, 20, 30))
    );
}
