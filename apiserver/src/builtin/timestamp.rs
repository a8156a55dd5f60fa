//! Times as the server writes them: UTC, whole seconds, or exactly six digits of a second.
//!
//! Times in another zone than UTC are left as they are.

/// `metav1.Time`: what is below a second is dropped.
pub(super) fn to_seconds(text: &mut String) {
    if let Some((whole, _)) = split(text) {
        *text = format!("{whole}Z");
    }
}

/// `metav1.MicroTime`: what is below a microsecond is dropped.
pub(super) fn to_microseconds(text: &mut String) {
    if let Some((whole, fraction)) = split(text) {
        *text = format!("{whole}.{fraction:0<6.6}Z");
    }
}

fn split(text: &str) -> Option<(&str, &str)> {
    let utc = text.strip_suffix('Z').or_else(|| text.strip_suffix("+00:00"))?;
    Some(utc.split_once('.').unwrap_or((utc, "")))
}

#[cfg(test)]
mod tests {
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
}
