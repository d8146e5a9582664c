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
//!         Output::Typed { .. } => {}
//!         Output::ResizePty { size, .. } => assert_eq!(size, Size::new(24, 40)),
//!         Output::Spawn { pane, launch: Launch::Shell, size } => spawned = Some((pane, size)),
//!         other => unreachable!("{other:?}"),
//!     }
//! }
//! assert_eq!(spawned.map(|(_, size)| size), Some(Size::new(24, 39)));
//! # Ok::<(), std::string::FromUtf8Error>(())
//! ```
//!
//! The loop itself, with the world behind a trait; `examples/examples/mini_mux.rs` is the same with real PTYs.
//!
//! ```
//! use jackin_core::{PaneId, Size, Timestamp};
//! use jackin_mux::{Client, Input, Mux, Output, Place, RESTORE, Settings};
//!
//! enum Event {
//!     Typed(Vec<u8>),
//!     Printed(PaneId, Vec<u8>),
//!     Ended(PaneId),
//!     Resized(Size),
//!     /// Nothing happened until the time that was waited for.
//!     Late,
//! }
//!
//! trait World {
//!     fn now(&self) -> Timestamp;
//!     fn wait(&mut self, until: Option<Timestamp>) -> Event;
//!     fn start(&mut self, pane: PaneId, size: Size);
//!     fn write(&mut self, pane: PaneId, bytes: &[u8]);
//!     fn resize(&mut self, pane: PaneId, size: Size);
//!     fn kill(&mut self, pane: PaneId);
//!     fn show(&mut self, frame: &[u8]);
//! }
//!
//! fn run(mux: &mut Mux, world: &mut impl World) {
//!     let mut frame = Vec::new();
//!     loop {
//!         while let Some(output) = mux.poll_output() {
//!             match output {
//!                 Output::WritePty { pane, bytes } => world.write(pane, &bytes),
//!                 Output::ResizePty { pane, size } => world.resize(pane, size),
//!                 Output::Spawn { pane, size, .. } => world.start(pane, size),
//!                 Output::Kill { pane } => world.kill(pane),
//!                 Output::Detach => return world.show(RESTORE.as_bytes()),
//!                 _ => {}
//!             }
//!         }
//!         if mux.frame_due().is_some_and(|due| due <= world.now()) {
//!             frame.clear();
//!             mux.render(world.now(), &mut frame);
//!             world.show(&frame);
//!         }
//!         let until = [mux.frame_due(), mux.poll_timeout()].into_iter().flatten().min();
//!         let event = world.wait(until);
//!         let now = world.now();
//!         match event {
//!             Event::Typed(bytes) => mux.handle_input(Input::Client(&bytes), now),
//!             Event::Printed(pane, bytes) => mux.handle_input(Input::Pty { pane, bytes: &bytes }, now),
//!             Event::Ended(pane) => mux.handle_input(Input::PaneClosed { pane }, now),
//!             Event::Resized(size) => mux.handle_input(Input::Resized(size), now),
//!             Event::Late => mux.handle_input(Input::Tick, now),
//!         }
//!     }
//! }
//! # struct Script(Vec<Event>, Vec<u8>);
//! # impl World for Script {
//! #     fn now(&self) -> Timestamp { Timestamp::from_millis(1) }
//! #     fn wait(&mut self, _: Option<Timestamp>) -> Event { self.0.pop().unwrap_or(Event::Late) }
//! #     fn start(&mut self, _: PaneId, _: Size) {}
//! #     fn write(&mut self, _: PaneId, _: &[u8]) {}
//! #     fn resize(&mut self, _: PaneId, _: Size) {}
//! #     fn kill(&mut self, _: PaneId) {}
//! #     fn show(&mut self, frame: &[u8]) { self.1.extend_from_slice(frame) }
//! # }
//! # let now = Timestamp::from_millis(0);
//! # let mut mux = Mux::new(Settings::default());
//! # let pane = mux.open(Place::Tab, "shell", true, now).expect("a tab has room");
//! # mux.handle_input(Input::Attached(Client::modern(Size::new(24, 80))), now);
//! # let events = vec![Event::Typed(b"\x02d".to_vec()), Event::Late, Event::Printed(pane, b"hi".to_vec())];
//! # let mut world = Script(events, Vec::new());
//! # run(&mut mux, &mut world);
//! # assert!(world.1.ends_with(RESTORE.as_bytes()));
//! ```
//!
//! An operator's terminal is one [`Client`]; any number of others look on as a [`Viewer`].
//!
//! # Panics
//! Nothing that a program prints or a client sends panics. A panic inside the emulator is caught, costs that pane its
//! screen and asks the program to redraw.
#![forbid(unsafe_code)]

/// The examples of the crate's page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod chrome;
pub mod client;
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
pub use dialog::fuzzy_score;
pub use input::{Client, Context, Input};
pub use mux::{FrameCounts, FullRedrawReason, Mux, Place, RESTORE, Viewer};
pub use output::{Launch, Output};
pub use settings::{Agent, CopyKeys, Forward, Settings};
