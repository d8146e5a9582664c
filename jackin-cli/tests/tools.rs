//! `jackin tool` from the outside.

mod support;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::{JACKIN, Place, Terminal, eventually};
use tempfile::TempDir;

const CONFIG: &str = r#"
[[tool]]
key = "l"
name = "Lint"
exec = "echo linting"
scope = "rust"

[[tool]]
key = "l"
name = "Lint JS"
exec = "echo bun"
scope = "js"

[[tool]]
key = "i"
name = "Show issue"
exec = "printf '%s|' {issue} {instance}"

[[tool]]
key = "n"
name = "Note"
type = "prompt"
prompt = "What happened?"
exec = "echo {input} >> ~/jackin-ops.log"

"#;

/// A home with a configuration.
struct Home {
    dir: TempDir,
}

impl Home {
    fn new(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(".config/jackin")).unwrap();
        std::fs::write(dir.path().join(".config/jackin/config.toml"), config).unwrap();
        Self { dir }
    }

    fn sound() -> Self {
        Self::new(CONFIG)
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(JACKIN);
        command
            .arg("tool")
            .args(args)
            .env("HOME", self.path())
            .env_remove("JACKIN_CONFIG_DIR")
            .stdin(Stdio::null());
        command
    }

    fn tool(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.tool(&[args, &["--json"]].concat());
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{args:?}: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn listing() {
    let home = Home::sound();
    let listed = stdout(&home.tool(&["list"]));
    let firsts: Vec<_> = listed.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(firsts, ["i", "l", "l", "n"], "by key");
    let rust = home.json(&["list", "--role", "rust"]);
    let names: Vec<_> = rust.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Show issue", "Lint", "Note"]);
    assert_eq!(rust[2]["prompt"], "What happened?");
    assert_eq!(rust[2]["shell"], true);
    assert_eq!(rust[0]["uses"], serde_json::json!(["instance", "issue"]));
    assert!(home.tool(&["list", "--role", "Not A Role"]).status.code() == Some(2));
}

#[test]
fn where_the_configuration_is() {
    let home = Home::sound();
    let other = home.path().join("other");
    std::fs::create_dir(&other).unwrap();
    // Nothing there: no tools, and no complaint.
    let output = home.command(&["list"]).env("JACKIN_CONFIG_DIR", &other).output().unwrap();
    assert!(output.status.success());
    assert_eq!(stdout(&output), format!("no tools in {}\n", other.join("config.toml").display()));
    std::fs::write(other.join("config.toml"), "[[tool]]\nkey='z'\nname='Z'\nexec='true'\n").unwrap();
    let output = home.command(&["list"]).env("JACKIN_CONFIG_DIR", &other).output().unwrap();
    assert!(stdout(&output).starts_with("z  Z"));
    let named = other.join("config.toml");
    let output = home.tool(&["list", "--config", named.to_str().unwrap()]);
    assert!(stdout(&output).starts_with("z  Z"));
    // A file that was named must be there.
    let output = home.tool(&["list", "--config", "/nowhere/config.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot read /nowhere/config.toml"), "{}", stderr(&output));
}

const EIGHT_MISTAKES: &str = r#"
[[tool]]
key = "q"
name = "Reserved key"
exec = "true"

[[tool]]
key = "1"
name = "Unknown placeholder"
exec = "open {isue}"

[[tool]]
key = "2"
name = "Input without a prompt"
exec = "echo {input}"

[[tool]]
key = "3"
name = "Unbalanced"
exec = "echo 'x"

[[tool]]
key = "4"
name = "Bad scope"
exec = "true"
scope = "Rust"

[[tool]]
key = "5"
name = "Misspelt field"
exec = "true"
scop = "rust"

[[tool]]
key = "6"
name = 6
exec = "true"

[[tool]]
key = "1"
name = "Nothing to run"
exec = ""
"#;

#[test]
fn eight_mistakes_are_eight_errors_and_exit_2() {
    let home = Home::new(EIGHT_MISTAKES);
    let output = home.tool(&["check"]);
    assert_eq!(output.status.code(), Some(2));
    let messages = stderr(&output);
    let file = home.path().join(".config/jackin/config.toml");
    let prefix = format!("{}:", file.display());
    let headings: Vec<_> = messages.lines().filter_map(|line| line.strip_prefix(&prefix)).collect();
    assert_eq!(
        headings,
        [
            "3:7: key `q` is the console's: it quits the console",
            "10:14: unknown placeholder {isue}",
            "15:14: {input} in a tool that asks no question",
            "20:14: ' is not closed",
            "26:9: bad scope: role name \"Rust\" has 'R' at character 1",
            "32:1: [[tool]] has no field `scop`",
            "36:8: `name` takes a string, not a number",
            "42:8: the command is empty",
            " 8 mistakes",
        ]
    );
    let json = home.json(&["check"]);
    let mistakes = json["mistakes"].as_array().unwrap();
    assert_eq!(mistakes.len(), 8);
    assert_eq!((&mistakes[1]["kind"], &mistakes[1]["line"]), (&"unknown-placeholder".into(), &10.into()));
    // And nothing is run with such a configuration.
    assert_eq!(home.tool(&["run", "4"]).status.code(), Some(2));
    let sound = Home::sound();
    let output = sound.tool(&["check", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2), "a file may be named");
    assert!(stdout(&sound.tool(&["check"])).ends_with("4 tools, no mistakes\n"));
}

#[test]
fn running_with_given_values() {
    let home = Home::sound();
    let hostile = "$(touch pwned) `x` 'q\" é\n-n";
    let output = home.tool(&["run", "i", "--instance", "api", "--set", &format!("issue={hostile}")]);
    assert!(output.status.success());
    assert_eq!(stdout(&output), format!("{hostile}|jackin-api|\n"));
    let missing = home.tool(&["run", "i", "--instance", "jackin-api"]);
    assert_eq!(missing.status.code(), Some(1));
    assert_eq!(stderr(&missing), "error: no <jackin:issue> recorded for instance api\n");
    for (args, complaint) in [
        (vec!["run", "i", "--set", "isue=x"], "there is no value `isue`"),
        (vec!["run", "i", "--set", "issue"], "write NAME=VALUE"),
        (vec!["run", "i", "--set", "input=x"], "--input"),
        (vec!["run", "i", "--instance", "A b"], "'A' at character 1"),
        (vec!["run", "toolong"], "one character"),
    ] {
        let output = home.tool(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(complaint), "{args:?}: {}", stderr(&output));
    }
    assert!(stderr(&home.tool(&["run", "z"])).contains("no tool has the key `z`"));
}

#[test]
fn a_key_that_roles_share() {
    let home = Home::sound();
    let output = home.tool(&["run", "l"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("for rust, js: choose with --role"), "{}", stderr(&output));
    assert_eq!(stdout(&home.tool(&["run", "l", "--role", "js"])), "bun\n");
    assert!(stderr(&home.tool(&["run", "l", "--role", "go"])).contains("no tool for role go"));
}

#[test]
fn a_prompt_tool() {
    let home = Home::sound();
    assert!(home.tool(&["run", "n", "--input", "it's $HOME; `id`\nsecond"]).status.success());
    let log = std::fs::read_to_string(home.path().join("jackin-ops.log")).unwrap();
    assert_eq!(log, "it's $HOME; `id`\nsecond\n");
    let unanswered = home.tool(&["run", "n"]);
    assert_eq!(unanswered.status.code(), Some(1));
    assert!(stderr(&unanswered).contains("give the answer with --input"));
    assert!(stderr(&home.tool(&["run", "i", "--input", "x"])).contains("asks no question"));
    // On a terminal it asks.
    let config = home.path().join(".config/jackin/config.toml");
    std::fs::write(
        &config,
        "[[tool]]\nkey='n'\nname='N'\ntype='prompt'\nprompt='Well?'\nexec='echo got {input}'\n",
    )
    .unwrap();
    let mut terminal = Terminal::run(&["tool", "--config", config.to_str().unwrap(), "run", "n"], 24, 80);
    terminal.wait_for("Well?");
    terminal.type_in("a  b\r");
    terminal.wait_for("got a  b");
    assert_eq!(terminal.exit_code(), 0);
}

#[test]
fn a_dry_run_shows_everything_and_runs_nothing() {
    let home = Home::sound();
    let args = [
        "run",
        "n",
        "--dry-run",
        "--input",
        "a\u{1b}[31m \"b\"",
        "--set",
        "host_workdir=/tmp/x y",
        "--set",
        "pr=u",
    ];
    let shown = stdout(&home.tool(&args));
    let expected = [
        "tool       n \"Note\"",
        "argv[0]    \"sh\"",
        "argv[1]    \"-c\"",
        "argv[2]    \"echo \\\"${JACKIN_INPUT}\\\" >> ~/jackin-ops.log\"",
        "env        JACKIN_HOST_WORKDIR=\"/tmp/x y\"  (from operator)",
        "env        JACKIN_PR=\"u\"  (from operator)",
        "env        JACKIN_INPUT=\"a\\u001b[31m \\\"b\\\"\"  (from operator)",
        "directory  \"/tmp/x y\"",
        "time limit 300 s",
    ];
    assert_eq!(shown.lines().collect::<Vec<_>>(), expected);
    assert!(!home.path().join("jackin-ops.log").exists());
    let json = home.json(&args);
    assert_eq!(json["argv"][2], "echo \"${JACKIN_INPUT}\" >> ~/jackin-ops.log");
    assert_eq!(json["env"]["JACKIN_INPUT"], "a\u{1b}[31m \"b\"");
    assert_eq!(json["cwd"], "/tmp/x y");
    assert_eq!(json["provenance"]["JACKIN_PR"], "operator");
}

fn one_tool(exec: &str) -> Home {
    Home::new(&format!("[[tool]]\nkey = '1'\nname = 'One'\nexec = {exec:?}\n"))
}

#[test]
fn how_it_went_as_json() {
    let json = one_tool("echo out; echo err >&2; exit 7").json(&["run", "1"]);
    assert_eq!(
        (&json["end"], &json["exit_code"], &json["output"]),
        (&"exited".into(), &7.into(), &"out\nerr\n".into())
    );
    assert_eq!(json["cut_bytes"], 0);
    let json = one_tool("kill -9 $$").json(&["run", "1"]);
    assert_eq!(
        (&json["end"], &json["signal"], &json["exit_code"]),
        (&"signaled".into(), &9.into(), &137.into())
    );
}

#[test]
fn exit_codes() {
    for (exec, code) in [("sh -c 'exit 5'", 5), ("kill -9 $$", 137), ("no-such-program-anywhere", 127)] {
        assert_eq!(one_tool(exec).tool(&["run", "1"]).status.code(), Some(code), "{exec}");
    }
    let home = one_tool("true");
    let output = home.tool(&["run", "1", "--set", "host_workdir=/nowhere/at/all"]);
    assert!(stderr(&output).contains("the working directory /nowhere/at/all does not exist"));
}

#[test]
fn values_of_an_earlier_command_do_not_leak_in() {
    let home = one_tool("echo ${{JACKIN_ISSUE:-none}}");
    let output = home.command(&["run", "1"]).env("JACKIN_ISSUE", "stale").output().unwrap();
    assert_eq!(stdout(&output), "none\n");
}

#[test]
fn open_is_opened_by_the_handler_where_there_is_no_such_program() {
    let home = Home::new(
        "[[tool]]\nkey = 'i'\nname = 'Issue'\nexec = 'open {issue}'\n[handler]\nopen = \"printf 'opening %s' {}\"\n",
    );
    // A search path on which `open` is certain not to be.
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink("/usr/bin/printf", bin.join("printf")).unwrap();
    let args = ["run", "i", "--set", "issue=https://example.com/?a&b"];
    let output = home.command(&args).env("PATH", &bin).output().unwrap();
    assert_eq!(stdout(&output), "opening https://example.com/?a&b\n", "{}", stderr(&output));
}

#[test]
fn a_defiant_tool_is_stopped_at_its_limit() {
    let mark = format!("defiant-tool-{}", std::process::id());
    let home = one_tool(&format!(
        "trap '' TERM; : > ~/up; (yes {mark}) & (while :; do echo {mark} >&2; done) & while :; do echo y; done"
    ));
    // Nobody reads what it prints: a full pipe must not keep it alive either.
    let mut child = home.command(&["run", "1", "--timeout", "1"]).stdout(Stdio::piped()).spawn().unwrap();
    eventually("it is up", || home.path().join("up").exists());
    eventually("nothing of it is left", || {
        let peak = peak_memory(child.id());
        assert!(peak < MAX_MEMORY, "{peak} KiB");
        !is_running(&mark)
    });
    let mut unread = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || std::io::copy(&mut unread, &mut std::io::sink()));
    assert_eq!(child.wait().unwrap().code(), Some(124));
    reader.join().unwrap().unwrap();
}

/// What `jackin tool run` may take, in KiB: many times less than what is printed, several times what is kept of it.
const MAX_MEMORY: u64 = 64 << 10;

/// Whether a process has this mark in its command line.
fn is_running(mark: &str) -> bool {
    let command_lines = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok());
    command_lines.into_iter().any(|line| String::from_utf8_lossy(&line).contains(mark))
}

/// The most memory that a process has used, in KiB.
fn peak_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

#[test]
fn interrupted_it_ends_the_tool() {
    let mark = format!("interrupted-tool-{}", std::process::id());
    let home = one_tool(&format!(": {mark}; echo up; while :; do sleep 0.1; done"));
    let config = home.path().join(".config/jackin/config.toml");
    let mut terminal = Terminal::run(&["tool", "run", "1", "--config", config.to_str().unwrap()], 24, 80);
    terminal.wait_for("up");
    terminal.type_in("\u{3}");
    assert_eq!(terminal.exit_code(), 130);
    assert!(!is_running(&mark));
}

#[test]
fn name_and_tags_of_a_running_instance() {
    let place = Place::new();
    let said = r#"{"event":"assistant-text","message_id":"a","chunk":"<jackin:pr>https://github.com/o/r/pull/7</jackin:pr>","end":true}"#;
    let mut daemon = place
        .daemon(&format!("printf '%s' '{said}' | {JACKIN} capsule report; while read -r line; do :; done"));
    eventually("the agent has declared it", || place.ctl_json(&["tags"])["tags"][0]["kind"] == "pr");
    let socket = place.socket();
    let run = |home: &Home, more: &[&str]| {
        home.tool(&[&["run", "1", "--socket", socket.to_str().unwrap()], more].concat())
    };
    let home = one_tool("echo {instance} {pr}");
    assert_eq!(stdout(&run(&home, &[])), "jackin-local https://github.com/o/r/pull/7\n");
    let dry = run(&home, &["--dry-run", "--json"]);
    assert_eq!(serde_json::from_slice::<Value>(&dry.stdout).unwrap()["provenance"]["JACKIN_PR"], "agent");
    assert!(place.ctl(&["tags", "set", "pr", "https://github.com/o/r/pull/8"]).status.success());
    assert_eq!(
        stdout(&run(&home, &[])),
        "jackin-local https://github.com/o/r/pull/8\n",
        "the operator's wins"
    );
    assert_eq!(stdout(&run(&home, &["--instance", "other", "--set", "pr=x"])), "jackin-other x\n");
    let missing = run(&one_tool("echo {issue}"), &[]);
    assert_eq!(stderr(&missing), "error: no <jackin:issue> recorded for instance local\n");
    assert!(place.ctl(&["shutdown"]).status.success());
    daemon.wait();
    let gone = run(&home, &[]);
    assert!(stderr(&gone).contains("no capsule answers"), "{}", stderr(&gone));
}
