//! What admission asks for the requests that it is about: webhooks and policies.
//!
//! ```text
//! webhook configurations --> webhook --+--> rules (here)
//! policies, their bindings --> policy -+--> conditions (here)
//! ```
//!
//! **Invariants**: expressions are only required here; `crate::admission` compiles them.

pub(super) mod policy;
pub(super) mod target;
pub(super) mod webhook;

use super::{
    field::{Errors, Field},
    name,
};

/// Operations on resources.
fn rule(rule: &Field, errors: &mut Errors) {
    let operations = rule.child("operations");
    operations.is_required("", errors);
    all_or_some(&operations, "operations", errors);
    for operation in operations.items() {
        operation.is_one_of(&["*", "CONNECT", "CREATE", "DELETE", "UPDATE"], errors);
    }
    let groups = rule.child("apiGroups");
    groups.is_required("", errors);
    all_or_some(&groups, "API groups", errors);
    let versions = rule.child("apiVersions");
    versions.is_required("", errors);
    all_or_some(&versions, "API versions", errors);
    for version in versions.items() {
        version.is_required("", errors);
    }
    resources(&rule.child("resources"), errors);
    if let Some(scope) = rule.given("scope") {
        scope.is_one_of(&["*", "Cluster", "Namespaced"], errors);
    }
}

fn all_or_some(list: &Field, others: &str, errors: &mut Errors) {
    if list.len() > 1 && has(list, "*") {
        errors.push(list.invalid(format!("if '*' is present, must not specify other {others}")));
    }
}

fn has(list: &Field, text: &str) -> bool {
    list.items().iter().any(|item| item.text() == text)
}

fn resources(list: &Field, errors: &mut Errors) {
    list.is_required("", errors);
    let (mut all_parts_of, mut part_of_all) = (Vec::new(), Vec::new());
    let mut is_whole = false;
    for resource in list.items() {
        let text = resource.text();
        resource.is_required("", errors);
        let Some((name, part)) = text.split_once('/') else {
            is_whole = if text.is_empty() { is_whole } else { text != "*" };
            continue;
        };
        let covered = [
            (all_parts_of.contains(&name), format!("{name}/*")),
            (part_of_all.contains(&part), format!("*/{part}")),
        ];
        for (_, other) in covered.iter().filter(|(is_covered, _)| *is_covered) {
            let detail = format!("if '{other}' is present, must not specify {text}");
            errors.push(resource.invalid(detail));
        }
        if part == "*" {
            all_parts_of.push(name);
        }
        if name == "*" {
            part_of_all.push(part);
        }
    }
    if list.len() > 1 && has(list, "*/*") {
        errors.push(list.invalid("if '*/*' is present, must not specify other resources"));
    }
    if is_whole && has(list, "*") {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.push(list.invalid(detail));
    }
}

/// Expressions with names of their own.
fn match_conditions(conditions: &Field, errors: &mut Errors) {
    if conditions.len() > 64 {
        errors.push(conditions.too_many(64));
    }
    let mut known: Vec<&str> = Vec::new();
    for condition in conditions.items() {
        if condition.child("expression").text().trim().is_empty() {
            errors.push(condition.string("expression").required(""));
        }
        let named = condition.string("name");
        if named.is_empty() {
            errors.push(named.required(""));
            continue;
        }
        name::qualified(named.text(), named.at(), errors);
        if known.contains(&named.text()) {
            errors.push(named.duplicate());
        }
        known.push(named.text());
    }
}
