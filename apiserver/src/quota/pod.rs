//! The resources of a whole pod: those of its containers, and of the most demanding init container.

use serde_json::Value;

use super::amounts::{self, Amounts};

/// The resources that a pod may have as a whole.
const OF_PODS: [&str; 2] = ["cpu", "memory"];

/// The sum of the `requests` or `limits` of a pod.
pub(super) fn resources(pod: &Value, field: &str) -> Amounts {
    let spec = &pod["spec"];
    let mut sum = Amounts::new();
    for container in list(&spec["containers"]) {
        amounts::add(&mut sum, &of_container(container, field));
    }
    let (mut sidecars, mut most) = (Amounts::new(), Amounts::new());
    for container in list(&spec["initContainers"]) {
        let mut own = of_container(container, field);
        if container["restartPolicy"] == "Always" {
            amounts::add(&mut sum, &own);
            amounts::add(&mut sidecars, &own);
            own = sidecars.clone();
        } else {
            amounts::add(&mut own, &sidecars);
        }
        amounts::raise(&mut most, &own);
    }
    amounts::raise(&mut sum, &most);
    let whole = amounts::of(&spec["resources"][field]);
    let is_known = |name: &str| OF_PODS.contains(&name) || name.starts_with("hugepages-");
    sum.extend(whole.into_iter().filter(|(name, _)| is_known(name)));
    let needs_overhead = field == "requests";
    for (name, overhead) in amounts::of(&spec["overhead"]) {
        if needs_overhead || sum.contains_key(&name) {
            amounts::add(&mut sum, &Amounts::from([(name, overhead)]));
        }
    }
    sum
}

/// The `requests` or `limits` of a container.
pub(super) fn of_container(container: &Value, field: &str) -> Amounts {
    amounts::of(&container["resources"][field])
}

/// All containers of a pod, those that run first last.
pub(super) fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    list(&pod["spec"]["containers"]).chain(list(&pod["spec"]["initContainers"]))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
