//! Workloads: controllers that make pods from a template.
//!
//! ```text
//! deployment, replica_set, stateful_set, daemon_set, replication_controller
//!        |
//!  selector + template (here) --> pod::template
//! ```
//!
//! **Invariants**: a selector that is wrong itself is never compared with the labels of the template.

pub(super) mod daemon_set;
pub(super) mod deployment;
pub(super) mod replica_set;
pub(super) mod replication_controller;
pub(super) mod stateful_set;

use serde_json::{Map, Value};

use super::{
    field::{Errors, Field},
    pod, selector,
};

/// Checks a selector that must be there; `empty` and `wrong` are what is said of one that selects everything, and of
/// one that is no selector. Whether it can be compared with labels.
fn required_selector(spec: &Field, empty: &str, wrong: &str, errors: &mut Errors) -> bool {
    let labels = spec.child("selector");
    if !labels.is_given() {
        errors.push(labels.required(""));
        return true;
    }
    let before = errors.len();
    selector::check(&labels, errors);
    let is_right = errors.len() == before;
    if selector::is_empty(labels.value()) {
        errors.push(labels.invalid_as("{}".to_owned(), empty));
    }
    if !is_right {
        errors.push(labels.invalid_as(selector::print(labels.value()), wrong));
    }
    is_right
}

/// Refuses a template whose labels the selector does not match.
fn template_labels(spec: &Field, errors: &mut Errors) {
    let labels = spec.child("template").child("metadata").child("labels");
    let none = Map::new();
    let given = labels.value().as_object().unwrap_or(&none);
    let wanted = spec.given("selector");
    if !wanted.is_some_and(|wanted| selector::matches(wanted.value(), given)) {
        errors.push(labels.invalid("`selector` does not match template `labels`"));
    }
}

/// A template whose pods run until they are deleted.
fn template(spec: &Field, kind: &str, errors: &mut Errors) {
    pod::template(&spec.child("template"), errors);
    runs_forever(spec, kind, errors);
}

fn runs_forever(spec: &Field, kind: &str, errors: &mut Errors) {
    let pod = spec.child("template").child("spec");
    let policy = pod.string("restartPolicy");
    if policy.text() != "Always" {
        errors.push(policy.not_supported(&["Always"]));
    }
    if let Some(deadline) = pod.given("activeDeadlineSeconds") {
        let detail = format!("activeDeadlineSeconds in {kind} is not Supported");
        errors.push(deadline.forbidden(detail));
    }
}

/// A number or a percentage as a number; zero if it is neither.
fn amount_of(amount: &Field) -> i64 {
    match amount.value() {
        Value::String(text) => {
            let number = text.strip_suffix('%').unwrap_or(text);
            number.parse().unwrap_or_default()
        }
        _ => amount.number(),
    }
}
