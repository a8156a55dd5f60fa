//! The rules of a cluster role that is made of others: those of the roles that its selectors select.

use serde_json::Value;

use crate::builtin;

/// The field manager of aggregated rules.
pub(crate) const AGGREGATION_MANAGER: &str = "clusterrole-aggregation-controller";

/// The rules of a role that is made of others.
pub(crate) fn aggregated_rules(role: &Value, others: &[Value]) -> Vec<Value> {
    let selectors = role["aggregationRule"]["clusterRoleSelectors"].as_array();
    let mut rules: Vec<Value> = Vec::new();
    for selector in selectors.into_iter().flatten() {
        let mut selected: Vec<&Value> =
            others.iter().filter(|other| is_selected(other, role, selector)).collect();
        selected.sort_by_key(|role| role["metadata"]["name"].as_str());
        for rule in selected.into_iter().filter_map(|role| role["rules"].as_array()).flatten() {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
    rules
}

fn is_selected(other: &Value, role: &Value, selector: &Value) -> bool {
    let labels = other["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    other["metadata"]["name"] != role["metadata"]["name"] && builtin::selects(selector, &labels)
}
