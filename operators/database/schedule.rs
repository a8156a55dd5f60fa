//! Whether a schedule can ever be due. The schema refuses texts that are no schedule. This module refuses
//! schedules that are never due, such as the 31st of February.

use std::str::FromStr;

use croner::Cron;
use k8s_openapi::jiff::{Timestamp, tz::TimeZone};

/// A schedule that no `CronJob` can keep.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ImpossibleSchedule {
    /// A field has no such value.
    #[error("spec.backup.schedule: `{0}` is not a schedule: {1}")]
    Malformed(String, String),
    /// There is no such time.
    #[error("spec.backup.schedule: `{0}` is never due: no year has such a day")]
    NeverDue(String),
}

/// Checks a schedule.
pub(super) fn check(schedule: &str) -> Result<(), ImpossibleSchedule> {
    let malformed = |error: &dyn ToString| {
        ImpossibleSchedule::Malformed(schedule.to_owned(), error.to_string())
    };
    let pattern = Cron::from_str(schedule).map_err(|error| malformed(&error))?;
    // A day that exists in no leap year from here exists in none.
    let start = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
    let next = pattern.find_next_occurrence(&start, false);
    next.map(drop).map_err(|_| ImpossibleSchedule::NeverDue(schedule.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_that_is_due_at_some_time_is_accepted() {
        for schedule in
            ["30 3 * * *", "*/15 * * * *", "0 0 29 2 *", "0 0 31 2 MON", "@daily", "0 4 1-7 * SUN"]
        {
            assert_eq!(check(schedule), Ok(()), "{schedule}");
        }
    }

    #[test]
    fn one_that_never_is_or_cannot_be_read_is_refused_with_its_text() {
        for schedule in
            ["61 * * * *", "0 24 * * *", "0 0 31 13 *", "0 0 0 1 *", "*/0 * * * *", "a b c d e"]
        {
            let error = check(schedule).unwrap_err();
            assert!(matches!(error, ImpossibleSchedule::Malformed(..)), "{error}");
            assert!(error.to_string().contains(schedule), "{error}");
        }
        for schedule in ["0 0 31 2 *", "0 0 30 FEB *", "0 0 31 4,6,9,11 *"] {
            assert_eq!(check(schedule), Err(ImpossibleSchedule::NeverDue(schedule.to_owned())));
        }
    }
}
