//! Times as the server writes them: UTC, whole seconds, or exactly six digits of a second.
//!
//! Times in another zone than UTC are not changed.

/// `metav1.Time`: fractions of a second are dropped.
pub(super) fn to_seconds(text: &mut String) {
    if let Some((whole, _)) = split(text) {
        *text = format!("{whole}Z");
    }
}

/// `metav1.MicroTime`: fractions of a microsecond are dropped.
pub(super) fn to_microseconds(text: &mut String) {
    if let Some((whole, fraction)) = split(text) {
        *text = format!("{whole}.{fraction:0<6.6}Z");
    }
}

/// Refuses an invalid time with the message of Go.
pub(super) fn check(text: &str, with_micros: bool) -> Result<(), String> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let layout =
        if with_micros { "2006-01-02T15:04:05.000000Z07:00" } else { "2006-01-02T15:04:05Z07:00" };
    let refuse = |rest: &str, wanted: &str| {
        Err(format!("parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {wanted:?}"))
    };
    let fits =
        |(given, shape): (u8, &u8)| given == *shape || (*shape == b'0' && given.is_ascii_digit());
    if text.len() < SHAPE.len() || !text.bytes().zip(SHAPE).all(fits) {
        return refuse(text, "2006");
    }
    let rest = &text[SHAPE.len()..];
    let fraction =
        rest.strip_prefix('.').map(|rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    if with_micros && fraction != Some(6) {
        return refuse(rest, ".000000");
    }
    let zone = &rest[fraction.map_or(0, |digits| digits + 1)..];
    let is_offset = zone.starts_with(['+', '-']) && zone.is_char_boundary(6) && zone.len() >= 6;
    let extra = match zone.strip_prefix('Z') {
        Some(extra) => extra,
        None if is_offset => &zone[6..],
        None => return refuse(zone, "Z07:00"),
    };
    if extra.is_empty() {
        return Ok(());
    }
    Err(format!("parsing time {text:?}: extra text: {extra:?}"))
}

fn split(text: &str) -> Option<(&str, &str)> {
    let utc = text.strip_suffix('Z').or_else(|| text.strip_suffix("+00:00"))?;
    Some(utc.split_once('.').unwrap_or((utc, "")))
}

#[cfg(test)]
mod tests {
    use operetta_harness::random;

    #[test]
    fn times_have_the_digits_of_their_type() {
        let table = [
            ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z", "2024-05-01T10:00:00.000000Z"),
            ("2024-05-01T10:00:00.5+00:00", "2024-05-01T10:00:00Z", "2024-05-01T10:00:00.500000Z"),
            (
                "2024-05-01T10:00:00.123456789Z",
                "2024-05-01T10:00:00Z",
                "2024-05-01T10:00:00.123456Z",
            ),
        ];
        for (given, seconds, micros) in table {
            let (mut one, mut other) = (given.to_owned(), given.to_owned());
            super::to_seconds(&mut one);
            super::to_microseconds(&mut other);
            assert_eq!((one.as_str(), other.as_str()), (seconds, micros));
        }
    }

    #[test]
    fn any_text_is_a_time_or_refused() {
        let parser = |text: &str| {
            for text in [text, &format!("2024-05-01T10:00:00{text}")] {
                drop((super::check(text, true), super::check(text, false)));
                let (mut seconds, mut micros) = (text.to_owned(), text.to_owned());
                super::to_seconds(&mut seconds);
                super::to_microseconds(&mut micros);
                assert!(seconds.len().max(micros.len()) <= text.len() + 8);
            }
        };
        random::texts(&random::TIMES, parser);
    }
}
