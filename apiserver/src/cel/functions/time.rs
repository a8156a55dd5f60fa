//! The parts of durations and timestamps.

use jiff::{Timestamp, civil::DateTime, tz::Offset};

use crate::cel::value::{Failure, Outcome, Val, error, no_overload};

const SECOND: i64 = 1_000_000_000;

/// The parts of times.
pub(super) fn call<'a>(function: &str, args: &[Val<'a>]) -> Outcome<'a> {
    match args {
        [Val::Duration(nanos)] => Ok(Val::Int(match function {
            "getHours" => nanos / (3600 * SECOND),
            "getMinutes" => nanos / (60 * SECOND),
            "getSeconds" => nanos / SECOND,
            "getMilliseconds" => nanos / (SECOND / 1000),
            _ => return no_overload(),
        })),
        [Val::Timestamp(nanos)] => part(function, civil(*nanos, 0)?),
        [Val::Timestamp(nanos), zone] => part(function, civil(*nanos, offset(zone.as_text()?)?)?),
        _ => no_overload(),
    }
}

fn part<'a>(function: &str, time: DateTime) -> Outcome<'a> {
    Ok(Val::Int(match function {
        "getFullYear" => i64::from(time.year()),
        "getMonth" => i64::from(time.month()) - 1,
        "getDate" => i64::from(time.day()),
        "getDayOfMonth" => i64::from(time.day()) - 1,
        "getDayOfWeek" => i64::from(time.weekday().to_sunday_zero_offset()),
        "getDayOfYear" => i64::from(time.day_of_year()) - 1,
        "getHours" => i64::from(time.hour()),
        "getMinutes" => i64::from(time.minute()),
        "getSeconds" => i64::from(time.second()),
        "getMilliseconds" => i64::from(time.millisecond()),
        _ => return no_overload(),
    }))
}

fn civil(nanos: i128, offset: i32) -> Result<DateTime, Failure> {
    let time = Timestamp::from_nanosecond(nanos);
    match (time, Offset::from_seconds(offset)) {
        (Ok(time), Ok(offset)) => Ok(offset.to_datetime(time)),
        _ => error("timestamp overflow"),
    }
}

/// The seconds east of UTC. Zones by name are not known here.
fn offset(zone: &str) -> Result<i32, Failure> {
    if matches!(zone, "" | "UTC") {
        return Ok(0);
    }
    let unknown = || Failure::Error(format!("unknown time zone {zone}"));
    let (hours, minutes) = zone.split_once(':').ok_or_else(unknown)?;
    let whole = |text: &str| text.trim_start_matches('+').parse::<i32>().map_err(|_| unknown());
    let (hours, minutes) = (whole(hours)?, whole(minutes)?);
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let minutes = hours.checked_mul(60).and_then(|hours| hours.checked_add(sign * minutes));
    minutes.and_then(|minutes| minutes.checked_mul(60)).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use operetta_harness::random;

    use super::*;

    #[test]
    fn any_text_is_an_offset_or_unknown() {
        let parser = |text: &str| drop(offset(text));
        random::texts(&random::TIMES, parser);
        random::long_texts(&random::TIMES, parser);
    }

    #[test]
    fn an_offset_beyond_all_numbers_is_unknown() {
        for zone in ["2147483647:00", "-2147483648:59", "00:-2147483648"] {
            assert!(offset(zone).is_err(), "{zone}");
        }
    }
}
