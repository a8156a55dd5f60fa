//! Names of a form of their own, and names that stand as keys of maps.

use serde_json::json;

use super::field::{Errors, Field};
use crate::schema::{FieldError, FieldErrorKind, FieldPath, go_value::quote, name_rule};

/// Refuses what is no label key.
pub(super) fn qualified(name: &str, at: &FieldPath, errors: &mut Errors) {
    for detail in name_rule::label_key(name) {
        errors.push(FieldError::invalid(at, &json!(name), detail));
    }
}

/// Names a value that does not exist.
pub(super) fn not_found(name: &Field, detail: impl Into<String>) -> FieldError {
    FieldError { kind: FieldErrorKind::NotFound, ..name.invalid(detail) }
}

/// Refuses what is no name of a signer: `example.com/signer`.
pub(super) fn signer(name: &Field, errors: &mut Errors) {
    if name.is_empty() {
        errors.push(name.required(""));
        return;
    }
    let Some((domain, path)) = name.text().split_once('/').filter(|(_, path)| !path.contains('/'))
    else {
        let detail =
            "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        errors.push(name.invalid(detail));
        return;
    };
    if domain.len() > 253 {
        errors.push(name.too_long(253));
    }
    let parts: [(&str, name_rule::NameRule); 2] =
        [(domain, name_rule::dns_label), (path, name_rule::dns_subdomain)];
    for (part, rule) in parts {
        let mut labels = part.split('.').map(|label| (label, rule(label, false)));
        if let Some((label, details)) = labels.find(|(_, details)| !details.is_empty()) {
            let details =
                details.into_iter().map(|d| format!("validating label {}: {d}", quote(label)));
            errors.extend(details.map(|detail| name.invalid_as(quote(part), detail)));
        }
        if part == domain && !domain.contains('.') {
            let detail = "should be a domain with at least two segments separated by dots";
            errors.push(name.invalid_as(quote(domain), detail));
        }
    }
    if path.len() > 253 + 63 + 1 {
        errors.push(name.too_long(253 + 63 + 1));
    }
}

/// Refuses what is no `example.com/path`.
pub(super) fn domain_prefixed(name: &Field, errors: &mut Errors) {
    if name.is_empty() {
        errors.push(name.required(""));
        return;
    }
    let parts = name.text().split_once('/');
    let Some((domain, path)) =
        parts.filter(|(domain, path)| !domain.is_empty() && !path.is_empty())
    else {
        errors.push(name.invalid("must be a domain-prefixed path (such as \"acme.io/foo\")"));
        return;
    };
    for detail in name_rule::dns_subdomain(domain, false) {
        errors.push(name.invalid_as(quote(domain), detail));
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:".contains(c);
    if !path.chars().all(is_allowed) {
        let detail = "Invalid path (regex used for validation is \
                      '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
        errors.push(name.invalid_as(quote(path), detail));
    }
}
