use std::time::Duration;

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
    fn times_as_people_read_them() {
        assert_eq!(show(Duration::from_millis(4_210)), "4.2 s");
        assert_eq!(show(Duration::from_secs(187)), "3:07");
        assert_eq!(show(Duration::from_secs(3_723)), "1:02:03");
    }
}
