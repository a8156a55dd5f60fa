//! Business hours: reads `Mon-Fri 08:00-18:00 Europe/Berlin`, and decides whether it is one of them.
//!
//! The end may be before the begin, which is then on the next day. Hours are those of the clock on the wall: a
//! window that begins in the hour that a change to summer time skips begins after it.

use std::fmt;

use k8s_openapi::jiff::{
    Timestamp, ToSpan, Zoned,
    civil::{Date, Time, Weekday},
    tz::TimeZone,
};
use operetta::recipes::time_zone;

/// A text is not business hours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is not `DAYS BEGIN-END ZONE`, such as `Mon-Fri 08:00-18:00 Europe/Berlin`: {0}")]
pub struct InvalidHours(String);

/// Days of the week, a window on each of them, and a time zone.
#[derive(Debug, Clone, PartialEq)]
pub struct BusinessHours {
    days: Vec<Weekday>,
    begin: Clock,
    end: Clock,
    zone: TimeZone,
}

/// Whether it is business hours, and until when that is so.
#[derive(Debug, Clone, PartialEq)]
pub enum Hours {
    /// It is; without an end if it always is.
    Open(Option<Zoned>),
    /// It is not.
    Closed(Zoned),
}

/// Minutes since midnight, up to 24:00.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Clock(i64);

const MIDNIGHT: Clock = Clock(24 * 60);

const DAYS: [(&str, Weekday); 7] = [
    ("Mon", Weekday::Monday),
    ("Tue", Weekday::Tuesday),
    ("Wed", Weekday::Wednesday),
    ("Thu", Weekday::Thursday),
    ("Fri", Weekday::Friday),
    ("Sat", Weekday::Saturday),
    ("Sun", Weekday::Sunday),
];

impl BusinessHours {
    /// Reads business hours.
    ///
    /// # Errors
    /// The part that cannot be read.
    pub fn parse(text: &str) -> Result<Self, InvalidHours> {
        let parts: Vec<&str> = text.split_whitespace().collect();
        let [days, hours, zone] = parts[..] else {
            return Err(InvalidHours(format!("it has {} parts instead of three", parts.len())));
        };
        let ((begin, end), days) = (window(hours)?, weekdays(days)?);
        let zone = time_zone(zone).map_err(|error| InvalidHours(error.to_string()))?;
        Ok(Self { days, begin, end, zone })
    }

    /// Whether it is business hours at this time.
    pub fn at(&self, now: Timestamp) -> Hours {
        let windows = self.windows(now.to_zoned(self.zone.clone()).date());
        let is_now =
            |(begin, end): &&(Zoned, Zoned)| begin.timestamp() <= now && now < end.timestamp();
        if let Some((begin, end)) = windows.iter().find(is_now) {
            // The windows around today are a week and more if they are one.
            let is_always = end.timestamp().duration_since(begin.timestamp()).as_hours() > 7 * 24;
            return Hours::Open((!is_always).then(|| end.clone()));
        }
        let begin =
            windows.into_iter().map(|(begin, _)| begin).find(|begin| begin.timestamp() > now);
        // Every week has a window.
        begin.map_or(Hours::Open(None), Hours::Closed)
    }

    /// The windows from yesterday to this day in a week; those that touch are one.
    fn windows(&self, today: Date) -> Vec<(Zoned, Zoned)> {
        let mut windows: Vec<(Zoned, Zoned)> = Vec::new();
        let dates = (-1..=8).filter_map(|days: i64| today.checked_add(days.days()).ok());
        for date in dates.filter(|date| self.days.contains(&date.weekday())) {
            let Some((begin, end)) = self.window_of(date) else { continue };
            match windows.last_mut() {
                Some((_, last)) if *last >= begin => *last = end,
                _ => windows.push((begin, end)),
            }
        }
        windows
    }

    fn window_of(&self, date: Date) -> Option<(Zoned, Zoned)> {
        let next = date.tomorrow().ok()?;
        let last = if self.end <= self.begin { next } else { date };
        Some((self.begin.on(date, &self.zone)?, self.end.on(last, &self.zone)?))
    }
}

impl Clock {
    fn on(self, date: Date, zone: &TimeZone) -> Option<Zoned> {
        let date = if self == MIDNIGHT { date.tomorrow().ok()? } else { date };
        let minutes = self.0 % MIDNIGHT.0;
        let time =
            Time::new((minutes / 60).try_into().ok()?, (minutes % 60).try_into().ok()?, 0, 0);
        date.to_datetime(time.ok()?).to_zoned(zone.clone()).ok()
    }

    fn parse(text: &str) -> Option<Self> {
        let (hours, minutes) = text.split_once(':')?;
        let number = |text: &str| {
            let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<i64>().ok().filter(|_| is_number)
        };
        let (hours, minutes) = (number(hours)?, number(minutes).filter(|minutes| *minutes < 60)?);
        Some(Self(hours * 60 + minutes)).filter(|clock| *clock <= MIDNIGHT)
    }
}

fn window(text: &str) -> Result<(Clock, Clock), InvalidHours> {
    let ends = text
        .split_once('-')
        .and_then(|(begin, end)| Some((Clock::parse(begin)?, Clock::parse(end)?)));
    let is_window = |(begin, end): &(Clock, Clock)| begin != end && *begin < MIDNIGHT;
    let why = || InvalidHours(format!("`{text}` is not a time of day, `-` and another one"));
    ends.filter(is_window).ok_or_else(why)
}

/// Days and ranges of days, such as `Mon-Wed,Fri`. A range may pass the end of the week.
fn weekdays(text: &str) -> Result<Vec<Weekday>, InvalidHours> {
    let index = |name: &str| {
        let known = DAYS.iter().position(|(day, _)| day.eq_ignore_ascii_case(name));
        known.ok_or_else(|| {
            InvalidHours(format!("`{name}` is not one of Mon, Tue, Wed, Thu, Fri, Sat, Sun"))
        })
    };
    let mut days = Vec::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (index(first)?, index(last)?);
        let count = (last + 7 - first) % 7 + 1;
        days.extend((first..first + count).map(|day| DAYS[day % 7].1));
    }
    Ok(days)
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zone = |time: &Zoned| time.time_zone().iana_name().unwrap_or_default().to_owned();
        match self {
            Self::Open(None) => f.write_str("always open"),
            Self::Open(Some(end)) => write!(f, "open until {} {}", shown(end), zone(end)),
            Self::Closed(begin) => write!(f, "closed until {} {}", shown(begin), zone(begin)),
        }
    }
}

fn shown(time: &Zoned) -> String {
    time.strftime("%a %Y-%m-%d %H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFICE: &str = "Mon-Fri 08:00-18:00 Europe/Berlin";

    fn shown_at(text: &str, now: &str) -> String {
        BusinessHours::parse(text).unwrap().at(now.parse().unwrap()).to_string()
    }

    #[test]
    fn it_is_open_from_the_begin_to_the_end_on_the_days() {
        for (text, now, expected) in [
            // A Thursday, in winter one hour ahead of UTC.
            (OFFICE, "2026-11-26T06:59:59Z", "closed until Thu 2026-11-26 08:00 Europe/Berlin"),
            (OFFICE, "2026-11-26T07:00:00Z", "open until Thu 2026-11-26 18:00 Europe/Berlin"),
            (OFFICE, "2026-11-26T17:00:00Z", "closed until Fri 2026-11-27 08:00 Europe/Berlin"),
            (OFFICE, "2026-11-27T17:00:00Z", "closed until Mon 2026-11-30 08:00 Europe/Berlin"),
            // In summer two hours.
            (OFFICE, "2026-07-16T06:00:00Z", "open until Thu 2026-07-16 18:00 Europe/Berlin"),
            // Past midnight, and from the day before.
            ("Fri 22:00-06:00 UTC", "2026-11-28T05:59:00Z", "open until Sat 2026-11-28 06:00 UTC"),
            (
                "Fri 22:00-06:00 UTC",
                "2026-11-28T06:00:00Z",
                "closed until Fri 2026-12-04 22:00 UTC",
            ),
            // Windows that touch are one.
            (
                "Mon-Tue 00:00-24:00 UTC",
                "2026-11-30T12:00:00Z",
                "open until Wed 2026-12-02 00:00 UTC",
            ),
            ("Mon-Sun 00:00-24:00 UTC", "2026-11-26T12:00:00Z", "always open"),
            (
                "Sat-Mon 09:00-10:00 UTC",
                "2026-11-29T09:30:00Z",
                "open until Sun 2026-11-29 10:00 UTC",
            ),
            (
                "mon,wed 09:00-10:00 UTC",
                "2026-11-30T10:00:00Z",
                "closed until Wed 2026-12-02 09:00 UTC",
            ),
            // The hour from 02:00 does not exist on that day.
            (
                "Sun 02:30-04:00 Europe/Berlin",
                "2026-03-29T00:59:00Z",
                "closed until Sun 2026-03-29 03:30 Europe/Berlin",
            ),
        ] {
            assert_eq!(shown_at(text, now), expected, "{text} at {now}");
        }
    }

    #[test]
    fn what_is_not_business_hours_is_refused_and_the_part_is_named() {
        for (text, part) in [
            ("", "it has 0 parts"),
            ("Mon-Fri 08:00-18:00", "it has 2 parts"),
            ("Mon-Fri 08:00 - 18:00 UTC", "it has 5 parts"),
            ("Mo-Fr 08:00-18:00 UTC", "`Mo` is not one of"),
            ("Mon-Fri,, 08:00-18:00 UTC", "`` is not one of"),
            ("Mon 8:00-18:00 UTC", "`8:00-18:00` is not"),
            ("Mon 08:00-24:01 UTC", "`08:00-24:01` is not"),
            ("Mon 08:60-18:00 UTC", "`08:60-18:00` is not"),
            ("Mon 08:00-08:00 UTC", "`08:00-08:00` is not"),
            ("Mon 24:00-08:00 UTC", "`24:00-08:00` is not"),
            ("Mon +8:00-18:00 UTC", "`+8:00-18:00` is not"),
            ("Mon 08:00-18:00 Europe/Atlantis", "`Europe/Atlantis` is not a time zone"),
        ] {
            let error = BusinessHours::parse(text).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
