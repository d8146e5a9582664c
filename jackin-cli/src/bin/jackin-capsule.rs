//! The daemon beside the agents, its attach client and its control client.

use std::process::ExitCode;

fn main() -> ExitCode {
    jackin_cli::capsule::main()
}
