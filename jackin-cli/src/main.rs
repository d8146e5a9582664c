//! The operator's command.

use std::process::ExitCode;

fn main() -> ExitCode {
    jackin_cli::host::main()
}
