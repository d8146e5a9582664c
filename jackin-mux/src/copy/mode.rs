use super::keys::{Action, action};
use super::selection::{Point, Selection};
use super::word::is_of_a_word;
use crate::client::{Key, KeyCode};
use crate::pane::Pane;
use crate::settings::CopyKeys;
use crate::vt::Row;

/// The longest text that can be searched for.
const LONGEST_QUERY: usize = 256;

/// The state of one pane's copy mode.
#[derive(Clone, Debug)]
pub(crate) struct CopyMode {
    /// The line at the top of the viewport.
    pub(crate) top: i64,
    pub(crate) cursor: Point,
    /// The shape that is being selected with the cursor.
    selecting: bool,
    query: String,
    backward: bool,
    /// The query while it is typed.
    pub(crate) entry: Option<String>,
    /// What was searched for was not found.
    pub(crate) missed: bool,
}

/// What a key in copy mode came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Stay,
    Leave,
    /// The mode is over, and this goes to the clipboard.
    Copy(String),
}

impl CopyMode {
    /// The text at the foot of the pane: the query, while one is typed, or that it was not found.
    pub(crate) fn prompt(&self) -> Option<String> {
        match &self.entry {
            Some(entry) => Some(format!("{}{entry}", if self.backward { '?' } else { '/' })),
            None => self.missed.then(|| format!("not found: {}", self.query)),
        }
    }
}

impl Pane {
    pub(crate) fn enter_copy_mode(&mut self) {
        if self.copy.is_some() {
            return;
        }
        let cursor = self.terminal.cursor();
        let line = self.terminal.scrolled_rows() as i64 + i64::from(cursor.row);
        let top = self.line_of(0);
        let bottom = top + i64::from(self.size().rows) - 1;
        self.selection = None;
        self.copy = Some(CopyMode {
            top,
            cursor: Point { line: line.min(bottom), col: cursor.column },
            selecting: false,
            query: String::new(),
            backward: false,
            entry: None,
            missed: false,
        });
    }

    pub(crate) fn leave_copy_mode(&mut self) {
        self.copy = None;
        self.selection = None;
        self.terminal.set_view(0);
    }

    /// Takes a key; call only in copy mode.
    pub(crate) fn copy_key(&mut self, key: Key, keys: CopyKeys) -> Outcome {
        let Some(mut copy) = self.copy.take() else { return Outcome::Leave };
        copy.missed = false;
        let outcome = if let Some(entry) = copy.entry.take() {
            self.query_key(&mut copy, entry, key);
            Outcome::Stay
        } else {
            match action(key, keys) {
                Some(action) => self.act(&mut copy, action),
                None => Outcome::Stay,
            }
        };
        if outcome == Outcome::Stay {
            self.show_cursor(&mut copy);
            self.copy = Some(copy);
        } else {
            self.leave_copy_mode();
        }
        outcome
    }

    /// Adds to the query that is being typed.
    pub(crate) fn copy_paste(&mut self, text: &str) {
        if let Some(entry) = self.copy.as_mut().and_then(|copy| copy.entry.as_mut()) {
            let room = LONGEST_QUERY.saturating_sub(entry.len());
            entry.extend(text.chars().filter(|c| !c.is_control()).take(room));
        }
    }

    fn query_key(&mut self, copy: &mut CopyMode, mut entry: String, key: Key) {
        match key.code {
            KeyCode::Enter => {
                // Enter alone searches for the same again.
                if !entry.is_empty() {
                    copy.query = entry;
                }
                self.search(copy, copy.backward);
                return;
            }
            KeyCode::Escape => return,
            KeyCode::Char('g' | 'c') if key.mods.ctrl => return,
            KeyCode::Backspace if entry.is_empty() => return,
            KeyCode::Backspace => {
                entry.pop();
            }
            KeyCode::Char(c) if !key.mods.ctrl && !key.mods.alt && entry.len() < LONGEST_QUERY => {
                entry.push(c);
            }
            _ => {}
        }
        copy.entry = Some(entry);
    }

    fn act(&mut self, copy: &mut CopyMode, action: Action) -> Outcome {
        let (first, last) = self.lines();
        let size = self.size();
        let rows = i64::from(size.rows);
        let cursor = &mut copy.cursor;
        match action {
            Action::Left => cursor.col = cursor.col.saturating_sub(1),
            Action::Right => cursor.col = (cursor.col + 1).min(size.cols - 1),
            Action::Up => cursor.line -= 1,
            Action::Down => cursor.line += 1,
            Action::HalfUp => cursor.line -= (rows / 2).max(1),
            Action::HalfDown => cursor.line += (rows / 2).max(1),
            Action::PageUp => {
                cursor.line -= rows;
                copy.top -= rows;
            }
            Action::PageDown => {
                cursor.line += rows;
                copy.top += rows;
            }
            Action::Top => *cursor = Point { line: first, col: 0 },
            Action::Bottom => *cursor = Point { line: last, col: 0 },
            Action::ViewTop => cursor.line = copy.top,
            Action::ViewMiddle => cursor.line = copy.top + rows / 2,
            Action::ViewBottom => cursor.line = copy.top + rows - 1,
            Action::LineStart => cursor.col = 0,
            Action::LineEnd => cursor.col = (self.used(cursor.line) as u16).saturating_sub(1),
            Action::FirstText => {
                let chars = self.characters(cursor.line);
                cursor.col = chars.iter().position(|c| *c != ' ').unwrap_or(0) as u16;
            }
            Action::WordForward => *cursor = self.word(*cursor, Step::Next),
            Action::WordEnd => *cursor = self.word(*cursor, Step::End),
            Action::WordBack => *cursor = self.word(*cursor, Step::Back),
            Action::Select(shape) => {
                cursor.line = cursor.line.clamp(first, last);
                copy.selecting = true;
                self.selection = Some(Selection::new(*cursor, shape, self));
            }
            Action::Copy => {
                let text = self.selection.map(|selection| selection.text(self));
                return text.filter(|text| !text.is_empty()).map_or(Outcome::Leave, Outcome::Copy);
            }
            Action::Search { backward } => {
                copy.backward = backward;
                copy.entry = Some(String::new());
            }
            Action::Again { reverse } => self.search(copy, copy.backward != reverse),
            Action::Cancel if self.selection.is_some() => {
                copy.selecting = false;
                self.selection = None;
            }
            Action::Cancel | Action::Leave => return Outcome::Leave,
        }
        Outcome::Stay
    }

    /// Brings the cursor into the text, the viewport to the cursor and the selection's end to it.
    fn show_cursor(&mut self, copy: &mut CopyMode) {
        let (first, last) = self.lines();
        let rows = i64::from(self.size().rows);
        copy.cursor.line = copy.cursor.line.clamp(first, last);
        copy.top = copy
            .top
            .min(copy.cursor.line)
            .max(copy.cursor.line - rows + 1)
            .clamp(first, (last - rows + 1).max(first));
        let back = self.terminal.scrolled_rows() as i64 - copy.top;
        self.terminal.set_view(back.max(0) as usize);
        if copy.selecting
            && let Some(mut selection) = self.selection.take()
        {
            selection.extend(copy.cursor, self);
            self.selection = Some(selection);
        }
    }

    fn used(&self, line: i64) -> usize {
        let mut row = Row::new();
        self.read_line(line, &mut row);
        row.used()
    }

    /// One character for each column of a line; blanks as spaces.
    fn characters(&self, line: i64) -> Vec<char> {
        let mut row = Row::new();
        self.read_line(line, &mut row);
        row.cells().iter().map(|cell| row.text(cell).chars().next().unwrap_or(' ')).collect()
    }

    fn word(&self, from: Point, step: Step) -> Point {
        let (first, last) = self.lines();
        let class = |c: char| {
            if c == ' ' {
                0
            } else if is_of_a_word(c) {
                1
            } else {
                2
            }
        };
        let mut at = from;
        let mut chars = self.characters(at.line);
        let mut moved = false;
        // Words are short; this ends a walk over endless blanks.
        for _ in 0..10_000 {
            let here = chars.get(usize::from(at.col)).copied().map_or(0, class);
            let forward = step != Step::Back;
            let next_col = if forward { at.col.checked_add(1) } else { at.col.checked_sub(1) };
            let next = next_col.filter(|col| usize::from(*col) < chars.len());
            let beside = next.map_or(0, |col| class(chars[usize::from(col)]));
            // At the end of a word (in the direction of the walk), having moved, is where `e` and `b` stop.
            let at_edge = here != 0 && beside != here;
            match step {
                Step::End | Step::Back if moved && at_edge => return at,
                Step::Next if next.is_some() && beside != 0 && beside != here => {
                    return Point { col: next.unwrap_or(0), ..at };
                }
                _ => {}
            }
            if let Some(col) = next {
                at.col = col;
            } else {
                let line = if forward { at.line + 1 } else { at.line - 1 };
                if line < first || line > last {
                    return at;
                }
                at.line = line;
                chars = self.characters(line);
                at.col = if forward { 0 } else { (chars.len() as u16).saturating_sub(1) };
                let start = chars.get(usize::from(at.col)).copied().map_or(0, class);
                if step == Step::Next && start != 0 {
                    return at;
                }
            }
            moved = true;
        }
        at
    }

    /// Moves to the next place where the query stands, around the ends if need be. Lower-case letters in it stand for
    /// both cases.
    fn search(&self, copy: &mut CopyMode, backward: bool) {
        let exact = copy.query.chars().any(char::is_uppercase);
        let fold = |c: char| if exact { c } else { c.to_lowercase().next().unwrap_or(c) };
        let query: Vec<char> = copy.query.chars().map(fold).collect();
        let (first, last) = self.lines();
        let lines = last - first + 1;
        let start = copy.cursor;
        if query.is_empty() || lines <= 0 {
            copy.missed = true;
            return;
        }
        let mut row = Row::new();
        let mut matches_in = |line: i64| -> Vec<u16> {
            self.read_line(line, &mut row);
            // The right half of a wide character is no character of its own.
            let cells = row.cells().iter().enumerate().filter(|(_, cell)| cell.width() > 0);
            let text: Vec<(u16, char)> = cells
                .map(|(col, cell)| (col as u16, row.text(cell).chars().next().map_or(' ', fold)))
                .collect();
            let is_match = |window: &&[(u16, char)]| window.iter().map(|(_, c)| c).eq(&query);
            text.windows(query.len()).filter(is_match).map(|window| window[0].0).collect()
        };
        for step in 0..=lines {
            let offset = if backward { -step } else { step };
            let line = first + (start.line - first + offset).rem_euclid(lines);
            let found = matches_in(line);
            let hit = match (step, backward) {
                (0, false) => found.into_iter().find(|col| *col > start.col),
                (0, true) => found.into_iter().rfind(|col| *col < start.col),
                (_, false) => found.first().copied(),
                (_, true) => found.last().copied(),
            };
            if let Some(col) = hit {
                copy.cursor = Point { line, col };
                return;
            }
        }
        copy.missed = true;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Next,
    End,
    Back,
}
