//! The operator's terminal: what it says, in which of its many encodings.

mod csi;
mod decode;
mod event;
mod key;

pub use decode::Decoder;
pub use event::{Button, ClientEvent, Mouse, MouseAction, Reply, Wheel};
pub use key::{Key, KeyCode, KeyError, Mods};
