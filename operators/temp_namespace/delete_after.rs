//! Parses `spec.deleteAfter`.

use std::time::Duration;

/// `deleteAfter` is not a valid duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum InvalidDeleteAfter {
    /// It is not a number and a unit.
    #[error(
        "spec.deleteAfter: `{0}` is not an integer followed by s, m, h or d, \
         for example 90m; the namespace stays as it is until this is fixed"
    )]
    Malformed(String),
    /// It is longer than the maximum.
    #[error(
        "spec.deleteAfter: `{0}` is too long, at most 36500d; \
         the namespace stays as it is until this is fixed"
    )]
    TooLong(String),
}

const DAY: u64 = 24 * 60 * 60;
/// A hundred years.
const MAX: u64 = 36_500 * DAY;

/// Parses an integer with a unit: `s`, `m`, `h` or `d`, in either case.
pub(super) fn parse(text: &str) -> Result<Duration, InvalidDeleteAfter> {
    let malformed = || InvalidDeleteAfter::Malformed(text.to_owned());
    let unit = text.chars().next_back().ok_or_else(malformed)?;
    let number = &text[..text.len() - unit.len_utf8()];
    let seconds_per_unit = match unit.to_ascii_lowercase() {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => DAY,
        _ => return Err(malformed()),
    };
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(malformed());
    }
    let seconds = number.parse::<u64>().ok().and_then(|count| count.checked_mul(seconds_per_unit));
    seconds
        .filter(|seconds| *seconds <= MAX)
        .map(Duration::from_secs)
        .ok_or_else(|| InvalidDeleteAfter::TooLong(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_and_a_unit_in_either_case() {
        for (text, seconds) in [
            ("0s", 0),
            ("45s", 45),
            ("10M", 600),
            ("2h", 7200),
            ("1D", 86400),
            ("007d", 604_800),
            ("36500d", MAX),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_and_named() {
        for text in ["", "s", "10", "10x", "-1s", "+1s", "1.5h", " 1h", "1 h", "1ħ", "ten minutes"]
        {
            let error = parse(text).unwrap_err();
            assert_eq!(error, InvalidDeleteAfter::Malformed(text.to_owned()));
            assert!(error.to_string().contains(&format!("`{text}`")));
        }
    }

    #[test]
    fn a_duration_that_is_too_long_is_refused() {
        for text in ["99999999999999999999s", "18446744073709551615d", "36501d"] {
            assert_eq!(parse(text), Err(InvalidDeleteAfter::TooLong(text.to_owned())));
        }
    }
}
