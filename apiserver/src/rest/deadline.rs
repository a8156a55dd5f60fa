//! The `timeout` of a request, which has to be a duration of Go. Requests are not ended by it.

use crate::{query::Query, schema::go_value, status::StatusError};

const UNITS: [&str; 8] = ["ns", "us", "\u{b5}s", "\u{3bc}s", "ms", "s", "m", "h"];

/// What takes as long as it takes.
const CONNECTIONS: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];

/// Refuses a `timeout` that is none, of a request that is answered at once.
pub(super) fn check(path: &str, query: &Query) -> Result<(), StatusError> {
    let mut steps = path.split('/').skip(3);
    let is_long = query.flag("watch") || steps.any(|it| it == "watch" || CONNECTIONS.contains(&it));
    if is_long {
        return Ok(());
    }
    let Some(why) = query.text("timeout").and_then(fault) else { return Ok(()) };
    let message = format!("invalid timeout specified in the request URL - time: {why}");
    Err(StatusError::bad_request(message))
}

/// What Go says of a text that is no duration.
fn fault(text: &str) -> Option<String> {
    let shown = go_value::quote(text);
    let invalid = || Some(format!("invalid duration {shown}"));
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return None;
    }
    if rest.is_empty() {
        return invalid();
    }
    while !rest.is_empty() {
        let is_digit = |c: char| c.is_ascii_digit();
        let whole = rest.trim_start_matches(is_digit);
        let number = &rest[..rest.len() - whole.len()];
        let after = whole.strip_prefix('.').map(|it| it.trim_start_matches(is_digit));
        let has_fraction = after.is_some_and(|it| it.len() + 1 < whole.len());
        let fits = number.is_empty() || number.parse::<i64>().is_ok();
        if number.is_empty() && !has_fraction || !fits {
            return invalid();
        }
        let unit = after.unwrap_or(whole);
        rest = unit.trim_start_matches(|c: char| c != '.' && !c.is_ascii_digit());
        match &unit[..unit.len() - rest.len()] {
            "" => return Some(format!("missing unit in duration {shown}")),
            unit if UNITS.contains(&unit) => {}
            unit => {
                let unit = go_value::quote(unit);
                return Some(format!("unknown unit {unit} in duration {shown}"));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        for good in ["0", "+0", "1s", "-1.5h", "1h2m3s", ".5s", "1.s", "3\u{b5}s"] {
            assert_eq!(fault(good), None, "{good}");
        }
        for (bad, why) in [
            ("abc", "invalid duration \"abc\""),
            ("-", "invalid duration \"-\""),
            (".s", "invalid duration \".s\""),
            ("5", "missing unit in duration \"5\""),
            ("1h5", "missing unit in duration \"1h5\""),
            ("5d", "unknown unit \"d\" in duration \"5d\""),
            ("99999999999999999999s", "invalid duration \"99999999999999999999s\""),
        ] {
            assert_eq!(fault(bad).as_deref(), Some(why), "{bad}");
        }
    }

    #[test]
    fn any_text_is_a_duration_or_refused() {
        const TOKENS: [&str; 8] = ["1", ".", "s", "-", "\u{b5}", "9999999999", "h", "+"];
        operetta_harness::random::texts(&TOKENS, |text| drop(fault(text)));
    }
}
