//! Differences that are known and harmless.

use super::difference::Difference;

/// Part of a class, and why the difference does not matter.
const KNOWN: &[(&str, &str)] = &[];

pub(crate) fn reason(difference: &Difference) -> Option<&'static str> {
    let class = difference.class();
    KNOWN.iter().find(|(part, _)| class.contains(part)).map(|(_, why)| *why)
}
