//! The rule: after any `handle_input`, drain `poll_output`; call `render` when `poll_timeout` is due and the client
//! can take a frame. A frame always brings the client from what it was last sent to what is true now, so a frame that
//! is rendered late only contains more.

use std::collections::VecDeque;
use std::time::Duration;

use jackin_core::{PaneId, Size, Timestamp};

use crate::keys::{Keys, Pressed};
use crate::pane::Pane;

/// The shortest time between two frames of a burst.
const FRAME_INTERVAL: Duration = Duration::from_millis(33);

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input<'a> {
    /// A pane's program printed something.
    Pty {
        /// Which pane.
        pane: PaneId,
        /// What it printed.
        bytes: &'a [u8],
    },
    /// The operator's terminal sent something.
    Client(&'a [u8]),
    /// An operator's terminal of this size was attached; it shows nothing of ours yet.
    Attached(Size),
    /// It has another size now.
    Resized(Size),
    /// It is gone.
    Detached,
}

/// Something for the embedder to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// Write to a pane's program.
    WritePty {
        /// Which pane.
        pane: PaneId,
        /// What to write.
        bytes: Vec<u8>,
    },
    /// Tell a pane's program the size of its terminal.
    ResizePty {
        /// Which pane.
        pane: PaneId,
        /// The size.
        size: Size,
    },
    /// A pane's program set its title.
    Title {
        /// Which pane.
        pane: PaneId,
        /// The title, free of control characters.
        title: String,
    },
    /// A pane's program rang the bell.
    Bell {
        /// Which pane.
        pane: PaneId,
    },
    /// The operator asked to leave.
    Detach,
}

/// The multiplexer.
#[derive(Debug)]
pub struct Mux {
    pane: Pane,
    keys: Keys,
    client: Option<Client>,
    outputs: VecDeque<Output>,
}

/// What the attached terminal shows, as far as it was told.
#[derive(Debug)]
struct Client {
    /// The screen after the last frame; none before the first.
    shown: Option<vt100::Screen>,
    dirty: bool,
    last_frame: Option<Timestamp>,
}

impl Mux {
    /// A multiplexer with one pane of the given size and no client.
    pub fn new(size: Size) -> Self {
        let id = PaneId::new(1).expect("1 is not 0");
        Self {
            pane: Pane::new(id, size.clamped()),
            keys: Keys::default(),
            client: None,
            outputs: VecDeque::new(),
        }
    }

    /// The id of the pane.
    pub fn pane(&self) -> PaneId {
        self.pane.id()
    }

    /// The size of the pane.
    pub fn size(&self) -> Size {
        self.pane.size()
    }

    /// The pane's screen as text, each row ended by a newline, blanks at the end removed.
    pub fn text(&self) -> String {
        self.pane.text()
    }

    /// Takes in what happened. Poll outputs and the timeout afterwards.
    pub fn handle_input(&mut self, input: Input<'_>, _now: Timestamp) {
        match input {
            Input::Pty { pane, bytes } => {
                if pane == self.pane.id() {
                    self.pane.feed(bytes, &mut self.outputs);
                    self.mark_dirty();
                }
            }
            Input::Client(bytes) => {
                let pane = self.pane.id();
                self.keys.feed(bytes, |pressed| match pressed {
                    Pressed::Plain(bytes) => match self.outputs.back_mut() {
                        Some(Output::WritePty { bytes: before, .. }) => before.extend_from_slice(bytes),
                        _ => self.outputs.push_back(Output::WritePty { pane, bytes: bytes.to_vec() }),
                    },
                    Pressed::Command(b'd') => self.outputs.push_back(Output::Detach),
                    Pressed::Command(_) => {}
                });
            }
            Input::Attached(size) => {
                self.keys = Keys::default();
                self.client = Some(Client { shown: None, dirty: true, last_frame: None });
                self.resize(size);
            }
            Input::Resized(size) => {
                self.resize(size);
                // Terminals differ in what they keep of a screen whose size changes.
                if let Some(client) = &mut self.client {
                    client.shown = None;
                }
            }
            Input::Detached => self.client = None,
        }
    }

    /// The next thing to do, after any call of [`Mux::handle_input`].
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When a frame is to be rendered; none while the client shows what is true.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        let client = self.client.as_ref().filter(|client| client.dirty)?;
        Some(client.last_frame.map_or(Timestamp::default(), |last| last + FRAME_INTERVAL))
    }

    /// Appends the bytes that bring the client's screen from what it shows to what is true.
    pub fn render(&mut self, now: Timestamp, out: &mut Vec<u8>) {
        let Some(client) = self.client.as_mut().filter(|client| client.dirty) else {
            return;
        };
        let screen = self.pane.screen();
        match &client.shown {
            Some(shown) => out.extend_from_slice(screen.state_diff(shown).as_bytes()),
            None => out.extend_from_slice(screen.state_formatted().as_bytes()),
        }
        *client = Client { shown: Some(screen.clone()), dirty: false, last_frame: Some(now) };
    }

    fn resize(&mut self, size: Size) {
        let size = size.clamped();
        if size != self.pane.size() {
            self.pane.resize(size);
            self.outputs.push_back(Output::ResizePty { pane: self.pane.id(), size });
        }
        self.mark_dirty();
    }

    fn mark_dirty(&mut self) {
        if let Some(client) = &mut self.client {
            client.dirty = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn print(mux: &mut Mux, bytes: &[u8], now: u64) {
        let pane = mux.pane();
        mux.handle_input(Input::Pty { pane, bytes }, at(now));
    }

    fn outputs(mux: &mut Mux) -> Vec<Output> {
        std::iter::from_fn(|| mux.poll_output()).collect()
    }

    /// The operator's terminal: an emulator that is fed every frame.
    struct Terminal(vt100::Parser);

    impl Terminal {
        fn new(size: Size) -> Self {
            Self(crate::pane::parser(size))
        }

        fn draw(&mut self, mux: &mut Mux, now: u64) {
            let mut frame = Vec::new();
            mux.render(at(now), &mut frame);
            self.0.process(&frame);
        }

        fn shows(&self, mux: &Mux) -> bool {
            let (there, here) = (mux.pane.screen(), self.0.screen());
            there.state_formatted() == here.state_formatted()
        }
    }

    #[test]
    fn a_late_client_gets_the_whole_screen_and_then_the_changes() {
        let size = Size::new(5, 20);
        let mut mux = Mux::new(size);
        print(&mut mux, b"\x1b[1;31mred\x1b[m\r\nplain", 0);
        mux.handle_input(Input::Attached(size), at(1));
        let mut terminal = Terminal::new(size);
        terminal.0.process(b"something of the shell");
        terminal.draw(&mut mux, 1);
        assert!(terminal.shows(&mux));
        print(&mut mux, b"\x1b[?25l\x1b[2;3H\x1b[Kxyz\r\n\n\n\n", 40);
        terminal.draw(&mut mux, 40);
        assert!(terminal.shows(&mux));
        assert_eq!(mux.text(), "plxyz\n\n\n\n\n");
    }

    #[test]
    fn the_first_change_is_drawn_at_once_and_a_burst_at_the_frame_interval() {
        let mut mux = Mux::new(Size::default());
        assert_eq!(mux.poll_timeout(), None);
        mux.handle_input(Input::Attached(Size::default()), at(1_000));
        assert!(mux.poll_timeout().unwrap() <= at(1_000));
        mux.render(at(1_000), &mut Vec::new());
        assert_eq!(mux.poll_timeout(), None, "nothing changed, nothing to draw");
        print(&mut mux, b"a", 1_001);
        print(&mut mux, b"b", 1_002);
        assert_eq!(mux.poll_timeout(), Some(at(1_033)));
        mux.handle_input(Input::Detached, at(1_003));
        assert_eq!(mux.poll_timeout(), None);
    }

    #[test]
    fn a_resize_reaches_the_program_once_and_redraws_the_client() {
        let mut mux = Mux::new(Size::new(5, 20));
        mux.handle_input(Input::Attached(Size::new(5, 20)), at(0));
        mux.render(at(0), &mut Vec::new());
        assert_eq!(outputs(&mut mux), []);
        mux.handle_input(Input::Resized(Size::new(0, 9_999)), at(0));
        let size = Size::new(1, Size::MAX_SIDE);
        assert_eq!(outputs(&mut mux), [Output::ResizePty { pane: mux.pane(), size }]);
        let mut terminal = Terminal::new(size);
        terminal.draw(&mut mux, 100);
        assert!(terminal.shows(&mux));
    }

    #[test]
    fn titles_and_bells_are_reported() {
        let mut mux = Mux::new(Size::default());
        let pane = mux.pane();
        print(&mut mux, b"\x1b]2;hi\x07\x07", 0);
        let title = Output::Title { pane, title: "hi".into() };
        assert_eq!(outputs(&mut mux), [title, Output::Bell { pane }]);
    }

    #[test]
    fn what_panics_the_emulator_costs_only_its_screen() {
        let mut mux = Mux::new(Size::default());
        let pane = mux.pane();
        print(&mut mux, "\x1b[24;80H1\u{fe0f}\x1b[23;80Hx".as_bytes(), 0);
        let size = Size::default();
        assert_eq!(
            outputs(&mut mux),
            [
                Output::ResizePty { pane, size: Size::new(size.rows - 1, size.cols) },
                Output::ResizePty { pane, size },
            ],
            "the program is made to redraw"
        );
        print(&mut mux, b"alive", 1);
        assert!(mux.text().starts_with("alive\n"));
    }
}
