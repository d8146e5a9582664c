//! The team's own keys: `[[tool]]` and `[handler]` of a configuration, turned into commands that are safe to run.
//!
//! This crate never runs anything, and reads neither files nor the environment. It takes the configuration's text and
//! the values that are known when a tool is fired, and returns a [`ResolvedCommand`]: plain data to inspect and to
//! start. Values come from agents and are taken for hostile: whatever a value contains, the program receives it byte
//! for byte within one argument, and nothing of it is run. Where that cannot be had, the configuration is refused, with
//! the place and what to write instead.
//!
//! ```
//! use jackin_tools::{Context, Placeholder, Provenance, Tools};
//!
//! let tools = Tools::parse(r#"
//!     [[tool]]
//!     key = "i"
//!     name = "Open emitted issue"
//!     exec = "open {issue}"
//! "#)?;
//! let tool = tools.find("i".parse()?, None).unwrap();
//!
//! let mut context = Context::of("api-fix".parse()?);
//! let error = tool.command.resolve(&context).unwrap_err();
//! assert_eq!(error.to_string(), "no <jackin:issue> recorded for instance api-fix");
//!
//! context.set(Placeholder::Issue, "https://example.com/x?a=1&b=`id`", Provenance::Agent)?;
//! let command = tool.command.resolve(&context)?;
//! assert_eq!(command.argv().collect::<Vec<_>>(), ["open", "https://example.com/x?a=1&b=`id`"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Panics
//! Nothing that a configuration or a value contains panics.
#![forbid(unsafe_code)]

/// The examples of the crate's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod command;
mod config;
mod context;
mod handler;
mod key;
mod placeholder;
mod reserved;
mod template;
mod tool;

pub use command::{EnvVar, ResolvedCommand};
pub use config::{ConfigError, Mistake, MistakeKind, Place, Tools};
pub use context::{Context, Provenance, Value, ValueError};
pub use handler::{HandlerError, HandlerKind, Handlers, Platform};
pub use key::{Key, KeyError, NamedKey};
pub use placeholder::Placeholder;
pub use reserved::{ConsoleAction, RESERVED_KEYS, ReservedKey, reserved};
pub use template::{FaultKind, ResolveError, Template, TemplateFault, TemplateKind, UnsafePlace};
pub use tool::Tool;
