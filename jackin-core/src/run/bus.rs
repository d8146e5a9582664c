use std::mem;

/// Of a body, so much is kept; a longer one is cut. Buses are read to see what happened, not to carry files.
const MAX_BODY: usize = 1 << 20;

/// A header has few lines. What goes on for longer is text.
const MAX_HEADER: usize = 64 << 10;

/// Cuts a message bus into messages, line by line.
///
/// A message is a header between two lines of `---`, then text up to the next one. A line `[YYYY-MM-DD HH:MM:SS] TYPE:
/// text` is a message of its own. What looks like neither is skipped; a message whose end is missing, because somebody
/// is writing it or died over it, is handed out as far as it goes once its header is complete.
///
/// ```
/// use jackin_core::run::BusScanner;
///
/// let bus = "---\nmsg_id: MSG-1\ntype: FACT\nproject_id: api\n---\nIt is\ngreen.\n---\ntype: RUN_S";
/// let mut scanner = BusScanner::new();
/// let mut messages: Vec<_> = bus.lines().filter_map(|line| scanner.line(line)).collect();
/// messages.extend(scanner.finish());
/// assert_eq!(messages.len(), 1);
/// assert_eq!(messages[0].field("type"), Some("FACT"));
/// assert_eq!(messages[0].body, "It is\ngreen.\n");
/// ```
#[derive(Debug, Default)]
pub struct BusScanner {
    /// The message that is being read.
    open: Option<RawMessage>,
    /// Lines after a `---` that may be a header.
    candidate: Option<String>,
}

/// A message as it stands on a bus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawMessage {
    /// The header, as YAML.
    pub header: String,
    /// The text.
    pub body: String,
    /// Whether it is a line of the old form, which names no project.
    pub is_line: bool,
}

impl BusScanner {
    /// At the beginning of a bus.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a line, without its end. Returns a message that is complete with it.
    pub fn line(&mut self, line: &str) -> Option<RawMessage> {
        let fence = line.trim_end() == "---";
        if let Some(candidate) = &mut self.candidate {
            if fence && is_header(candidate) {
                let header = mem::take(candidate);
                self.candidate = None;
                return self.open.replace(RawMessage { header, ..RawMessage::default() });
            }
            if !fence && candidate.len() + line.len() < MAX_HEADER && may_stand_in_header(line) {
                candidate.push_str(line);
                candidate.push('\n');
                return None;
            }
            // It was a rule in somebody's text.
            let text = format!("---\n{candidate}");
            self.candidate = None;
            self.text(&text);
        }
        if fence {
            self.candidate = Some(String::new());
            return None;
        }
        if let Some(message) = old_form(line) {
            return self.open.replace(message);
        }
        self.text(line);
        self.text("\n");
        None
    }

    /// Whether a header has begun that did not end.
    pub fn is_in_header(&self) -> bool {
        self.candidate.is_some()
    }

    /// What must stand between the end of a bus and a new message, so that somebody who died over a message does not take
    /// the new one along. `tail` is what the bus ends with, cut anywhere.
    ///
    /// ```
    /// use jackin_core::run::BusScanner;
    ///
    /// assert_eq!(BusScanner::mend(b"---\ntype: FACT\n---\nall well\n"), "");
    /// assert_eq!(BusScanner::mend(b"---\ntype: FACT\n---\nall we"), "\n");
    /// assert_eq!(BusScanner::mend(b"---\ntype: FA"), "\n---\n");
    /// ```
    pub fn mend(tail: &[u8]) -> &'static str {
        let mut scanner = Self::new();
        for line in String::from_utf8_lossy(tail).lines() {
            scanner.line(line);
        }
        match (tail.last().is_none_or(|last| *last == b'\n'), scanner.is_in_header()) {
            (true, false) => "",
            (false, false) => "\n",
            (true, true) => "---\n",
            (false, true) => "\n---\n",
        }
    }

    /// The bus is over: the last message.
    pub fn finish(self) -> Option<RawMessage> {
        self.open
    }

    fn text(&mut self, text: &str) {
        if let Some(open) = &mut self.open
            && open.body.len() + text.len() <= MAX_BODY
        {
            open.body.push_str(text);
        }
    }
}

impl RawMessage {
    /// A plain field of the header.
    pub fn field(&self, name: &str) -> Option<&str> {
        let value = self.header.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?.trim();
        let unquoted = |quote| value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
        Some(unquoted('"').or_else(|| unquoted('\'')).unwrap_or(value))
    }
}

/// Every message has a type.
fn is_header(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("type:"))
}

/// `key: value`, something indented below a key, or an item of a list.
fn may_stand_in_header(line: &str) -> bool {
    let is_key = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    };
    line.trim().is_empty()
        || line.starts_with([' ', '\t'])
        || line.starts_with("- ")
        || line.split_once(':').is_some_and(|(name, _)| is_key(name))
}

/// `[YYYY-MM-DD HH:MM:SS] TYPE: text`
fn old_form(line: &str) -> Option<RawMessage> {
    let (time, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let (kind, body) = rest.split_once(':')?;
    let is_time = time.len() == 19
        && time.bytes().zip(*b"0000-00-00 00:00:00").all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte == form,
        });
    let is_kind = !kind.is_empty() && kind.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    let ts = time.replacen(' ', "T", 1);
    (is_time && is_kind).then(|| RawMessage {
        header: format!("ts: {ts}Z\ntype: {kind}\n"),
        body: format!("{}\n", body.trim_start()),
        is_line: true,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn messages(bus: &str) -> Vec<RawMessage> {
        let mut scanner = BusScanner::new();
        let mut found: Vec<_> = bus.lines().filter_map(|line| scanner.line(line)).collect();
        found.extend(scanner.finish());
        found
    }

    #[test]
    fn a_rule_in_a_text_is_text() {
        let bus =
            "---\ntype: FACT\n---\nabove\n---\nbelow: not a header\n---\nmore\n---\ntype: INFO\n---\nlast\n";
        let found = messages(bus);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].body, "above\n---\nbelow: not a header\n---\nmore\n");
        assert_eq!(found[1].field("type"), Some("INFO"));
    }

    #[test]
    fn old_lines_are_messages() {
        let found =
            messages("noise\n[2026-02-04 18:30:42] PROGRESS: half way\nand on\n---\ntype: FACT\n---\n");
        assert_eq!(found[0].field("type"), Some("PROGRESS"));
        assert_eq!(found[0].field("ts"), Some("2026-02-04T18:30:42Z"));
        assert_eq!(found[0].body, "half way\nand on\n");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_half_written_tail_takes_nothing_from_what_is_before() {
        let whole =
            "---\ntype: FACT\nrun_id: 'r1'\n---\ntext\n---\ntype: RUN_STOP\nrun_id: \"r2\"\n---\nbye\n";
        for end in 0..whole.len() {
            let found = messages(&whole[..end]);
            if end > whole.find("text\n").unwrap() + 4 {
                assert_eq!(found[0].field("run_id"), Some("r1"));
                // Of the next one there may be a piece that does not show yet what it will be.
                assert!(found[0].body.starts_with("text\n"), "{:?}", found[0].body);
            }
        }
        assert_eq!(messages(whole)[1].field("run_id"), Some("r2"));
    }

    #[test]
    fn memory_is_bounded() {
        let mut scanner = BusScanner::new();
        let long = "x".repeat(10_000);
        for line in ["---", "type: FACT", "---"] {
            assert_eq!(scanner.line(line), None);
        }
        for _ in 0..1_000 {
            assert_eq!(scanner.line(&long), None);
        }
        scanner.line("---");
        for _ in 0..1_000 {
            scanner.line(&format!("key: {long}"));
        }
        assert!(scanner.candidate.as_ref().is_none_or(|kept| kept.len() <= MAX_HEADER));
        assert!(scanner.finish().unwrap().body.len() <= MAX_BODY);
    }

    proptest! {
        #[test]
        fn nothing_panics(bus in "(---|type: A|[a-z: -]{0,6}|\\[2026-02-04 18:30:42\\] X: y|\n){0,40}") {
            for message in messages(&bus) {
                prop_assert!(is_header(&message.header));
            }
        }

        #[test]
        fn a_new_message_is_found_whatever_stands_before_it(
            before in "(---|---\n|type: A\n|type: B|[a-z: -]{0,6}|\\[2026-02-04 18:30:42\\] X: y|\n){0,20}",
        ) {
            let mend = BusScanner::mend(before.as_bytes());
            let found = messages(&format!("{before}{mend}---\nmsg_id: MSG-1\ntype: NEW\n---\nnews\n"));
            let last = found.last().unwrap();
            prop_assert_eq!((last.field("type"), last.body.as_str()), (Some("NEW"), "news\n"));
        }
    }
}
