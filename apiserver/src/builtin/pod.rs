//! Pods: what create and update add, and the quality of service that follows from the resources.
//!
//! Not imitated: scheduling gates' condition, and affinity computed from `matchLabelKeys`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::path;
use crate::quantity::Quantity;

/// Status, tolerations and priority of a new pod.
pub(super) fn prepare_for_create(pod: &mut Value) {
    let class = quality_of_service(pod);
    path::set(pod, "status", json!({ "phase": "Pending", "qosClass": class }));
    tolerate_lost_nodes(pod);
    path::set_if_absent(pod, "spec.priority", 0);
    path::set_if_absent(pod, "spec.preemptionPolicy", "PreemptLowerPriority");
}

/// Keeps fields that an update omits.
pub(super) fn prepare_for_update(new: &mut Value, old: &Value) {
    tolerate_lost_nodes(new);
    for kept in ["spec.priority", "spec.preemptionPolicy"] {
        if path::get(new, kept).is_none() {
            path::copy(new, old, kept);
        }
    }
}

/// Old kubelets omit the quality of service.
pub(super) fn prepare_for_status_update(new: &mut Value, old: &Value) {
    for kept in ["status.qosClass", "status.observedGeneration"] {
        if path::get(new, kept).is_none() {
            path::copy(new, old, kept);
        }
    }
}

fn tolerate_lost_nodes(pod: &mut Value) {
    let mut tolerations = path::list(pod, "spec.tolerations").to_vec();
    let given = tolerations.clone();
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerates = |toleration: &Value| {
            let matches = |field, wanted| matches!(path::text(toleration, field), text if text.is_empty() || text == wanted);
            matches("key", key) && matches("effect", "NoExecute")
        };
        if !given.iter().any(tolerates) {
            tolerations.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300
            }));
        }
    }
    path::set(pod, "spec.tolerations", tolerations);
}

type Amounts = BTreeMap<String, Quantity>;

/// The quality of service that follows from the resources.
pub(super) fn quality_of_service(pod: &Value) -> &'static str {
    let (mut requests, mut limits) = (Amounts::new(), Amounts::new());
    let mut all_limited = true;
    let pod_level = path::get(pod, "spec.resources").map(|resources| vec![resources]);
    for resources in pod_level.unwrap_or_else(|| container_resources(pod)) {
        add(&mut requests, path::get(resources, "requests"));
        let own = add(&mut limits, path::get(resources, "limits"));
        all_limited &= own == 2;
    }
    if requests.is_empty() && limits.is_empty() {
        return "BestEffort";
    }
    let same = |(name, request): (&String, &Quantity)| {
        limits.get(name).is_some_and(|limit| limit.compare(*request).is_eq())
    };
    let guaranteed = all_limited && requests.len() == limits.len() && requests.iter().all(same);
    if guaranteed { "Guaranteed" } else { "Burstable" }
}

fn container_resources(pod: &Value) -> Vec<&Value> {
    let containers = path::list(pod, "spec.containers").iter();
    let all = containers.chain(path::list(pod, "spec.initContainers"));
    all.map(|container| path::get(container, "resources").unwrap_or(&Value::Null)).collect()
}

/// Adds the amounts of CPU and memory, and returns how many of the two were given.
fn add(sums: &mut Amounts, list: Option<&Value>) -> usize {
    let mut given = 0;
    for name in ["cpu", "memory"] {
        let amount = list.and_then(|list| list.get(name)).and_then(Quantity::of);
        if let Some(amount) = amount.filter(|amount| amount.is_positive()) {
            given += 1;
            let sum = sums.remove(name).map_or(amount, |sum| sum.plus(amount));
            sums.insert(name.to_owned(), sum);
        }
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quality_of_service_follows_from_requests_and_limits() {
        let full = json!({ "cpu": "1", "memory": "1Gi" });
        let table = [
            (json!({}), "BestEffort"),
            (json!({ "requests": { "cpu": "0" } }), "BestEffort"),
            (json!({ "requests": { "cpu": "1" } }), "Burstable"),
            (json!({ "requests": full, "limits": full }), "Guaranteed"),
            (
                json!({ "requests": full, "limits": { "cpu": "1000m", "memory": "1024Mi" } }),
                "Guaranteed",
            ),
            (json!({ "limits": { "cpu": "1" }, "requests": { "cpu": "1" } }), "Burstable"),
        ];
        for (resources, class) in table {
            let pod = json!({ "spec": { "containers": [{ "resources": resources }] } });
            assert_eq!(quality_of_service(&pod), class, "{pod}");
        }
    }
}
