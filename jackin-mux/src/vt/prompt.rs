//! Shell integration (OSC 133): where prompts, commands and their output start, kept with the rows.

use super::line::Pieces;
use super::row::Row;
use super::search::Direction;
use super::terminal::Terminal;

/// What an OSC 133 mark says about the row that it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptMark {
    /// A prompt starts (A).
    Prompt,
    /// The command line starts (B).
    Command,
    /// The command's output starts (C).
    Output,
    /// The command ended (D), with its exit code if the shell told it.
    Done(Option<i32>),
}

/// The marks of one row, see [`Row::marks`].
///
/// A row keeps each kind of mark once, and of several exit codes the last. Marks stay with their text through scrolling, in history, and
/// when lines are laid out anew; erasing in the display (ED) takes them from the rows that it blanks whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    kinds: u8,
    code: i32,
}

const DONE: u8 = 1;
const TOLD: u8 = 1 << 1;
const PROMPT: u8 = 1 << 2;
const COMMAND: u8 = 1 << 3;
const OUTPUT: u8 = 1 << 4;

impl Marks {
    /// No mark.
    pub const NONE: Self = Self { kinds: 0, code: 0 };

    /// Whether there is no mark.
    pub fn is_empty(self) -> bool {
        self.kinds == 0
    }

    /// Whether this mark is among them; of [`PromptMark::Done`], the one with the same code.
    pub fn contains(self, mark: PromptMark) -> bool {
        self.iter().any(|own| own == mark)
    }

    /// The marks, in the order in which a shell sets them: the end of the last command before the next prompt.
    pub fn iter(self) -> impl Iterator<Item = PromptMark> {
        let code = (self.kinds & TOLD != 0).then_some(self.code);
        [
            (DONE, PromptMark::Done(code)),
            (PROMPT, PromptMark::Prompt),
            (COMMAND, PromptMark::Command),
            (OUTPUT, PromptMark::Output),
        ]
        .into_iter()
        .filter(move |(kind, _)| self.kinds & kind != 0)
        .map(|(_, mark)| mark)
    }

    pub(super) fn add(&mut self, mark: PromptMark) {
        match mark {
            PromptMark::Prompt => self.kinds |= PROMPT,
            PromptMark::Command => self.kinds |= COMMAND,
            PromptMark::Output => self.kinds |= OUTPUT,
            PromptMark::Done(code) => {
                self.kinds = self.kinds & !TOLD | DONE | if code.is_some() { TOLD } else { 0 };
                self.code = code.unwrap_or(0);
            }
        }
    }

    /// Adds the marks of text that follows in the same row.
    pub(super) fn merge(&mut self, later: Self) {
        for mark in later.iter() {
            self.add(mark);
        }
    }

    /// As bytes of a stored line, which [`Self::read`] reads back.
    pub(super) fn write(self, out: &mut Vec<u8>) {
        out.push(self.kinds);
        if self.kinds & TOLD != 0 {
            out.extend_from_slice(&self.code.to_le_bytes());
        }
    }

    /// The marks, and how many bytes they took; `None` if they are cut.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let kinds = *bytes.first()?;
        if kinds & TOLD == 0 {
            return Some((Self { kinds, code: 0 }, 1));
        }
        let code = i32::from_le_bytes(*bytes.get(1..)?.first_chunk()?);
        Some((Self { kinds, code }, 5))
    }
}

impl Row {
    /// The shell-integration marks that were set in this row.
    ///
    /// ```
    /// use jackin_core::Size;
    /// use jackin_mux::vt::{PromptMark, Row, Settings, Terminal};
    ///
    /// let mut terminal = Terminal::new(Size::new(24, 80), Settings::default());
    /// terminal.feed_all(b"\x1b]133;A\x07$ \x1b]133;B\x07");
    /// let mut row = Row::new();
    /// terminal.read_row(0, &mut row);
    /// assert!(row.marks().iter().eq([PromptMark::Prompt, PromptMark::Command]));
    /// ```
    pub fn marks(&self) -> Marks {
        self.marks
    }
}

impl Terminal {
    /// The next row with marks after `from` (or, backwards, before it), as [`Terminal::read_row`] counts rows.
    pub fn find_marks(&self, from: isize, direction: Direction) -> Option<(isize, Marks)> {
        let oldest = -(self.history_rows() as isize);
        let rows = self.size().rows as isize;
        match direction {
            Direction::Forward => {
                let start = from.saturating_add(1).max(oldest);
                let stored = if start < 0 { self.stored_marks(start, direction) } else { None };
                stored.or_else(|| (start.max(0)..rows).find_map(|row| self.shown_marks(row)))
            }
            Direction::Backward => {
                let end = from.min(rows);
                let shown = (0..end).rev().find_map(|row| self.shown_marks(row));
                shown.or_else(|| self.stored_marks(end.min(0) - 1, direction))
            }
        }
    }

    /// The next row in which a prompt starts: where to go when jumping from prompt to prompt.
    pub fn find_prompt(&self, from: isize, direction: Direction) -> Option<isize> {
        let mut at = from;
        loop {
            let (row, marks) = self.find_marks(at, direction)?;
            if marks.contains(PromptMark::Prompt) {
                return Some(row);
            }
            at = row;
        }
    }

    /// The exit code of the last command that ended, if the shell told it and its mark is still in history.
    pub fn last_exit_code(&self) -> Option<i32> {
        let mut at = self.size().rows as isize;
        loop {
            let (row, marks) = self.find_marks(at, Direction::Backward)?;
            for mark in marks.iter() {
                if let PromptMark::Done(code) = mark {
                    return code;
                }
            }
            at = row;
        }
    }

    fn shown_marks(&self, row: isize) -> Option<(isize, Marks)> {
        let marks = self.screen.canvas.marks(u16::try_from(row).ok()?);
        (!marks.is_empty()).then_some((row, marks))
    }

    /// The marked row of history at `row` or next to it.
    fn stored_marks(&self, row: isize, direction: Direction) -> Option<(isize, Marks)> {
        let history = &self.screen.canvas.past().history;
        let columns = self.size().cols;
        let rows = self.history_rows() as isize;
        let start = usize::try_from(row + rows).ok()?;
        let (line, within) = history.locate(start, columns)?;
        let mut found = Vec::new();
        let lines = history.marked_lines(line, direction);
        for at in lines {
            found.clear();
            marked_rows(history.line(at)?, usize::from(columns), &mut found);
            let here = at == line;
            let fitting = match direction {
                Direction::Forward => found.iter().find(|(row, _)| !here || *row >= within),
                Direction::Backward => found.iter().rfind(|(row, _)| !here || *row <= within),
            };
            if let Some(&(row, marks)) = fitting {
                return Some(((history.rows_before(at, columns) + row) as isize - rows, marks));
            }
        }
        None
    }
}

/// The rows of a stored line, at a width, that have marks.
fn marked_rows(line: &[u8], columns: usize, found: &mut Vec<(usize, Marks)>) {
    let mut note = |row: usize, marks: Marks| match found.last_mut() {
        _ if marks.is_empty() => {}
        Some((last, own)) if *last == row => own.merge(marks),
        _ => found.push((row, marks)),
    };
    let mut layout = super::line::Layout::new(columns);
    let mut pieces = Pieces::new(line);
    for piece in pieces.by_ref() {
        for (at, (_, width)) in super::glyph::Graphemes::new(piece.text).enumerate() {
            layout.place(width);
            if at == 0 {
                note(layout.row, piece.marks);
            }
        }
    }
    note(layout.row, pieces.marks());
}
