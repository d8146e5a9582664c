//! What the host tells capsules of pull requests, and who is attached sees.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use crate::operator::{Operator, git};
use crate::support::{JACKIN, Terminal, eventually};

/// Stands for GitHub: two pull requests of the branch fix/login, one of which is merged.
struct Github {
    api: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Github {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let api = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut lines = Vec::new();
                loop {
                    let mut line = String::new();
                    if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                        break;
                    }
                    lines.push(line.trim().to_owned());
                }
                let Some(first) = lines.first() else { continue };
                let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                let body = Self::answer(&path);
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                );
                seen.lock().unwrap().push(lines.join("\n"));
            }
        });
        Self { api, asked }
    }

    fn answer(path: &str) -> &'static str {
        match path.split('?').next().unwrap_or_default() {
            "/repos/a/b/pulls/7" => {
                r#"{"title":"Mend \u001b[31mlogin","state":"open","head":{"sha":"abc","ref":"fix/login"},"base":{"repo":{"default_branch":"trunk"}}}"#
            }
            "/repos/a/b/pulls/8" => {
                r#"{"title":"More","state":"closed","merged":true,"head":{"sha":"def","ref":"fix/login"},"base":{"repo":{"default_branch":"trunk"}}}"#
            }
            "/repos/a/b/commits/abc/check-runs" => {
                r#"{"check_runs":[{"status":"completed","conclusion":"success"},{"status":"in_progress"}]}"#
            }
            "/repos/a/b/commits/def/check-runs" => {
                r#"{"check_runs":[{"status":"completed","conclusion":"success"}]}"#
            }
            _ => r#"{"statuses":[]}"#,
        }
    }
}

const PULL: &str = "https://github.com/a/b/pull";

/// An agent that declares a pull request for each line that it is given.
fn operator(github: &Github) -> Operator {
    let operator = Operator::new();
    assert!(git(&operator.shop(), &["init", "--quiet", "-b", "fix/login"]));
    operator.configure(&format!("[github]\napi = \"{}\"\n", github.api));
    let report = format!("{JACKIN} capsule report --strict");
    operator.install(
        "robot",
        &format!(
            "#!/bin/sh\nn=0\nwhile read -r line; do n=$((n+1)); printf '{{\"event\":\"assistant-text\",\"message_id\":\"m%s\",\"chunk\":\"<jackin:pr>%s</jackin:pr>\",\"end\":true}}' $n \"$line\" | {report}; echo done $n; done\n"
        ),
    );
    operator
}

/// Loads the agent, with a token of GitHub's in the operator's environment.
fn load(operator: &Operator, args: &[&str]) {
    let words = [&["load", "--detach", "--name", "fix"], args, &["--", "robot"]].concat();
    let output = operator.command(&words).env("GH_TOKEN", "t0ken").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn hardline(operator: &Operator) -> Terminal {
    let line = format!(
        "GH_TOKEN=t0ken JACKIN_HOME={} JACKIN_CONFIG_DIR={} {JACKIN} hardline fix",
        operator.home().display(),
        operator.config().display()
    );
    Terminal::start("/bin/sh", &["-c", &line], 24, 120)
}

#[test]
fn a_declared_pull_request_and_its_checks_are_in_the_bottom_row() {
    let github = Github::start();
    let operator = operator(&github);
    load(&operator, &[]);
    operator.ok(&["send", "fix", "--force", &format!("{PULL}/7")]);
    // Nobody is attached: it is the watcher that tells.
    eventually("GitHub was asked", || github.asked.lock().unwrap().len() >= 3);
    assert!(github.asked.lock().unwrap()[0].to_lowercase().contains("authorization: bearer t0ken"));
    let socket = operator.home().join("sockets/fix/jackin.sock");
    let attached = Terminal::run(&["capsule", "attach", "--socket", socket.to_str().unwrap()], 24, 120);
    attached.wait_for("fix/login · #7 … 1 of 2");
    // The next one takes its place, and what became of it is told.
    operator.ok(&["send", "fix", "--force", &format!("{PULL}/8")]);
    attached.wait_for("fix/login · #8 merged ✓ 1");
    operator.ok(&["tags", "unset", "fix", "pr", &format!("{PULL}/8")]);
    attached.wait_for("fix/login · #7 … 1 of 2");
}

#[test]
fn who_is_attached_tells_as_well_and_without_an_answer_there_is_the_number() {
    let github = Github::start();
    let operator = operator(&github);
    load(&operator, &["--no-watch"]);
    let attached = hardline(&operator);
    attached.wait_for("fix/login");
    attached.type_in(format!("{PULL}/7\r"));
    attached.wait_for("fix/login · #7 … 1 of 2");
    attached.type_in("https://github.com/a/b/pull/9\r");
    // Nothing makes sense of what is said about that one.
    attached.wait_for("fix/login · #9");
    drop(attached);

    operator.configure("[github]\nenabled = false\n");
    let asked = github.asked.lock().unwrap().len();
    let attached = hardline(&operator);
    attached.wait_for("fix/login · #9");
    attached.type_in(format!("{PULL}/8\r"));
    attached.wait_for("fix/login · #8 ·");
    assert_eq!(github.asked.lock().unwrap().len(), asked, "what is switched off is not asked");
}
