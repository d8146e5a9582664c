//! `jackin doctor`: looks at everything that an agent will need, and says how to mend what is missing.

use std::io::{IsTerminal, stdin, stdout};

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::backend::DockerBackend;
use super::fleet::{DOCKER, Fleet, LOCAL, PATIENCE};
use super::hooks::{self, Agent, State};
use crate::capsule::{print_line, printable};
use crate::config::{Loaded, Readable, SHELL};
use crate::tools::on_path;

/// `jackin doctor`
#[derive(Debug, Args)]
#[command(after_help = "Exit code 1 if something is broken; what is merely not there is none of that.")]
pub(super) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grade {
    Good,
    /// Something that can be done without, or that the operator should know.
    Note,
    Bad,
}

impl Grade {
    const fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Note => "note",
            Self::Bad => "bad",
        }
    }
}

/// One thing that was looked at.
struct Finding {
    grade: Grade,
    what: String,
    says: String,
    /// How to mend it.
    mend: Option<String>,
}

struct Findings(Vec<Finding>);

impl Findings {
    fn good(&mut self, what: &str, says: impl Into<String>) {
        self.0.push(Finding { grade: Grade::Good, what: what.to_owned(), says: says.into(), mend: None });
    }

    fn add(&mut self, grade: Grade, what: &str, says: impl Into<String>, mend: impl Into<String>) {
        self.0.push(Finding { grade, what: what.to_owned(), says: says.into(), mend: Some(mend.into()) });
    }
}

/// Looks at everything.
pub(super) async fn doctor(readable: &Readable<Loaded>, args: &DoctorArgs) -> Result<u8> {
    let loaded = &readable.value;
    let fleet = Fleet::new(loaded);
    let mut findings = Findings(Vec::new());
    configuration(readable, &mut findings);
    home(loaded, &mut findings);
    terminal(&mut findings);
    agents(loaded, &mut findings);
    engines(loaded, &fleet, &mut findings).await;
    capsule_for_containers(loaded, &fleet, &mut findings);
    leftovers(&fleet, &mut findings);
    wall(&mut findings);
    let bad = findings.0.iter().any(|finding| finding.grade == Grade::Bad);
    for Finding { grade, what, says, mend } in &findings.0 {
        if args.json {
            print_line(
                &json!({ "grade": grade.word(), "what": what, "says": says, "mend": mend }).to_string(),
            )?;
            continue;
        }
        print_line(&printable(&format!("{:<5} {what}: {says}", grade.word())))?;
        if let Some(mend) = mend {
            print_line(&printable(&format!("      → {mend}")))?;
        }
    }
    Ok(u8::from(bad))
}

fn configuration(readable: &Readable<Loaded>, findings: &mut Findings) {
    let loaded = &readable.value;
    let file = loaded.paths.config_file();
    let mistakes = readable.lines();
    for mistake in &mistakes {
        let mend = "`jackin config edit`; until then nothing can be loaded";
        findings.add(Grade::Bad, "configuration", mistake, mend);
    }
    if !mistakes.is_empty() {
        return;
    }
    if file.exists() {
        let (config, tools) = (&loaded.config, &loaded.tools);
        let says = format!(
            "{} ({} roles, {} workspaces, {} tools)",
            file.display(),
            config.roles.len(),
            config.workspaces.len(),
            tools.all().len()
        );
        findings.good("configuration", says);
    } else {
        let says = format!("there is none at {}; every default applies", file.display());
        findings.add(Grade::Note, "configuration", says, "`jackin config edit` begins one");
    }
}

/// The longest path of a socket, without its final zero.
const LONGEST_SOCKET: usize = 107;

fn home(loaded: &Loaded, findings: &mut Findings) {
    let home = loaded.paths.home();
    let made = super::manifest::private_dir(&loaded.paths.instances());
    let probe = loaded.paths.instances().join(format!(".probe-{}", std::process::id()));
    match made.and_then(|()| std::fs::write(&probe, "")).and_then(|()| std::fs::remove_file(&probe)) {
        Ok(()) => findings.good("home", home.display().to_string()),
        Err(error) => {
            let says = format!("{} cannot be written: {error}", home.display());
            findings.add(Grade::Bad, "home", says, "set JACKIN_HOME to a directory of yours");
        }
    }
    let room = LONGEST_SOCKET.saturating_sub(home.as_os_str().len() + "/sockets//jackin.agent.sock".len());
    if room < 16 {
        let says =
            format!("its path leaves {room} characters for an instance's name: sockets have short paths");
        findings.add(Grade::Bad, "home", says, "set JACKIN_HOME to a shorter path");
    }
}

fn terminal(findings: &mut Findings) {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if !stdin().is_terminal() || !stdout().is_terminal() {
        findings.add(
            Grade::Note,
            "terminal",
            "there is none here",
            "attach and console need one; scripts do not",
        );
        return;
    }
    let term = variable("TERM").unwrap_or_else(|| "unknown".to_owned());
    if term == "dumb" || term == "unknown" {
        let mend = "set TERM to what your terminal is, such as xterm-256color";
        findings.add(Grade::Bad, "terminal", format!("TERM is {term}"), mend);
        return;
    }
    let colours = match variable("COLORTERM").as_deref() {
        Some("truecolor" | "24bit") => "true colour",
        _ if term.contains("256") || term.contains("kitty") || term.contains("ghostty") => "256 colours",
        _ => "16 colours",
    };
    findings.good("terminal", format!("{term}, {colours}"));
    let locale =
        variable("LC_ALL").or_else(|| variable("LC_CTYPE")).or_else(|| variable("LANG")).unwrap_or_default();
    if !locale.to_lowercase().replace('-', "").contains("utf8") {
        let says = format!("the locale is {:?}", if locale.is_empty() { "C" } else { &locale });
        findings.add(Grade::Note, "terminal", says, "if lines look broken, set LANG=C.UTF-8");
    }
}

fn agents(loaded: &Loaded, findings: &mut Findings) {
    let names = loaded.config.agent_names();
    let found: Vec<&String> = names
        .iter()
        .filter(|id| *id != SHELL && loaded.config.agent(id).is_some_and(|agent| on_path(agent.program(id))))
        .collect();
    if found.is_empty() {
        let says = "none of claude, codex, amp, gemini and opencode is on PATH";
        findings.add(
            Grade::Note,
            "agents",
            says,
            "install one, or put it into a role's image; `jackin demo` needs none",
        );
    } else {
        let found: Vec<&str> = found.iter().map(|id| id.as_str()).collect();
        findings.good("agents", found.join(", "));
    }
    for agent in Agent::ALL {
        if !on_path(agent.name()) {
            continue;
        }
        let what = format!("hooks of {}", agent.name());
        match hooks::state(agent) {
            Ok(State::Installed) => findings.good(&what, "installed"),
            Ok(state @ State::Off(switch)) => {
                let file = agent.file().unwrap_or_default();
                findings.add(Grade::Note, &what, state.word(), switch.remark(&file));
            }
            Ok(state) => {
                let mend = format!(
                    "`jackin hooks install {}`, or load with --observable, makes its status exact",
                    agent.name()
                );
                findings.add(Grade::Note, &what, state.word(), mend);
            }
            Err(error) => {
                let mend = format!("mend {}", agent.file().unwrap_or_default().display());
                findings.add(Grade::Note, &what, format!("{error:#}"), mend);
            }
        }
    }
}

async fn engines(loaded: &Loaded, fleet: &Fleet, findings: &mut Findings) {
    let mut any = false;
    for (name, backend) in fleet.hosts().filter(|(name, _)| *name != LOCAL) {
        any = true;
        match tokio::time::timeout(PATIENCE, backend.list()).await {
            Ok(Ok(found)) => {
                findings.good(&format!("engine {name}"), format!("answers; {}", instances(found.len())));
            }
            Ok(Err(error)) => findings.add(
                engine_grade(loaded, name),
                &format!("engine {name}"),
                error.to_string(),
                "start it, or take it out of the configuration",
            ),
            Err(_) => {
                let says = format!("does not answer within {} s", PATIENCE.as_secs());
                findings.add(
                    engine_grade(loaded, name),
                    &format!("engine {name}"),
                    says,
                    "is the machine up, and does `docker version` work there?",
                );
            }
        }
    }
    if !any {
        findings.add(
            Grade::Note,
            "engine",
            "there is no Docker engine here",
            "agents run as local processes; install Docker to give each a container",
        );
    }
}

/// An engine that the operator named is missed; one that might have been there is not.
fn engine_grade(loaded: &Loaded, name: &str) -> Grade {
    if name == DOCKER && loaded.config.roles.values().all(|role| role.image.is_none()) {
        Grade::Note
    } else {
        Grade::Bad
    }
}

fn capsule_for_containers(loaded: &Loaded, fleet: &Fleet, findings: &mut Findings) {
    if fleet.hosts().all(|(name, _)| name == LOCAL) {
        return;
    }
    match DockerBackend::find_capsule(std::env::consts::ARCH, &loaded.paths) {
        Ok(path) => findings.good("capsule for containers", path.display().to_string()),
        Err(error) => findings.add(
            Grade::Note,
            "capsule for containers",
            error.to_string(),
            "containers need it; local instances do not",
        ),
    }
}

fn leftovers(fleet: &Fleet, findings: &mut Findings) {
    let (manifests, problems) = fleet.manifests().list();
    for problem in problems {
        findings.add(Grade::Bad, "records", problem.to_string(), "`jackin gc` tidies up afterwards");
    }
    findings.good("records", instances(manifests.len()));
}

fn instances(number: usize) -> String {
    if number == 1 { "1 instance".to_owned() } else { format!("{number} instances") }
}

fn wall(findings: &mut Findings) {
    findings.add(
        Grade::Note,
        "local instances",
        "there is no wall: an agent runs as you, and can read and do what you can, jackin's sockets included",
        "give agents a container: a role with `image = …`, or `jackin load --image …`",
    );
}
