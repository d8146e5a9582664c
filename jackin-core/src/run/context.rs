use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use super::{Elsewhere, RunLayout, Stop};

/// What an agent is told about its run.
#[derive(Clone)]
pub struct RunContext {
    /// Where the run's files are, and with that its id, task and project.
    pub layout: RunLayout,
    /// The runner's words to an agent that can read and write files. `prompt.md` holds them and then the prompt.
    pub preamble: String,
    /// The operator's prompt.
    pub prompt: String,
    /// The directory to work in.
    pub working_dir: PathBuf,
    /// Where the agent sees all this, if it does not work on this machine as it is.
    pub elsewhere: Option<Elsewhere>,
    /// The whole environment of the agent: nothing else is inherited.
    pub environment: BTreeMap<OsString, OsString>,
    /// Asks the agent to end.
    pub stop: Stop,
}

impl RunContext {
    /// A context with a prompt, an empty environment, and the run's directory to work in.
    pub fn new(layout: RunLayout, prompt: impl Into<String>) -> Self {
        let working_dir = layout.folder();
        Self {
            layout,
            preamble: String::new(),
            prompt: prompt.into(),
            working_dir,
            elsewhere: None,
            environment: BTreeMap::new(),
            stop: Stop::new(),
        }
    }

    /// The run's files, as the agent sees them. `layout` tells where the runner does.
    pub fn seen(&self) -> &RunLayout {
        self.elsewhere.as_ref().map_or(&self.layout, |elsewhere| &elsewhere.layout)
    }

    /// The directory to work in, as the agent sees it.
    pub fn seen_dir(&self) -> &Path {
        self.elsewhere.as_ref().map_or(&self.working_dir, |elsewhere| &elsewhere.working_dir)
    }

    /// A variable of the agent's environment, where it is text.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(std::ffi::OsStr::new(name))?.to_str()
    }

    /// What `prompt.md` holds: the preamble, then the operator's prompt.
    pub fn whole_prompt(&self) -> String {
        format!("{}{}", self.preamble, self.prompt)
    }
}

impl fmt::Debug for RunContext {
    /// Without the values of the environment: they hold keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunContext")
            .field("layout", &self.layout)
            .field("working_dir", &self.working_dir)
            .field("environment", &self.environment.keys())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::TaskLayout;

    #[test]
    fn keys_do_not_show_in_debug_output() {
        let task = TaskLayout::new("/runs", "api".parse().unwrap(), "fix".parse().unwrap());
        let layout = RunLayout::new(task, "20260223-1530221234-991-1".parse().unwrap());
        let mut context = RunContext::new(layout, "x");
        context.environment.insert("XAI_API_KEY".into(), "secret".into());
        let shown = format!("{context:?}");
        assert!(shown.contains("XAI_API_KEY") && !shown.contains("secret"), "{shown}");
        assert_eq!(context.variable("XAI_API_KEY"), Some("secret"));
    }
}
