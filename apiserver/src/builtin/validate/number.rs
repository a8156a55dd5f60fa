//! Numbers, percentages and ports.

use serde_json::Value;

use super::field::{Errors, Field};
use crate::schema::{FieldError, FieldPath};

/// Refuses what is neither a number that is not negative nor a percentage.
pub(super) fn amount(amount: &Field, errors: &mut Errors) {
    let Some(text) = amount.value().as_str() else {
        amount.is_not_negative(errors);
        return;
    };
    let digits = text.strip_suffix('%').unwrap_or_default();
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        let detail = "a valid percent string must be a numeric string followed by an ending '%' \
                      (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
        errors.push(amount.invalid(detail));
    }
}

/// Refuses a percentage above 100.
pub(super) fn at_most_all(amount: &Field, errors: &mut Errors) {
    let digits = amount.text().strip_suffix('%').unwrap_or_default();
    if digits.parse::<u64>().is_ok_and(|percent| percent > 100) {
        errors.push(amount.invalid("must not be greater than 100%"));
    }
}

/// Refuses a number that is no port.
pub(super) fn port(value: &Value, at: &FieldPath, errors: &mut Errors) {
    if value.as_i64().is_some_and(|port| !(1..=65_535).contains(&port)) {
        errors.push(FieldError::invalid(at, value, "must be between 1 and 65535, inclusive"));
    }
}

/// Refuses text that is no name of a port.
pub(super) fn port_name(value: &Value, at: &FieldPath, errors: &mut Errors) {
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
