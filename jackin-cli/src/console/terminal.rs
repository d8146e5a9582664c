//! The operator's terminal: taken over, given back on every way out, and told where links lead.

use std::cell::RefCell;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use crossterm::{cursor, event, execute, queue, terminal};
use ratatui::Terminal;
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};

use super::view::Link;

/// The screen with the links of the frame that is being drawn.
pub(super) struct Screen<W: Write> {
    inner: CrosstermBackend<W>,
    links: Rc<RefCell<Vec<Link>>>,
}

impl<W: Write> Screen<W> {
    pub(super) fn new(writer: W, links: Rc<RefCell<Vec<Link>>>) -> Self {
        Self { inner: CrosstermBackend::new(writer), links }
    }
}

impl<W: Write> Backend for Screen<W> {
    type Error = io::Error;

    /// Draws cells, those of a link between the marks that make a terminal treat them as one.
    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let links = self.links.borrow();
        if links.is_empty() {
            return self.inner.draw(content);
        }
        let link_at = |x, y| links.iter().rposition(|link| link.area.contains(Position { x, y }));
        let (mut run, mut current) = (Vec::new(), None);
        for (x, y, cell) in content {
            let link = link_at(x, y);
            if link != current {
                draw_run(&mut self.inner, &mut run, current.map(|at: usize| links[at].url.as_str()))?;
                current = link;
            }
            run.push((x, y, cell));
        }
        draw_run(&mut self.inner, &mut run, current.map(|at| links[at].url.as_str()))
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.inner.hide_cursor()
    }

    /// A terminal that is gone shows nothing. The terminal's own end would complain of that on standard error, which is
    /// gone with it, and panic.
    fn show_cursor(&mut self) -> io::Result<()> {
        let _ = self.inner.show_cursor();
        Ok(())
    }

    /// Nobody needs to know, and asking the terminal would take the answer from whoever reads the keys.
    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.inner.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.inner.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.inner.clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        self.inner.size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.inner.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.inner)
    }
}

fn draw_run<W: Write>(
    inner: &mut CrosstermBackend<W>,
    run: &mut Vec<(u16, u16, &Cell)>,
    url: Option<&str>,
) -> io::Result<()> {
    if run.is_empty() {
        return Ok(());
    }
    // An address is an agent's word: one that could end the mark early is no link.
    let url = url.filter(|url| url.bytes().all(|byte| (0x21..0x7f).contains(&byte)));
    if let Some(url) = url {
        write!(inner, "\x1b]8;;{url}\x1b\\")?;
    }
    inner.draw(run.drain(..))?;
    if url.is_some() {
        write!(inner, "\x1b]8;;\x1b\\")?;
    }
    Ok(())
}

/// The terminal while the console has it. Dropping it gives it back.
pub(super) struct Tty {
    pub(super) terminal: Terminal<Screen<BufWriter<Stdout>>>,
    links: Rc<RefCell<Vec<Link>>>,
    ours: bool,
}

/// A frame is written in one go.
const FRAME_BYTES: usize = 256 * 1024;

impl Tty {
    pub(super) fn enter() -> Result<Self> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            bail!("the console needs a terminal; without one, `jackin ls` and `jackin events` tell the same");
        }
        let links = Rc::new(RefCell::new(Vec::new()));
        let screen = Screen::new(BufWriter::with_capacity(FRAME_BYTES, io::stdout()), Rc::clone(&links));
        let terminal = Terminal::new(screen).context("cannot read the terminal's size")?;
        let mut tty = Self { terminal, links, ours: false };
        restore_on_panic();
        tty.take()?;
        Ok(tty)
    }

    /// Takes the terminal over.
    pub(super) fn take(&mut self) -> Result<()> {
        terminal::enable_raw_mode().context("cannot set raw mode")?;
        self.ours = true;
        execute!(
            io::stdout(),
            terminal::EnterAlternateScreen,
            event::EnableMouseCapture,
            event::EnableBracketedPaste,
            event::EnableFocusChange,
            cursor::Hide,
        )?;
        self.terminal.clear()?;
        Ok(())
    }

    /// Gives it back.
    pub(super) fn give(&mut self) {
        if std::mem::take(&mut self.ours) {
            restore();
        }
    }

    /// Draws a frame as one.
    pub(super) fn draw<T>(
        &mut self,
        frame: impl FnOnce(&mut ratatui::Frame<'_>) -> (T, Vec<Link>),
    ) -> Result<T> {
        let links = Rc::clone(&self.links);
        let mut drawn = None;
        queue!(self.writer(), terminal::BeginSynchronizedUpdate)?;
        self.terminal.draw(|area| {
            let (value, leads) = frame(area);
            *links.borrow_mut() = leads;
            drawn = Some(value);
        })?;
        queue!(self.writer(), terminal::EndSynchronizedUpdate)?;
        Write::flush(self.writer())?;
        drawn.context("nothing was drawn")
    }

    fn writer(&mut self) -> &mut CrosstermBackend<BufWriter<Stdout>> {
        &mut self.terminal.backend_mut().inner
    }

    /// Sends bytes that draw nothing, between two frames.
    pub(super) fn send(&mut self, bytes: &str) {
        // A terminal that takes nothing any more is noticed by the next frame.
        let _ = self.writer().write_all(bytes.as_bytes());
        let _ = Write::flush(self.writer());
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        self.give();
    }
}

fn restore() {
    let mut stdout = io::stdout();
    // What cannot be restored cannot be helped.
    let _ = execute!(
        stdout,
        event::DisableFocusChange,
        event::DisableBracketedPaste,
        event::DisableMouseCapture,
        terminal::EndSynchronizedUpdate,
        terminal::LeaveAlternateScreen,
        cursor::Show,
    );
    let _ = terminal::disable_raw_mode();
}

/// A panic's message has to be read on a terminal that is usable.
fn restore_on_panic() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        let main = std::thread::current().id();
        std::panic::set_hook(Box::new(move |info| {
            // One in a thread of its own is caught there, and the console goes on.
            if std::thread::current().id() == main {
                restore();
            }
            before(info);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;

    fn drawn(url: &str) -> String {
        let links = Rc::new(RefCell::new(vec![Link {
            area: Rect { x: 1, y: 0, width: 2, height: 1 },
            url: url.to_owned(),
        }]));
        let mut bytes = Vec::new();
        let mut screen = Screen::new(&mut bytes, links);
        let cells = ["a", "b", "c", "d"].map(Cell::new);
        screen.draw(cells.iter().enumerate().map(|(x, cell)| (x as u16, 0, cell))).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_cells_of_a_link_stand_between_its_marks() {
        let bytes = drawn("https://example.com/?a=1");
        let (before, rest) = bytes.split_once("\x1b]8;;https://example.com/?a=1\x1b\\").unwrap();
        let (link, after) = rest.split_once("\x1b]8;;\x1b\\").unwrap();
        assert!(before.contains('a') && link.contains('b') && link.contains('c') && after.contains('d'));
    }

    #[test]
    fn an_address_that_would_end_its_mark_is_no_link() {
        for url in ["https://x/\x1b\\\x1b]0;evil\x07", "https://x/\u{9c}", "https://x y"] {
            let bytes = drawn(url);
            assert!(!bytes.contains("]8;;") && !bytes.contains("evil"), "{bytes:?}");
        }
    }
}
