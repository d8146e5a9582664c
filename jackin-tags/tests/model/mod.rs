//! The protocol's rules once more, slow and obvious: the whole message at hand, as many ways through it as it takes,
//! nothing shared with the parser but the judgement of a value.

use jackin_core::TagKind;
use jackin_tags::{Namespace, SPAN_MAX, TagValue, VALUE_MAX};

const INFO_MAX: usize = 256;

/// (namespace, kind, value, line, offset)
pub(crate) type Found = (String, String, String, u64, u64);

pub(crate) fn tags(message: &[u8], tags_in_code_spans: bool) -> Vec<Found> {
    let lines = lines(message);
    let kinds = classify(message, &lines);
    let hidden = if tags_in_code_spans { Vec::new() } else { spans(message, &lines, &kinds) };
    let marks = marks(message, &lines, &kinds, &hidden);
    let mut found = Vec::new();
    for pair in marks.windows(2) {
        let (Mark::Open(namespace, kind), Mark::Close(closed_namespace, closed_kind)) =
            (&pair[0].mark, &pair[1].mark)
        else {
            continue;
        };
        if (namespace, kind) != (closed_namespace, closed_kind) || pair[0].hidden || pair[1].hidden {
            continue;
        }
        let value = trim(&message[pair[0].end..pair[1].start]);
        if value.len() > VALUE_MAX {
            continue;
        }
        let Ok(text) = std::str::from_utf8(value) else { continue };
        if let Ok(value) = TagValue::parse(&TagKind::from(kind.as_str()), text) {
            let line = message[..pair[0].start].split(|&b| b == b'\n').count() as u64;
            found.push((namespace.clone(), kind.clone(), value.to_string(), line, pair[0].start as u64));
        }
    }
    found
}

fn trim(mut value: &[u8]) -> &[u8] {
    let space = |b: &u8| matches!(b, 9..=13 | 32);
    while value.first().is_some_and(space) {
        value = &value[1..];
    }
    while value.last().is_some_and(space) {
        value = &value[..value.len() - 1];
    }
    value
}

/// Start and end of each line, its line feed left out.
fn lines(message: &[u8]) -> Vec<(usize, usize)> {
    let mut lines = Vec::new();
    let mut start = 0;
    for part in message.split(|&b| b == b'\n') {
        lines.push((start, start + part.len()));
        start += part.len() + 1;
    }
    lines
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    /// Goes on with the paragraph.
    Next,
    /// Begins something new.
    Fresh,
    /// Part of a fence, its first and last line included.
    Code,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Container {
    Quote,
    Item { width: usize, bare: bool },
}

/// A line as columns: tabs are spaces, what is no ASCII is a letter.
fn columns(line: &[u8]) -> String {
    let mut columns = String::new();
    for &byte in line {
        match byte {
            b'\t' => {
                columns.push(' ');
                while !columns.len().is_multiple_of(4) {
                    columns.push(' ');
                }
            }
            byte if byte.is_ascii() => columns.push(byte as char),
            _ => columns.push('x'),
        }
    }
    columns
}

fn indent(rest: &str) -> usize {
    rest.len() - rest.trim_start_matches(' ').len()
}

fn blank(rest: &str) -> bool {
    rest.chars().all(|c| c == ' ' || c == '\r')
}

fn classify(message: &[u8], lines: &[(usize, usize)]) -> Vec<Line> {
    let mut kinds = Vec::new();
    let mut containers: Vec<Container> = Vec::new();
    let mut paragraph = false;
    let mut fence: Option<(char, usize)> = None;
    for &(start, end) in lines {
        let line = columns(&message[start..end]);
        let mut rest = line.as_str();
        let mut kept = 0;
        for container in &containers {
            match container {
                Container::Quote => match quote(rest) {
                    Some(inner) => rest = inner,
                    None => break,
                },
                Container::Item { bare: true, .. } if blank(rest) => break,
                Container::Item { .. } if blank(rest) => {}
                Container::Item { width, .. } if indent(rest) >= *width => rest = &rest[*width..],
                Container::Item { .. } => break,
            }
            kept += 1;
        }
        if let Some((mark, len)) = fence {
            if kept == containers.len() {
                let run = rest.trim_start_matches(' ').chars().take_while(|&c| c == mark).count();
                let tail = rest.trim_start_matches(' ').trim_start_matches(mark);
                if indent(rest) <= 3 && run >= len && blank(tail) {
                    fence = None;
                }
                kinds.push(Line::Code);
                continue;
            }
            fence = None;
            paragraph = false;
        }
        let aligned = kept == containers.len();
        let mut added = Vec::new();
        // (what the line is, whether the next one can continue it)
        let (kind, goes_on) = loop {
            let continues = paragraph && added.is_empty();
            let text = if continues { (Line::Next, true) } else { (Line::Fresh, true) };
            let body = rest.trim_start_matches(' ');
            if blank(rest) {
                break (Line::Fresh, false);
            }
            if indent(rest) > 3 {
                break if continues { text } else { (Line::Fresh, false) };
            }
            if let Some(inner) = quote(rest) {
                added.push(Container::Quote);
                rest = inner;
                continue;
            }
            if let Some(mark) =
                ['`', '~'].into_iter().find(|mark| body.starts_with(&mark.to_string().repeat(3)))
            {
                let info = body.trim_start_matches(mark);
                // The bound counts bytes as given, not columns.
                let info_bytes = &message[end - given_len(&message[start..end], info.len())..end];
                let info_bytes = &info_bytes[..info_bytes.len().min(INFO_MAX + 1)];
                if mark == '~' || !info_bytes.contains(&b'`') {
                    fence = Some((mark, body.len() - info.len()));
                    break (Line::Code, false);
                }
                break text;
            }
            let heading = body.trim_start_matches('#');
            let level = body.len() - heading.len();
            if (1..=6).contains(&level) && (heading.starts_with(' ') || blank(heading)) {
                break (Line::Fresh, false);
            }
            if continues
                && aligned
                && ['=', '-'].iter().any(|&c| body.starts_with(c) && blank(body.trim_start_matches(c)))
            {
                break (Line::Fresh, false);
            }
            let rule = |c: char| {
                body.chars().all(|b| b == c || b == ' ' || b == '\r')
                    && body.chars().filter(|&b| b == c).count() >= 3
            };
            if rule('-') || rule('_') || rule('*') {
                break (Line::Fresh, false);
            }
            let Some(len) = marker(body, continues && aligned) else { break text };
            let after = &body[len..];
            let bare = blank(after);
            let gap = if bare || indent(after) > 4 { 1 } else { indent(after) };
            added.push(Container::Item { width: indent(rest) + len + gap, bare });
            rest = after.get(gap..).unwrap_or("");
        };
        if kind != Line::Next {
            containers.truncate(kept);
            if (!blank(rest) || !added.is_empty())
                && let Some(Container::Item { bare, .. }) = containers.last_mut()
            {
                *bare = false;
            }
            containers.extend(added);
        }
        paragraph = goes_on;
        kinds.push(kind);
    }
    kinds
}

/// How many bytes as given make up the last `columns` columns.
fn given_len(line: &[u8], columns_wanted: usize) -> usize {
    (0..=line.len())
        .find(|&at| columns(&line[..at]).len() + columns_wanted >= columns(line).len())
        .map_or(0, |at| line.len() - at)
}

fn quote(rest: &str) -> Option<&str> {
    let inner = rest.trim_start_matches(' ').strip_prefix('>')?;
    (indent(rest) <= 3).then(|| inner.strip_prefix(' ').unwrap_or(inner))
}

fn marker(body: &str, interrupts: bool) -> Option<usize> {
    let digits = body.chars().take_while(char::is_ascii_digit).count();
    let len = if body.starts_with(['-', '+', '*']) {
        1
    } else if (1..=9).contains(&digits) && body[digits..].starts_with(['.', ')']) {
        if interrupts && body[..digits].parse() != Ok(1) {
            return None;
        }
        digits + 1
    } else {
        return None;
    };
    let after = &body[len..];
    let ends = after.starts_with(' ') || blank(after);
    (ends && !(interrupts && blank(after))).then_some(len)
}

/// Stretches of the message that are inline code.
fn spans(message: &[u8], lines: &[(usize, usize)], kinds: &[Line]) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (&(start, end), kind) in lines.iter().zip(kinds) {
        if *kind != Line::Next {
            pair_up(message, &runs, &mut spans);
            runs.clear();
        }
        if *kind == Line::Code {
            continue;
        }
        let mut at = start;
        while at < end {
            let len = message[at..end].iter().take_while(|&&b| b == b'`').count();
            if len > 0 {
                runs.push((at, at + len));
            }
            at += len.max(1);
        }
    }
    pair_up(message, &runs, &mut spans);
    spans
}

fn pair_up(message: &[u8], runs: &[(usize, usize)], spans: &mut Vec<(usize, usize)>) {
    let mut index = 0;
    while index < runs.len() {
        let (start, end) = runs[index];
        let slashes = message[..start].iter().rev().take_while(|&&b| b == b'\\').count();
        let closing = runs[index + 1..]
            .iter()
            .position(|&(other, other_end)| other_end - other == end - start && other <= end + SPAN_MAX);
        match closing {
            Some(offset) if slashes % 2 == 0 => {
                spans.push((start, runs[index + 1 + offset].1));
                index += offset + 2;
            }
            _ => index += 1,
        }
    }
}

#[derive(Debug)]
enum Mark {
    Open(String, String),
    Close(String, String),
    /// Begins like a mark, or a fence begins here: nothing pairs with it.
    Neither,
}

#[derive(Debug)]
struct Marked {
    start: usize,
    end: usize,
    hidden: bool,
    mark: Mark,
}

fn marks(message: &[u8], lines: &[(usize, usize)], kinds: &[Line], hidden: &[(usize, usize)]) -> Vec<Marked> {
    let mut marks = Vec::new();
    for (&(start, end), kind) in lines.iter().zip(kinds) {
        if *kind == Line::Code {
            marks.push(Marked { start, end: start, hidden: false, mark: Mark::Neither });
            continue;
        }
        for at in (start..end).filter(|&at| message[at] == b'<') {
            for namespace in Namespace::ALL {
                for slash in ["", "/"] {
                    let prefix = format!("<{slash}{namespace}:");
                    if message[at..end].starts_with(prefix.as_bytes()) {
                        let hidden = hidden.iter().any(|&(from, to)| (from..to).contains(&at));
                        let kind =
                            message[at + prefix.len()..end].split(|&b| b == b'>').next().unwrap_or_default();
                        let close = at + prefix.len() + kind.len();
                        let mark = match name(kind).filter(|_| close < end) {
                            None => Mark::Neither,
                            Some(kind) if slash.is_empty() => Mark::Open(namespace.to_string(), kind),
                            Some(kind) => Mark::Close(namespace.to_string(), kind),
                        };
                        marks.push(Marked { start: at, end: close + 1, hidden, mark });
                    }
                }
            }
        }
    }
    marks
}

fn name(kind: &[u8]) -> Option<String> {
    let kind = std::str::from_utf8(kind).ok()?;
    let good = (1..=32).contains(&kind.len())
        && kind.starts_with(|c: char| c.is_ascii_lowercase())
        && kind.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_');
    good.then(|| kind.to_owned())
}
