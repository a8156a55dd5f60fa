//! CEL rules of a value.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    change::Verdict,
    found::{Findings, Place},
};

const RULES: &str = "x-kubernetes-validations";

pub(super) fn rules(old: &Value, new: &Value, place: &Place, findings: &mut Findings) {
    let (old, new) = (by_expression(old), by_expression(new));
    for (rule, fields) in &new {
        match old.get(rule) {
            None => added(rule, place, findings),
            Some(before) if before != fields => {
                let what = format!("what the rule `{rule}` says is changed");
                findings.add(place, Verdict::Safe, what, "the rule itself is the same");
            }
            Some(_) => {}
        }
    }
    for rule in old.keys().filter(|rule| !new.contains_key(*rule)) {
        findings.loosen(place, format!("the rule `{rule}` is removed"));
    }
}

fn by_expression(schema: &Value) -> BTreeMap<&str, &Value> {
    let rules = schema[RULES].as_array().into_iter().flatten();
    rules.map(|rule| (rule["rule"].as_str().unwrap_or_default(), rule)).collect()
}

fn added(rule: &str, place: &Place, findings: &mut Findings) {
    let at = if place.path.is_empty() { "the object" } else { &*place.path };
    let (change, remedy) = if names_old_self(rule) {
        (
            format!("a transition rule is added: `{rule}`"),
            format!(
                "it holds for each update of {at}, also of a stored one: updates of clients may be refused"
            ),
        )
    } else {
        (
            format!("a rule is added: `{rule}`"),
            format!(
                "a stored object that breaks it is accepted until something in {at} changes; for others write a new version"
            ),
        )
    };
    findings.add(place, Verdict::NeedsVersion, change, &remedy);
}

/// Whether the rule compares with the stored value. Kubernetes does not ratchet such a rule.
fn names_old_self(rule: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    rule.split(|c: char| !is_of_name(c)).any(|word| word == "oldSelf")
}
