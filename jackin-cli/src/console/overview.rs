use crossterm::event::{Event as TerminalEvent, KeyEvent};
use jackin_core::Timestamp;
use ratatui::Frame;

use super::model::Model;
use super::update::{Message, update};
use super::view;
use crate::config::Loaded;
use crate::host::FleetEvent;

/// What the console shows, without its terminal and without anything being done: for a program that has a frame of its
/// own to show the fleet in, and to measure what a frame costs.
///
/// ```
/// use jackin_cli::config::{Config, Loaded, Paths};
/// use jackin_cli::console::Overview;
/// use jackin_cli::host::FleetEvent;
/// use jackin_core::Timestamp;
/// use ratatui::{Terminal, backend::TestBackend};
///
/// let paths = Paths::new("/home/me/.jackin", "/home/me/.config/jackin");
/// let loaded = Loaded { config: Config::default(), tools: Default::default(), paths };
/// let now = Timestamp::from_millis(1_800_000_000_000);
/// let mut overview = Overview::new(&loaded, now);
/// overview.tell(FleetEvent::Host { host: "local".into(), problem: None }, now);
///
/// let mut terminal = Terminal::new(TestBackend::new(80, 24))?;
/// terminal.draw(|frame| overview.draw(frame))?;
/// assert!(terminal.backend().to_string().contains("No agents yet."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Overview {
    model: Model,
}

impl std::fmt::Debug for Overview {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Overview")
            .field("instances", &self.model.fleet.instances.len())
            .finish_non_exhaustive()
    }
}

impl Overview {
    /// Nothing is known yet.
    pub fn new(loaded: &Loaded, now: Timestamp) -> Self {
        Self { model: Model::new(loaded, now) }
    }

    /// Takes what happened in the fleet. What the console would do about it is left to the caller.
    pub fn tell(&mut self, event: FleetEvent, now: Timestamp) {
        update(&mut self.model, Message::Fleet(event), now);
    }

    /// Takes a key, for moving about.
    pub fn press(&mut self, key: KeyEvent, now: Timestamp) {
        update(&mut self.model, Message::Terminal(TerminalEvent::Key(key)), now);
    }

    /// Fills a frame.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        self.model.settle();
        self.model.scene = view::draw(frame, &self.model);
    }

    /// When the frame changes by itself, if nothing happens before.
    pub fn next_change(&self) -> Option<Timestamp> {
        self.model.next_change()
    }
}
