//! Where the demo plays: three instances of this machine, in directories that go with it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use jackin_core::AgentEntry;

use super::agent::Part;
use crate::capsule;
use crate::config::{BackendKind, Loaded, Paths};
use crate::host::{Fleet, Plan, eject, launch_plan};

/// The instances: a name, what it is about, and the part that its agent plays.
const CAST: [(&str, &str, Part); 3] = [
    ("fix-login", "fix", Part::Fix),
    ("write-docs", "ask", Part::Ask),
    ("build-release", "crash", Part::Crash),
];

/// The demo's own directories and instances. They go when it is dropped, whatever happened.
#[derive(Debug)]
pub(super) struct Stage {
    dir: PathBuf,
    pub(super) loaded: Loaded,
    pub(super) fleet: Fleet,
}

impl Stage {
    /// Starts the three agents.
    pub(super) async fn set(unattended: bool) -> Result<Self> {
        let dir = capsule::fresh_dir()?;
        let paths = Paths::new(dir.join("home"), operators_config(&dir));
        let loaded = Loaded::from(paths)?;
        let fleet = Fleet::local(&loaded.paths);
        let stage = Self { dir, loaded, fleet };
        for (name, word, part) in CAST {
            let plan = stage.plan(name, word, part, unattended)?;
            launch_plan(&stage.fleet, plan, &mut |_| {}).await?;
        }
        Ok(stage)
    }

    fn plan(&self, name: &str, word: &str, part: Part, unattended: bool) -> Result<Plan> {
        let work = self.dir.join("shop");
        std::fs::create_dir_all(&work).with_context(|| format!("cannot make {}", work.display()))?;
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        let file = self.dir.join(format!("{name}.jsonl"));
        let utf8 = |path: &Path| path.to_str().map(str::to_owned).context("the path is not UTF-8");
        let mut command = vec![
            utf8(&program)?,
            "demo-agent".to_owned(),
            word.to_owned(),
            "--file".to_owned(),
            utf8(&file)?,
        ];
        if unattended {
            command.push("--unattended".to_owned());
        }
        let mut plan = Plan::new(name.parse()?, BackendKind::Local, "shop", &utf8(&work)?);
        plan.host_workdir = Some(work);
        plan.agent = Some("demo".to_owned());
        plan.agents.push(AgentEntry {
            id: "demo".to_owned(),
            display: Some("Demo".to_owned()),
            command,
            // The one that reports has no other source, as an agent that jackin does not know.
            runtime: (part != Part::Crash).then(|| "claude".to_owned()),
            transcripts: if part == Part::Fix { vec![utf8(&file)?] } else { Vec::new() },
            ..AgentEntry::default()
        });
        Ok(plan)
    }

    /// Ends what still runs.
    pub(super) async fn strike(&self) {
        for (name, ..) in CAST {
            if let Ok(instance) = name.parse() {
                // One that has ended by itself is gone already.
                let _ = eject(&self.fleet, &instance).await;
            }
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// The operator's own tools and keys work in the demo, too, unless there is something wrong with them.
fn operators_config(instead: &Path) -> PathBuf {
    let own = Paths::from_env().ok().filter(|paths| Loaded::from(paths.clone()).is_ok());
    own.map_or_else(|| instead.to_owned(), |paths| paths.config_dir().to_owned())
}
