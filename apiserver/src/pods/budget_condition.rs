//! The condition of a disruption budget.

use serde_json::{Value, json};

const CONDITION: &str = "DisruptionAllowed";

/// Sets the condition of a budget by its number of allowed disruptions.
pub(crate) fn set_disruption_allowed(budget: &mut Value, now: &str) {
    let allowed = budget["status"]["disruptionsAllowed"].as_i64().unwrap_or_default();
    let (status, reason) =
        if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    set_budget_condition(budget, (status, reason, ""), now);
}

/// Sets the condition of a budget. The time of transition changes with the status.
pub(crate) fn set_budget_condition(
    budget: &mut Value,
    (status, reason, message): (&str, &str, &str),
    now: &str,
) {
    let observed = budget["status"]["observedGeneration"].clone();
    if !budget["status"]["conditions"].is_array() {
        budget["status"]["conditions"] = json!([]);
    }
    let list = budget["status"]["conditions"].as_array_mut().expect("it was made a list");
    let mut condition = json!({
        "type": CONDITION,
        "status": status,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    });
    if observed.as_i64().is_some_and(|observed| observed != 0) {
        condition["observedGeneration"] = observed;
    }
    match list.iter_mut().find(|present| present["type"] == CONDITION) {
        Some(present) => {
            if present["status"] == status {
                condition["lastTransitionTime"] = present["lastTransitionTime"].clone();
            }
            *present = condition;
        }
        None => list.push(condition),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_condition_follows_from_the_number_of_allowed_disruptions() {
        let mut budget = json!({ "status": { "disruptionsAllowed": 0, "observedGeneration": 1 } });
        set_disruption_allowed(&mut budget, "2026-01-01T00:00:00Z");
        set_disruption_allowed(&mut budget, "2026-01-02T00:00:00Z");
        let first = budget["status"]["conditions"][0].clone();
        assert_eq!(
            (&first["reason"], &first["lastTransitionTime"]),
            (&json!("InsufficientPods"), &json!("2026-01-01T00:00:00Z"))
        );
        budget["status"]["disruptionsAllowed"] = json!(1);
        set_disruption_allowed(&mut budget, "2026-01-03T00:00:00Z");
        assert_eq!(budget["status"]["conditions"][0]["lastTransitionTime"], "2026-01-03T00:00:00Z");
        assert_eq!(budget["status"]["conditions"].as_array().unwrap().len(), 1);
    }
}
