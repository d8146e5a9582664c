//! What the command line says about itself: exit codes, and the manual.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use clap::CommandFactory;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::Cli;

/// Every exit code, and what it says.
pub(super) const EXIT_CODES: [(&str, &str); 7] = [
    ("0", "done; of an attached terminal: detached, or all sessions ended well"),
    ("1", "refused or failed, with the reason on standard error"),
    ("2", "a mistake on the command line or in the configuration"),
    ("124", "the time ran out: wait, send --wait, run, tool run"),
    ("127", "there is no such program: run, tool run"),
    ("128+N", "signal N ended it: 130 after Ctrl+C, 137 when it was killed, 143 when it was stopped"),
    ("other", "that of the program: load, hardline, run and tool run end as it ended"),
];

/// The exit codes, for the end of the help.
pub(super) fn exit_codes() -> String {
    let lines = EXIT_CODES.map(|(code, what)| format!("  {code:<7}{what}"));
    format!("Exit codes:\n{}", lines.join("\n"))
}

/// Prints the manual page, or writes those of all commands into a directory.
pub(super) fn manual(dir: Option<&Path>) -> Result<u8> {
    match dir {
        Some(dir) => {
            std::fs::create_dir_all(dir)?;
            clap_mangen::generate_to(Cli::command(), dir)?;
            let page = Man::new(Cli::command()).get_filename();
            render(&mut std::fs::File::create(dir.join(page))?)?;
        }
        None => render(&mut io::stdout())?,
    }
    Ok(0)
}

/// The page of the program itself, with its exit codes where a manual has them.
pub(super) fn render(out: &mut dyn Write) -> io::Result<()> {
    let page = Man::new(Cli::command());
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    page.render_subcommands_section(out)?;
    let mut codes = Roff::default();
    codes.control("SH", ["EXIT STATUS"]);
    for (code, what) in EXIT_CODES {
        codes.control("TP", []);
        codes.text([bold(code)]);
        codes.text([roman(what)]);
    }
    codes.to_writer(out)?;
    page.render_version_section(out)
}
