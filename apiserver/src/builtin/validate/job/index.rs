//! Indexes of the pods of a job, written as `1,3-5`.

use crate::schema::go_value::quote;

/// How many indexes a text names.
pub(super) fn count(text: &str, completions: i64) -> Result<i64, String> {
    let (mut total, mut last) = (0, None);
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (first, end) = interval(part, completions)?;
        if let Some(last) = last.filter(|last| *last >= first) {
            return Err(format!("non-increasing order, previous: {last}, current: {first}"));
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

/// The first index that both texts name; parts that are no intervals are skipped.
pub(super) fn overlap(one: &str, other: &str, completions: i64) -> Option<i64> {
    let intervals = |text: &str| -> Vec<(i64, i64)> {
        text.split(',').filter_map(|part| interval(part, completions).ok()).collect()
    };
    let (one, other) = (intervals(one), intervals(other));
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    while let (Some((first, last)), Some((start, end))) = (left.peek(), right.peek()) {
        if first <= end && start <= last {
            return Some(*first.max(start));
        }
        if first <= start {
            left.next();
        } else {
            right.next();
        }
    }
    None
}

fn interval(text: &str, completions: i64) -> Result<(i64, i64), String> {
    let parts: Vec<&str> = text.split('-').collect();
    if parts.len() > 2 {
        return Err(format!(
            "the fragment {} violates the requirement that an index interval can have at most two \
             parts separated by '-'",
            quote(text)
        ));
    }
    let number = |part: &str| {
        let number: i64 = part
            .parse()
            .map_err(|_| format!("cannot convert string to integer for index: {}", quote(part)))?;
        if number >= completions {
            return Err(format!("too large index: {}", quote(part)));
        }
        Ok(number)
    };
    let first = number(parts[0])?;
    let Some(last) = parts.get(1) else { return Ok((first, first)) };
    let last = number(last)?;
    if first >= last {
        return Err(format!("non-increasing order, previous: {first}, current: {last}"));
    }
    Ok((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_names_indexes_or_is_refused() {
        const TOKENS: [&str; 9] =
            ["1", "3-5", ",", "-", "+", "0", "9223372036854775807", " ", "7,9"];
        let parser = |text: &str| {
            if let Ok(count) = count(text, 1_000) {
                assert!((0..=1_000).contains(&count));
            }
            let _ = (overlap(text, "1,3-5", 1_000), overlap(text, text, i64::MAX));
        };
        operetta_harness::random::texts(&TOKENS, parser);
        operetta_harness::random::long_texts(&TOKENS, parser);
    }
}
