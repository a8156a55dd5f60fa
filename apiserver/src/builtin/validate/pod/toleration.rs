//! Taints of nodes that a pod endures.

use super::super::field::{Errors, Field};
use crate::schema::name_rule;

/// What a taint does.
pub(in super::super) const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// The tolerations of a pod.
pub(in super::super) fn all(list: &Field, errors: &mut Errors) {
    for toleration in list.items() {
        one(&toleration, errors);
    }
}

fn one(toleration: &Field, errors: &mut Errors) {
    let [key, operator, value, effect] =
        ["key", "operator", "value", "effect"].map(|name| toleration.string(name));
    if !key.is_empty() {
        key.is_qualified(errors);
    } else if operator.text() != "Exists" {
        let detail = "operator must be Exists when `key` is empty, which means \"match all values \
                      and all keys\"";
        errors.push(operator.invalid(detail));
    }
    if toleration.given("tolerationSeconds").is_some() && effect.text() != "NoExecute" {
        errors.push(effect.invalid("effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    let at_operator = value.named(operator.at().clone());
    match operator.text() {
        "Equal" | "" => {
            let details = name_rule::label_value(value.text());
            if !details.is_empty() {
                errors.push(at_operator.invalid(details.join(";")));
            }
        }
        "Exists" if !value.is_empty() => {
            errors.push(at_operator.invalid("value must be empty when `operator` is 'Exists'"));
        }
        "Exists" => {}
        // Comparisons are known, but switched off.
        "Lt" | "Gt" => errors.push(operator.not_supported(&["Equal", "Exists", "Lt", "Gt"])),
        _ => errors.push(operator.not_supported(&["Equal", "Exists"])),
    }
    if !effect.is_empty() {
        effect.is_one_of(&EFFECTS, errors);
    }
}
