//! `jackin config …`

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde_json::json;

use super::{LoadError, Loaded, Paths, REFERENCE, read, read_text};
use crate::capsule::{print_line, printable};

/// The exit code for a configuration that is wrong.
const WRONG: u8 = 2;

/// `jackin config …`
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Check the configuration and tell everything that is wrong with it
    Check {
        /// The file [default: the configuration]
        file: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print what is configured
    Show {
        /// Print a configuration with every field, each with a word about it
        #[arg(long, conflicts_with = "json")]
        reference: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print where the configuration is
    Path,
    /// Open the configuration in your editor, and check it afterwards
    Edit,
}

/// Carries a command out.
pub(crate) fn run(args: ConfigArgs) -> Result<u8> {
    match args.command {
        ConfigCommand::Check { file, json } => check(file.as_deref(), json),
        ConfigCommand::Show { reference: true, .. } => print_line(REFERENCE.trim_end()).map(|()| 0),
        ConfigCommand::Show { json, .. } => show(json),
        ConfigCommand::Path => {
            print_line(&Paths::from_env()?.config_file().display().to_string()).map(|()| 0)
        }
        ConfigCommand::Edit => edit(),
    }
}

fn check(file: Option<&Path>, json: bool) -> Result<u8> {
    let path = match file {
        Some(file) => file.to_owned(),
        None => Paths::from_env()?.config_file(),
    };
    let text = match read_text(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && file.is_none() => String::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let outcome = read::read(&text).map_err(|mistakes| mistakes.of_file(path.display().to_string()));
    if json {
        let list = outcome.as_ref().err().map(|mistakes| mistakes.list().to_vec()).unwrap_or_default();
        let list: Vec<_> =
            list.iter().map(|mistake| json!({ "line": mistake.line, "message": mistake.what })).collect();
        print_line(&json!({ "file": path.display().to_string(), "mistakes": list }).to_string())?;
    }
    match outcome {
        Ok((config, tools)) => {
            if !json {
                print_line(&format!(
                    "{}: good ({} roles, {} workspaces, {} hosts, {} tools)",
                    path.display(),
                    config.roles.len(),
                    config.workspaces.len(),
                    config.hosts.len(),
                    tools.all().len()
                ))?;
            }
            Ok(0)
        }
        Err(mistakes) => {
            if !json {
                writeln!(io::stderr(), "{}", printable(&mistakes.to_string()))?;
            }
            Ok(WRONG)
        }
    }
}

fn show(json: bool) -> Result<u8> {
    let loaded = Loaded::from_env()?;
    let text = if json {
        serde_json::to_string(&loaded.config)?
    } else {
        let value = without_nothing(serde_json::to_value(&loaded.config)?);
        toml::to_string(&value.unwrap_or_else(|| json!({})))?
    };
    let text = text.trim_end();
    print_line(if text.is_empty() { "# nothing is configured: every default applies" } else { text })
        .map(|()| 0)
}

/// What is not set is not shown: TOML has no word for it.
fn without_nothing(value: serde_json::Value) -> Option<serde_json::Value> {
    match value {
        serde_json::Value::Null | serde_json::Value::Bool(false) => None,
        serde_json::Value::Object(fields) => {
            let fields: serde_json::Map<_, _> =
                fields.into_iter().filter_map(|(key, value)| Some((key, without_nothing(value)?))).collect();
            (!fields.is_empty()).then_some(fields.into())
        }
        serde_json::Value::Array(entries) if entries.is_empty() => None,
        value => Some(value),
    }
}

/// Opens the file in `$VISUAL`, `$EDITOR` or `vi`; a new one begins with what could be written.
fn edit() -> Result<u8> {
    let paths = Paths::from_env()?;
    let path = paths.config_file();
    if !path.exists() {
        std::fs::create_dir_all(paths.config_dir())
            .with_context(|| format!("cannot make {}", paths.config_dir().display()))?;
        let commented: String = REFERENCE
            .lines()
            .map(|line| {
                if line.is_empty() || line.starts_with('#') {
                    format!("{line}\n")
                } else {
                    format!("# {line}\n")
                }
            })
            .collect();
        std::fs::write(&path, commented).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = Command::new(program).args(words).arg(&path).status().with_context(|| {
        format!("cannot start the editor {editor:?}: set EDITOR to one that is installed")
    })?;
    anyhow::ensure!(status.success(), "the editor ended with {status}");
    match Loaded::from(paths) {
        Err(LoadError::Mistakes(mistakes)) => {
            writeln!(io::stderr(), "{}", printable(&mistakes.to_string()))?;
            Ok(WRONG)
        }
        other => other.map(|_| 0).map_err(Into::into),
    }
}
