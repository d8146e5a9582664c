//! An engine behind a real ssh server.

use std::process::{Command, Stdio};

use crate::command_line::{Operator, left};
use crate::sshd::Server;
use crate::support::{JACKIN, Terminal, eventually};

fn user() -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn an_engine_behind_a_real_ssh_server_is_a_host_like_any_other() {
    let Some(server) = Server::start() else { return };
    let Some(mut operator) = Operator::new() else { return };
    operator.set("PATH", server.path("bin"));
    operator.configure(&format!("[hosts.far]\ndocker = \"ssh://{}@127.0.0.1:{}\"\n", user(), server.port));
    let name = Operator::name("far");
    let script = "echo ready; while read -r line; do echo \"got <$line>\"; done";
    let load = [
        "load",
        "--detach",
        "--host",
        "far",
        "--image",
        operator.image,
        "--name",
        &name,
        "--",
        "sh",
        "-c",
        script,
    ];
    assert_eq!(operator.ok(&load), name);
    // The same engine is this machine's own, too.
    let list = operator.json(&["ls", "--host", "far", "--json"]);
    let found = list["instances"].as_array().unwrap().iter().find(|found| found["instance"] == name.as_str());
    assert_eq!(found.expect("it is listed")["host"], "far");
    let seen = operator.json(&["hardline", &name, "--inspect", "--json"]);
    assert_eq!((&seen["state"], &seen["socket"]), (&"running".into(), &serde_json::Value::Null));
    operator.ok(&["send", &name, "--force", "hello"]);
    eventually("it is read", || operator.ok(&["read", &name]).contains("got <hello>"));

    let variables: Vec<String> = operator
        .command(&[])
        .get_envs()
        .map(|(key, value)| format!("{}='{}'", key.display(), value.unwrap().display()))
        .collect();
    let line = format!("{} {JACKIN} hardline {name}", variables.join(" "));
    let mut attached = Terminal::start("/bin/sh", &["-c", &line], 24, 80);
    attached.wait_for("got <hello>");
    attached.type_in("by hand\r");
    attached.wait_for("got <by hand>");
    attached.type_in(b"\x02d");
    assert_eq!(attached.exit_code(), 0);

    // A command that is killed leaves no ssh behind.
    let mut events = operator.command(&["events", &name]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(events.stdout.take().unwrap()));
    assert!(lines.any(|line| line.unwrap().contains(&name)), "it is listened to");
    events.kill().unwrap();
    events.wait().unwrap();
    operator.ok(&["eject", &name]);
    assert_eq!(left(&name), Vec::<String>::new());
    eventually("nobody is connected any more", || server.clients() == 0);

    operator.set("PATH", server.path("wrong-bin"));
    let list = operator.json(&["ls", "--json"]);
    let problem = list["unreachable"][0]["problem"].as_str().unwrap();
    assert!(problem.contains("Permission denied") && problem.contains("asks for no password"), "{problem}");
}
