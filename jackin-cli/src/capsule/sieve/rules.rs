use super::StringKind;

/// The modes that our renderer switches, each of which leaving switches back.
const MODES: [u32; 9] = [1, 25, 1003, 1004, 1006, 1007, 2004, 2026, 2031];

/// Operating-system commands that a program must not send through us although a terminal may know them: X properties (3),
/// xterm's log file (46), fonts and their names (50), calls of an editor's functions (51), what xterm is allowed (60, 61),
/// kitty's clipboard, which can be read (5522).
const REFUSED_OSCS: [u32; 7] = [3, 46, 50, 51, 60, 61, 5522];

/// Keypad modes.
pub(super) fn escape_is_allowed(byte: u8) -> bool {
    matches!(byte, b'=' | b'>')
}

/// Whether a control sequence, from after `ESC [` to its last byte, draws or switches what our renderer does.
pub(super) fn csi_is_allowed(sequence: &[u8]) -> bool {
    let Some((last, body)) = sequence.split_last() else { return false };
    let (prefix, body) = match body.split_first() {
        Some((prefix @ b'<'..=b'?', rest)) => (Some(*prefix), rest),
        _ => (None, body),
    };
    let parameters = body.iter().position(|byte| !byte.is_ascii_digit() && !matches!(byte, b';' | b':'));
    let (parameters, intermediates) = body.split_at(parameters.unwrap_or(body.len()));
    match (prefix, intermediates, last) {
        (None, b"", b'm') => true,
        // Moving, erasing, inserting, scrolling.
        (
            None,
            b"",
            b'A'..=b'H' | b'J'..=b'M' | b'P' | b'S' | b'T' | b'X' | b'@' | b'b' | b'd' | b'f' | b'r',
        ) => count(parameters) <= 2,
        (None, b" ", b'q') => true,
        // Who the terminal is, and how large a cell is. Nothing else is asked of it: a title, for one, would be typed.
        (None, b"", b'c') => matches!(parameters, b"" | b"0"),
        (None, b"", b't') => matches!(parameters, b"14" | b"16" | b"18"),
        (Some(b'?'), b"", b'h' | b'l') => parameters
            .split(|byte| *byte == b';')
            .all(|mode| number(mode).is_some_and(|mode| MODES.contains(&mode))),
        (Some(b'?'), b"$", b'p') => number(parameters).is_some(),
        (Some(b'?'), b"", b'n') => parameters == b"996",
        // The keyboard.
        (Some(b'?'), b"", b'u') => parameters.is_empty(),
        (Some(b'<' | b'=' | b'>'), b"", b'u') => count(parameters) <= 2,
        (Some(b'>'), b"", b'm') => {
            parameters == b"4" || parameters.starts_with(b"4;") && count(parameters) == 2
        }
        _ => false,
    }
}

/// Whether a string may pass, by its first bytes: all of it, or as many as are kept.
pub(super) fn string_is_allowed(kind: StringKind, head: &[u8], clipboard_read: bool) -> bool {
    match kind {
        StringKind::Osc => osc_is_allowed(head, clipboard_read),
        // Sixel images, and the questions that end in the same letter. Others switch terminals into modes that run
        // commands, define keys, or carry whatever they like past us.
        StringKind::Dcs => {
            let end = head.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b' '..=b'/'));
            end.is_some_and(|end| head[end] == b'q')
        }
        // Kitty's images.
        StringKind::Apc => head.first() == Some(&b'G'),
        StringKind::Other => false,
    }
}

fn osc_is_allowed(head: &[u8], clipboard_read: bool) -> bool {
    let digits = head.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let Some(osc) = number(&head[..digits]) else { return false };
    let rest = match head.get(digits) {
        Some(b';') => &head[digits + 1..],
        None => &[][..],
        Some(_) => return false,
    };
    match osc {
        // What is after the second semicolon is written to the clipboard, or a question mark, which reads it.
        52 => {
            let mut parts = rest.splitn(2, |byte| *byte == b';');
            let (_, data) = (parts.next(), parts.next());
            data.is_some_and(|data| clipboard_read || data.first() != Some(&b'?'))
        }
        // A notification, or progress and the directory by number. Other numbers run programs and macros in ConEmu.
        9 => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let is_command = digits > 0 && matches!(rest.get(digits), Some(b';') | None);
            !is_command || matches!(&rest[..digits], b"4" | b"9")
        }
        _ => !REFUSED_OSCS.contains(&osc),
    }
}

fn count(parameters: &[u8]) -> usize {
    if parameters.is_empty() { 0 } else { parameters.split(|byte| *byte == b';').count() }
}

fn number(digits: &[u8]) -> Option<u32> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
