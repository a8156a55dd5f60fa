//! Differences that are known and harmless.

use super::difference::Difference;

/// Part of a class of answers with one code, and why the difference does not matter.
const KNOWN: &[(&str, &str)] = &[
    (
        "field not declared in schema",
        "the real server stops at the first undeclared field, in the random order of a Go map",
    ),
    (
        "PUT NetworkPolicy json: 200, really 200 /metadata/generation",
        "the real server counts a list that is sent empty as a change, although it keeps none",
    ),
    (
        "/metadata/continue <absent>, really <token>",
        "behind a page of a selection the real server announces another one, which may be empty",
    ),
];

pub(crate) fn reason(difference: &Difference) -> Option<&'static str> {
    if difference.embedded.code != difference.real.code {
        return None;
    }
    let class = difference.class();
    KNOWN.iter().find(|(part, _)| class.contains(part)).map(|(_, why)| *why)
}
