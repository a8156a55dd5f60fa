//! What the failure of a pod means for its job.

use std::collections::BTreeSet;

use super::super::field::{Errors, Field};

const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];

/// The rules of the failure policy of a job.
pub(super) fn check(spec: &Field, errors: &mut Errors) {
    let rules = spec.child("podFailurePolicy").child("rules");
    if rules.len() > 20 {
        errors.push(rules.too_many(20));
    }
    for rule in rules.items() {
        one(spec, &rule, errors);
    }
}

fn one(spec: &Field, rule: &Field, errors: &mut Errors) {
    let action = rule.string("action");
    match action.text() {
        "" => errors.push(action.required(choice(&ACTIONS))),
        "FailIndex" if spec.given("backoffLimitPerIndex").is_none() => {
            errors.push(action.invalid("requires the backoffLimitPerIndex to be set"));
        }
        _ => action.is_one_of(&ACTIONS, errors),
    }
    let (codes, conditions) = (rule.given("onExitCodes"), rule.child("onPodConditions"));
    if let Some(codes) = &codes {
        exit_codes(spec, codes, errors);
    }
    pod_conditions(&conditions, errors);
    match (codes.is_some(), !conditions.is_empty()) {
        (true, true) => {
            let detail = "specifying both OnExitCodes and OnPodConditions is not supported";
            errors.push(rule.wrong(detail));
        }
        (false, false) => {
            let detail = "specifying one of OnExitCodes and OnPodConditions is required";
            errors.push(rule.wrong(detail));
        }
        _ => {}
    }
}

fn exit_codes(spec: &Field, codes: &Field, errors: &mut Errors) {
    let operator = codes.string("operator");
    if operator.is_empty() {
        errors.push(operator.required(choice(&["In", "NotIn"])));
    } else {
        operator.is_one_of(&["In", "NotIn"], errors);
    }
    if let Some(container) = codes.given("containerName") {
        let pod = spec.child("template").child("spec");
        let lists = ["containers", "initContainers"];
        let mut known = lists.iter().flat_map(|list| pod.child(list).items());
        if !known.any(|other| other.string("name").text() == container.text()) {
            let detail = "must be one of the container or initContainer names in the pod template";
            errors.push(container.invalid(detail));
        }
    }
    let list = codes.child("values");
    match list.len() {
        0 => errors.push(list.invalid("at least one value is required")),
        256.. => errors.push(list.too_many(255)),
        _ => {}
    }
    let values = list.items();
    let mut known = BTreeSet::new();
    for value in &values {
        if operator.text() == "In" && value.number() == 0 {
            errors.push(value.invalid("must not be 0 for the In operator"));
        }
        if !known.insert(value.number()) {
            errors.push(value.duplicate());
        }
    }
    if !values.is_sorted_by_key(Field::number) {
        errors.push(list.invalid("must be ordered"));
    }
}

fn pod_conditions(list: &Field, errors: &mut Errors) {
    if list.len() > 20 {
        errors.push(list.too_many(20));
    }
    for pattern in list.items() {
        pattern.string("type").is_qualified(errors);
        let status = pattern.string("status");
        if status.is_empty() {
            errors.push(status.required(choice(&STATUSES)));
        } else {
            status.is_one_of(&STATUSES, errors);
        }
    }
}

/// What there is to choose from, as Go prints a list of texts.
fn choice(values: &[&str]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
    format!("valid values: [{}]", values.join(" "))
}
