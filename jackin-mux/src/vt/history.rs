//! Rows that left the screen, kept as logical lines.
//!
//! Lines are laid out in rows only when they are read, so a change of width costs nothing here and loses nothing. The last line is
//! *open* while its continuation is still on the screen: the rows of one long line are joined as they arrive.

use std::cell::Cell;
use std::collections::VecDeque;

use super::glyph::{Class, class};
use super::line::{Extent, MARK, Pieces, RESET_LOOK, split_at_row};
use super::row::Row;
use super::search::Direction;

/// Lines are stored in blocks of about this size, dropped whole when their last line is evicted,
const BLOCK_BYTES: usize = 16 * 1024;
/// and have no more lines than this: blank ones take no bytes.
const BLOCK_LINES: usize = 4096;
/// A line that grows beyond this is broken: text without any line end must not become one endless line.
const LONGEST_LINE: usize = 64 * 1024;
#[derive(Debug)]
pub(super) struct History {
    blocks: VecDeque<Block>,
    /// The block that was evicted last. A full history takes a new one for each that it drops, and asking the allocator
    /// for it every time costs more than filling it.
    spare: Option<Block>,
    lines: usize,
    bytes: usize,
    most_lines: usize,
    most_bytes: usize,
    open: bool,
    /// Lines evicted so far: line `n` of the store is the `evicted + n`th ever.
    evicted: u64,
}

#[derive(Debug)]
struct Block {
    text: Vec<u8>,
    entries: Vec<Entry>,
    /// Entries at the front that are evicted already.
    gone: usize,
    /// Rows of the block at a width, while known.
    rows: Cell<Option<(u16, usize)>>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    end: u32,
    extent: Extent,
}

impl History {
    pub(super) fn new(most_lines: usize, most_bytes: usize) -> Self {
        Self {
            blocks: VecDeque::new(),
            spare: None,
            lines: 0,
            bytes: 0,
            most_lines,
            most_bytes,
            open: false,
            evicted: 0,
        }
    }

    /// Logical lines stored.
    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    /// Whether rows are kept at all.
    pub(super) fn is_kept(&self) -> bool {
        self.most_lines > 0
    }

    /// Bytes of stored text.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Whether the last line goes on in the screen's first row.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Ends the last line: what follows on the screen is no longer its continuation.
    pub(super) fn close(&mut self) {
        self.open = false;
    }

    /// Adds a row: to the open line if there is one. `wrapped` says that the line goes on.
    pub(super) fn push_row(&mut self, text: &[u8], wrapped: bool) {
        self.push(text, Extent::of(text), wrapped);
        self.trim();
    }

    /// Adds a row or a whole line whose extent is known; [`Self::trim`] evicts what is too much.
    #[inline]
    pub(super) fn push(&mut self, text: &[u8], extent: Extent, wrapped: bool) {
        if self.open {
            self.append(text, extent);
        } else {
            self.add(text, extent);
        }
        self.open = wrapped;
    }

    /// Before new output: if that needs another block, evicts what is too much already, so that a block is free for it.
    #[inline]
    pub(super) fn make_room(&mut self, text: &[u8]) {
        if !self.fits(text) {
            self.trim();
        }
    }

    /// Whether a line has room in the last block.
    #[inline]
    fn fits(&self, text: &[u8]) -> bool {
        self.blocks.back().is_some_and(|block| {
            block.text.len() + text.len() <= BLOCK_BYTES && block.entries.len() < BLOCK_LINES
        })
    }

    #[inline]
    fn add(&mut self, text: &[u8], extent: Extent) {
        if !self.fits(text) {
            if let Some(full) = self.blocks.back_mut() {
                full.seal();
            }
            let mut block = self.spare.take().unwrap_or_default();
            block.text.reserve_exact(text.len());
            self.blocks.push_back(block);
        }
        if let Some(block) = self.blocks.back_mut() {
            block.text.extend_from_slice(text);
            block.entries.push(Entry { end: block.text.len() as u32, extent });
            block.rows.set(None);
        }
        self.lines += 1;
        self.bytes += text.len();
    }

    fn append(&mut self, text: &[u8], extent: Extent) {
        let Some(block) = self.blocks.back_mut() else { return self.add(text, extent) };
        let at = block.entries.len() - 1;
        if block.line(at).len() + text.len() > LONGEST_LINE {
            return self.add(text, extent);
        }
        if would_join(block.line(at), text) {
            // Drawn in two rows, the two are no grapheme: a change of look that changes nothing keeps them apart.
            block.text.extend_from_slice(&RESET_LOOK);
            self.bytes += RESET_LOOK.len();
        }
        block.text.extend_from_slice(text);
        block.rows.set(None);
        let end = block.text.len() as u32;
        let entry = &mut block.entries[at];
        entry.end = end;
        entry.extent = entry.extent.with(extent);
        self.bytes += text.len();
    }

    /// Evicts the oldest lines beyond the limits.
    #[inline]
    pub(super) fn trim(&mut self) {
        while self.lines > self.most_lines || (self.bytes > self.most_bytes && self.lines > 1) {
            self.evict();
        }
    }

    fn evict(&mut self) {
        let Some(block) = self.blocks.front_mut() else { return };
        self.bytes -= block.line(block.gone).len();
        block.gone += 1;
        block.rows.set(None);
        self.lines -= 1;
        self.evicted += 1;
        if block.gone == block.entries.len() {
            // None that a long line has made larger than others, or that was given back in part.
            let empty = self.blocks.pop_front().filter(|block| block.text.capacity() == BLOCK_BYTES);
            self.spare = empty.map(Block::emptied).or(self.spare.take());
        }
        if self.lines == 0 {
            self.open = false;
        }
    }

    pub(super) fn clear(&mut self) {
        self.evicted += self.lines as u64;
        self.blocks.clear();
        self.spare = None;
        self.lines = 0;
        self.bytes = 0;
        self.open = false;
    }

    /// Takes the last line away and puts its bytes in `out`; the store is closed afterwards.
    pub(super) fn pop(&mut self, out: &mut Vec<u8>) -> bool {
        out.clear();
        self.open = false;
        let Some(block) = self.blocks.back_mut() else { return false };
        let at = block.entries.len() - 1;
        let start = block.start(at);
        out.extend_from_slice(&block.text[start..]);
        block.text.truncate(start);
        block.entries.pop();
        block.rows.set(None);
        if block.entries.len() == block.gone {
            self.blocks.pop_back();
        }
        self.lines -= 1;
        self.bytes -= out.len();
        true
    }

    /// The bytes of a line, oldest first.
    pub(super) fn line(&self, mut at: usize) -> Option<&[u8]> {
        for block in &self.blocks {
            let lines = block.entries.len() - block.gone;
            if at < lines {
                return Some(block.line(block.gone + at));
            }
            at -= lines;
        }
        None
    }

    /// Rows of the whole store at a width.
    pub(super) fn rows(&self, columns: u16) -> usize {
        self.blocks.iter().map(|block| block.rows(columns)).sum()
    }

    /// Where a row is, counted from the oldest: its line and its number within the line.
    pub(super) fn locate(&self, mut row: usize, columns: u16) -> Option<(usize, usize)> {
        let mut line = 0;
        for block in &self.blocks {
            let rows = block.rows(columns);
            if row >= rows {
                row -= rows;
                line += block.entries.len() - block.gone;
                continue;
            }
            for at in block.gone..block.entries.len() {
                let rows = block.line_rows(at, columns);
                if row < rows {
                    return Some((line, row));
                }
                row -= rows;
                line += 1;
            }
        }
        None
    }

    /// Rows before a line.
    pub(super) fn rows_before(&self, line: usize, columns: u16) -> usize {
        let mut left = line;
        let mut rows = 0;
        for block in &self.blocks {
            let lines = block.entries.len() - block.gone;
            if left >= lines {
                left -= lines;
                rows += block.rows(columns);
                continue;
            }
            return rows
                + (block.gone..block.gone + left).map(|at| block.line_rows(at, columns)).sum::<usize>();
        }
        rows
    }

    /// The lines with marks from `from` on (or, backwards, down from it), itself included.
    pub(super) fn marked_lines(
        &self,
        from: usize,
        direction: Direction,
    ) -> Box<dyn Iterator<Item = usize> + '_> {
        let marked = self
            .blocks
            .iter()
            .flat_map(|block| &block.entries[block.gone..])
            .enumerate()
            .filter(|(_, entry)| entry.extent.is_marked())
            .map(|(line, _)| line);
        match direction {
            Direction::Forward => Box::new(marked.skip_while(move |line| *line < from)),
            Direction::Backward => {
                let mut before: Vec<usize> = marked.take_while(|line| *line <= from).collect();
                before.reverse();
                Box::new(before.into_iter())
            }
        }
    }

    /// Reads a row, counted from the oldest.
    pub(super) fn read_row(&self, row: usize, columns: u16, into: &mut Row) -> bool {
        let Some((line, within)) = self.locate(row, columns) else { return false };
        let Some(bytes) = self.line(line) else { return false };
        let found = into.read_line(Pieces::new(bytes), usize::from(columns), within);
        let last = row + 1 == self.rows(columns);
        if last && self.open {
            into.goes_on();
        }
        found
    }

    /// Puts the first `rows` rows of a line back, open: the rest of it is on the screen.
    pub(super) fn keep_rows(&mut self, line: &[u8], rows: usize, columns: u16) {
        let line = &line[..split_at_row(line, usize::from(columns), rows)];
        self.push(line, Extent::of(line), true);
        self.reset_look(line);
    }

    /// Ends the last line with the default look, which what is appended to it will expect.
    fn reset_look(&mut self, line: &[u8]) {
        if line.contains(&MARK)
            && let Some(block) = self.blocks.back_mut()
        {
            block.text.extend_from_slice(&RESET_LOOK);
            self.bytes += RESET_LOOK.len();
            let end = block.text.len() as u32;
            if let Some(entry) = block.entries.last_mut() {
                entry.end = end;
            }
        }
    }

    /// Columns of the last line.
    pub(super) fn last_cells(&self) -> u32 {
        self.blocks.back().and_then(|block| block.entries.last()).map_or(0, |entry| entry.extent.cells())
    }

    /// Heap bytes held.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.blocks
            .iter()
            .chain(&self.spare)
            .map(|b| b.text.capacity() + b.entries.capacity() * size_of::<Entry>())
            .sum()
    }
}

/// Whether the end of one row and the start of the next would make one grapheme.
fn would_join(row: &[u8], next: &[u8]) -> bool {
    let joiner = "\u{200d}".as_bytes();
    row.ends_with(joiner)
        || next.first().is_some_and(|b| *b >= 0x80)
            && Pieces::new(&next[..next.len().min(4)])
                .next()
                .and_then(|piece| piece.text.chars().next())
                .is_none_or(|c| matches!(class(c), Class::Joiner | Class::Mark))
}

impl Default for Block {
    fn default() -> Self {
        Self {
            text: Vec::with_capacity(BLOCK_BYTES),
            entries: Vec::with_capacity(128),
            gone: 0,
            rows: Cell::new(None),
        }
    }
}

impl Block {
    /// Gives back what is far too much; what is only a little too much serves the block that takes its place one day.
    fn seal(&mut self) {
        if self.entries.capacity() > self.entries.len() + self.entries.len() / 4 {
            self.entries.shrink_to(self.entries.len() + self.entries.len() / 8);
        }
        if self.text.len() < self.text.capacity() / 2 {
            self.text.shrink_to_fit();
        }
    }

    /// Itself with nothing in it.
    fn emptied(mut self) -> Self {
        self.text.clear();
        self.entries.clear();
        Self { gone: 0, rows: Cell::new(None), ..self }
    }

    fn start(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.entries[before].end as usize)
    }

    fn line(&self, at: usize) -> &[u8] {
        &self.text[self.start(at)..self.entries[at].end as usize]
    }

    fn line_rows(&self, at: usize, columns: u16) -> usize {
        self.entries[at].extent.rows(self.line(at), columns)
    }

    fn rows(&self, columns: u16) -> usize {
        if let Some((known, rows)) = self.rows.get()
            && known == columns
        {
            return rows;
        }
        let rows = (self.gone..self.entries.len()).map(|at| self.line_rows(at, columns)).sum();
        self.rows.set(Some((columns, rows)));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(history: &History, row: usize, columns: u16) -> String {
        let mut into = Row::new();
        assert!(history.read_row(row, columns, &mut into));
        into.to_text()
    }

    #[test]
    fn rows_of_one_line_are_joined_and_laid_out_at_any_width() {
        let mut history = History::new(10, 1 << 20);
        history.push_row(b"abcd", true);
        history.push_row(b"efgh", true);
        history.push_row(b"ij", false);
        history.push_row(b"next", false);
        assert_eq!(history.lines(), 2);
        assert_eq!(history.rows(4), 4);
        assert_eq!(text(&history, 2, 4), "ij");
        assert_eq!(history.rows(20), 2);
        assert_eq!(text(&history, 0, 20), "abcdefghij");
        assert_eq!(history.locate(3, 4), Some((1, 0)));
    }

    #[test]
    fn the_oldest_lines_go_first() {
        let mut history = History::new(3, 1 << 20);
        for n in 0..2000 {
            history.push_row(format!("line {n}").as_bytes(), false);
        }
        assert_eq!(history.lines(), 3);
        assert_eq!(text(&history, 0, 80), "line 1997");
        assert!(history.held() < 3 * (BLOCK_BYTES + 16 * 1024));
    }

    #[test]
    fn blank_lines_take_memory_for_those_that_are_kept() {
        let mut history = History::new(100, 1 << 20);
        for _ in 0..1_000_000 {
            history.push_row(b"", false);
        }
        assert_eq!(history.lines(), 100);
        assert!(history.held() < 8 * BLOCK_LINES * size_of::<Entry>(), "{}", history.held());
    }

    #[test]
    fn bytes_are_limited_too() {
        let mut history = History::new(1000, 10_000);
        for _ in 0..100 {
            history.push_row(&[b'x'; 1000], false);
        }
        assert_eq!(history.lines(), 10);
    }

    #[test]
    fn an_endless_line_is_broken() {
        let mut history = History::new(1000, 1 << 30);
        for _ in 0..1000 {
            history.push_row(&[b'x'; 200], true);
        }
        assert_eq!(history.lines(), 1000 * 200 / (LONGEST_LINE / 200 * 200) + 1);
        assert_eq!(history.rows(200), 1000);
    }

    #[test]
    fn the_last_line_can_be_taken_back() {
        let mut history = History::new(10, 1 << 20);
        history.push_row(b"one", false);
        history.push_row(b"two", true);
        let mut out = Vec::new();
        assert!(history.pop(&mut out));
        assert_eq!(out, b"two");
        assert!(!history.is_open());
        assert!(history.pop(&mut out) && !history.pop(&mut out));
        assert_eq!((history.lines(), history.bytes()), (0, 0));
    }
}
