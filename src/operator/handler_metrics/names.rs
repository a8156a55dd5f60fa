//! Names of metrics and labels, as Prometheus recommends them.

use super::{MetricError, kind::MetricKind};

/// The beginning of the exported names.
pub(crate) const PREFIX: &str = "operetta_custom_";

const LONGEST: usize = 64;
const MAX_LABELS: usize = 8;
/// The label that the framework adds, and that of the buckets of a histogram.
const TAKEN: [&str; 2] = ["operator", "le"];
const OF_HISTOGRAMS: [&str; 3] = ["_bucket", "_sum", "_count"];
/// The longest value of a label, in bytes; longer ones are cut.
const MAX_VALUE: usize = 128;

pub(super) fn check(name: &str, kind: MetricKind) -> Result<(), MetricError> {
    if !is_name(name) {
        return Err(MetricError::Name(name.chars().take(LONGEST).collect()));
    }
    let is_counter = kind == MetricKind::Counter;
    if name.ends_with("_total") != is_counter || OF_HISTOGRAMS.iter().any(|end| name.ends_with(end))
    {
        return Err(MetricError::Suffix { name: name.to_owned(), kind: kind.name() });
    }
    Ok(())
}

/// The labels by name, with values that are not too long.
pub(super) fn labels(
    name: &str,
    labels: &[(&str, &str)],
) -> Result<(Vec<String>, Vec<String>), MetricError> {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable();
    let is_repeated = |at: usize| at > 0 && sorted[at - 1].0 == sorted[at].0;
    for (at, (label, _)) in sorted.iter().enumerate() {
        if !is_name(label) || TAKEN.contains(label) || is_repeated(at) || at >= MAX_LABELS {
            let label = label.chars().take(LONGEST).collect();
            return Err(MetricError::Label { name: name.to_owned(), label });
        }
    }
    let values = sorted.iter().map(|(_, value)| cut(value, MAX_VALUE).to_owned());
    Ok((sorted.iter().map(|(label, _)| (*label).to_owned()).collect(), values.collect()))
}

pub(super) fn cut(text: &str, longest: usize) -> &str {
    &text[..text.floor_char_boundary(longest)]
}

fn is_name(name: &str) -> bool {
    let is_valid = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_';
    name.len() <= LONGEST
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(is_valid)
}
