//! What a terminal has to say to the world around it.

use std::collections::VecDeque;

use super::osc::Progress;
use super::prompt::PromptMark;

/// Something that the embedder has to act on, in the order in which the program caused it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Bytes for the program's input: the answer to a query.
    Reply(Vec<u8>),
    /// The program rang the bell.
    Bell,
    /// The window title changed; ask [`Terminal::title`](super::Terminal::title).
    Title,
    /// The working directory changed (OSC 7): a URL, as the program sent it.
    Directory(String),
    /// A shell-integration mark (OSC 133) was set in the cursor's row.
    Prompt(PromptMark),
    /// Progress (OSC 9;4) changed. The sequence itself comes as [`Event::Passthrough`] too.
    Progress(Progress),
    /// The program asked for another size (CSI 8 t): rows and columns, 0 where it does not care.
    ResizeRequest(u16, u16),
    /// A question that only the operator's terminal can answer; its answer belongs to this pane.
    Query(Query),
    /// A sequence for the operator's terminal, byte for byte.
    Passthrough(Passthrough),
}

/// A question for the operator's terminal: colours (OSC 4, 10 to 19), the clipboard (OSC 52), the colour scheme (DSR 996).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// What is asked.
    pub kind: QueryKind,
    /// The question as the program sent it.
    pub bytes: Vec<u8>,
}

/// See [`Query`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryKind {
    /// A palette colour (OSC 4).
    Palette,
    /// One of the dynamic colours: the OSC's number, 10 foreground, 11 background, 12 cursor.
    Color(u32),
    /// The clipboard's content (OSC 52).
    Clipboard,
    /// Dark or light (CSI ? 996 n).
    ColorScheme,
}

/// A sequence, or a piece of a long one, that is meant for the operator's terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passthrough {
    /// What kind of sequence it is.
    pub kind: SequenceKind,
    /// Which piece of it this is.
    pub part: Part,
    /// The bytes; those of all pieces together are exactly the sequence.
    pub bytes: Vec<u8>,
    /// The cursor's row when the sequence began, where an image would be placed.
    pub row: u16,
    /// The cursor's column when the sequence began.
    pub column: u16,
}

/// The kinds of sequences that carry a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SequenceKind {
    /// An operating system command with its number.
    Osc(u32),
    /// A device control string, such as Sixel graphics.
    Dcs,
    /// An application program command, such as kitty graphics.
    Apc,
    /// A privacy message or a start-of-string: nobody uses them.
    Other,
}

/// Which piece of a sequence a [`Passthrough`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// The first piece of several.
    First,
    /// A piece between the first and the last.
    Middle,
    /// The last piece, with the terminator.
    Last,
    /// The program broke the sequence off after pieces were sent; no bytes. Whoever sent them on has to end the string.
    Aborted,
}

/// Events not yet taken.
#[derive(Debug, Default)]
pub(super) struct Events {
    queue: VecDeque<Event>,
    bytes: usize,
}

/// Beyond this, `feed` stops until events were taken.
const MOST_EVENTS: usize = 1024;
const MOST_BYTES: usize = 1 << 20;

impl Events {
    pub(super) fn push(&mut self, event: Event) {
        self.bytes += event.len();
        self.queue.push_back(event);
    }

    /// Appends to a reply that was not taken yet, or starts one.
    pub(super) fn reply(&mut self, bytes: &[u8]) {
        if let Some(Event::Reply(waiting)) = self.queue.back_mut() {
            waiting.extend_from_slice(bytes);
            self.bytes += bytes.len();
        } else {
            self.push(Event::Reply(bytes.to_vec()));
        }
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        let event = self.queue.pop_front()?;
        self.bytes -= event.len();
        Some(event)
    }

    pub(super) fn is_full(&self) -> bool {
        self.queue.len() >= MOST_EVENTS || self.bytes >= MOST_BYTES
    }

    /// Whether the last event is the bell: a second one tells nothing new.
    pub(super) fn ends_with_bell(&self) -> bool {
        self.queue.back() == Some(&Event::Bell)
    }

    pub(super) fn ends_with_title(&self) -> bool {
        self.queue.back() == Some(&Event::Title)
    }
}

impl Event {
    fn len(&self) -> usize {
        match self {
            Self::Reply(bytes) => bytes.len(),
            Self::Directory(text) => text.len(),
            Self::Query(query) => query.bytes.len(),
            Self::Passthrough(pass) => pass.bytes.len(),
            _ => 0,
        }
    }
}
