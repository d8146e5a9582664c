//! Whether the terminal is light or dark. It is asked with OSC 11, and its answer comes in between the keys.

/// The question. A terminal that does not understand it says nothing.
pub(super) const QUESTION: &str = "\x1b]11;?\x1b\\";

/// What somebody said of the background before the terminal was asked: rxvt and Konsole set `COLORFGBG`, as `15;0`.
pub(super) fn guess(variable: Option<&str>) -> Option<bool> {
    let color: u8 = variable?.rsplit(';').next()?.parse().ok()?;
    Some(color == 7 || (9..=15).contains(&color))
}

/// Whether the answer `ESC ] 11 ; rgb:ffff/ffff/ffff ST`, of one to four digits each, is nearer to white than to black.
pub(super) fn is_light(answer: &[u8]) -> Option<bool> {
    let answer = std::str::from_utf8(answer).ok()?.strip_prefix("\x1b]11;rgb")?;
    let answer = answer.strip_suffix('\x07').or_else(|| answer.strip_suffix("\x1b\\"))?;
    let (_, colors) = answer.split_once(':')?;
    let mut parts = colors.split('/').map(|part| {
        let most =
            16_u32.checked_pow(part.len().try_into().ok()?)?.checked_sub(1).filter(|most| *most > 0)?;
        Some(f64::from(u32::from_str_radix(part, 16).ok()?) / f64::from(most))
    });
    let mut next = || parts.next().flatten();
    // The eye sees most of the green and little of the blue.
    Some(0.21 * next()? + 0.72 * next()? + 0.07 * next()? > 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_colour_or_nothing() {
        for (answer, light) in [
            ("\x1b]11;rgb:ffff/ffff/ffff\x1b\\", Some(true)),
            ("\x1b]11;rgb:0000/2b2b/3636\x07", Some(false)),
            ("\x1b]11;rgb:f/f/e\x1b\\", Some(true)),
            ("\x1b]11;rgba:1e/1e/1e/ff\x1b\\", Some(false)),
            ("\x1b]11;rgb:zz/1/1\x1b\\", None),
            ("\x1b]11;rgb:\x07", None),
            ("\x1b]11;rgb:/1/1\x1b\\", None),
            ("\x1b]11;rgb:ffff/ffff\x1b\\", None),
            ("\x1b]11;rgb:ffff/ffff/ffffffffffffffffffff\x1b\\", None),
        ] {
            assert_eq!(is_light(answer.as_bytes()), light, "{answer:?}");
        }
    }

    #[test]
    fn what_the_environment_says_is_believed_until_then() {
        for (variable, light) in [
            (Some("15;0"), Some(false)),
            (Some("0;15"), Some(true)),
            (Some("0;default;7"), Some(true)),
            (Some("12;8"), Some(false)),
            (Some("default;default"), None),
            (Some(""), None),
            (None, None),
        ] {
            assert_eq!(guess(variable), light, "{variable:?}");
        }
    }
}
