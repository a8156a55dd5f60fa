//! Spans of time as kubectl prints them.

use k8s_openapi::jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// How long ago a time in RFC 3339 was; empty if it is none.
pub(super) fn ago(time: &str, now: Timestamp) -> String {
    since(time, now).map(span).unwrap_or_default()
}

/// How far ahead a time is; `now` if it has passed.
pub(super) fn ahead(time: &str, now: Timestamp) -> String {
    match since(time, now) {
        Some(passed) if passed < 0 => span(-passed),
        Some(_) => "now".to_owned(),
        None => String::new(),
    }
}

fn since(time: &str, now: Timestamp) -> Option<i64> {
    let time: Timestamp = time.parse().ok()?;
    Some(now.as_second() - time.as_second())
}

/// Less exact the longer it is.
fn span(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (unit, name, part, part_name) = match seconds {
        0..120 => return format!("{seconds}s"),
        120..600 => (MINUTE, "m", 1, "s"),
        600..10_800 => return format!("{}m", seconds / MINUTE),
        10_800..28_800 => (HOUR, "h", MINUTE, "m"),
        28_800..172_800 => return format!("{}h", seconds / HOUR),
        172_800..691_200 => (DAY, "d", HOUR, "h"),
        691_200..63_072_000 => return format!("{}d", seconds / DAY),
        _ => return format!("{}y", seconds / YEAR),
    };
    match seconds % unit / part {
        0 => format!("{}{name}", seconds / unit),
        rest => format!("{}{name}{rest}{part_name}", seconds / unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_less_exact_the_longer_it_is() {
        for (seconds, shown) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (599, "9m59s"),
            (600, "10m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + 61, "3h1m"),
            (9 * HOUR + 61, "9h"),
            (3 * DAY + HOUR, "3d1h"),
            (10 * DAY + HOUR, "10d"),
            (3 * YEAR, "3y"),
        ] {
            assert_eq!(span(seconds), shown, "{seconds}");
        }
    }

    #[test]
    fn times_are_before_or_after_now() {
        let now: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        assert_eq!(ago("2026-01-01T11:59:55.000Z", now), "5s");
        assert_eq!(ahead("2026-01-01T12:00:30Z", now), "30s");
        assert_eq!(ahead("2026-01-01T11:00:00Z", now), "now");
        assert_eq!((ago("", now), ahead("x", now)), (String::new(), String::new()));
    }
}
