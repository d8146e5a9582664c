use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, Result};
use jackin_status::Runtime;

use super::args::RunArgs;
use super::signals;
use super::view::{How, Shown, View};
use crate::regular::open_regular;
use crate::run::{RunRequest, Runner};

/// Does one run and shows it; the exit code.
pub(super) async fn run(
    runner: &Runner,
    request: RunRequest,
    args: &RunArgs,
    runtime: Option<Runtime>,
) -> Result<u8> {
    let all = signals::listen()?;
    let how = match (args.json, args.live) {
        (true, _) => How::Json,
        (_, Some(live)) => How::Live(live),
        _ => How::Brief,
    };
    let mut view = View::new(how, runtime.is_some());
    let one = request.stop.clone();
    let run = signals::passing_on(&all, &one, runner.run(request, &mut view)).await?;
    if how == How::Brief {
        let output = run.layout.output();
        let printed = tokio::select! {
            biased;
            printed = print_file(&output) => printed,
            () = signals::no_patience(&all) => Ok(()),
        };
        if let Err(error) = printed {
            // Whatever became of its words, how it ended is what a script wants to know.
            Shown::stderr().line(&format!("[jackin] {error:#}")).await;
            return Ok(run.exit_code().max(1));
        }
    }
    Ok(run.exit_code())
}

/// Prints a file of a run to standard output, whatever its size.
pub(super) async fn print_file(path: &Path) -> Result<()> {
    let mut file = match open_regular(path, OpenOptions::new().read(true)) {
        // Where it is missing, the reason was told.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let mut shown = Shown::new(tokio::io::stdout(), io::stdout().is_terminal());
    let mut piece = vec![0; 64 << 10];
    loop {
        let len = file.read(&mut piece).with_context(|| format!("cannot read {}", path.display()))?;
        if len == 0 {
            return Ok(());
        }
        shown.bytes(&piece[..len]).await;
    }
}
