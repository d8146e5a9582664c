use std::path::PathBuf;
use std::sync::Arc;

/// A command ready to run: plain data, to be shown, checked or started. Nothing in it is interpreted any further,
/// except by `sh` where [`via_shell`](Self::via_shell) says so, and then the values are in the environment and not in
/// the script.
///
/// Whoever starts it adds [`env`](Self::env) to the operator's environment, after removing every variable of
/// [`Placeholder::ALL`](crate::Placeholder::ALL) from it: a value of an earlier command must not look like one of this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedCommand {
    /// The program; looked up in `PATH` unless it has a slash.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// What is added to the environment: a `JACKIN_*` variable for every value that is known.
    pub env: Vec<EnvVar>,
    /// Where it runs; without it, where the operator is.
    pub cwd: Option<PathBuf>,
    /// Whether it is a script for `sh -c`.
    pub via_shell: bool,
}

/// One variable of a command's environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvVar {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: Arc<str>,
}

impl ResolvedCommand {
    /// The program and its arguments.
    pub fn argv(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.program.as_str()).chain(self.args.iter().map(String::as_str))
    }
}
