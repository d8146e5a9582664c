//! Does what the update asked for, beside the loop: every effect is a task of its own, and answers with a message.

mod line;
mod notify;
mod screen;
mod tool;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jackin_core::protocol::control::Request;
use jackin_core::{InstanceName, SessionId, TagKind};
use tokio::sync::mpsc;

use self::line::Lines;
use self::notify::Notifier;
use self::screen::Watch;
use self::tool::Tools;
use super::update::{Effect, Message, Purpose, Unanswered};
use super::{Actions, NewAgent};
use crate::config::Loaded;
use crate::host::{Fleet, bring_recording, new_recording, repair_tag};

/// How long the repair of a tag may take.
const REPAIRING: Duration = Duration::from_secs(15);

/// Whatever does I/O for the console.
pub(super) struct Effects {
    fleet: Fleet,
    actions: Arc<dyn Actions>,
    messages: mpsc::Sender<Message>,
    lines: Arc<Mutex<Lines>>,
    watch: Option<Watch>,
    tools: Tools,
    notifier: Arc<Notifier>,
    loaded: Loaded,
}

/// What only the loop can do, because it has the terminal.
#[derive(Debug, PartialEq)]
pub(super) enum ForLoop {
    Attach(InstanceName),
    /// Bytes for the terminal, that draw nothing.
    Write(String),
    Redraw,
    Suspend,
}

impl Effects {
    pub(super) fn new(
        loaded: &Loaded,
        fleet: Fleet,
        actions: Arc<dyn Actions>,
        messages: mpsc::Sender<Message>,
    ) -> Self {
        let notifier = Notifier::new(loaded.config.notify.clone(), |name| std::env::var(name).ok());
        Self {
            lines: Arc::new(Mutex::new(Lines::new(fleet.clone()))),
            fleet,
            actions,
            messages,
            watch: None,
            tools: Tools::default(),
            notifier: Arc::new(notifier),
            loaded: loaded.clone(),
        }
    }

    /// Begins an effect. What has to be done with the terminal comes back.
    pub(super) fn start(&mut self, effect: Effect) -> Option<ForLoop> {
        match effect {
            Effect::Attach(instance) => return Some(ForLoop::Attach(instance)),
            Effect::Copy(text) => return Some(ForLoop::Write(clipboard(&text))),
            Effect::Redraw => return Some(ForLoop::Redraw),
            Effect::Suspend => return Some(ForLoop::Suspend),
            // Leaving is the model's own affair.
            Effect::Quit => {}
            Effect::Call { instance, request, purpose } => self.call(instance, *request, purpose),
            Effect::EndRecording { instance, session } => self.end_recording(instance, session),
            Effect::Record { instance, session, here } => self.record(instance, session, here),
            Effect::Tag { instance, kind, value, set } => self.tag(instance, kind, value, set),
            Effect::Watch(of) => {
                let messages = self.messages.clone();
                self.watch = of.map(|of| Watch::start(self.fleet.clone(), of, messages));
            }
            Effect::Run { run, command, limit } => {
                self.tools.run(run, &command, limit, self.messages.clone());
            }
            Effect::Stop(run) => self.tools.stop(run),
            Effect::Open { command, what } => tool::open(&command, what, self.messages.clone()),
            Effect::Keep { name, text } => self.keep(&name, text),
            Effect::Notify(notification) => {
                let (notifier, messages) = (self.notifier.clone(), self.messages.clone());
                tokio::spawn(async move { notifier.tell(&notification, &messages).await });
            }
            Effect::NewAgent(choice) => self.new_agent(choice),
            Effect::Eject(instance) => {
                let actions = self.actions.clone();
                self.say(async move {
                    let left = actions.eject(&instance).await.map_err(for_people)?;
                    let lines = std::iter::once(format!("{instance} was ejected")).chain(left);
                    Ok(lines.collect::<Vec<_>>().join("; "))
                });
            }
            Effect::Exile => {
                let actions = self.actions.clone();
                self.say(async move {
                    let count = actions.exile().await.map_err(for_people)?;
                    Ok(format!("{count} ejected"))
                });
            }
            Effect::Restart(instance) => {
                let actions = self.actions.clone();
                self.say(async move {
                    actions.restart(&instance).await.map_err(for_people)?;
                    Ok(format!("{instance} runs again"))
                });
            }
            Effect::TakeAway(instance) => {
                let actions = self.actions.clone();
                // Whatever is left is found by the next command.
                tokio::spawn(async move { actions.ended(&instance).await });
            }
            Effect::Branch { instance, dir } => {
                let messages = self.messages.clone();
                tokio::spawn(async move {
                    let found = tokio::task::spawn_blocking(move || crate::capsule::branch(&dir)).await;
                    let branch = found.unwrap_or_default();
                    let _ = messages.send(Message::Branch { instance, branch }).await;
                });
            }
            Effect::PullRequest(url) => {
                let (actions, messages) = (self.actions.clone(), self.messages.clone());
                tokio::spawn(async move {
                    let found = actions.pull_request(&url).await;
                    let _ = messages.send(Message::PullRequest { url, found }).await;
                });
            }
        }
        None
    }

    fn call(&self, instance: InstanceName, request: Request, purpose: Purpose) {
        let (answer, messages) = (ask(&self.lines, &instance, request), self.messages.clone());
        tokio::spawn(async move {
            let answer = answer.await;
            let _ = messages.send(Message::Answer { instance, purpose, answer }).await;
        });
    }

    /// Has a session recorded. What happens on this machine is kept where it outlives the instance; a capsule elsewhere
    /// chooses a place of its own.
    fn record(&self, instance: InstanceName, session_id: SessionId, here: bool) {
        let (loaded, lines, messages) = (self.loaded.clone(), self.lines.clone(), self.messages.clone());
        tokio::spawn(async move {
            let name = instance.clone();
            let place = move || here.then(|| new_recording(&loaded, &name, session_id)).transpose();
            let answer = match tokio::task::spawn_blocking(place).await {
                Ok(Ok(path)) => {
                    let path = path.map(|path| path.display().to_string());
                    ask(&lines, &instance, Request::RecordStart { session_id, path, limit: None }).await
                }
                Ok(Err(error)) => Err(Unanswered::Refused(for_people(error))),
                Err(_) => Err(Unanswered::Refused("no place for a recording was found".to_owned())),
            };
            let purpose = Purpose::Recorded { began: true };
            let _ = messages.send(Message::Answer { instance, purpose, answer }).await;
        });
    }

    /// Ends a session's recording. One that only its capsule can reach is brought here.
    fn end_recording(&self, instance: InstanceName, session_id: SessionId) {
        let ended = ask(&self.lines, &instance, Request::RecordStop { session_id });
        let (fleet, messages) = (self.fleet.clone(), self.messages.clone());
        tokio::spawn(async move {
            let bring = async |mut answer: serde_json::Value| {
                let path = answer["path"].as_str().unwrap_or_default().to_owned();
                let member = fleet.find(&instance).await?;
                answer["path"] = bring_recording(&member, path).await?.into();
                anyhow::Ok(answer)
            };
            let answer = match ended.await {
                Ok(answer) => bring(answer).await.map_err(|error| Unanswered::Refused(for_people(error))),
                refused => refused,
            };
            let purpose = Purpose::Recorded { began: false };
            let _ = messages.send(Message::Answer { instance, purpose, answer }).await;
        });
    }

    /// Tells the operator how something ended that is done beside the loop.
    fn say(&self, doing: impl Future<Output = Result<String, String>> + Send + 'static) {
        let messages = self.messages.clone();
        tokio::spawn(async move {
            let (text, bad) = doing.await.map_or_else(|text| (text, true), |text| (text, false));
            let _ = messages.send(Message::Said { text, bad }).await;
        });
    }

    /// Sets or hides a tag, and writes that down for the day on which the capsule is started again.
    fn tag(&self, instance: InstanceName, kind: TagKind, value: String, set: bool) {
        let fleet = self.fleet.clone();
        self.say(async move {
            let repair = repair_tag(&fleet, &instance, kind.clone(), value.clone(), set);
            match tokio::time::timeout(REPAIRING, repair).await {
                Ok(Ok(())) => Ok(format!("{kind} {}: {value}", if set { "set" } else { "hidden" })),
                Ok(Err(error)) => Err(format!("{instance}: {error:#}")),
                Err(_) => Err(format!("{instance} does not answer: the tag is as it was")),
            }
        });
    }

    /// Makes an instance, and tells of each step.
    fn new_agent(&self, choice: NewAgent) {
        let (actions, messages) = (self.actions.clone(), self.messages.clone());
        tokio::spawn(async move {
            let (steps, mut step) = mpsc::unbounded_channel::<String>();
            let mut tell = move |text: &str| {
                let _ = steps.send(text.to_owned());
            };
            let telling = async {
                while let Some(text) = step.recv().await {
                    let _ = messages.send(Message::Said { text, bad: false }).await;
                }
            };
            let making = async {
                let made = actions.new_agent(choice, &mut tell).await;
                drop(tell);
                made
            };
            // The last step is told before how it ended.
            let (made, ()) = tokio::join!(making, telling);
            let said = match made {
                Ok(instance) => Message::Made(instance),
                Err(error) => Message::Said { text: for_people(error), bad: true },
            };
            let _ = messages.send(said).await;
        });
    }

    fn keep(&self, name: &str, text: String) {
        let (dir, file) = (self.loaded.paths.home().join("outputs"), file_name(name));
        self.say(async move {
            match tokio::task::spawn_blocking(move || keep(&dir, &file, &text)).await {
                Ok(Ok(path)) => Ok(format!("written to {}", path.display())),
                Ok(Err(error)) => Err(format!("cannot write the output: {error}")),
                Err(_) => Err("cannot write the output".to_owned()),
            }
        });
    }
}

/// Asks an instance's capsule.
fn ask(
    lines: &Mutex<Lines>,
    instance: &InstanceName,
    request: Request,
) -> impl Future<Output = Result<serde_json::Value, Unanswered>> + Send + use<> {
    lines.lock().unwrap_or_else(PoisonError::into_inner).call(instance, request)
}

/// An error with everything that led to it, in one line.
#[expect(clippy::needless_pass_by_value, reason = "it is for `map_err`")]
fn for_people(error: anyhow::Error) -> String {
    format!("{error:#}")
}

/// A name that is a file's.
fn file_name(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let plain = plain.trim_matches('-');
    if plain.is_empty() { "output".to_owned() } else { plain.chars().take(60).collect() }
}

/// Writes a text to a file that was not there.
fn keep(dir: &Path, name: &str, text: &str) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(dir)?;
    for number in 1_u32.. {
        let path = dir.join(if number == 1 { format!("{name}.txt") } else { format!("{name}-{number}.txt") });
        match std::fs::File::create_new(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes())?;
                return Ok(path);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("there are more numbers than files")
}

/// The sequence that puts text into the clipboard of the operator's terminal, over ssh as well.
fn clipboard(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut base64 = String::with_capacity(text.len() * 4 / 3 + 4);
    for chunk in text.as_bytes().chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            base64.push(if place <= chunk.len() { letter as char } else { '=' });
        }
    }
    format!("\x1b]52;c;{base64}\x1b\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clipboard_gets_what_was_copied() {
        for (text, base64) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("ü\n", "w7wK")] {
            assert_eq!(clipboard(text), format!("\x1b]52;c;{base64}\x1b\\"));
        }
    }

    #[test]
    fn kept_outputs_never_replace_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let name = file_name("Run ../lint!");
        assert_eq!(name, "run----lint");
        let paths = [keep(dir.path(), &name, "a").unwrap(), keep(dir.path(), &name, "b").unwrap()];
        assert_ne!(paths[0], paths[1]);
        assert_eq!(std::fs::read_to_string(&paths[0]).unwrap(), "a");
    }
}
