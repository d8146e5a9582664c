use std::time::Duration;

/// Reads `90`, `90s`, `30m`, `1h30m`, `2d`.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no time: write it as 90s, 30m or 1h30m");
    let mut total = Duration::ZERO;
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number: u64 = rest[..digits].parse().map_err(|_| wrong())?;
        let unit_len = rest[digits..].find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len() - digits);
        let seconds = match &rest[digits..digits + unit_len] {
            "" | "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            _ => return Err(wrong()),
        };
        total += number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(wrong)?;
        rest = &rest[digits + unit_len..];
    }
    if total.is_zero() || total > Duration::from_secs(365 * 86_400) {
        return Err(format!("{text:?} is not between a second and a year"));
    }
    Ok(total)
}

/// A time for people: `4.2 s`, `3:07`, `1:02:03`.
pub(super) fn show(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        60..3_600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_people_write_them() {
        for (text, seconds) in [("90", 90), ("90s", 90), ("30m", 1_800), ("1h30m", 5_400), ("2d", 172_800)] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in
            ["", "0", "x", "-5", "5x", "m", "1.5h", "99999999999999999999", "18446744073709551615d", "ä"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(show(Duration::from_millis(4_210)), "4.2 s");
        assert_eq!(show(Duration::from_secs(187)), "3:07");
        assert_eq!(show(Duration::from_secs(3_723)), "1:02:03");
    }
}
