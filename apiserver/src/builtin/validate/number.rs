//! Numbers and ports: the checks that many types share.

use serde_json::Value;

use crate::schema::{FieldError, FieldPath};

/// Refuses a number below zero.
pub(super) fn not_negative(
    object: &Value,
    field: &str,
    at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    if let Some(value) = object.get(field).filter(|value| value.as_i64().is_some_and(|n| n < 0)) {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(&at.child(field), value, detail));
    }
}

/// Refuses a number below `least`.
pub(super) fn at_least(
    object: &Value,
    field: &str,
    least: i64,
    at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    if let Some(value) = object.get(field).filter(|value| value.as_i64().is_some_and(|n| n < least))
    {
        let detail = format!("must be greater than {}", least - 1);
        errors.push(FieldError::invalid(&at.child(field), value, detail));
    }
}

/// Refuses what is neither a number that is not negative nor a percentage.
pub(super) fn amount(object: &Value, field: &str, at: &FieldPath, errors: &mut Vec<FieldError>) {
    not_negative(object, field, at, errors);
    let Some(value) = object.get(field) else { return };
    let Some(text) = value.as_str() else { return };
    let digits = text.strip_suffix('%').unwrap_or_default();
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        let detail = "a valid percent string must be a numeric string followed by an ending '%' \
                      (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
        errors.push(FieldError::invalid(&at.child(field), value, detail));
    }
}

/// Refuses a percentage above 100.
pub(super) fn at_most_all(
    object: &Value,
    field: &str,
    at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let Some(value) = object.get(field) else { return };
    let digits = value.as_str().and_then(|text| text.strip_suffix('%')).unwrap_or_default();
    if digits.parse::<u64>().is_ok_and(|percent| percent > 100) {
        let detail = "must not be greater than 100%";
        errors.push(FieldError::invalid(&at.child(field), value, detail));
    }
}

/// Refuses a number that is no port.
pub(super) fn port(value: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    if value.as_i64().is_some_and(|port| !(1..=65_535).contains(&port)) {
        errors.push(FieldError::invalid(at, value, "must be between 1 and 65535, inclusive"));
    }
}

/// Refuses what is neither a port nor the name of one.
pub(super) fn port_or_name(
    object: &Value,
    field: &str,
    at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let Some(value) = object.get(field) else { return };
    port(value, &at.child(field), errors);
    if value.is_string() {
        port_name(value, &at.child(field), errors);
    }
}

/// Refuses text that is no name of a port.
pub(super) fn port_name(value: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let name = value.as_str().unwrap_or_default();
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let checks = [
        (name.len() > 15, "must be no more than 15 characters"),
        (
            name.is_empty() || !name.chars().all(|c| is_allowed(c) && !c.is_ascii_uppercase()),
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        ),
        (!name.chars().any(|c| c.is_ascii_lowercase()), "must contain at least one letter (a-z)"),
        (name.contains("--"), "must not contain consecutive hyphens"),
        (name.starts_with('-') || name.ends_with('-'), "must not begin or end with a hyphen"),
    ];
    for (_, detail) in checks.iter().filter(|(wrong, _)| *wrong) {
        errors.push(FieldError::invalid(at, value, *detail));
    }
}
