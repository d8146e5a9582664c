//! A multiplexer with an operator's terminal that is not ours: every byte goes to another emulator.

use alacritty_terminal::term::TermMode;
use jackin_core::{PaneId, Size, Timestamp};

use super::outside::{ASKED, Outside};
use super::{Mux, Place, Viewer};
use crate::input::{Client, Input};
use crate::output::Output;
use crate::render::{Capabilities, Grid, OuterModes};
use crate::settings::Settings;

pub(super) struct Stage {
    pub(super) mux: Mux,
    /// Milliseconds.
    pub(super) now: u64,
    /// The last frame.
    pub(super) frame: Vec<u8>,
    pub(super) terminal: Outside,
    /// Someone who looks on.
    viewer: Option<(Viewer, Outside, Capabilities)>,
}

impl Stage {
    /// With one pane and an attached terminal.
    pub(super) fn new(size: Size, settings: Settings) -> Self {
        let mut stage = Self::empty(size, settings);
        stage.mux.open(Place::Tab, "shell", true, Timestamp::default()).unwrap();
        stage.attach(Client::modern(size));
        stage
    }

    pub(super) fn plain(size: Size) -> Self {
        Self::new(size, Settings { chrome: false, ..Settings::default() })
    }

    /// With nothing.
    pub(super) fn empty(size: Size, settings: Settings) -> Self {
        Self {
            mux: Mux::new(settings),
            now: 1_000,
            frame: Vec::new(),
            terminal: Outside::new(size),
            viewer: None,
        }
    }

    pub(super) fn at(&self) -> Timestamp {
        Timestamp::from_millis(self.now)
    }

    pub(super) fn attach(&mut self, client: Client<'_>) {
        self.terminal = Outside::new(client.size);
        self.input(Input::Attached(client));
        self.draw();
        self.outputs();
    }

    pub(super) fn input(&mut self, input: Input<'_>) {
        let at = self.at();
        self.mux.handle_input(input, at);
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.terminal.resize(size);
        self.input(Input::Resized(size));
    }

    /// Someone looks on from now on.
    pub(super) fn view(&mut self, client: Client<'_>) {
        let capabilities = Capabilities::from_environment(client.term, client.colorterm);
        self.viewer = Some((Viewer::new(client), Outside::new(client.size), capabilities));
    }

    pub(super) fn resize_viewer(&mut self, size: Size) {
        if let Some((viewer, terminal, _)) = &mut self.viewer {
            viewer.resize(size);
            terminal.resize(size);
        }
    }

    /// Renders a frame for who looks on; returns its bytes in readable form.
    pub(super) fn draw_viewer(&mut self) -> String {
        let at = self.at();
        let mut frame = Vec::new();
        if let Some((viewer, terminal, _)) = &mut self.viewer {
            self.mux.render_viewer(viewer, at, &mut frame);
            terminal.send(&frame);
        }
        frame.escape_ascii().to_string()
    }

    /// What is shown to who looks on, as text.
    pub(super) fn shown_to_viewer(&self) -> String {
        self.viewer.as_ref().map(|(_, terminal, _)| terminal.text()).unwrap_or_default()
    }

    pub(super) fn viewer_due(&self) -> Option<Timestamp> {
        self.viewer.as_ref().and_then(|(viewer, ..)| self.mux.viewer_due(viewer))
    }

    pub(super) fn focused(&self) -> PaneId {
        self.mux.focused().unwrap()
    }

    /// The focused pane's program prints.
    pub(super) fn print(&mut self, text: &str) {
        let pane = self.focused();
        self.print_in(pane, text);
    }

    pub(super) fn print_in(&mut self, pane: PaneId, text: &str) {
        self.input(Input::Pty { pane, bytes: text.as_bytes() });
    }

    pub(super) fn types(&mut self, text: &str) {
        self.input(Input::Client(text.as_bytes()));
    }

    pub(super) fn wait(&mut self, ms: u64) {
        self.now += ms;
        self.input(Input::Tick);
    }

    pub(super) fn outputs(&mut self) -> Vec<Output> {
        std::iter::from_fn(|| self.mux.poll_output()).collect()
    }

    /// What was written to a pane's program.
    pub(super) fn written(&mut self, to: PaneId) -> String {
        let mut written = Vec::new();
        for output in self.outputs() {
            match output {
                Output::WritePty { pane, bytes } if pane == to => written.extend(bytes),
                _ => {}
            }
        }
        written.escape_ascii().to_string()
    }

    /// Renders a frame and shows it; returns its bytes in readable form.
    pub(super) fn draw(&mut self) -> String {
        self.frame.clear();
        let at = self.at();
        self.mux.render(at, &mut self.frame);
        self.terminal.send(&self.frame);
        self.frame.escape_ascii().to_string()
    }

    /// Opens a pane with the focus and forgets the outputs.
    pub(super) fn open(&mut self, place: Place) -> PaneId {
        let at = self.at();
        let pane = self.mux.open(place, "shell", true, at).unwrap();
        self.outputs();
        pane
    }

    /// What the terminal shows, as text.
    pub(super) fn shown(&self) -> String {
        self.terminal.text()
    }

    /// The last frame puts this text into the clipboard.
    #[track_caller]
    pub(super) fn check_copied(&mut self, text: &str) {
        let frame = self.draw();
        let wanted = crate::copy::clipboard_sequence(text).escape_ascii().to_string();
        assert!(frame.contains(&wanted), "{frame}");
    }

    /// The law: the terminal shows what a frame composed from scratch says, cell for cell, with cursor and modes.
    pub(super) fn check(&self) {
        let (grid, links) = self.mux.composed();
        let operator = self.mux.operator.as_ref().expect("a client is attached");
        self.terminal.check_cells(&grid, &links, operator.capabilities);
        self.terminal.check_modes(self.mux.outer_modes(operator, None));
        let asked = if operator.capabilities.links { ASKED } else { TermMode::empty() };
        assert_eq!(self.terminal.mode() & ASKED, asked);
    }

    /// The same for who looks on.
    pub(super) fn check_viewer(&self) {
        let Some((viewer, terminal, capabilities)) = &self.viewer else { return };
        let (whole, links) = self.mux.composed();
        let mut part = Grid::new(viewer.size());
        part.copy_from(&whole);
        terminal.check_cells(&part, &links, *capabilities);
        let size = viewer.size();
        let cursor = self.mux.cursor(None, None).filter(|(row, col)| *row < size.rows && *col < size.cols);
        let focused = self.mux.focused().map(|pane| self.mux.panes[&pane].terminal.cursor().shape);
        let cursor_shape = focused.unwrap_or_default();
        terminal.check_modes(OuterModes { cursor, cursor_shape, ..OuterModes::default() });
        assert!(!terminal.mode().intersects(ASKED), "nothing is asked of who looks on");
    }

    /// The terminal is left as it was found.
    pub(super) fn check_restored(&mut self) {
        self.terminal.send(crate::RESTORE.as_bytes());
        self.terminal.check_restored();
    }
}
