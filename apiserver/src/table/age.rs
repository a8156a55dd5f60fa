//! How long ago something was, in the short form that kubectl prints.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// The age of an RFC 3339 time.
pub(super) fn age(time: &str, now: Timestamp) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => duration(now.as_second() - time.as_second()),
        Err(_) => "<invalid>".to_owned(),
    }
}

/// A number of seconds.
pub(super) fn of_seconds(seconds: i64) -> String {
    duration(seconds)
}

/// Two units where the second still matters, else one.
fn duration(seconds: i64) -> String {
    let two = |large: i64, small: i64, names: [&str; 2]| {
        let (much, little) = (seconds / large, seconds % large / small);
        match little {
            0 => format!("{much}{}", names[0]),
            _ => format!("{much}{}{little}{}", names[0], names[1]),
        }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        s if s < 2 * MINUTE => format!("{s}s"),
        s if s < 10 * MINUTE => two(MINUTE, 1, ["m", "s"]),
        s if s < 3 * HOUR => format!("{}m", s / MINUTE),
        s if s < 8 * HOUR => two(HOUR, MINUTE, ["h", "m"]),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 8 * DAY => two(DAY, HOUR, ["d", "h"]),
        s if s < 2 * YEAR => format!("{}d", s / DAY),
        s if s < 8 * YEAR => two(YEAR, DAY, ["y", "d"]),
        s => format!("{}y", s / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        let cases = [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + 60, "3h1m"),
            (9 * HOUR + 60, "9h"),
            (2 * DAY, "2d"),
            (2 * DAY + HOUR, "2d1h"),
            (9 * DAY, "9d"),
            (2 * YEAR, "2y"),
            (2 * YEAR + DAY, "2y1d"),
            (9 * YEAR, "9y"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(duration(seconds), expected, "{seconds}");
        }
    }
}
