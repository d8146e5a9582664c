use jackin_core::Timestamp;

/// Reads an RFC 3339 time in UTC, such as `2026-02-23T12:19:42.561Z`, as every agent writes it. Anything else is no
/// time.
pub(super) fn parse_utc(text: &str) -> Option<Timestamp> {
    let text = text.strip_suffix('Z')?;
    let (date, time) = text.split_once('T')?;
    let [year, month, day] = fields(date, '-')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [hour, minute, second] = fields(time, ':')?;
    let in_range = (1970..10_000).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !in_range || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let millis = fraction.bytes().chain(*b"000").take(3).fold(0, |sum, b| sum * 10 + u64::from(b - b'0'));
    // Years are counted from March, so that the leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(Timestamp::from_millis((((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + millis))
}

fn fields(text: &str, separator: char) -> Option<[u64; 3]> {
    let mut parts = text.split(separator);
    let mut next = || {
        let part = parts.next()?;
        (part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse().ok())?
    };
    let all = [next()?, next()?, next()?];
    parts.next().is_none().then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_core_prints_is_read_back() {
        for millis in
            [0, 951_782_399_999, 951_782_400_000, 1_709_251_199_001, 4_107_542_400_000, 1_771_849_182_561]
        {
            let time = Timestamp::from_millis(millis);
            assert_eq!(parse_utc(&time.to_string()), Some(time));
        }
        assert_eq!(parse_utc("2026-01-15T10:00:01Z"), parse_utc("2026-01-15T10:00:01.000Z"));
    }

    #[test]
    fn anything_else_is_no_time() {
        for text in [
            "",
            "Z",
            "<TIMESTAMP>",
            "2026-02-23",
            "2026-13-01T00:00:00Z",
            "1969-01-01T00:00:00Z",
            "2026-02-23T12:19:42.5x1Z",
            "2026-02-23T12:19Z",
            "99999-01-01T00:00:00Z",
            "2026-02-23T12:19:42+01:00",
        ] {
            assert_eq!(parse_utc(text), None, "{text}");
        }
    }
}
