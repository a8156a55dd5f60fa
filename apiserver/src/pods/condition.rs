//! The conditions of Pods.

use serde_json::{Value, json};

/// Whether a Pod is ready, which is what counts as healthy.
pub(crate) fn is_ready(pod: &Value) -> bool {
    conditions(pod).any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// Sets a condition to `True`; its time of transition is kept if it was so before.
pub(crate) fn set_condition(pod: &mut Value, kind: &str, why: Option<(&str, &str)>, now: &str) {
    let mut condition =
        json!({ "type": kind, "status": "True", "lastProbeTime": null, "lastTransitionTime": now });
    if let Some((reason, message)) = why {
        condition["reason"] = json!(reason);
        condition["message"] = json!(message);
    }
    let status = &mut pod["status"];
    if !status["conditions"].is_array() {
        status["conditions"] = json!([]);
    }
    let list = status["conditions"].as_array_mut().expect("it was made a list");
    let Some(present) = list.iter_mut().find(|present| present["type"] == kind) else {
        list.push(condition);
        return;
    };
    if present["status"] == "True" {
        condition["lastTransitionTime"] = present["lastTransitionTime"].clone();
    }
    condition["lastProbeTime"] = present["lastProbeTime"].clone();
    if let Some(seen) = present.get("observedGeneration") {
        condition["observedGeneration"] = seen.clone();
    }
    *present = condition;
}

fn conditions(pod: &Value) -> impl Iterator<Item = &Value> {
    pod["status"]["conditions"].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_holds_already_keeps_its_time() {
        let mut pod = json!({ "status": {} });
        set_condition(&mut pod, "PodScheduled", None, "2026-01-01T00:00:00Z");
        set_condition(&mut pod, "PodScheduled", None, "2026-01-02T00:00:00Z");
        let conditions = pod["status"]["conditions"].as_array().unwrap();
        assert_eq!(conditions.len(), 1);
        assert_eq!(conditions[0]["lastTransitionTime"], "2026-01-01T00:00:00Z");
        assert!(!is_ready(&pod));
    }
}
