//! Durations and timestamps as text. Their values are in nanoseconds.

use jiff::{Timestamp, tz::Offset};

const SECOND: i64 = 1_000_000_000;

/// Whether a timestamp is between the years 1 and 9999.
pub(in crate::cel) fn is_in_range(nanos: i128) -> bool {
    let second = nanos.div_euclid(i128::from(SECOND));
    (-62_135_596_800..=253_402_300_799).contains(&second)
}

/// A timestamp as text.
pub(in crate::cel) fn print(nanos: i128) -> String {
    Timestamp::from_nanosecond(nanos).map_or_else(|_| String::new(), |time| time.to_string())
}

/// A duration as text.
pub(in crate::cel) fn print_duration(nanos: i64) -> String {
    format!("{}s", seconds(nanos))
}

#[expect(clippy::cast_precision_loss, reason = "as the real server, which divides floats too")]
fn seconds(nanos: i64) -> f64 {
    (nanos / 1_000_000_000) as f64 + (nanos % 1_000_000_000) as f64 / 1e9
}

/// A date and a time with an offset.
pub(in crate::cel) fn parse_rfc3339(text: &str) -> Option<i128> {
    let (date, time) = text.split_at_checked(10)?;
    let midnight = parse_date(date)?;
    let time = time.strip_prefix('T')?;
    let (clock, rest) = time.split_at_checked(8)?;
    let at = |range: std::ops::Range<usize>, limit: i128| {
        let digits = clock.get(range)?;
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|number: &i128| is_number && *number < limit)
    };
    let (hour, minute, second) = (at(0..2, 24)?, at(3..5, 60)?, at(6..8, 60)?);
    if clock.as_bytes()[2] != b':' || clock.as_bytes()[5] != b':' {
        return None;
    }
    let (fraction, zone) = fraction(rest)?;
    let seconds = hour * 3600 + minute * 60 + second - i128::from(zone_offset(zone)?);
    Some(midnight + seconds * i128::from(SECOND) + i128::from(fraction))
}

fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(digits) = text.strip_prefix(['.', ',']) else { return Some((0, text)) };
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    let padded = format!("{:0<9.9}", &digits[..end]);
    Some((padded.parse().ok().filter(|_| end > 0)?, &digits[end..]))
}

fn zone_offset(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.strip_prefix(['+', '-'])?.split_once(':')?;
    let number = |text: &str, limit: i64| {
        let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|number: &i64| is_number && *number < limit)
    };
    Some(sign * (number(hours, 25)? * 3600 + number(minutes, 60)? * 60))
}

/// The formats of `date-time` in a schema.
pub(in crate::cel) fn parse_date_time(text: &str) -> Option<i128> {
    parse_rfc3339(&text.to_uppercase())
}

/// A date, as its midnight.
pub(in crate::cel) fn parse_date(text: &str) -> Option<i128> {
    let bytes = text.as_bytes();
    let is_shaped = bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-';
    let date: jiff::civil::Date = text.parse().ok().filter(|_| is_shaped)?;
    let time = Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok()?;
    Some(time.as_nanosecond())
}

/// A duration in the form of Go, such as `1h30m`.
pub(in crate::cel) fn parse_duration(text: &str) -> Option<i64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total: i128 = 0;
    let mut any = false;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').filter(|end| *end > 0)?;
        let (number, after) = rest.split_at(end);
        let length = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        total = total.checked_add(measured(number, unit(&after[..length])?)?)?;
        debug_assert!(after.len() < rest.len(), "no progress at {rest:?}");
        rest = &after[length..];
        any = true;
    }
    i64::try_from(sign * total).ok().filter(|_| any)
}

fn unit(name: &str) -> Option<i128> {
    Some(match name {
        "ns" => 1,
        "us" | "µs" | "μs" => 1000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

fn measured(number: &str, unit: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let parse =
        |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<i128>().ok() };
    let fraction = &fraction[..fraction.len().min(18)];
    let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    parse(whole)?.checked_mul(unit)?.checked_add(parse(fraction)? * unit / scale)
}

/// A duration as a schema may write it, such as `2 days`.
pub(in crate::cel) fn parse_lenient_duration(text: &str) -> Option<i64> {
    if let Some(duration) = parse_duration(text) {
        return Some(duration);
    }
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0)?;
    let number: i64 = trimmed[..end].parse().ok()?;
    let nanos = match trimmed[end..].trim_start() {
        "ns" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => 1,
        "us" | "µs" | "micro" | "micros" | "microsecond" | "microseconds" => 1000,
        "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => 1_000_000,
        "s" | "sec" | "secs" | "second" | "seconds" => SECOND,
        "m" | "min" | "mins" | "minute" | "minutes" => 60 * SECOND,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600 * SECOND,
        "d" | "day" | "days" => 24 * 3600 * SECOND,
        "w" | "wk" | "week" | "weeks" => 7 * 24 * 3600 * SECOND,
        _ => return None,
    };
    number.checked_mul(nanos)
}

#[cfg(test)]
mod tests {
    use operetta_harness::random;

    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        assert_eq!(parse_duration("1h1.5s"), Some(3_601_500_000_000));
        assert_eq!(parse_duration("-2ms"), Some(-2_000_000));
        assert_eq!(parse_duration("0"), Some(0));
        for wrong in ["", "1", "h", "1x", "1..2s"] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn timestamps_are_read_and_printed() {
        let time = parse_rfc3339("2024-02-29T01:02:03.5+01:00").unwrap();
        assert_eq!(print(time), "2024-02-29T00:02:03.5Z");
        for wrong in ["2024-02-30T00:00:00Z", "2024-02-29", "2024-02-29T25:00:00Z"] {
            assert_eq!(parse_rfc3339(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn any_text_is_a_time_or_none() {
        let parser = |text: &str| {
            let _ = (parse_duration(text), parse_lenient_duration(text), parse_date(text));
            let _ = (parse_rfc3339(text), parse_date_time(text));
            let _ = (parse_rfc3339(&format!("2024-02-29T10:00:00{text}")).map(print),);
        };
        random::texts(&random::TIMES, parser);
        random::long_texts(&random::TIMES, parser);
    }
}
