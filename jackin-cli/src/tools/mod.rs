//! Runs the operator's tools: what `jackin_tools` resolves is started here, watched and ended.
//!
//! ```no_run
//! use jackin_cli::tools::{Limits, Running};
//! use jackin_tools::{Context, Tools};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = Tools::parse("[[tool]]\nkey = 'l'\nname = 'Lint'\nexec = 'cargo clippy'")?;
//! let tool = &tools.all()[0];
//! let command = tool.command.resolve(&Context::new())?;
//! let mut running = Running::start(&command, Limits { timeout: tool.timeout, ..Limits::default() })?;
//! while let Some(line) = running.next_line().await {
//!     println!("{line}");
//! }
//! let finished = running.finish().await;
//! println!("{} after {:?}", finished.end, finished.duration);
//! # Ok(())
//! # }
//! ```

mod args;
mod capture;
mod config_file;
mod fire;
mod runner;
mod show;

pub(crate) use args::{ToolArgs, run};
pub use capture::{Captured, MAX_LINE};
pub use config_file::{ConfigFileError, config_path, load};
pub(crate) use fire::set_tags;
pub use runner::{End, Finished, Limits, RunError, Running, on_path};
