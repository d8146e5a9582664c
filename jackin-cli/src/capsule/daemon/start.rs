//! Starting a session: what to start, in which environment and which pane.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use jackin_core::{EventKind, PaneId, SessionId};
use jackin_mux::{Input, Place};

use super::super::launch::Launch;
use super::super::session::{Program, Session, title_of};
use super::super::status::Observed;
use super::super::watch::{Order, Subject, Surroundings};
use super::{Daemon, Origin};

/// How much rather a session is ended than this daemon when memory runs out, of 1,000.
const OOM_SCORE: &str = "300";

/// How many sessions one capsule runs at a time.
pub(super) const MAX_SESSIONS: usize = 128;

/// What to start in a new session.
#[derive(Clone, Debug, Default)]
pub(in crate::capsule) struct Start {
    /// The command line; empty means the agent, or else the user's shell.
    pub(in crate::capsule) command: Vec<String>,
    /// The id of a configured agent.
    pub(in crate::capsule) agent: Option<String>,
    pub(in crate::capsule) cwd: Option<PathBuf>,
    pub(in crate::capsule) env: BTreeMap<String, String>,
}

impl Daemon {
    /// Opens a pane and starts a session in it.
    pub(in crate::capsule) fn open(
        &mut self,
        place: Place,
        name: Option<&str>,
        focus: bool,
        start: Start,
    ) -> Result<SessionId> {
        let launch = self.prepare(&start)?;
        let program = launch.command.first().map_or_else(|| self.shell(), Clone::clone);
        let usual = start.agent.as_ref().and(launch.name.clone()).unwrap_or_else(|| title_of(&program));
        let label = name.map_or(usual, ToOwned::to_owned);
        let now = self.steady();
        let pane = self.mux.open(place, &label, focus, now).context("there is no room for another pane")?;
        let started = self.start_in(pane, launch, Origin { start, name: name.map(ToOwned::to_owned) });
        if started.is_err() {
            self.mux.handle_input(Input::PaneClosed { pane }, now);
        }
        started
    }

    /// Starts a session in a pane that is open.
    pub(super) fn start_in(&mut self, pane: PaneId, launch: Launch, origin: Origin) -> Result<SessionId> {
        // Every session has one pane, and neither kind of number is used again.
        let id = SessionId::new(pane.get()).context("a pane's number is not 0")?;
        let Launch {
            mut command,
            env: given,
            without,
            name,
            rules,
            family,
            transcripts,
            plain_tags,
            sse_port,
        } = launch;
        if command.is_empty() {
            command.push(self.shell());
        }
        let cwd = origin.start.cwd.clone().or_else(|| self.config.workdir.as_ref().map(PathBuf::from));
        let mut own = self.common_env();
        own.extend(given);
        let token = new_token()?;
        let env = [
            ("TERM", "xterm-256color".to_owned()),
            ("COLORTERM", "truecolor".to_owned()),
            ("JACKIN_INSTANCE", self.instance.to_string()),
            ("JACKIN_SESSION", id.to_string()),
            ("JACKIN_AGENT_SOCKET", self.places.agents.display().to_string()),
            ("JACKIN_AGENT_TOKEN", token.clone()),
        ];
        own.extend(env.map(|(name, value)| (name.to_owned(), value)));
        let size = self.mux.size(pane).unwrap_or_default();
        let started = self.clock.now();
        let is_agent = name.is_some();
        let observed = Observed::new(name, rules, started);
        let mut surroundings = Surroundings::default();
        surroundings.read(|name| own.get(name).cloned().or_else(|| std::env::var(name).ok()));
        surroundings.cwd = cwd.clone().or_else(|| std::env::current_dir().ok());
        let program = Program {
            command: &command,
            env: own,
            without: &without,
            cwd: cwd.as_deref(),
            user: self.user.as_ref(),
            size,
            typing: self.keys.clone(),
        };
        let mut session = Session::start(id, pane, token, &program, observed, self.reports.clone())?;
        session.plain_tags = plain_tags;
        session.origin = origin;
        if let Some(leader) = session.leader() {
            // Not every system has it.
            let _ = std::fs::write(format!("/proc/{leader}/oom_score_adj"), OOM_SCORE);
            let subject = Subject {
                leader,
                started,
                family,
                is_agent,
                surroundings,
                transcripts,
                plain_tags,
                sse_port,
            };
            self.watcher.tell(id, Order::Watch(Box::new(subject)));
        }
        self.picking = false;
        self.publish(EventKind::SessionStarted { session_id: id, title: session.title.clone() });
        self.sessions.insert(id, session);
        Ok(id)
    }

    /// Finds out what to start.
    pub(super) fn prepare(&self, start: &Start) -> Result<Launch> {
        let limit =
            self.config.limits.sessions.map_or(MAX_SESSIONS, |limit| (limit as usize).min(MAX_SESSIONS));
        anyhow::ensure!(
            self.sessions.len() < limit,
            "{limit} sessions run already: end one before starting another"
        );
        let Some(id) = start.agent.as_ref().filter(|_| start.command.is_empty()) else {
            return Ok(Launch::of_command(start.command.clone(), start.env.clone()));
        };
        let agents = &self.config.agents;
        // Sessions go by the name for people.
        let by_name = || agents.iter().find(|agent| agent.name() == id);
        let agent = agents.iter().find(|agent| agent.id == *id).or_else(by_name).with_context(|| {
            let ids: Vec<&str> = agents.iter().map(|agent| agent.id.as_str()).collect();
            let known = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
            format!("no agent {id:?} is configured (configured are: {known}); give a command line instead")
        })?;
        let home = self.common_env().remove("HOME").or_else(|| std::env::var("HOME").ok());
        let directory = self.places.agents.parent().unwrap_or(Path::new("."));
        let mut launch = Launch::of_agent(agent, home.as_deref().map(Path::new), directory)?;
        launch.env.extend(start.env.clone());
        Ok(launch)
    }

    /// The shell of whom sessions run as.
    fn shell(&self) -> String {
        let shell = match &self.user {
            Some(user) => user.shell.clone(),
            None => std::env::var("SHELL").ok(),
        };
        shell.unwrap_or_else(|| "/bin/sh".to_owned())
    }

    /// What every session's environment has because of the configuration.
    pub(super) fn common_env(&self) -> BTreeMap<String, String> {
        let (user, git) = (self.user.as_ref(), self.config.git.as_ref());
        let home = user.and_then(|user| user.home.as_ref()).map(|home| home.display().to_string());
        let shell = user.map(|_| self.shell());
        let git_name = git.and_then(|git| git.name.as_ref());
        let git_email = git.and_then(|git| git.email.as_ref());
        let set = [
            ("HOME", home.as_ref()),
            ("SHELL", shell.as_ref()),
            ("USER", user.and_then(|user| user.name.as_ref())),
            ("LOGNAME", user.and_then(|user| user.name.as_ref())),
            ("GIT_AUTHOR_NAME", git_name),
            ("GIT_COMMITTER_NAME", git_name),
            ("GIT_AUTHOR_EMAIL", git_email),
            ("GIT_COMMITTER_EMAIL", git_email),
        ];
        set.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.clone()))).collect()
    }
}

/// A secret that nobody guesses.
pub(crate) fn new_token() -> Result<String> {
    let mut random = [0u8; 16];
    let filled = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
        .context("the system gives no random numbers")?;
    anyhow::ensure!(filled == random.len(), "the system gives too few random numbers");
    Ok(random.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")))
}
