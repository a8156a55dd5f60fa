//! Devices that pods claim.
//!
//! ```text
//! DeviceClass -------------------------+--> selectors, configurations, names (here)
//! ResourceClaim, ResourceClaimTemplate-+
//!   claim: requests, constraints       |
//! ResourceSlice: what drivers offer ---+
//! ```
//!
//! **Invariants**: expressions are compiled, and their cost is not estimated.

pub(super) mod claim;
pub(super) mod slice;

use std::collections::HashSet;

use super::{
    field::{Errors, Field},
    volume::source::{declared_driver, driver},
};
use crate::{cel, schema::name_rule};

pub(super) fn class(object: &Field, errors: &mut Errors) {
    let spec = object.child("spec");
    selectors(&spec.child("selectors"), errors);
    let configurations = spec.child("config");
    if is_short(&configurations, 32, errors) {
        for known in configurations.items() {
            configuration(&known, errors);
        }
    }
    if let Some(name) = spec.given("extendedResourceName") {
        extended(&name, errors);
    }
}

/// Whether this is the name of a resource that Kubernetes does not know.
/// The name of a resource that is not Kubernetes' own.
fn extended(name: &Field, errors: &mut Errors) {
    let text = name.text();
    if !text.contains('/') {
        let detail = "a name must be a domain-prefixed path, such as 'example.com/my-prop'";
        errors.push(name.invalid(detail));
    } else if text.contains("kubernetes.io/") || text.starts_with("requests.") {
        errors.push(name.invalid("must be a valid extended resource name"));
    }
    // As a quota names it.
    let details = name_rule::label_key(&format!("requests.{text}"));
    errors.extend(details.into_iter().map(|detail| name.invalid(detail)));
}

fn selectors(selectors: &Field, errors: &mut Errors) {
    if !is_short(selectors, 32, errors) {
        return;
    }
    for selector in selectors.items() {
        let Some(cel) = selector.given("cel") else {
            errors.push(selector.child("cel").required(""));
            continue;
        };
        let expression = cel.string("expression");
        if expression.text().len() > 10 << 10 {
            errors.push(expression.too_long(10 << 10));
        } else if let Some(why) = cel::device_selector_error(expression.text()) {
            errors.push(expression.invalid(why));
        }
    }
}

/// The parameters of a driver, in a form of its own.
fn configuration(configuration: &Field, errors: &mut Errors) {
    let Some(opaque) = configuration.given("opaque") else {
        errors.push(configuration.child("opaque").required(""));
        return;
    };
    let parameters = opaque.child("parameters");
    if !parameters.is_given() {
        errors.push(parameters.required(""));
    } else if parameters.value().to_string().len() > 10 << 10 {
        errors.push(parameters.too_long(10 << 10));
    } else if !parameters.value().is_object() {
        let omitted = "\"<value omitted>\"".to_owned();
        errors.push(parameters.invalid_as(omitted, "must be a valid JSON object"));
    }
    declared_driver(&opaque.string("driver"), errors);
}

/// Refuses lists that are too long to be looked at. Whether this is another.
fn is_short(list: &Field, limit: u64, errors: &mut Errors) -> bool {
    let is_long = list.len() as u64 > limit;
    if is_long {
        errors.push(list.too_many(limit));
    }
    !is_long
}

/// Refuses a value, or a value of a field, that an earlier element of a list has.
fn each_once(list: &Field, field: Option<&str>, errors: &mut Errors) {
    let mut known = HashSet::new();
    for item in list.items() {
        let key = field.map_or(item.clone(), |field| item.string(field));
        if !known.insert(key.text().to_owned()) {
            errors.push(key.named(item.at().clone()).duplicate());
        }
    }
}

/// Refuses what is no `name` and no `example.com/name`.
fn qualified(name: &Field, errors: &mut Errors) {
    let parts: Vec<&str> = name.text().split('/').collect();
    let empty = || "\"\"".to_owned();
    match parts[..] {
        [id] => identifier(name, id, errors),
        [domain, id] => {
            if domain.is_empty() {
                errors.push(name.invalid_as(empty(), "the domain must not be empty"));
            } else {
                let domain = serde_json::Value::from(domain);
                driver(&Field::new(&domain, name.at()), errors);
            }
            if id.is_empty() {
                errors.push(name.invalid_as(empty(), "the name must not be empty"));
            } else {
                identifier(name, id, errors);
            }
        }
        _ => {}
    }
}

fn identifier(name: &Field, id: &str, errors: &mut Errors) {
    if id.len() > 32 {
        errors.push(name.too_long(32));
    }
    let is_identifier = id.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && id.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    if !is_identifier {
        let detail = "a valid C identifier must start with alphabetic character or '_', followed \
                      by a string of alphanumeric characters or '_' (e.g. 'my_name',  or \
                      'MY_NAME',  or 'MyName', regex used for validation is \
                      '[A-Za-z_][A-Za-z0-9_]*')";
        errors.push(name.invalid_as(crate::schema::go_value::quote(id), detail));
    }
}
