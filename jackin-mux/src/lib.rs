//! A terminal multiplexer as a state machine: bytes of programs and of an operator's terminal go in, bytes for both
//! come out.
//!
//! This crate never opens a PTY or a socket, never reads a clock and never waits. Whoever embeds it does, in a loop of
//! a few steps:
//!
//! 1. hand in what happened: [`Mux::handle_input`] with an [`Input`] and the time;
//! 2. drain what is to be done: [`Mux::poll_output`] until it returns `None`;
//! 3. when [`Mux::poll_timeout`] is due and a client is attached, [`Mux::render`] a frame and send it.
//!
//! ```
//! use jackin_core::{Size, Timestamp};
//! use jackin_mux::{Input, Mux, Output};
//!
//! let now = Timestamp::from_millis(0);
//! let mut mux = Mux::new(Size::default());
//! let pane = mux.pane();
//!
//! mux.handle_input(Input::Attached(Size::new(24, 80)), now);
//! mux.handle_input(Input::Pty { pane, bytes: b"$ " }, now);
//! assert_eq!(mux.poll_timeout(), Some(now), "the first change is drawn at once");
//! let mut frame = Vec::new();
//! mux.render(now, &mut frame);
//! assert!(String::from_utf8(frame)?.contains("$ "));
//!
//! mux.handle_input(Input::Client(b"ls\r\x02d"), now);
//! assert_eq!(mux.poll_output(), Some(Output::WritePty { pane, bytes: b"ls\r".to_vec() }));
//! assert_eq!(mux.poll_output(), Some(Output::Detach));
//! assert_eq!(mux.poll_output(), None);
//! # Ok::<(), std::string::FromUtf8Error>(())
//! ```
//!
//! # Panics
//! Nothing that a program prints or a client sends panics. A panic inside the emulator is caught, costs that pane its
//! screen and asks the program to redraw.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_imports)]
mod client;
mod command;
mod keys;
#[allow(dead_code)]
mod layout;
mod mux;
mod pane;
#[allow(dead_code, unused_imports)]
mod render;
pub mod vt;

pub use client::{Key, KeyCode, KeyError, Mods};
pub use command::{BindError, Command, Keymap};
pub use mux::{Input, Mux, Output};
