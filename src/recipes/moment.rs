//! Times as they are kept in a status: to the second, so that texts of them are short.

use std::time::{Duration, SystemTime};

use k8s_openapi::jiff::Timestamp;

/// The second in which a time is; the last second that can be written where it is later.
pub(super) fn second_of(time: SystemTime) -> Timestamp {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX)
}

/// The time after a while, in whole seconds, rounded up.
pub(super) fn after(time: Timestamp, delay: Duration) -> Timestamp {
    let seconds = delay.as_secs().saturating_add(u64::from(delay.subsec_nanos() > 0));
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    let second = time.as_second().saturating_add(seconds);
    Timestamp::from_second(second).unwrap_or(Timestamp::MAX)
}

/// How long it is until a time; `None` if it has come.
pub(super) fn until(time: Timestamp, now: SystemTime) -> Option<Duration> {
    let seconds = u64::try_from(time.as_second()).unwrap_or_default();
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?;
    time.duration_since(now).ok().filter(|left| !left.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_come_when_nothing_is_left() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(10_500);
        let second = second_of(now);
        assert_eq!(second.to_string(), "1970-01-01T00:00:10Z");
        assert_eq!(until(second, now), None);
        assert_eq!(
            until(after(second, Duration::from_millis(1)), now),
            Some(Duration::from_millis(500))
        );
        assert_eq!(after(second, Duration::MAX), Timestamp::MAX);
    }
}
