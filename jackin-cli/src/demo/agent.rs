//! The demo's agent: it draws on its terminal like a coding agent, tells the capsule what it does like an agent's
//! hooks do, declares what it works on, and asks a question. What it "does" is written down here.

use std::io::{self, Read, Write};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use jackin_core::RuntimeEvent;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{self, OptionalActions};

use crate::capsule::{ReportError, report};

/// How the scripted agent is to behave.
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// Answer the question by itself, as nobody is there
    #[arg(long)]
    unattended: bool,
}

const QUESTION: &str = "Run the test suite?";

/// Plays the script.
pub(crate) fn play(args: &AgentArgs) -> Result<u8> {
    say("\x1b]2;demo agent\x07")?;
    say(
        "\x1b[1;35m✻ demo agent\x1b[0m  \x1b[2ma script, no model: see how jackin shows an agent\x1b[0m\n\n",
    )?;
    say("\x1b[2m> fix the flaky login test\x1b[0m\n\n")?;
    tell(&RuntimeEvent::TurnStarted)?;
    work("Reading tests/login.rs", 8)?;
    speak(
        "cause",
        "The test races against the session cache. This is the issue that I work on:\n\
        <jackin:repo>https://github.com/example/shop</jackin:repo>\n\
        <jackin:issue>https://github.com/example/shop/issues/41</jackin:issue>\n\
        <jackin:status>fixing the flaky login test</jackin:status>\n",
    )?;
    work("Editing src/session.rs", 8)?;
    if ask(args.unattended)? {
        work("Running cargo test", 8)?;
        speak(
            "result",
            "All 212 tests pass. I opened a pull request:\n\
            <jackin:pr>https://github.com/example/shop/pull/42</jackin:pr>\n",
        )?;
    } else {
        speak("result", "Then I leave it at the edit, untested.\n")?;
    }
    tell(&RuntimeEvent::TurnEnded { error: None })?;
    say("\x1b[2m✻ done\x1b[0m\n")?;
    if args.unattended {
        pause(Duration::from_millis(300));
    } else {
        say("\n\x1b[2mAny key ends the demo.\x1b[0m\n")?;
        read_key(None)?;
    }
    Ok(0)
}

/// A message to the operator, in pieces as a model would write it.
fn speak(message_id: &str, text: &str) -> Result<()> {
    let mut pieces = text.split_inclusive(' ').peekable();
    while let Some(piece) = pieces.next() {
        say(piece)?;
        tell(&RuntimeEvent::AssistantText {
            message_id: message_id.to_owned(),
            chunk: piece.to_owned(),
            end: pieces.peek().is_none(),
        })?;
        pause(Duration::from_millis(30));
    }
    say("\n")
}

/// A tool that runs for a while.
fn work(what: &str, beats: usize) -> Result<()> {
    let id = what.to_owned();
    tell(&RuntimeEvent::ToolStarted { id: id.clone(), name: what.to_owned() })?;
    for glyph in ['◐', '◓', '◑', '◒'].into_iter().cycle().take(beats) {
        say(&format!("\r\x1b[33m{glyph}\x1b[0m {what}… \x1b[2m(esc to interrupt)\x1b[0m\x1b[K"))?;
        pause(Duration::from_millis(100));
    }
    say(&format!("\r\x1b[32m●\x1b[0m {what}\x1b[K\n"))?;
    tell(&RuntimeEvent::ToolFinished { id, failed: false })
}

/// Waits for an answer. Unattended, it gives one itself.
fn ask(unattended: bool) -> Result<bool> {
    tell(&RuntimeEvent::Waiting { id: None, prompt: Some(QUESTION.to_owned()) })?;
    say(&format!("\n\x1b[1;33m{QUESTION}\x1b[0m  [y] yes  [n] no "))?;
    let yes = loop {
        match read_key(unattended.then_some(Duration::from_secs(1)))? {
            Some(b'n' | b'N') => break false,
            Some(b'y' | b'Y' | b'\r') | None => break true,
            Some(_) => {}
        }
    };
    say(if yes { "yes\n\n" } else { "no\n\n" })?;
    tell(&RuntimeEvent::WaitingResolved { id: None })?;
    Ok(yes)
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
