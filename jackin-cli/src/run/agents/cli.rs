use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use jackin_core::run::{Agent, AgentError, Elsewhere, Ended, RunContext, RunLayout, RunSink, own_tokens};
use jackin_status::LineDecoder;
use tokio::io::AsyncReadExt;

use super::process::{Work, carry_out, first_line};
use crate::run::place::{Local, Place, PlaceCommand};
use crate::run::settings::{AgentCommand, AgentSettings};

/// How long a program may take to tell its version.
const VERSION_LIMIT: Duration = Duration::from_secs(5);

/// An agent with a command line of its own: claude, codex, gemini, and whatever the configuration adds. Where the format
/// that it prints is known, its status, tags, usage and last words are, too.
pub struct Cli {
    name: String,
    command: AgentCommand,
    env: BTreeMap<String, String>,
    tokens: Vec<String>,
    grace: Duration,
    place: Box<dyn Place>,
}

impl Cli {
    /// The agent of this name, by its settings.
    pub fn new(name: &str, settings: &AgentSettings, command: &AgentCommand, grace: Duration) -> Self {
        Self {
            name: name.to_owned(),
            command: command.clone(),
            env: settings.env.clone(),
            tokens: settings.tokens.clone().unwrap_or_else(|| own_tokens(name)),
            grace,
            place: Box::new(Local),
        }
    }

    /// The same in another place.
    pub fn in_place(self, place: impl Place + 'static) -> Self {
        Self { place: Box::new(place), ..self }
    }

    /// Program and arguments. Each placeholder fills its own word or a part of it; no value can add a word.
    fn words(&self, context: &RunContext, prompt: &str) -> Vec<OsString> {
        let path = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
        let values = [
            ("{prompt_file}", path(context.seen().prompt())),
            ("{run_folder}", path(context.seen().folder())),
            ("{task_folder}", path(context.seen().task().folder())),
            ("{cwd}", path(context.seen_dir().to_owned())),
            // The last one: what stands in a prompt is not filled in.
            (PROMPT, prompt.to_owned()),
        ];
        let fill = |word: &String| {
            let filled = values.iter().fold(word.clone(), |word, (name, value)| word.replace(name, value));
            OsString::from(filled)
        };
        self.command.words.iter().map(fill).collect()
    }

    fn command(&self, context: &RunContext) -> Result<PlaceCommand, AgentError> {
        let mut words = self.words(context, &context.whole_prompt()).into_iter();
        let program = words.next().ok_or_else(|| {
            AgentError::Other(format!("the agent {} has no command: configure one", self.name))
        })?;
        let takes_prompt =
            self.command.words.iter().any(|word| word.contains(PROMPT) || word.contains("{prompt_file}"));
        Ok(PlaceCommand {
            program,
            args: words.collect(),
            env: context.environment.clone(),
            cwd: context.working_dir.clone(),
            stdin: (!takes_prompt).then(|| context.layout.prompt()),
        })
    }

    /// The program and the arguments that make it print its version.
    fn version_words(&self) -> Option<(&String, &[String])> {
        let program = self.command.words.first()?;
        Some((program, &self.command.version[..])).filter(|(_, args)| !args.is_empty())
    }
}

const PROMPT: &str = "{prompt}";

#[async_trait]
impl Agent for Cli {
    fn name(&self) -> &str {
        &self.name
    }

    fn tokens(&self) -> Vec<String> {
        self.tokens.clone()
    }

    fn environment(&self) -> BTreeMap<String, String> {
        self.env.clone()
    }

    fn command_line(&self, context: &RunContext) -> String {
        let words = self.words(context, PROMPT);
        shell_words::join(words.iter().map(|word| word.to_string_lossy()))
    }

    fn place(&self) -> &'static str {
        self.place.name()
    }

    async fn version(&self, context: &RunContext) -> Option<String> {
        // What is installed here says nothing about what is in an image.
        if context.elsewhere.is_some() {
            return None;
        }
        let (program, args) = self.version_words()?;
        let mut child = tokio::process::Command::new(program)
            .args(args)
            .env_clear()
            .envs(&context.environment)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .ok()?;
        let mut said = Vec::new();
        let mut stdout = child.stdout.take()?.take(4_096);
        tokio::time::timeout(VERSION_LIMIT, stdout.read_to_end(&mut said)).await.ok()?.ok()?;
        first_line(&said)
    }

    async fn execute(&self, context: &RunContext, sink: &mut dyn RunSink) -> Result<Ended, AgentError> {
        let version = self.version_words().filter(|_| context.elsewhere.is_some());
        let work = Work {
            place: &*self.place,
            command: self.command(context)?,
            decoder: self.command.runtime.map(|runtime| LineDecoder::new(runtime.decoder())),
            version: version
                .map(|(program, args)| [std::slice::from_ref(program), args].concat())
                .unwrap_or_default(),
            grace: self.grace,
        };
        carry_out(work, context, sink).await
    }

    fn elsewhere(&self, run: &RunLayout, working_dir: &Path) -> Option<Elsewhere> {
        self.place.elsewhere(run, working_dir)
    }

    async fn clear(&self, run: &RunLayout) -> Result<(), String> {
        self.place.clear(run).await
    }
}

#[cfg(test)]
mod tests {
    use jackin_core::run::TaskLayout;

    use super::*;
    use crate::run::settings::Backend;

    #[test]
    fn values_fill_words_and_add_none() {
        let task = TaskLayout::new("/runs", "api".parse().unwrap(), "fix".parse().unwrap());
        let layout = RunLayout::new(task, "20260223-1530221234-991-1".parse().unwrap());
        let mut context = RunContext::new(layout, "say '{cwd}'; rm -rf /");
        context.working_dir = "/w".into();
        let words = ["agent", "--dir={run_folder}", "{prompt}", "{other}"].map(str::to_owned).to_vec();
        let command = AgentCommand { words, ..AgentCommand::default() };
        let settings = AgentSettings::new(Backend::Command(command.clone()));
        let agent = Cli::new("agent", &settings, &command, Duration::ZERO);
        let placed = agent.command(&context).unwrap();
        assert_eq!(
            placed.args,
            ["--dir=/runs/api/fix/runs/20260223-1530221234-991-1", "say '{cwd}'; rm -rf /", "{other}"]
        );
        assert_eq!(placed.stdin, None);
        assert!(!agent.command_line(&context).contains("rm -rf"), "the prompt has a file of its own");

        let command = AgentCommand { words: vec!["agent".into()], ..AgentCommand::default() };
        let agent = Cli::new("agent", &settings, &command, Duration::ZERO);
        assert_eq!(agent.command(&context).unwrap().stdin, Some(context.layout.prompt()));
    }
}
