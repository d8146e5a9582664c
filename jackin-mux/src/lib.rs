//! A terminal multiplexer as a state machine: bytes of programs and of an operator's terminal go in, bytes for both
//! come out.
//!
//! This crate never opens a PTY or a socket, never reads a clock and never waits. Whoever embeds it does, in a loop of
//! a few steps:
//!
//! 1. hand in what happened: [`Mux::handle_input`] with an [`Input`] and the time;
//! 2. drain what is to be done: [`Mux::poll_output`] until it returns `None`;
//! 3. when [`Mux::poll_timeout`] is due, hand in [`Input::Tick`];
//! 4. when [`Mux::frame_due`] is due and the client can take a frame, [`Mux::render`] one and send it.
//!
//! ```
//! use jackin_core::{Size, Timestamp};
//! use jackin_mux::{Client, Input, Launch, Mux, Output, Place, Settings};
//!
//! let now = Timestamp::from_millis(0);
//! let mut mux = Mux::new(Settings { chrome: false, ..Settings::default() });
//! let pane = mux.open(Place::Tab, "shell", true, now).expect("a tab has room");
//!
//! mux.handle_input(Input::Attached(Client::modern(Size::new(24, 80))), now);
//! mux.handle_input(Input::Pty { pane, bytes: b"hello" }, now);
//! assert!(mux.frame_due().is_some_and(|due| due <= now), "the first change is drawn at once");
//! let mut frame = Vec::new();
//! mux.render(now, &mut frame);
//! assert!(String::from_utf8(frame)?.contains("hello"));
//!
//! // Keys go to the program, commands to the multiplexer.
//! mux.handle_input(Input::Client(b"ls\r\x02%"), now);
//! let mut spawned = None;
//! while let Some(output) = mux.poll_output() {
//!     match output {
//!         Output::WritePty { bytes, .. } => assert_eq!(bytes, b"ls\r"),
//!         Output::ResizePty { size, .. } => assert_eq!(size, Size::new(24, 40)),
//!         Output::Spawn { pane, launch: Launch::Shell, size } => spawned = Some((pane, size)),
//!         other => unreachable!("{other:?}"),
//!     }
//! }
//! assert_eq!(spawned.map(|(_, size)| size), Some(Size::new(24, 39)));
//! # Ok::<(), std::string::FromUtf8Error>(())
//! ```
//!
//! # Panics
//! Nothing that a program prints or a client sends panics. A panic inside the emulator is caught, costs that pane its
//! screen and asks the program to redraw.
#![forbid(unsafe_code)]

mod chrome;
mod client;
mod command;
mod copy;
mod dialog;
mod input;
mod layout;
mod mux;
mod output;
mod pane;
mod render;
mod route;
mod settings;
mod tabs;
pub mod vt;

pub use client::{Key, KeyCode, KeyError, Mods};
pub use command::{BindError, Command, Keymap};
pub use input::{Client, Context, Input};
pub use mux::{FrameCounts, FullRedrawReason, Mux, Place, RESTORE};
pub use output::{Launch, Output};
pub use settings::{Agent, CopyKeys, Forward, Settings};
