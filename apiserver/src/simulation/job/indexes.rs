//! The indexes of an indexed Job.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::simulation::object::annotation;

/// The annotation, and label, of a Pod with its index.
pub(super) const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// The index of a Pod.
pub(super) fn of(pod: &Value) -> Option<i64> {
    annotation(pod, INDEX)?.parse().ok()
}

/// Reads a text such as `1,3-5`.
pub(super) fn parse(text: &str) -> BTreeSet<i64> {
    let ranges = text.split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().collect()
}

/// Writes a text such as `1,3-5`.
pub(super) fn print(indexes: &BTreeSet<i64>) -> String {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for index in indexes {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *index => *last = *index,
            _ => ranges.push((*index, *index)),
        }
    }
    let texts = ranges.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first},{last}"),
        _ => format!("{first}-{last}"),
    });
    texts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_written_as_ranges() {
        for text in ["", "3", "1,2", "0-2,5", "1,3-5,7,8"] {
            assert_eq!(print(&parse(text)), text);
        }
    }
}
