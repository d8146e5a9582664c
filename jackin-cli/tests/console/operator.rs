//! An operator with directories of their own, and agents that say what they are told to say.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{JACKIN, Terminal};

/// An operator with a tool, and a browser that writes down what it was given.
pub(crate) struct Operator {
    dir: TempDir,
}

/// Reports every line that it reads, as an agent that jackin does not know would, unless the line is a command.
const AGENT: &str = r#"
printf 'ready\n'
while read -r line; do
    case $line in
        crash) exit 7 ;;
        say\ *) printf '%b\n' "${line#say }" ;;
        *) "$JACKIN" capsule report "$line" || exit 1 ;;
    esac
done
"#;

impl Operator {
    pub(crate) fn new() -> Self {
        Self::with("[notify]\nbell = true\nosc = '9'\n")
    }

    /// With this in the configuration as well.
    pub(crate) fn with(config: &str) -> Self {
        let operator = Self { dir: tempfile::tempdir().unwrap() };
        for dir in ["config", "work"] {
            fs::create_dir(operator.path(dir)).unwrap();
        }
        let opened = operator.path("opened");
        operator.program("browser", &format!("printf '%s' \"$1\" > '{}'", opened.display()));
        fs::write(operator.path("agent.sh"), AGENT).unwrap();
        operator.configure(config);
        operator
    }

    /// Writes the configuration: the usual tools and the browser, and this.
    pub(crate) fn configure(&self, config: &str) {
        let usual = format!(
            "[[tool]]\nkey = 'l'\nname = 'Say so'\nexec = 'echo the tool ran for {{instance}}'\n\
             [[tool]]\nkey = 'n'\nname = 'Ask'\ntype = 'prompt'\nprompt = 'Who?'\nexec = 'echo hello {{input}}'\n\
             [handler]\nweb = '{} {{}}'\n",
            self.path("browser").display()
        );
        fs::write(self.path("config/config.toml"), format!("{usual}{config}")).unwrap();
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    /// A program of the operator's own.
    pub(crate) fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// What every program of the operator has in its environment. Containers of this machine are nobody's here.
    fn environment(&self) -> [(&'static str, String); 3] {
        [
            ("JACKIN_HOME", self.path("home").display().to_string()),
            ("JACKIN_CONFIG_DIR", self.path("config").display().to_string()),
            ("DOCKER_HOST", format!("unix://{}", self.path("no-engine").display())),
        ]
    }

    /// The shell's words that run jackin in the operator's directory.
    pub(crate) fn command_line(&self, before: &str, args: &str) -> String {
        let environment = self.environment().map(|(name, value)| format!("{name}='{value}'")).join(" ");
        format!("cd '{}' && {environment} {before} '{JACKIN}' {args}", self.path("work").display())
    }

    /// A command of jackin on a terminal.
    pub(crate) fn terminal(&self, args: &str, rows: u16, cols: u16) -> Terminal {
        self.terminal_with("", args, rows, cols)
    }

    /// The same with more variables.
    pub(crate) fn terminal_with(&self, variables: &str, args: &str, rows: u16, cols: u16) -> Terminal {
        let script = self.command_line(&format!("{variables} exec"), args);
        Terminal::start("sh", &["-c", &script], rows, cols)
    }

    pub(crate) fn jackin(&self, args: &[&str]) -> Output {
        Command::new(JACKIN)
            .args(args)
            .envs(self.environment())
            .current_dir(self.path("work"))
            .output()
            .unwrap()
    }

    pub(crate) fn load(&self, name: &str, script: &str) {
        self.ok(&["load", "--detach", "--no-watch", "--name", name, ".", "--", "sh", "-c", script]);
    }

    /// Starts an agent that says what [`says`](Self::says) has it say.
    pub(crate) fn agent(&self, name: &str) {
        self.load(name, &format!("JACKIN='{JACKIN}' exec sh '{}'", self.path("agent.sh").display()));
    }

    /// Has the agent read a line.
    pub(crate) fn tells(&self, name: &str, line: &str) {
        self.ok(&["send", "--force", name, line]);
    }

    /// The same, one of several sessions.
    pub(crate) fn tells_session(&self, name: &str, session: u32, line: &str) {
        self.ok(&["send", "--force", "--session", &session.to_string(), name, line]);
    }

    /// Has the agent print this, byte for byte.
    pub(crate) fn says(&self, name: &str, text: &str) {
        let octal = text.bytes().fold(String::new(), |octal, byte| octal + &format!("\\0{byte:o}"));
        self.tells(name, &format!("say {octal}"));
    }

    /// Has the agent report this.
    pub(crate) fn reports(&self, name: &str, event: &Value) {
        // It is typed, and some characters would be keys.
        let mut units = [0; 2];
        let typed = event.to_string().chars().fold(String::new(), |typed, c| match c {
            ' '..='~' => format!("{typed}{c}"),
            c => c.encode_utf16(&mut units).iter().fold(typed, |typed, unit| format!("{typed}\\u{unit:04x}")),
        });
        self.tells(name, &typed);
    }

    pub(crate) fn works(&self, name: &str) {
        self.reports(name, &json!({"event": "turn-started"}));
    }

    pub(crate) fn asks(&self, name: &str, question: &str) {
        self.reports(name, &json!({"event": "waiting", "prompt": question}));
    }

    pub(crate) fn finishes(&self, name: &str) {
        self.reports(name, &json!({"event": "turn-ended"}));
    }

    fn ok(&self, args: &[&str]) {
        let output = self.jackin(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The process of an instance's capsule.
    pub(crate) fn pid(&self, name: &str) -> String {
        fs::read_to_string(self.path(&format!("home/sockets/{name}/capsule.pid"))).unwrap().trim().to_owned()
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        if let Ok(instances) = fs::read_dir(self.path("home/sockets")) {
            for instance in instances.flatten() {
                let pid = fs::read_to_string(instance.path().join("capsule.pid")).unwrap_or_default();
                signal("CONT", pid.trim());
            }
        }
        self.jackin(&["exile"]);
    }
}

pub(crate) fn signal(signal: &str, pid: &str) {
    if !pid.is_empty() {
        let _ = Command::new("kill").args([&format!("-{signal}"), pid]).output();
    }
}

/// Whether these bytes are among others.
pub(crate) fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
