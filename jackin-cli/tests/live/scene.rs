//! A capsule whose agents are scripts, in a home of their own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Capsule, Place, eventually};

/// Obeys words that are typed into it: it writes lines of a recording to where the real one keeps its transcripts, with
/// the time and the directory of now; prints files; and runs commands.
const AGENT: &str = r#"#!/bin/sh
name=$(basename "$0")
case $name in
    claude) directory="$CLAUDE_CONFIG_DIR/projects/$(pwd | tr -c 'a-zA-Z0-9\n' '-')"; file="$directory/$$.jsonl" ;;
    codex) directory="$CODEX_HOME/sessions/2026/01/02"; file="$directory/rollout-$$.jsonl" ;;
    *) directory=/nonexistent; file=/nonexistent ;;
esac
echo "$name is here"
while read -r word rest; do
    case $word in
        write)
            mkdir -p "$directory"
            now=$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)
            sed -n "${rest}p" "$RECORDING" | sed -e "s|\"timestamp\":\"[^\"]*\"|\"timestamp\":\"$now\"|g" \
                -e "s|\"cwd\":\"[^\"]*\"|\"cwd\":\"$(pwd)\"|g" >> "$file" ;;
        clear) file="$directory/$$-again.jsonl" ;;
        show) printf '\033[2J\033[H'; cat "$rest" ;;
        run) eval "$rest" ;;
        quit) exit 0 ;;
    esac
    echo "done $word"
done
"#;

pub(crate) struct Scene {
    pub(crate) place: Place,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let place = Place::new();
        for name in ["claude", "codex", "opencode", "robot"] {
            let path = place.dir().join(name);
            fs::write(&path, AGENT).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::create_dir(place.dir().join("work")).unwrap();
        Self { place }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.place.dir().join(name).to_str().unwrap().to_owned()
    }

    /// Writes the agents' recording; a file of the corpus, or lines.
    pub(crate) fn record(&self, text: &str) {
        fs::write(self.place.dir().join("recording"), text).unwrap();
    }

    /// Writes `agent.toml`, with the head that every one has, and starts the capsule with it.
    pub(crate) fn start(&self, toml: &str) -> Capsule {
        let head = format!("version = 1\ninstance = \"stage\"\nworkdir = {:?}\n", self.path("work"));
        let config = self.path("agent.toml");
        fs::write(&config, head + toml).unwrap();
        self.start_with(&["--config", &config])
    }

    pub(crate) fn start_with(&self, args: &[&str]) -> Capsule {
        let path = format!("{}:{}", self.place.dir().display(), std::env::var("PATH").unwrap());
        let (claude, codex, home) = (self.path("dot-claude"), self.path("dot-codex"), self.path(""));
        let recording = self.path("recording");
        let env = [
            ("PATH", path.as_str()),
            ("HOME", &home),
            ("CLAUDE_CONFIG_DIR", &claude),
            ("CODEX_HOME", &codex),
            ("RECORDING", &recording),
            ("SHELL", "/bin/sh"),
            ("PS1", "prompt> "),
        ];
        self.place.daemon_with(args, &env)
    }

    /// Tells the agent in a session what to do, whatever it does just now.
    pub(crate) fn tell(&self, session: &str, words: &str) {
        let sent = self.place.ctl(&["send", "--force", "--session", session, words]);
        assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    }

    /// Tells it, and waits until it says that it has done so.
    pub(crate) fn tell_and_wait(&self, session: &str, words: &str) {
        let word = words.split(' ').next().unwrap();
        let before = self.count(session, &format!("done {word}"));
        self.tell(session, words);
        eventually("the agent did it", || self.count(session, &format!("done {word}")) > before);
    }

    fn count(&self, session: &str, text: &str) -> usize {
        self.screen(session).matches(text).count()
    }

    pub(crate) fn screen(&self, session: &str) -> String {
        self.place.ctl_json(&["read", "--session", session])["text"].as_str().unwrap().to_owned()
    }

    pub(crate) fn session(&self, id: u64) -> Value {
        let status = self.place.ctl_json(&["status"]);
        status["sessions"].as_array().unwrap().iter().find(|session| session["id"] == id).cloned().unwrap()
    }

    /// Waits until a session has a status by a source, such as `busy` by `transcript`.
    pub(crate) fn wait_for(&self, id: u64, status: &str, source: &str) -> Value {
        let mut last = Value::Null;
        eventually(&format!("session {id} is {status} by {source}"), || {
            last = self.session(id);
            last["status"]["kind"] == status && last["cause"]["source"] == source
        });
        last
    }

    /// Every event so far.
    pub(crate) fn events(&self) -> Vec<Value> {
        use std::io::{BufRead, BufReader};
        use std::process::{Command, Stdio};
        let seq = self.place.ctl_json(&["snapshot"])["seq"].as_u64().unwrap();
        let mut child = Command::new(crate::support::JACKIN)
            .args(["capsule", "ctl", "--socket", self.place.socket().to_str().unwrap()])
            .args(["--json", "events", "--from", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let events =
            lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).take(seq as usize).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        events
    }

    pub(crate) fn events_named(&self, name: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["event"] == name).collect()
    }
}

/// A file of the corpus; none where it is not there, which is said.
pub(crate) fn corpus(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus").join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is missing", path.display());
    None
}
