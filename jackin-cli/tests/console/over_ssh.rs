//! The console over ssh.

use std::fs;
use std::path::Path;

use crate::operator::Operator;
use crate::sshd::Server;
use crate::support::{Terminal, eventually};

#[test]
fn it_works_over_ssh_and_goes_with_the_connection() {
    let Some(server) = Server::start() else { return };
    let operator = Operator::new();
    operator.agent("one");
    operator.works("one");
    let pid = operator.path("pid");
    let script = operator.program(
        "far",
        &operator
            .command_line(&format!("sh -c 'echo $$ > \"$0\"; exec \"$@\"' '{}'", pid.display()), "console"),
    );
    let (port, ssh) = (server.port.to_string(), server.ssh().display().to_string());
    let connect = || {
        let script = script.display().to_string();
        Terminal::start(&ssh, &["-tt", "-p", &port, "127.0.0.1", &script], 24, 80)
    };
    let mut terminal = connect();
    terminal.wait_for("● 1 working");
    // The terminal's answer, its size, the clipboard and an attached session all take the long way.
    terminal.wait_for_bytes(b"\x1b]11;?\x1b\\");
    terminal.type_in("\x1b]11;rgb:ffff/ffff/ffff\x1b\\");
    terminal.resize(30, 100);
    terminal.wait_for("branch");
    terminal.type_in("y");
    terminal.wait_for("Copy");
    terminal.type_in("instance\r");
    terminal.wait_for_bytes(b"\x1b]52;c;b25l\x1b\\");
    terminal.type_in("\r");
    terminal.wait_until_text("it is attached", |text| text.contains("ready") && !text.contains("1 agent"));
    terminal.type_in("\x02d");
    terminal.wait_for("one: detached");
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);

    // A connection that is lost ends the console, and nothing else.
    let terminal = connect();
    terminal.wait_for("● 1 working");
    let console = fs::read_to_string(&pid).unwrap();
    let runs = || Path::new("/proc").join(console.trim()).exists();
    assert!(runs());
    drop(terminal);
    eventually("the console has left", || !runs());
    let listed = operator.jackin(&["ls"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("one"));
}
