//! Quotas: what they limit, and to which objects they apply.

use std::collections::BTreeSet;

use super::{
    field::{Errors, Field},
    resource_name,
};
use crate::{
    builtin::path,
    schema::{FieldPath, go_value},
};

/// The specification of a quota.
pub(super) fn spec(spec: &Field, errors: &mut Errors) {
    amounts(&spec.child("hard"), errors);
    scopes(spec, errors);
    if spec.given("scopeSelector").is_some() {
        selector(spec, errors);
    }
}

/// Limits or what is used of them.
pub(super) fn amounts(amounts: &Field, errors: &mut Errors) {
    for (name, amount) in amounts.entries() {
        resource_name::of_quota(name, amount.at(), errors);
        resource_name::amount(name, &amount, errors);
    }
}

/// The scopes of a quota never change.
pub(super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    let set = |quota: &Field| {
        let scopes = quota.child("spec").child("scopes");
        scopes.items().iter().map(|scope| scope.text().to_owned()).collect::<BTreeSet<_>>()
    };
    if set(new) != set(old) {
        errors.push(new.child("spec").child("scopes").invalid("field is immutable"));
    }
}

fn scopes(spec: &Field, errors: &mut Errors) {
    let scopes = spec.child("scopes");
    let names: Vec<&str> = scopes.items().iter().map(Field::text).collect();
    for scope in &names {
        if !is_scope(scope) {
            errors.push(scopes.invalid("unsupported scope"));
        }
        for _ in limited(spec).filter(|name| !applies(scope, name)) {
            errors.push(scopes.invalid("unsupported scope applied to resource"));
        }
    }
    conflicts(&names, &scopes, scopes.at(), errors);
}

/// The real server names the list of expressions, not the one that is wrong.
fn selector(spec: &Field, errors: &mut Errors) {
    let all = spec.child("scopeSelector").child("matchExpressions");
    let at = all.at();
    let expressions = all.items();
    for expression in &expressions {
        let scope = expression.string("scopeName").named(at.child("scopeName"));
        if !is_scope(scope.text()) {
            errors.push(scope.invalid("unsupported scope"));
        }
        for _ in limited(spec).filter(|name| !applies(scope.text(), name)) {
            let shown = print_selector(&expressions);
            errors.push(all.invalid_as(shown, "unsupported scope applied to resource"));
        }
        operator(expression, at, errors);
    }
    let names: Vec<&str> =
        expressions.iter().map(|expression| expression.string("scopeName").text()).collect();
    conflicts(&names, &spec.child("scopes"), at, errors);
}

fn operator(expression: &Field, at: &FieldPath, errors: &mut Errors) {
    let operator = expression.string("operator").named(at.child("operator"));
    let needs_exists =
        !matches!(expression.string("scopeName").text(), "PriorityClass" | "VolumeAttributesClass")
            && is_scope(expression.string("scopeName").text());
    if needs_exists && operator.text() != "Exists" {
        let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                      ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, \
                      ResourceQuotaScopeNotBestEffort or \
                      ResourceQuotaScopeCrossNamespacePodAffinity";
        errors.push(operator.invalid(detail));
    }
    let values = expression.child("values").named(at.child("values"));
    match operator.text() {
        "In" | "NotIn" if values.is_empty() => {
            let detail =
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
            errors.push(values.required(detail));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail =
                "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
            errors.push(values.invalid(detail));
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        _ => errors.push(operator.invalid("not a valid selector operator")),
    }
}

fn conflicts(names: &[&str], shown: &Field, at: &FieldPath, errors: &mut Errors) {
    for pair in [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]] {
        if pair.iter().all(|scope| names.contains(scope)) {
            errors.push(shown.named(at.clone()).invalid("conflicting scopes"));
        }
    }
}

/// The resources that the quota limits and that have no domain.
fn limited<'a>(spec: &Field<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let hard = path::get(spec.value(), "hard").and_then(serde_json::Value::as_object);
    let names = hard.into_iter().flat_map(|map| map.keys().map(String::as_str));
    names.filter(|name| resource_name::is_of_quota(name))
}

fn is_scope(scope: &str) -> bool {
    matches!(
        scope,
        "Terminating"
            | "NotTerminating"
            | "BestEffort"
            | "NotBestEffort"
            | "PriorityClass"
            | "VolumeAttributesClass"
            | "CrossNamespacePodAffinity"
    )
}

fn applies(scope: &str, resource: &str) -> bool {
    const COMPUTE: [&str; 6] =
        ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
    match scope {
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => {
            matches!(resource, "persistentvolumeclaims" | "requests.storage")
        }
        _ if is_scope(scope) => resource == "pods" || COMPUTE.contains(&resource),
        _ => true,
    }
}

fn print_selector(expressions: &[Field]) -> String {
    let print = |expression: &Field| {
        let quoted = |name: &str| go_value::quote(expression.string(name).text());
        let (scope, operator) = (quoted("scopeName"), quoted("operator"));
        let values = go_value::json(expression.child("values").value());
        format!(r#"{{"ScopeName":{scope},"Operator":{operator},"Values":{values}}}"#)
    };
    let list: Vec<String> = expressions.iter().map(print).collect();
    format!(r#"{{"MatchExpressions":[{}]}}"#, list.join(","))
}
