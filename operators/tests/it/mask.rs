//! Masks values that differ between runs: identities, versions, times, ages, addresses.

use regex::Regex;

/// The masked patterns and their replacements.
const MASKS: [(&str, &str); 11] = [
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uid>"),
    (r#"(resourceVersion"?: ?)"?[0-9]+"?"#, "$1<version>"),
    (r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z", "<time>"),
    (r"127\.0\.0\.1:[0-9]+", "<server>"),
    // The embedded server adds its name to the version that it imitates.
    (r"\+operetta\b", ""),
    (r"\b(generated-)[a-z0-9]{5}\b", "$1<random>"),
    // In tables: the width of a column must not depend on a masked value.
    (r"\b10(\.[0-9]{1,3}){3}\b( {3,})?", "<ip>   "),
    (r"CLUSTER-IP +", "CLUSTER-IP   "),
    (r"(?m)( {2,})[0-9]s(?: ( {3})|$)", "$1<age>$2"),
    (r"(?m)( {2,})[0-9]{2}s( {3}|$)", "$1<age>$2"),
    (r"(?m)( {2,})[0-9]+m?[0-9]+s( {3}|$)", "$1<age>$2"),
];

/// Masks the values in a text that differ between runs.
pub(crate) fn mask(text: &str) -> String {
    let hide = |text: String, (pattern, instead): (&str, &str)| {
        let pattern = Regex::new(pattern).unwrap();
        pattern.replace_all(&text, instead).into_owned()
    };
    MASKS.into_iter().fold(text.to_owned(), hide)
}
