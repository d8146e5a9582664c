use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::RunLayout;
use crate::RunId;

/// The variable that each agent of the contract has its token in.
pub const TOKENS: [(&str, &str); 5] = [
    ("claude", "ANTHROPIC_API_KEY"),
    ("codex", "OPENAI_API_KEY"),
    ("gemini", "GEMINI_API_KEY"),
    ("perplexity", "PERPLEXITY_API_KEY"),
    ("xai", "XAI_API_KEY"),
];

/// Every variable that is known to hold a token, and whose it is; `""` is nobody's here. An agent keeps its own and
/// loses the others.
pub const KNOWN_TOKENS: [(&str, &str); 26] = [
    ("claude", "ANTHROPIC_API_KEY"),
    ("claude", "ANTHROPIC_AUTH_TOKEN"),
    ("claude", "CLAUDE_CODE_OAUTH_TOKEN"),
    ("codex", "OPENAI_API_KEY"),
    ("codex", "CODEX_API_KEY"),
    ("gemini", "GEMINI_API_KEY"),
    ("gemini", "GOOGLE_API_KEY"),
    ("perplexity", "PERPLEXITY_API_KEY"),
    ("xai", "XAI_API_KEY"),
    ("amp", "AMP_API_KEY"),
    ("cursor", "CURSOR_API_KEY"),
    ("opencode", "OPENCODE_API_KEY"),
    ("", "AZURE_OPENAI_API_KEY"),
    ("", "CEREBRAS_API_KEY"),
    ("", "COHERE_API_KEY"),
    ("", "DEEPSEEK_API_KEY"),
    ("", "FIREWORKS_API_KEY"),
    ("", "GROQ_API_KEY"),
    ("", "HF_TOKEN"),
    ("", "MISTRAL_API_KEY"),
    ("", "MOONSHOT_API_KEY"),
    ("", "OPENROUTER_API_KEY"),
    ("", "TOGETHER_API_KEY"),
    ("", "VOYAGE_API_KEY"),
    ("", "ZAI_API_KEY"),
    // Speaks for a session of a capsule, which a run is not.
    ("", "JACKIN_AGENT_TOKEN"),
];

/// Every variable that holds a token of this agent.
pub fn own_tokens(agent: &str) -> Vec<String> {
    let own = KNOWN_TOKENS.iter().filter(|(owner, _)| !owner.is_empty() && *owner == agent);
    own.map(|(_, variable)| (*variable).to_owned()).collect()
}

/// Variables of the contract that the caller's environment may have from a run around this one. Only the URL is passed
/// on.
const PREFIX: &str = "JRUN_";
const CONDUCTOR_URL: &str = "JRUN_CONDUCTOR_URL";

/// The rule that makes an agent's environment out of the runner's.
///
/// What is inherited stays, but for tokens of others and for what a run around this one was told; then comes what is
/// configured for the agent, then the contract's own variables.
///
/// ```
/// use jackin_core::run::{Environment, RunLayout, TaskLayout, own_tokens};
/// use std::collections::BTreeMap;
/// use std::ffi::OsStr;
///
/// let task = TaskLayout::new("/runs", "api".parse()?, "fix-login".parse()?);
/// let layout = RunLayout::new(task, "20260223-1530221234-991-1".parse()?);
/// let rule = Environment { layout: &layout, parent: None, own_tokens: &own_tokens("claude"), configured: &BTreeMap::new() };
/// let inherited = [("PATH", "/bin"), ("ANTHROPIC_API_KEY", "a"), ("OPENAI_API_KEY", "o")];
/// let env = rule.over(inherited.map(|(name, value)| (name.into(), value.into())));
/// assert_eq!(env[OsStr::new("ANTHROPIC_API_KEY")], "a");
/// assert!(!env.contains_key(OsStr::new("OPENAI_API_KEY")));
/// assert_eq!(env[OsStr::new("JRUN_PARENT_ID")], "");
/// # Ok::<(), jackin_core::NameError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Environment<'a> {
    /// The run.
    pub layout: &'a RunLayout,
    /// The run that started it.
    pub parent: Option<&'a RunId>,
    /// The token variables that the agent keeps.
    pub own_tokens: &'a [String],
    /// Variables that the configuration sets for this agent.
    pub configured: &'a BTreeMap<String, String>,
}

impl Environment<'_> {
    /// The agent's environment, out of the runner's.
    pub fn over(
        &self,
        inherited: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> BTreeMap<OsString, OsString> {
        let own: BTreeSet<&OsStr> = self.own_tokens.iter().map(OsStr::new).collect();
        let foreign: BTreeSet<&OsStr> = KNOWN_TOKENS
            .iter()
            .map(|(_, variable)| OsStr::new(*variable))
            .filter(|variable| !own.contains(variable))
            .collect();
        let stays = |name: &OsStr| {
            let of_a_run = name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
            !foreign.contains(name) && (!of_a_run || name == CONDUCTOR_URL)
        };
        self.add_to(inherited.into_iter().filter(|(name, _)| stays(name)).collect())
    }

    /// The environment of an agent that works apart from this machine, in a container. Of the runner's it has its own
    /// tokens and the conductor's address, and nothing else: what is set here is true here.
    pub fn apart(
        &self,
        inherited: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> BTreeMap<OsString, OsString> {
        let stays =
            |name: &OsStr| name == CONDUCTOR_URL || self.own_tokens.iter().any(|own| name == own.as_str());
        self.add_to(inherited.into_iter().filter(|(name, _)| stays(name)).collect())
    }

    fn add_to(&self, mut env: BTreeMap<OsString, OsString>) -> BTreeMap<OsString, OsString> {
        env.extend(self.configured.iter().map(|(name, value)| (name.into(), value.into())));
        env.extend(self.contract().map(|(name, value)| (name.into(), value)));
        env
    }

    fn contract(&self) -> [(&'static str, OsString); 8] {
        let task = self.layout.task();
        let path = |path: &Path| path.as_os_str().to_owned();
        [
            ("JRUN_PROJECT_ID", task.project().as_str().into()),
            ("JRUN_TASK_ID", task.task().as_str().into()),
            ("JRUN_ID", self.layout.run().as_str().into()),
            ("JRUN_PARENT_ID", self.parent.map(RunId::as_str).unwrap_or_default().into()),
            ("JRUN_RUNS_DIR", path(&task.runs())),
            ("JRUN_MESSAGE_BUS", path(&task.bus())),
            ("JRUN_TASK_FOLDER", path(&task.folder())),
            ("JRUN_RUN_FOLDER", path(&self.layout.folder())),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::TaskLayout;

    fn layout() -> RunLayout {
        let task = TaskLayout::new("/runs", "api".parse().unwrap(), "fix".parse().unwrap());
        RunLayout::new(task, "20260223-1530221234-991-1".parse().unwrap())
    }

    #[test]
    fn every_agent_keeps_its_own_token_and_no_other() {
        for (agent, variable) in TOKENS {
            let all = KNOWN_TOKENS.map(|(_, variable)| (variable.into(), "secret".into()));
            let (layout, own) = (layout(), own_tokens(agent));
            let rule =
                Environment { layout: &layout, parent: None, own_tokens: &own, configured: &BTreeMap::new() };
            let env = rule.over(all);
            let kept: Vec<_> =
                env.iter().filter(|(_, value)| *value == "secret").map(|(name, _)| name).collect();
            assert!(kept.contains(&&OsString::from(variable)), "{agent}");
            for name in kept {
                let owner = KNOWN_TOKENS.iter().find(|(_, known)| name == known).unwrap().0;
                assert_eq!(owner, agent, "{name:?}");
            }
        }
        assert_eq!(own_tokens(""), Vec::<String>::new(), "what is nobody's is not the nameless agent's");
    }

    #[test]
    fn a_run_inside_a_run_is_told_about_itself() {
        let layout = layout();
        let parent: RunId = "20260223-1530220000-990-7".parse().unwrap();
        let configured = BTreeMap::from([("MODE".to_owned(), "fast".to_owned())]);
        let rule =
            Environment { layout: &layout, parent: Some(&parent), own_tokens: &[], configured: &configured };
        let inherited = [
            ("JRUN_ID", "20260223-1530220000-990-7"),
            ("JRUN_OTHER", "x"),
            ("JRUN_CONDUCTOR_URL", "http://c"),
            ("MODE", "slow"),
        ];
        let env = rule.over(inherited.map(|(name, value)| (name.into(), value.into())));
        let get = |name: &str| env.get(OsStr::new(name)).and_then(|value| value.to_str());
        assert_eq!(get("JRUN_ID"), Some("20260223-1530221234-991-1"));
        assert_eq!(get("JRUN_PARENT_ID"), Some(parent.as_str()));
        assert_eq!(get("JRUN_CONDUCTOR_URL"), Some("http://c"));
        assert_eq!(get("JRUN_OTHER"), None);
        assert_eq!(get("MODE"), Some("fast"));
        assert_eq!(get("JRUN_PROJECT_ID"), Some("api"));
        assert_eq!(get("JRUN_TASK_ID"), Some("fix"));
        assert_eq!(get("JRUN_RUNS_DIR"), Some("/runs/api/fix/runs"));
        assert_eq!(get("JRUN_MESSAGE_BUS"), Some("/runs/api/fix/TASK-MESSAGE-BUS.md"));
        assert_eq!(get("JRUN_TASK_FOLDER"), Some("/runs/api/fix"));
        assert_eq!(get("JRUN_RUN_FOLDER"), Some("/runs/api/fix/runs/20260223-1530221234-991-1"));
    }
    #[test]
    fn a_container_gets_nothing_of_the_machine_but_the_agent_s_own_token() {
        let layout = layout();
        let configured = BTreeMap::from([("MODE".to_owned(), "fast".to_owned())]);
        let own = own_tokens("claude");
        let rule = Environment { layout: &layout, parent: None, own_tokens: &own, configured: &configured };
        let inherited = [
            ("PATH", "/home/jo/bin"),
            ("HOME", "/home/jo"),
            ("GH_TOKEN", "secret"),
            ("OPENAI_API_KEY", "secret"),
            ("ANTHROPIC_API_KEY", "own"),
            ("JRUN_ID", "around"),
            ("JRUN_CONDUCTOR_URL", "http://c"),
        ];
        let env = rule.apart(inherited.map(|(name, value)| (name.into(), value.into())));
        let mut names: Vec<&str> = env.keys().filter_map(|name| name.to_str()).collect();
        names.retain(|name| !name.starts_with("JRUN_"));
        assert_eq!(names, ["ANTHROPIC_API_KEY", "MODE"]);
        assert_eq!(env[OsStr::new("JRUN_ID")], layout.run().as_str());
        assert_eq!(env[OsStr::new("JRUN_CONDUCTOR_URL")], "http://c");
    }
}
