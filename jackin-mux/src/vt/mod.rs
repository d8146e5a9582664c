//! The terminal of one pane: everything between a program's bytes and the cells that the rest of the multiplexer reads.
//!
//! The vt100 crate is the grid (cursor, scrolling, erasing, alternate screen, wide characters); the layer in front of it is the rest
//! of a terminal. [`Terminal`] is the front door. Pure: bytes and sizes in; cells, damage and events out.

mod bulk;
mod canvas;
mod charset;
mod control;
mod csi;
mod damage;
mod event;
mod glyph;
mod history;
mod keyboard;
mod line;
mod link;
mod modes;
pub(crate) mod number;
mod osc;
mod overdraw;
mod past;
mod pen;
mod print;
mod prompt;
mod query;
mod reflow;
mod repaint;
mod row;
mod scan;
mod screen;
mod search;
mod settings;
mod sgr;
mod string;
mod style;
mod tabs;
mod terminal;
mod text;
mod title;

pub use damage::{Damage, Scroll};
pub use event::{Event, Part, Passthrough, Query, QueryKind, SequenceKind};
pub use link::{Link, LinkId};
pub use modes::{Mode, Modes, MouseEncoding, MouseProtocol};
pub use osc::Progress;
pub use pen::{Attributes, Color, Pen, Underline};
pub use prompt::{Marks, PromptMark};
pub use row::{Cell, Row};
pub use screen::CursorShape;
pub use search::{Direction, Match, Search, SearchError};
pub use settings::Settings;
pub use sgr::{apply as apply_sgr, write_sgr};
pub use terminal::{Cursor, Terminal};
pub use text::{LogicalLine, Point};
