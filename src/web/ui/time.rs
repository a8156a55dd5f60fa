//! Relative times and durations, each with the exact time. Pure: the current time is an argument.

use std::time::{Duration, SystemTime};

use askama::{Template, filters::HtmlSafe};
use k8s_openapi::jiff::Timestamp;

/// A relative time, which the script keeps up to date.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(
    source = r#"<time datetime="{{ exact }}" title="{{ exact }}" data-relative="{{ tense }}">{{ words }}</time>"#,
    ext = "html"
)]
pub(super) struct Moment {
    exact: String,
    words: String,
    tense: &'static str,
}

impl HtmlSafe for Moment {}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

impl Moment {
    pub(super) fn past(at: SystemTime, now: SystemTime) -> Self {
        let words = match now.duration_since(at) {
            Ok(ago) if ago.as_secs() > 0 => format!("{} ago", span(ago)),
            Ok(_) | Err(_) => "just now".to_owned(),
        };
        Self { exact: exact(at), words, tense: "past" }
    }

    pub(super) fn ahead(at: SystemTime, now: SystemTime) -> Self {
        let words = match at.duration_since(now) {
            Ok(ahead) if ahead.as_secs() > 0 => format!("in {}", span(ahead)),
            Ok(_) | Err(_) => "now".to_owned(),
        };
        Self { exact: exact(at), words, tense: "ahead" }
    }
}

/// RFC 3339 in UTC, to the millisecond.
pub(super) fn exact(at: SystemTime) -> String {
    Timestamp::try_from(at).map_or_else(|_| String::new(), |time| format!("{time:.3}"))
}

/// A span of at least a second in its largest unit, rounded down.
pub(super) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..MINUTE => format!("{seconds} s"),
        MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        HOUR..DAY => format!("{} h", seconds / HOUR),
        DAY.. => format!("{} d", seconds / DAY),
    }
}

/// A duration with two or three digits.
pub(super) fn took(span: Duration) -> String {
    let milliseconds = span.as_secs_f64() * 1e3;
    match milliseconds {
        ..1.0 => format!("{} µs", span.as_micros()),
        ..10.0 => format!("{milliseconds:.1} ms"),
        10.0..1000.0 => format!("{milliseconds:.0} ms"),
        1000.0..60_000.0 => format!("{:.1} s", milliseconds / 1e3),
        _ => self::span(span),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_relative_with_the_exact_time() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365);
        for (before, expected) in [
            (0, "just now"),
            (59, "59 s ago"),
            (60, "1 min ago"),
            (7199, "1 h ago"),
            (200_000, "2 d ago"),
        ] {
            let moment = Moment::past(now - Duration::from_secs(before), now);
            assert_eq!(moment.words, expected);
        }
        assert_eq!(Moment::ahead(now, now + Duration::from_secs(5)).words, "now");
        let ahead = Moment::ahead(now + Duration::from_millis(12_900), now);
        assert_eq!(
            (ahead.words.as_str(), ahead.exact.as_str()),
            ("in 12 s", "1971-01-01T00:00:12.900Z")
        );
    }

    #[test]
    fn longer_durations_have_larger_units() {
        for (micros, expected) in [
            (40, "40 µs"),
            (1_500, "1.5 ms"),
            (32_400, "32 ms"),
            (1_240_000, "1.2 s"),
            (61_000_000, "1 min"),
        ] {
            assert_eq!(took(Duration::from_micros(micros)), expected);
        }
    }
}
