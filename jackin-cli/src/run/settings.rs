use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use jackin_status::Runtime;

use crate::config::{AgentConfig, Config, Known, Loaded, Paths, RestConfig, Seconds, at_home};

/// How runs are done: which agents there are, where records go, and how patient to be.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSettings {
    /// The directory of all projects; none where nobody knows a home.
    pub root: Option<PathBuf>,
    /// The agents, by the name that `--agent` takes.
    pub agents: BTreeMap<String, AgentSettings>,
    /// The agent to use where none is named.
    pub default_agent: Option<String>,
    /// How long a run may take, where `--timeout` does not say.
    pub timeout: Option<Duration>,
    /// How long an agent has to end by itself when asked to.
    pub grace: Duration,
}

/// One agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentSettings {
    /// How it is reached.
    pub backend: Backend,
    /// Variables that are set for it.
    pub env: BTreeMap<String, String>,
    /// The token variables that it keeps; by default those that belong to an agent of its name.
    pub tokens: Option<Vec<String>>,
}

/// How an agent is reached.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Backend {
    /// A program is run.
    Command(AgentCommand),
    /// A server is asked.
    Rest(RestSettings),
}

/// A program that does runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentCommand {
    /// Program and arguments. `{prompt}`, `{prompt_file}`, `{run_folder}`, `{task_folder}` and `{cwd}` are filled in;
    /// without one of the first two, `prompt.md` is its standard input.
    pub words: Vec<String>,
    /// What it prints, where that is a format that tells what the agent does.
    pub runtime: Option<Runtime>,
    /// The arguments that make the program print its version.
    pub version: Vec<String>,
}

/// A server that answers prompts in the manner of `OpenAI`'s chat completions.
#[derive(Clone, Debug, PartialEq)]
pub struct RestSettings {
    /// What `/chat/completions` is put behind.
    pub base_url: String,
    /// The model.
    pub model: String,
    /// The variable that holds the key.
    pub token: String,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long the server may say nothing, the wait for its first word included.
    pub silence: Duration,
    /// How often a request is tried again that was refused for now (429, 5xx) or did not get through.
    pub retries: u32,
    /// The pause before the first retry; each next one is twice as long.
    pub first_pause: Duration,
}

impl Default for RunSettings {
    /// The agents that are known without a configuration, and no place for records.
    fn default() -> Self {
        let command = |words: &str, runtime| {
            AgentSettings::new(Backend::Command(AgentCommand {
                words: words.split(' ').map(str::to_owned).collect(),
                runtime: Some(runtime),
                version: vec!["--version".to_owned()],
            }))
        };
        let rest = |base_url: &str, model: &str, token: &str| {
            AgentSettings::new(Backend::Rest(RestSettings::new(base_url, model, token)))
        };
        let agents = [
            ("claude", command("claude -p --output-format stream-json --verbose", Runtime::ClaudeStream)),
            ("codex", command("codex exec --json -", Runtime::CodexExec)),
            ("gemini", command("gemini --output-format stream-json", Runtime::GeminiStream)),
            ("perplexity", rest("https://api.perplexity.ai", "sonar-pro", "PERPLEXITY_API_KEY")),
            ("xai", rest("https://api.x.ai/v1", "grok-4", "XAI_API_KEY")),
        ];
        Self {
            root: None,
            agents: agents.map(|(name, agent)| (name.to_owned(), agent)).into(),
            default_agent: None,
            timeout: None,
            grace: Duration::from_secs(3),
        }
    }
}

impl AgentSettings {
    /// An agent that is reached in this way.
    pub fn new(backend: Backend) -> Self {
        Self { backend, env: BTreeMap::new(), tokens: None }
    }
}

impl RestSettings {
    /// A server with the usual patience.
    pub fn new(base_url: &str, model: &str, token: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            model: model.to_owned(),
            token: token.to_owned(),
            connect_timeout: Duration::from_secs(10),
            silence: Duration::from_secs(180),
            retries: 4,
            first_pause: Duration::from_secs(1),
        }
    }
}

/// The settings of the operator: what is configured, above what is known anyway.
pub fn settings(loaded: &Loaded) -> RunSettings {
    configured(&loaded.config, Some(loaded.paths.runs()))
}

/// The same where there may be no home.
pub(super) fn known_settings(known: &Known) -> RunSettings {
    configured(&known.config, known.home.as_deref().map(|home| Paths::new(home, "").runs()))
}

fn configured(config: &Config, usual: Option<PathBuf>) -> RunSettings {
    let written = config.runs.root.as_deref().map(at_home);
    let mut settings = RunSettings {
        // A `~` that stands for nothing names no directory.
        root: written.map_or(usual, |root| Some(root).filter(|root| !root.starts_with("~"))),
        default_agent: config.defaults.agent.clone(),
        timeout: config.runs.timeout.map(Seconds::duration),
        ..RunSettings::default()
    };
    for (name, written) in &config.agents {
        settings.agents.entry(name.clone()).or_insert_with(|| plain(name, written)).configure(written);
    }
    for (name, written) in &config.runs.rest {
        let known = settings.agents.remove(name).map(|agent| agent.backend);
        let rest = match known {
            Some(Backend::Rest(rest)) => rest,
            // A server that nobody has heard of is asked with a key of its own name.
            _ => RestSettings::new("", "", &format!("{}_API_KEY", name.to_uppercase().replace('-', "_"))),
        };
        settings.agents.insert(name.clone(), AgentSettings::new(Backend::Rest(rest.configured(written))));
    }
    settings
}

/// An agent of the operator's own: its command takes the prompt on standard input, unless `headless` says otherwise.
fn plain(name: &str, written: &AgentConfig) -> AgentSettings {
    let words = if written.command.is_empty() { vec![name.to_owned()] } else { written.command.clone() };
    AgentSettings::new(Backend::Command(AgentCommand { words, ..AgentCommand::default() }))
}

impl AgentSettings {
    fn configure(&mut self, written: &AgentConfig) {
        self.env.extend(written.env.clone());
        if !written.tokens.is_empty() {
            self.tokens = Some(written.tokens.clone());
        }
        let Backend::Command(command) = &mut self.backend else { return };
        if !written.headless.is_empty() {
            command.words.clone_from(&written.headless);
        }
        // What a runtime prints when it is run by a script is its stream.
        if let Some(runtime) = written.runtime.as_deref().and_then(|name| name.parse().ok()) {
            command.runtime = Some(runtime);
        }
    }
}

impl RestSettings {
    fn configured(mut self, written: &RestConfig) -> Self {
        if let Some(base_url) = &written.base_url {
            self.base_url.clone_from(base_url);
        }
        if let Some(model) = &written.model {
            self.model.clone_from(model);
        }
        self.silence = written.timeout.map_or(self.silence, Seconds::duration);
        self.retries = written.retries.unwrap_or(self.retries);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_configured_is_above_what_is_known() {
        let text = "[defaults]\nagent = \"claude\"\n[agents.claude]\nheadless = [\"claude\", \"-p\"]\ntokens = [\"MY_KEY\"]\n\
            [agents.robot]\ncommand = [\"robot\", \"--once\"]\nenv = { A = \"1\" }\n[runs]\ntimeout = \"2m\"\n\
            [runs.rest.xai]\nmodel = \"other\"\nretries = 1\n[runs.rest.my-server]\nbase_url = \"http://x\"\n";
        let config = Config::parse(text).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let paths = Paths::new("/home/x/.jackin", "/home/x/.config/jackin");
        let settings = settings(&Loaded { config, tools: jackin_tools::Tools::default(), paths });
        assert_eq!(settings.root.as_deref(), Some(std::path::Path::new("/home/x/.jackin/runs")));
        assert_eq!(
            (settings.default_agent.as_deref(), settings.timeout),
            (Some("claude"), Some(Duration::from_secs(120)))
        );
        let command = |name: &str| match &settings.agents[name].backend {
            Backend::Command(command) => command.clone(),
            Backend::Rest(_) => panic!("{name} is a server"),
        };
        assert_eq!(
            (command("claude").words.len(), command("claude").runtime),
            (2, Some(Runtime::ClaudeStream))
        );
        assert_eq!(settings.agents["claude"].tokens, Some(vec!["MY_KEY".to_owned()]));
        assert_eq!((command("robot").words.len(), settings.agents["robot"].env["A"].as_str()), (2, "1"));
        let server = |name: &str| match &settings.agents[name].backend {
            Backend::Rest(rest) => rest.clone(),
            Backend::Command(_) => panic!("{name} is a command"),
        };
        assert_eq!(
            (server("xai").model.as_str(), server("xai").retries, server("xai").token.as_str()),
            ("other", 1, "XAI_API_KEY")
        );
        assert_eq!(server("my-server").token, "MY_SERVER_API_KEY");
    }
}
