//! Where pods may run: tolerations, affinities, spreading, and the taints of nodes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    builtin::path,
    schema::{FieldError, FieldPath, go_value::quote, name_rule},
};

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// A taint that a pod endures.
pub(super) fn toleration(toleration: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let text = |field| path::text(toleration, field);
    let (key, operator, value, effect) =
        (text("key"), text("operator"), text("value"), text("effect"));
    if !key.is_empty() {
        label_name(key, &at.child("key"), errors);
    } else if operator != "Exists" {
        let detail = "operator must be Exists when `key` is empty, which means \"match all values \
                      and all keys\"";
        errors.push(FieldError::invalid(&at.child("operator"), &json!(operator), detail));
    }
    if path::get(toleration, "tolerationSeconds").is_some() && effect != "NoExecute" {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        errors.push(FieldError::invalid(&at.child("effect"), &json!(effect), detail));
    }
    let operator_at = at.child("operator");
    match operator {
        "Equal" | "" => {
            let complaints = name_rule::label_value(value);
            if !complaints.is_empty() {
                let detail = complaints.join(";");
                errors.push(FieldError::invalid(&operator_at, &json!(value), detail));
            }
        }
        "Exists" if !value.is_empty() => {
            let detail = "value must be empty when `operator` is 'Exists'";
            errors.push(FieldError::invalid(&operator_at, &json!(value), detail));
        }
        "Exists" => {}
        other => {
            let supported = ["Equal", "Exists"];
            errors.push(FieldError::not_supported(&operator_at, &json!(other), supported));
        }
    }
    if !effect.is_empty() && !EFFECTS.contains(&effect) {
        errors.push(FieldError::not_supported(&at.child("effect"), &json!(effect), EFFECTS));
    }
}

/// One requirement of the labels of a node.
pub(super) fn node_requirement(requirement: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let values = path::list(requirement, "values");
    let values_at = at.child("values");
    match path::text(requirement, "operator") {
        "In" | "NotIn" if values.is_empty() => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            errors.push(FieldError::required(&values_at, detail));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(FieldError::forbidden(&values_at, detail));
        }
        "Gt" | "Lt" if values.len() != 1 => {
            let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
            errors.push(FieldError::required(&values_at, detail));
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        other => {
            let detail = "not a valid selector operator";
            errors.push(FieldError::invalid(&at.child("operator"), &json!(other), detail));
        }
    }
    // The terms of a node selector may also name fields of the node, which are no labels.
    if at.to_string().contains(".matchFields[") {
        return;
    }
    label_name(path::text(requirement, "key"), &at.child("key"), errors);
    for (index, value) in values.iter().enumerate() {
        for detail in name_rule::label_value(value.as_str().unwrap_or_default()) {
            errors.push(FieldError::invalid(&values_at.index(index), value, detail));
        }
    }
}

/// The weight of a preference.
pub(super) fn weight(term: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let weight = path::number(term, "weight").unwrap_or_default();
    if !(1..=100).contains(&weight) {
        let detail = "must be in the range 1-100";
        errors.push(FieldError::invalid(&at.child("weight"), &json!(weight), detail));
    }
}

/// The label that says what is one place.
pub(super) fn affinity_term(term: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let key = path::text(term, "topologyKey");
    if key.is_empty() {
        errors.push(FieldError::required(&at.child("topologyKey"), "can not be empty"));
    }
    label_name(key, &at.child("topologyKey"), errors);
}

/// How evenly pods are spread.
pub(super) fn spread(constraint: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let skew = path::number(constraint, "maxSkew").unwrap_or_default();
    if skew <= 0 {
        let detail = "must be greater than zero";
        errors.push(FieldError::invalid(&at.child("maxSkew"), &json!(skew), detail));
    }
    if path::text(constraint, "topologyKey").is_empty() {
        errors.push(FieldError::required(&at.child("topologyKey"), "can not be empty"));
    }
    let action = path::text(constraint, "whenUnsatisfiable");
    let actions = ["DoNotSchedule", "ScheduleAnyway"];
    if !actions.contains(&action) {
        let at = at.child("whenUnsatisfiable");
        errors.push(FieldError::not_supported(&at, &json!(action), actions));
    }
}

/// The taints of a node; the real server calls their place `metadata`.
pub(super) fn taints(spec: &Value, errors: &mut Vec<FieldError>) {
    let mut known = BTreeSet::new();
    for (index, taint) in path::list(spec, "taints").iter().enumerate() {
        let at = FieldPath::new("metadata.taints").index(index);
        let text = |field| path::text(taint, field);
        let (key, value, effect) = (text("key"), text("value"), text("effect"));
        label_name(key, &at.child("key"), errors);
        let complaints = name_rule::label_value(value);
        if !complaints.is_empty() {
            let detail = complaints.join(";");
            errors.push(FieldError::invalid(&at.child("value"), &json!(value), detail));
        }
        if effect.is_empty() {
            errors.push(FieldError::required(&at.child("effect"), ""));
        } else if !EFFECTS.contains(&effect) {
            errors.push(FieldError::not_supported(&at.child("effect"), &json!(effect), EFFECTS));
        }
        if !known.insert((key, effect)) {
            let added = path::get(taint, "timeAdded")
                .map_or_else(|| "null".to_owned(), |time| quote(time.as_str().unwrap_or_default()));
            let (key, value, effect) = (quote(key), quote(value), quote(effect));
            let shown =
                format!(r#"{{"Key":{key},"Value":{value},"Effect":{effect},"TimeAdded":{added}}}"#);
            let detail = "taints must be unique by key and effect pair".to_owned();
            let error = FieldError::duplicate(&at, &Value::Null);
            errors.push(FieldError { value: Some(shown), detail, ..error });
        }
    }
}

fn label_name(name: &str, at: &FieldPath, errors: &mut Vec<FieldError>) {
    for detail in name_rule::label_key(name) {
        errors.push(FieldError::invalid(at, &json!(name), detail));
    }
}
