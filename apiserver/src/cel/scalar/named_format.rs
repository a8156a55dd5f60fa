//! Formats of names.

use super::url;
use crate::schema::{has_format, name_rule};

/// A format.
#[derive(Debug)]
pub(in crate::cel) struct NamedFormat {
    pub(in crate::cel) name: &'static str,
    /// The number of characters of its pattern, which decides the cost.
    pub(in crate::cel) pattern_size: u64,
    /// What is wrong with a text.
    pub(in crate::cel) errors: fn(&str) -> Vec<String>,
}

/// All formats.
pub(in crate::cel) static FORMATS: [NamedFormat; 13] = [
    named("dns1123Label", 30, |text| name_rule::dns_label(text, false)),
    named("dns1123Subdomain", 60, |text| name_rule::dns_subdomain(text, false)),
    named("dns1035Label", 30, |text| name_rule::dns_1035_label(text, false)),
    named("qualifiedName", 60, name_rule::label_key),
    named("dns1123LabelPrefix", 30, |text| name_rule::dns_label(text, true)),
    named("dns1123SubdomainPrefix", 60, |text| name_rule::dns_subdomain(text, true)),
    named("dns1035LabelPrefix", 30, |text| name_rule::dns_1035_label(text, true)),
    named("labelValue", 40, name_rule::label_value),
    named("uri", 1121, |text| url::request_error(text).into_iter().collect()),
    named("uuid", 63, |text| unless(has_format("uuid", text), "does not match the UUID format")),
    named("byte", 84, |text| unless(has_format("byte", text), "invalid base64")),
    named("date", 114, |text| unless(has_format("date", text), "invalid date")),
    named("datetime", 114, |text| unless(has_format("datetime", text), "invalid datetime")),
];

const fn named(
    name: &'static str,
    pattern_size: u64,
    errors: fn(&str) -> Vec<String>,
) -> NamedFormat {
    NamedFormat { name, pattern_size, errors }
}

fn unless(valid: bool, message: &str) -> Vec<String> {
    if valid { Vec::new() } else { vec![message.to_owned()] }
}
