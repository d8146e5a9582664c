//! Block structure: which lines are fenced code, and where a paragraph ends.
//!
//! Follows `CommonMark` for block quotes, list items, fences, headings and rules, since a fence begins and ends by the
//! containers around it. HTML blocks and indented code are plain text here: the protocol names fences and spans only.
//!
//! The rule of [`Blocks::head`]: it changes nothing. The caller commits what it returns, once, when the head of the
//! line is decided.

use crate::line::{Ahead, Beyond, Cursor, More};

/// Quotes and lists nested deeper than this are text. The standard sets no bound; memory does.
pub(crate) const DEPTH_MAX: usize = 32;

/// A marker further in than this belongs to indented code.
const INDENT_MAX: usize = 3;

const FENCE_MIN: usize = 3;

/// Digits in the number of an ordered item.
const DIGITS_MAX: usize = 9;

/// What the head of a line says about the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// Text from byte `at` on; `fresh` when it is not the paragraph's next line.
    Text { at: usize, fresh: bool },
    /// At least three backticks or tildes begin at byte `at`.
    FenceStart { at: usize, mark: u8, fresh: bool },
    /// Within a fence: perhaps its last line, if the run at byte `at` is long enough and alone.
    FenceEnd { at: usize },
    /// Within a fence: code.
    Code,
}

/// What a decided head changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    keep: usize,
    added: [Container; DEPTH_MAX],
    added_len: usize,
    paragraph: bool,
    ends_fence: bool,
    blank: bool,
}

#[derive(Clone, Copy, Debug)]
enum Container {
    Quote,
    /// Lines belong to the item when indented by `width`, or blank. `bare`: nothing has followed its marker yet.
    Item {
        width: u8,
        bare: bool,
    },
}

#[derive(Clone, Copy, Debug)]
struct Fence {
    mark: u8,
    len: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Blocks {
    containers: Vec<Container>,
    paragraph: bool,
    fence: Option<Fence>,
    /// The containers have stood a blank line, so another changes nothing.
    after_blank: bool,
}

impl Blocks {
    /// Memory behind the vector, at most.
    pub(crate) const HEAP_MAX: usize = DEPTH_MAX * size_of::<Container>();

    pub(crate) fn reset(&mut self) {
        self.containers.clear();
        self.paragraph = false;
        self.fence = None;
        self.after_blank = false;
    }

    /// Most lines: no marker, no indent, no fence. Returns whether a new paragraph begins.
    pub(crate) fn plain_line(&mut self) -> bool {
        let fresh = !self.paragraph;
        if fresh {
            self.containers.clear();
            self.paragraph = true;
        }
        fresh
    }

    /// A line without a byte.
    pub(crate) fn blank_line(&mut self) {
        self.paragraph = false;
        if !self.after_blank {
            self.containers.truncate(through_blank(&self.containers));
            self.after_blank = true;
        }
    }

    /// Whether a line that begins with `byte` is plain, whatever comes after it.
    pub(crate) fn is_plain(byte: u8) -> bool {
        !matches!(
            byte,
            b' ' | b'\t' | b'\r' | b'\n' | b'>' | b'`' | b'~' | b'#' | b'-' | b'_' | b'*' | b'+' | b'=' | b'0'
                ..=b'9'
        )
    }

    /// Most lines of code: in a fence that no container ends, and not its last line, whatever comes after `byte`.
    pub(crate) fn is_plainly_code(&self, byte: u8) -> bool {
        self.containers.is_empty()
            && self.fence.is_some_and(|fence| byte != fence.mark && byte != b' ' && byte != b'\t')
    }

    /// Reads the head of the line that `line` begins with; what it changes goes to `change`.
    pub(crate) fn head(&self, line: &[u8], beyond: Beyond, change: &mut Change) -> Result<Head, More> {
        let mut cursor = Cursor::new(line, beyond);
        let keep = self.continued(&mut cursor)?;
        change.keep = keep;
        let all = keep == self.containers.len();
        if let Some(fence) = self.fence
            && all
        {
            let ahead = cursor.ahead()?;
            let ends = ahead.indent <= INDENT_MAX && ahead.byte == fence.mark;
            let head = if ends { Head::FenceEnd { at: ahead.at } } else { Head::Code };
            return Ok(head);
        }
        // A fence ends with its container; there is no lazy continuation of code.
        let paragraph = self.paragraph && self.fence.is_none();
        change.ends_fence = self.fence.is_some();
        Opening { cursor, paragraph, aligned: all, no_rule_before: 0, change }.read()
    }

    pub(crate) fn commit(&mut self, change: &Change) {
        self.after_blank = change.blank && change.added_len == 0;
        self.containers.truncate(change.keep);
        if (!change.blank || change.added_len > 0)
            && let Some(Container::Item { bare, .. }) = self.containers.last_mut()
        {
            *bare = false;
        }
        if change.added_len > 0 && self.containers.capacity() == 0 {
            self.containers.reserve_exact(DEPTH_MAX);
        }
        self.containers.extend_from_slice(&change.added[..change.added_len]);
        self.paragraph = change.paragraph;
        if change.ends_fence {
            self.fence = None;
        }
    }

    /// A line that continues the paragraph leaves every container open, those it did not mark too.
    pub(crate) fn commit_lazy(&mut self) {
        self.paragraph = true;
    }

    /// Ends the containers behind the first `keep`.
    pub(crate) fn keep(&mut self, keep: usize) {
        self.containers.truncate(keep);
    }

    pub(crate) fn open_fence(&mut self, mark: u8, len: u64) {
        self.paragraph = false;
        self.fence = Some(Fence { mark, len });
    }

    /// Whether a run of `len` is long enough to close the fence.
    pub(crate) fn closes(&self, len: u64) -> bool {
        self.fence.is_some_and(|fence| len >= fence.len)
    }

    /// The mark that the fence is made of.
    pub(crate) fn fence_mark(&self) -> Option<u8> {
        self.fence.map(|fence| fence.mark)
    }

    pub(crate) fn close_fence(&mut self) {
        self.fence = None;
    }

    /// How many of the open containers go on in this line.
    fn continued(&self, cursor: &mut Cursor<'_>) -> Result<usize, More> {
        for (index, container) in self.containers.iter().enumerate() {
            let ahead = cursor.ahead()?;
            match *container {
                Container::Quote if ahead.indent <= INDENT_MAX && ahead.byte == b'>' => {
                    cursor.skip_marker(ahead, 1);
                    skip_one_space(cursor)?;
                }
                Container::Quote => return Ok(index),
                Container::Item { .. } if cursor.blank_from(ahead.at)? => {
                    let open = &self.containers[index..];
                    return Ok(index + if self.after_blank { open.len() } else { through_blank(open) });
                }
                Container::Item { width, .. } if ahead.indent >= usize::from(width) => {
                    cursor.skip_columns(usize::from(width));
                }
                Container::Item { .. } => return Ok(index),
            }
        }
        Ok(self.containers.len())
    }
}

/// How many containers, from the outermost, a blank line leaves open: an item goes on unless it has not begun, and a
/// quote needs its mark.
fn through_blank(containers: &[Container]) -> usize {
    let ends = |container: &Container| !matches!(container, Container::Item { bare: false, .. });
    containers.iter().position(ends).unwrap_or(containers.len())
}

impl Change {
    /// How many of the containers go on.
    pub(crate) fn kept(&self) -> usize {
        self.keep
    }

    /// Nothing changes yet.
    pub(crate) fn new() -> Self {
        Self {
            keep: 0,
            added: [Container::Quote; DEPTH_MAX],
            added_len: 0,
            paragraph: false,
            ends_fence: false,
            blank: false,
        }
    }
}

fn skip_one_space(cursor: &mut Cursor<'_>) -> Result<(), More> {
    if cursor.ahead()?.indent > 0 {
        cursor.skip_columns(1);
    }
    Ok(())
}

/// Reads which blocks begin on a line, behind the containers that went on.
struct Opening<'a> {
    cursor: Cursor<'a>,
    /// A paragraph was open on the line before.
    paragraph: bool,
    /// All containers went on: a paragraph in the innermost one stands right above this line.
    aligned: bool,
    /// A rule was looked for and cannot begin before this byte; keeps `- - - - x` linear.
    no_rule_before: usize,
    change: &'a mut Change,
}

impl Opening<'_> {
    fn read(mut self) -> Result<Head, More> {
        loop {
            let ahead = self.cursor.ahead()?;
            if self.cursor.blank_from(ahead.at)? {
                self.change.blank = true;
                return Ok(self.text(ahead, false));
            }
            if ahead.indent > INDENT_MAX {
                let paragraph = self.continues();
                return Ok(self.text(ahead, paragraph));
            }
            match ahead.byte {
                b'>' if self.room() => {
                    self.cursor.skip_marker(ahead, 1);
                    skip_one_space(&mut self.cursor)?;
                    self.add(Container::Quote);
                }
                mark @ (b'`' | b'~') if self.fence(ahead.at, mark)? => {
                    let fresh = !self.continues();
                    return Ok(Head::FenceStart { at: ahead.at, mark, fresh });
                }
                b'#' if self.heading(ahead.at)? => return Ok(self.text(ahead, false)),
                mark @ (b'=' | b'-') if self.underline(ahead.at, mark)? => return Ok(self.text(ahead, false)),
                mark @ (b'-' | b'_' | b'*') if self.rule(ahead.at, mark)? => {
                    return Ok(self.text(ahead, false));
                }
                _ => match self.marker(ahead)? {
                    Some(len) if self.room() => self.item(ahead, len)?,
                    _ => return Ok(self.text(ahead, true)),
                },
            }
        }
    }

    /// The line is text. `paragraph`: of the sort that the next line can continue.
    fn text(self, ahead: Ahead, paragraph: bool) -> Head {
        let fresh = !(paragraph && self.continues());
        self.change.paragraph = paragraph;
        Head::Text { at: ahead.at, fresh }
    }

    /// Whether plain text here would be the next line of the open paragraph.
    fn continues(&self) -> bool {
        self.paragraph && self.change.added_len == 0
    }

    fn room(&self) -> bool {
        self.change.keep + self.change.added_len < DEPTH_MAX
    }

    fn add(&mut self, container: Container) {
        self.change.added[self.change.added_len] = container;
        self.change.added_len += 1;
    }

    fn fence(&self, at: usize, mark: u8) -> Result<bool, More> {
        for offset in 1..FENCE_MIN {
            if self.cursor.byte(at + offset)? != mark {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn heading(&self, at: usize) -> Result<bool, More> {
        let level = self.cursor.run(at, b'#')?;
        Ok(level <= 6 && self.ends_word(at + level)?)
    }

    /// The line under a heading's text.
    fn underline(&self, at: usize, mark: u8) -> Result<bool, More> {
        if !(self.continues() && self.aligned) {
            return Ok(false);
        }
        let len = self.cursor.run(at, mark)?;
        self.cursor.blank_from(at + len)
    }

    fn rule(&mut self, at: usize, mark: u8) -> Result<bool, More> {
        if at < self.no_rule_before {
            return Ok(false);
        }
        let (mut end, mut marks) = (at, 0);
        loop {
            match self.cursor.byte(end)? {
                b'\n' => return Ok(marks >= 3),
                byte if byte == mark => marks += 1,
                b' ' | b'\t' | b'\r' => {}
                _ => break,
            }
            end += 1;
        }
        self.no_rule_before = end;
        Ok(false)
    }

    /// The length of the list marker at `ahead`, if one stands there and may begin an item.
    fn marker(&self, ahead: Ahead) -> Result<Option<usize>, More> {
        let (len, first) = match ahead.byte {
            b'-' | b'+' | b'*' => (1, true),
            b'0'..=b'9' => {
                let (mut digits, mut number) = (0, 0_u32);
                while let digit @ b'0'..=b'9' = self.cursor.byte(ahead.at + digits)? {
                    digits += 1;
                    if digits > DIGITS_MAX {
                        return Ok(None);
                    }
                    number = number * 10 + u32::from(digit - b'0');
                }
                if !matches!(self.cursor.byte(ahead.at + digits)?, b'.' | b')') {
                    return Ok(None);
                }
                (digits + 1, number == 1)
            }
            _ => return Ok(None),
        };
        if !self.ends_word(ahead.at + len)? {
            return Ok(None);
        }
        let interrupts = self.continues() && self.aligned;
        if interrupts && (!first || self.cursor.blank_from(ahead.at + len)?) {
            return Ok(None);
        }
        Ok(Some(len))
    }

    fn item(&mut self, ahead: Ahead, len: usize) -> Result<(), More> {
        self.cursor.skip_marker(ahead, len);
        let after = self.cursor.ahead()?;
        let bare = self.cursor.blank_from(after.at)?;
        // Five columns or more mean that the item begins with indented code, one column in.
        let gap = if bare || after.indent > 4 { 1 } else { after.indent };
        self.cursor.skip_columns(gap);
        self.add(Container::Item { width: (ahead.indent + len + gap) as u8, bare });
        Ok(())
    }

    fn ends_word(&self, at: usize) -> Result<bool, More> {
        Ok(match self.cursor.byte(at)? {
            b' ' | b'\t' | b'\n' => true,
            b'\r' => self.cursor.blank_from(at)?,
            _ => false,
        })
    }
}
