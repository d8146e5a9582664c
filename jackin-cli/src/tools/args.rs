use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use futures_util::future::BoxFuture;
use jackin_core::{InstanceName, RoleName};
use jackin_tools::{ConfigError, Context, Key, KeyError, Placeholder, Tool, Tools};

use super::config_file::{ConfigFileError, load};
use super::{fire, show};
use crate::capsule::block_on;

/// The exit code for a configuration, or an argument, that is wrong.
const WRONG: u8 = 2;

/// `jackin tool …`
#[derive(Debug, Args)]
pub(crate) struct ToolArgs {
    #[command(subcommand)]
    command: ToolCommand,
    /// The configuration [default: config.toml in `$JACKIN_CONFIG_DIR`, else in ~/.config/jackin]
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum ToolCommand {
    /// List the tools, by key
    List {
        /// Only those offered for this role
        #[arg(long, value_name = "ROLE")]
        role: Option<RoleName>,
    },
    /// Check a configuration and report everything that is wrong with it
    Check {
        /// The file [default: the configuration]
        file: Option<PathBuf>,
    },
    /// Run a tool
    Run(RunArgs),
}

/// `jackin tool run …`
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: that of the command; 124 if its time was over, 127 if there is no such program, \
                        128 plus its number if a signal ended it; 2 for a mistake in the configuration."
)]
pub(super) struct RunArgs {
    /// The tool's key
    #[arg(value_parser = parse_key)]
    pub(super) key: Key,
    /// The instance that it is run for
    #[arg(long, value_name = "INSTANCE", value_parser = InstanceName::from_either)]
    pub(super) instance: Option<InstanceName>,
    /// The role of that instance, where roles share the key
    #[arg(long, value_name = "ROLE")]
    pub(super) role: Option<RoleName>,
    /// The answer to the tool's question
    #[arg(long, value_name = "TEXT")]
    pub(super) input: Option<String>,
    /// A value for a placeholder, such as issue=https://…; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(super) values: Vec<Setting>,
    /// The socket of the instance's capsule; its name and its tags are taken from there
    #[arg(long, value_name = "PATH")]
    pub(super) socket: Option<PathBuf>,
    /// Print what would be run: arguments, environment and directory
    #[arg(long)]
    pub(super) dry_run: bool,
    /// How long it may run, in seconds [default: as configured]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(super) timeout: Option<u64>,
}

/// `NAME=VALUE`
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) placeholder: Placeholder,
    pub(super) value: String,
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as issue=https://…")?;
        let settable = |placeholder: &Placeholder| {
            !matches!(placeholder, Placeholder::Input | Placeholder::Target | Placeholder::Instance)
        };
        let placeholder = match Placeholder::from_name(name) {
            Some(Placeholder::Input) => return Err("give the answer with --input".to_owned()),
            Some(Placeholder::Instance) => return Err("name the instance with --instance".to_owned()),
            other => other.filter(settable).ok_or_else(|| {
                let known: Vec<_> =
                    Placeholder::ALL.iter().filter(|p| settable(p)).map(|p| p.name()).collect();
                format!("there is no value `{name}`: write one of {}", known.join(", "))
            })?,
        };
        Ok(Self { placeholder, value: value.to_owned() })
    }
}

fn parse_key(text: &str) -> Result<Key, KeyError> {
    text.parse()
}

/// Finds what is known of an instance, wherever it is.
pub(crate) type LookUp = Box<dyn FnOnce(InstanceName) -> BoxFuture<'static, Result<Context>>>;

/// Carries out a tool command and returns the exit code.
pub(crate) fn run(args: ToolArgs, look_up: LookUp) -> Result<u8> {
    let ToolArgs { command, config, json } = args;
    let file = match &command {
        ToolCommand::Check { file: Some(file) } => Some(file.clone()),
        _ => config,
    };
    let (tools, path) = match load(file.as_deref()) {
        Ok(loaded) => loaded,
        Err(ConfigFileError::Mistakes { path, error }) => {
            let as_json = json && matches!(command, ToolCommand::Check { .. });
            report_mistakes(&path, &error, as_json)?;
            return Ok(WRONG);
        }
        Err(error) => bail!(error),
    };
    match command {
        ToolCommand::List { role } => show::list(&tools, role.as_ref(), &path, json).map(|()| 0),
        ToolCommand::Check { .. } => show::checked(&tools, &path, json).map(|()| 0),
        ToolCommand::Run(args) => {
            let tool = find(&tools, &args)?;
            block_on(fire::fire(&tools, tool, &args, json, look_up))
        }
    }
}

fn report_mistakes(path: &Path, error: &ConfigError, json: bool) -> Result<()> {
    if json {
        return show::mistakes(path, error);
    }
    let count = error.mistakes().len() + error.unlisted();
    let noun = if count == 1 { "mistake" } else { "mistakes" };
    let file = path.display().to_string();
    Ok(writeln!(io::stderr(), "{}\n\n{file}: {count} {noun}", error.render(&file))?)
}

/// The tool of a key. Without a role, the key alone must tell.
fn find<'a>(tools: &'a Tools, args: &RunArgs) -> Result<&'a Tool> {
    let key = args.key;
    if let Some(role) = &args.role {
        match tools.find(key, Some(role)) {
            Some(tool) => return Ok(tool),
            None => bail!(
                "no tool for role {role} has the key `{key}`: `jackin tool list --role {role}` lists them"
            ),
        }
    }
    let with_key: Vec<_> = tools.all().iter().filter(|tool| tool.key == key).collect();
    match with_key.as_slice() {
        [] => bail!("no tool has the key `{key}`: `jackin tool list` lists them"),
        [tool] => Ok(tool),
        several => {
            let scopes: Vec<_> =
                several.iter().filter_map(|tool| tool.scope.as_ref()).map(ToString::to_string).collect();
            bail!("several tools have the key `{key}`, for {}: choose with --role", scopes.join(", "))
        }
    }
}
