//! The demo's agents: scripts, no models. Each shows another way in which jackin learns what an agent does: one writes
//! the transcript of Claude Code, one draws its screen, one reports like a hook.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use jackin_core::RuntimeEvent;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{self, OptionalActions};
use serde_json::{Value, json};

use crate::capsule::{self, ReportError, report};

/// How a scripted agent is to behave.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// What it plays
    part: Part,
    /// End when the script is over, as nobody is there
    #[arg(long)]
    unattended: bool,
    /// A file to write to: the transcript, or that the first try is over
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
}

/// What an agent plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// It works and opens a pull request.
    Fix,
    /// It asks before it goes on.
    Ask,
    /// It crashes, and works when it is started again.
    Crash,
}

/// Plays a part.
pub(crate) fn play(args: &AgentArgs) -> Result<u8> {
    match args.part {
        Part::Fix => fix(args),
        Part::Ask => ask(args),
        Part::Crash => crash(args),
    }
}

/// Works, and tells so in a transcript as Claude Code keeps one.
fn fix(args: &AgentArgs) -> Result<u8> {
    head("fix the flaky login test")?;
    let mut transcript = Transcript::create(args)?;
    transcript.prompt("fix the flaky login test")?;
    work("Reading tests/login.rs", 8)?;
    let cause = "The test races against the session cache. This is what I work on:\n\
        <jackin:repo>https://github.com/example/shop</jackin:repo>\n\
        <jackin:issue>https://github.com/example/shop/issues/41</jackin:issue>\n\
        <jackin:status>fixing the flaky login test</jackin:status>\n";
    transcript.says(cause)?;
    speak(cause)?;
    transcript.runs("Edit", "src/session.rs")?;
    work("Editing src/session.rs", 10)?;
    transcript.ran()?;
    transcript.runs("Bash", "cargo test")?;
    work("Running cargo test", 12)?;
    transcript.ran()?;
    let result = "All 212 tests pass. I opened a pull request:\n\
        <jackin:pr>https://github.com/example/shop/pull/42</jackin:pr>\n";
    transcript.says(result)?;
    speak(result)?;
    transcript.end()?;
    rest(args)
}

/// Asks before it goes on. What it does is told by its screen alone, which looks like that of Claude Code.
fn ask(args: &AgentArgs) -> Result<u8> {
    head("document the new endpoints")?;
    spin("Reading the routes", 14)?;
    say("● The routes are in src/routes.rs. I want to see which of them answer.\n\n")?;
    let line = "─".repeat(60);
    say(&format!(
        "{line}\n Bash command\n\n   curl --silent localhost:8080/routes\n\n Do you want to run this command?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel\n"
    ))?;
    let yes = loop {
        match read_key(None)? {
            Some(b'1' | b'y' | b'Y' | b'\r') => break true,
            Some(b'2' | b'n' | b'N' | 0x1b) | None => break false,
            Some(_) => {}
        }
    };
    // The dialog goes away, as a real one does.
    say("\x1b[10F\x1b[J")?;
    say(if yes {
        "● Bash(curl --silent localhost:8080/routes)\n\n"
    } else {
        "● Then I read the code alone.\n\n"
    })?;
    spin("Writing docs/routes.md", 14)?;
    speak("I wrote docs/routes.md with the nine routes that answer.\n")?;
    rest(args)
}

/// Crashes the first time. What it does is reported as by a hook.
fn crash(args: &AgentArgs) -> Result<u8> {
    head("build the release")?;
    tell(&RuntimeEvent::TurnStarted)?;
    work("Running make release", 12)?;
    if OpenOptions::new().write(true).create_new(true).open(&args.file).is_ok() {
        say("\x1b[31mthread 'main' panicked: out of file descriptors\x1b[0m\n")?;
        pause(Duration::from_millis(200));
        return Ok(101);
    }
    speak("This time it went through. The files are in dist.\n")?;
    tell(&RuntimeEvent::AssistantText {
        message_id: "result".to_owned(),
        chunk: "<jackin:status>release built</jackin:status>".to_owned(),
        end: true,
    })?;
    tell(&RuntimeEvent::TurnEnded { error: None })?;
    rest(args)
}

/// The prompt, at which an agent waits for more.
fn rest(args: &AgentArgs) -> Result<u8> {
    let line = "─".repeat(60);
    say(&format!("\n{line}\n❯ \n{line}\n\x1b[2A\x1b[2C"))?;
    if args.unattended {
        // Long enough for its last state to be seen.
        pause(Duration::from_millis(700));
        return Ok(0);
    }
    // Only a key that ends it is an answer.
    while !matches!(read_key(None)?, Some(b'q' | 3 | 4) | None) {}
    say("\x1b[2B\r\n")?;
    Ok(0)
}

/// What Claude Code writes to disk while it works.
struct Transcript {
    file: File,
    cwd: String,
    messages: u32,
}

impl Transcript {
    fn create(args: &AgentArgs) -> Result<Self> {
        let path = &args.file;
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        let cwd = std::env::current_dir().context("cannot tell the directory")?.display().to_string();
        Ok(Self { file, cwd, messages: 0 })
    }

    fn line(&mut self, mut line: Value) -> Result<()> {
        line["timestamp"] = json!(capsule::now().to_string());
        line["cwd"] = json!(self.cwd);
        line["sessionId"] = json!("demo");
        Ok(self.file.write_all(format!("{line}\n").as_bytes())?)
    }

    fn assistant(&mut self, content: &Value) -> Result<()> {
        self.messages += 1;
        let usage = json!({ "input_tokens": 1_800, "output_tokens": 240 });
        let id = format!("message-{}", self.messages);
        let message =
            json!({ "id": id, "role": "assistant", "model": "script", "content": [content], "usage": usage });
        self.line(json!({ "type": "assistant", "message": message }))
    }

    fn prompt(&mut self, text: &str) -> Result<()> {
        self.line(json!({ "type": "user", "message": { "role": "user", "content": text } }))
    }

    fn says(&mut self, text: &str) -> Result<()> {
        self.assistant(&json!({ "type": "text", "text": text }))
    }

    fn runs(&mut self, tool: &str, what: &str) -> Result<()> {
        self.assistant(&json!({ "type": "tool_use", "id": "tool", "name": tool, "input": { "what": what } }))
    }

    fn ran(&mut self) -> Result<()> {
        let result = json!([{ "type": "tool_result", "tool_use_id": "tool", "content": "done" }]);
        self.line(json!({ "type": "user", "message": { "role": "user", "content": result } }))
    }

    fn end(&mut self) -> Result<()> {
        self.line(json!({ "type": "system", "subtype": "turn_duration" }))
    }
}

fn head(task: &str) -> Result<()> {
    say(&format!("\x1b]2;{task}\x07"))?;
    say(
        "\x1b[1;35m✻ demo agent\x1b[0m  \x1b[2ma script, no model: see how jackin shows an agent\x1b[0m\n\n",
    )?;
    say(&format!("\x1b[2m> {task}\x1b[0m\n\n"))
}

/// A message to the operator, in pieces as a model would write it.
fn speak(text: &str) -> Result<()> {
    for piece in text.split_inclusive(' ') {
        say(piece)?;
        pause(Duration::from_millis(30));
    }
    say("\n")
}

/// A tool that runs for a while.
fn work(what: &str, beats: usize) -> Result<()> {
    for glyph in ['◐', '◓', '◑', '◒'].into_iter().cycle().take(beats) {
        say(&format!("\r\x1b[33m{glyph}\x1b[0m {what} \x1b[K"))?;
        pause(Duration::from_millis(100));
    }
    say(&format!("\r\x1b[32m●\x1b[0m {what}\x1b[K\n"))
}

/// The same as Claude Code draws it, so that its screen tells that it works.
fn spin(what: &str, beats: usize) -> Result<()> {
    for glyph in ['·', '✢', '✳', '✶', '✻', '✽'].into_iter().cycle().take(beats) {
        say(&format!("\r\x1b[33m{glyph} {what}…\x1b[0m (esc to interrupt)\x1b[K"))?;
        pause(Duration::from_millis(120));
    }
    say("\r\x1b[K")
}

/// Reports what the agent does. Outside of a capsule there is nobody to tell, and the show goes on.
fn tell(event: &RuntimeEvent) -> Result<()> {
    match report(event) {
        Ok(()) | Err(ReportError::NotInASession(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn say(text: &str) -> Result<()> {
    let mut stdout = io::stdout();
    stdout.write_all(text.replace('\n', "\r\n").as_bytes())?;
    Ok(stdout.flush()?)
}

/// The next key; none when the time is over or nobody can press one any more.
fn read_key(limit: Option<Duration>) -> Result<Option<u8>> {
    let stdin = io::stdin();
    let before = termios::tcgetattr(&stdin).ok();
    if let Some(mut raw) = before.clone() {
        raw.make_raw();
        termios::tcsetattr(&stdin, OptionalActions::Now, &raw)?;
    }
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], limit.as_ref())?;
    let mut key = [0];
    let len = if ready == 0 { 0 } else { (&stdin).read(&mut key)? };
    if let Some(before) = before {
        termios::tcsetattr(&stdin, OptionalActions::Now, &before)?;
    }
    Ok((len == 1).then_some(key[0]))
}

fn pause(time: Duration) {
    std::thread::sleep(time);
}
