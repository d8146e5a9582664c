use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use jackin_core::RunId;
use jackin_core::run::{Agent, ProjectId, TaskId};

use super::prompt::{self, Source};
use super::{parallel, single, tail};
use crate::capsule::{block_on, printable};
use crate::config::{Config, Known, Seconds};
use crate::host::{Plan, RunPlanArgs, plan_run};
use crate::run::settings::{Backend, RunSettings, known_settings};
use crate::run::{Agents, Cli, Docker, Plain, RunRequest, Runner, Store, clock};

/// `jackin run …`
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: the agent's; 124 if its time was over, 127 if there is no such program or image, 128 plus its \
                        number if a signal ended it; 1 if it failed otherwise, or if nothing could be recorded. With \
                        --parallel: that of the first prompt that failed."
)]
pub(crate) struct RunArgs {
    /// The agent: claude, codex, gemini, perplexity, xai, or one of the configuration
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// The task that the run belongs to [default: named after the time and the prompt]
    #[arg(long, value_name = "TASK")]
    task: Option<TaskId>,
    /// The project that the task belongs to [default: the directory's name]
    #[arg(long, value_name = "PROJECT")]
    project: Option<ProjectId>,
    /// What to do
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["prompt_file", "stdin"])]
    prompt: Option<String>,
    /// What to do, in a file; `-` is standard input. With --parallel: many prompts, one a line, or separated by lines of
    /// `---`
    #[arg(long, value_name = "FILE", conflicts_with = "stdin")]
    prompt_file: Option<PathBuf>,
    /// `-`: what to do is read from standard input
    #[arg(value_name = "-")]
    stdin: Option<Dash>,
    /// Where the agent works [default: here]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    #[command(flatten)]
    container: RunPlanArgs,
    /// How long it may take: 90s, 30m, 1h30m
    #[arg(long, value_name = "TIME")]
    timeout: Option<Seconds>,
    /// The run that starts this one [default: the run that this is called in]
    #[arg(long, value_name = "RUN")]
    parent: Option<RunId>,
    /// Where the records are [default: `$JACKIN_HOME/runs`, else ~/.jackin/runs]
    #[arg(long, value_name = "DIR")]
    pub(super) root: Option<PathBuf>,
    /// Show what the agent says as it comes; `raw`: exactly what it prints
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub(super) live: Option<Live>,
    /// Print what happens as one JSON object a line
    #[arg(long, conflicts_with = "live")]
    pub(super) json: bool,
    /// Do so many runs at a time, one for each prompt of --prompt-file
    #[arg(long, value_name = "N", requires = "prompt_file", conflicts_with_all = ["wrap", "live"])]
    parallel: Option<NonZeroUsize>,
    /// Record the command after `--` instead of an agent of the configuration
    #[arg(long, requires = "command")]
    wrap: bool,
    /// The command
    #[arg(last = true, value_name = "CMD", requires = "wrap")]
    command: Vec<String>,
}

/// How a run is shown while it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Live {
    /// What the agent says
    Text,
    /// What it prints
    Raw,
}

#[derive(Clone, Debug)]
struct Dash;

impl std::str::FromStr for Dash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("write the prompt with --prompt {text:?}, or `-` to read it from standard input");
        (text == "-").then_some(Self).ok_or_else(wrong)
    }
}

impl RunArgs {
    fn prompt_source(&self) -> Option<Source<'_>> {
        match (&self.prompt, &self.prompt_file, &self.stdin) {
            (Some(text), ..) => Some(Source::Text(text)),
            (_, Some(file), _) if file.as_os_str() == "-" => Some(Source::Stdin),
            (_, Some(file), _) => Some(Source::File(file)),
            (.., Some(_)) => Some(Source::Stdin),
            (None, None, None) => None,
        }
    }

    /// The agent, in a container of this plan if there is one.
    fn agent(
        &self,
        settings: &RunSettings,
        place: Option<Docker>,
        of_role: Option<&String>,
    ) -> Result<Arc<dyn Agent>> {
        if self.wrap {
            let name = self.agent.as_deref().unwrap_or("wrap");
            let mut plain = Plain::new(name, self.command.clone(), settings.grace);
            if let Some(place) = place {
                plain = plain.in_place(place);
            }
            let has_prompt = self.prompt_source().is_some();
            return Ok(if has_prompt { Arc::new(plain) } else { Arc::new(plain.without_prompt()) });
        }
        let name = self.agent.as_ref().or(of_role).or(settings.default_agent.as_ref());
        let name = name.context("say which agent with --agent, or record a command with --wrap -- CMD…")?;
        let agent = Agents::new(settings).get(name)?;
        let Some(place) = place else { return Ok(agent) };
        match settings.agents.get(name).map(|agent| (agent, &agent.backend)) {
            Some((agent, Backend::Command(command))) => {
                Ok(Arc::new(Cli::new(name, agent, command, settings.grace).in_place(place)))
            }
            _ => bail!(
                "{name} is asked over the network and needs no container: leave --image, --role and --host out"
            ),
        }
    }
}

/// The root that the records are below.
pub(super) fn store(root: Option<&PathBuf>, settings: &RunSettings) -> Result<Store> {
    let root = root.or(settings.root.as_ref());
    let root =
        root.context("neither JACKIN_HOME nor HOME is set: name the directory of records with --root")?;
    Ok(Store::new(root)?)
}

/// The containers of a plan. What is dangerous about them is told.
fn place(config: &Config, plan: Plan) -> Result<Docker> {
    let host = plan.host.as_ref().and_then(|host| config.hosts.get(host));
    let place = Docker::new(plan, host)?;
    for warning in place.warnings() {
        // Nobody may be there to read it.
        let _ = writeln!(io::stderr(), "[jackin] {}", printable(&warning));
    }
    Ok(place)
}

/// Carries out `jackin run`; the exit code.
pub(crate) fn run(known: &Known, args: &RunArgs) -> Result<u8> {
    let settings = known_settings(known);
    let cwd = std::path::absolute(args.cwd.clone().unwrap_or_else(|| PathBuf::from(".")))
        .context("cannot tell where the agent is to work")?;
    let plan = plan_run(&known.config, &args.container, &cwd)?;
    let of_role = plan.as_ref().and_then(|plan| plan.agent.clone());
    let place = plan.map(|plan| place(&known.config, plan)).transpose()?;
    let agent = args.agent(&settings, place, of_role.as_ref())?;
    let text = match args.prompt_source() {
        Some(source) => prompt::read(&source)?,
        None if args.wrap => format!("Run `{}`.", shell_words::join(&args.command)),
        None => bail!("say what to do with --prompt TEXT, --prompt-file FILE, or `-`"),
    };
    let project = args
        .project
        .clone()
        .unwrap_or_else(|| ProjectId::from_directory(&cwd.file_name().unwrap_or_default().to_string_lossy()));
    let task = args.task.clone().unwrap_or_else(|| TaskId::named_after(clock::now(), &text));
    let request = RunRequest {
        cwd,
        timeout: args.timeout.map(Seconds::duration).or(settings.timeout),
        parent: args.parent.clone().or_else(|| std::env::var("JRUN_ID").ok()?.parse().ok()),
        ..RunRequest::new(agent, project, task, text)
    };
    let runner = Runner::new(store(args.root.as_ref(), &settings)?).with_grace(settings.grace);
    match args.parallel {
        None => {
            let runtime = if args.wrap { None } else { tail::runtime(&settings, request.agent.name()) };
            block_on(single::run(&runner, request, args, runtime))
        }
        Some(at_a_time) => {
            let prompts = prompt::split(&request.prompt);
            let request = RunRequest { prompt: String::new(), ..request };
            block_on(parallel::run(&runner, &request, prompts, at_a_time, args.json))
        }
    }
}
