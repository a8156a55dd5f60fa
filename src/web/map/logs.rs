//! The commands that show the logs of a Pod. Pure.

use serde_json::Value;

use crate::{
    object::{K8sType, ObjectKey},
    plan::ChildId,
    report::problem::kubectl,
};

/// A command for each container of a Pod; for one that waits to be started again that of its last run.
pub(super) fn log_commands(ty: &K8sType, key: &ObjectKey, pod: &Value) -> Vec<String> {
    if !ty.is("v1", "Pod") {
        return Vec::new();
    }
    let id = ChildId { ty: ty.clone(), key: key.clone() };
    let containers = all_of(&pod["spec"], ["initContainers", "containers"]);
    let names = containers.filter_map(|container| container["name"].as_str());
    names.map(|name| kubectl::logs(&id, name, waits_to_restart(pod, name))).collect()
}

fn waits_to_restart(pod: &Value, container: &str) -> bool {
    let mut statuses = all_of(&pod["status"], ["initContainerStatuses", "containerStatuses"]);
    statuses.any(|status| {
        status["name"] == container
            && status["restartCount"].as_u64().is_some_and(|count| count > 0)
            && status["state"]["running"].is_null()
    })
}

fn all_of<'a>(value: &'a Value, lists: [&'a str; 2]) -> impl Iterator<Item = &'a Value> {
    lists.into_iter().filter_map(|list| value[list].as_array()).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_log_of_the_last_run_is_shown_of_a_container_that_waits_to_restart() {
        let pods = K8sType::namespaced("v1", "Pod", "pods");
        let key = ObjectKey::namespaced("shop", "web-0");
        let pod = json!({
            "spec": {"initContainers": [{"name": "init"}], "containers": [{"name": "main"}, {"name": "side"}]},
            "status": {"containerStatuses": [
                {"name": "main", "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}}},
                {"name": "side", "restartCount": 1, "state": {"running": {}}},
            ]},
        });
        let expected = [
            "kubectl logs web-0 -c init -n shop",
            "kubectl logs web-0 -c main -n shop --previous",
            "kubectl logs web-0 -c side -n shop",
        ];
        assert_eq!(log_commands(&pods, &key, &pod), expected);
        let claims = K8sType::namespaced("v1", "PersistentVolumeClaim", "persistentvolumeclaims");
        assert_eq!(log_commands(&claims, &key, &pod), Vec::<String>::new());
    }
}
