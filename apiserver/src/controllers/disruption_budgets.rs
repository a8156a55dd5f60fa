//! The controller of disruption budgets: it counts the Pods that a budget is about, and how many of them may
//! be disrupted.
//!
//! Evictions take from that number, see [`crate::pods`]. An evicted Pod that is not deleted counts as disrupted
//! until its budget is looked at again: nothing here waits for a time. No Events are recorded.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::{Value, json};

use crate::{
    builtin,
    cluster::Cluster,
    group_resource::GroupResource,
    log::{Event, ObjectKey, Revision, Scope},
    pods::{is_ready, set_budget_condition, set_disruption_allowed},
    resource::{Resource, Subresource},
    write::{self, Applied, Change, WriteOptions},
};

/// Who writes the status of budgets.
const MANAGER: &str = "kube-controller-manager";
/// How long an evicted Pod counts as disrupted.
const DISRUPTED_SECONDS: i64 = 120;

/// The namespaces whose budgets are to be counted.
#[derive(Debug, Default)]
pub(super) struct Work(BTreeSet<Arc<str>>);

/// What a budget comes to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    expected: i64,
    desired: i64,
}

impl Work {
    /// Notes what a revision may change.
    pub(super) fn note(&mut self, resource: &GroupResource, revision: &Revision) {
        let concerns = match (resource.group.as_str(), resource.plural.as_str()) {
            ("policy", "poddisruptionbudgets") => revision.event != Event::Deleted,
            ("", "pods") => true,
            _ => false,
        };
        if concerns {
            self.0.insert(Arc::clone(&revision.key.namespace));
        }
    }

    /// Brings the status of the budgets up to date.
    pub(super) fn perform(self, cluster: &Cluster) {
        let id = GroupResource::new("policy", "poddisruptionbudgets");
        let resources = cluster.registry.snapshot();
        let Some(budgets) = resources.stored(&id) else { return };
        for namespace in self.0 {
            let scope = Scope::Namespace(namespace);
            let (_, found) = cluster.log.entries(&budgets.storage, &scope);
            if found.is_empty() {
                continue;
            }
            let (_, pods) = cluster.log.entries(&GroupResource::new("", "pods"), &scope);
            let pods: Vec<Value> = pods.iter().map(|(_, pod)| pod.value()).collect();
            for (key, _) in found {
                count(cluster, budgets, &key, &pods);
            }
        }
    }
}

fn count(cluster: &Cluster, budgets: &Resource, key: &ObjectKey, pods: &[Value]) {
    let now = cluster.clock.now_text();
    let mut change = |live: &Value| {
        let mut next = live.clone();
        let none = serde_json::Map::new();
        let selected = |pod: &&Value| {
            let labels = pod["metadata"]["labels"].as_object().unwrap_or(&none);
            let selector = &live["spec"]["selector"];
            selector.is_object() && builtin::selects(selector, labels)
        };
        let pods: Vec<&Value> = pods.iter().filter(selected).collect();
        match Count::of(cluster, &live["spec"], &pods, &key.namespace) {
            Ok(counted) => counted.write(cluster, &mut next, &pods, &now),
            Err(why) => {
                next["status"]["disruptionsAllowed"] = json!(0);
                set_budget_condition(&mut next, ("False", "SyncFailed", &why), &now);
            }
        }
        Ok(Change { next, managed: Applied::No })
    };
    let options = WriteOptions { manager: MANAGER.to_owned(), ..WriteOptions::default() };
    // It may be deleted already.
    let _ = write::update(cluster, budgets, key, Subresource::Status, &options, &mut change);
}

impl Count {
    fn of(
        cluster: &Cluster,
        spec: &Value,
        pods: &[&Value],
        namespace: &Arc<str>,
    ) -> Result<Self, String> {
        let (most, least) = (&spec["maxUnavailable"], &spec["minAvailable"]);
        if !most.is_null() {
            let expected = expected_scale(cluster, pods, namespace)?;
            let desired = (expected - share(most, expected)).max(0);
            return Ok(Self { expected, desired });
        }
        match least {
            Value::Null => Ok(Self::default()),
            Value::Number(number) => {
                let expected = i64::try_from(pods.len()).unwrap_or(i64::MAX);
                Ok(Self { expected, desired: number.as_i64().unwrap_or_default() })
            }
            percentage => {
                let expected = expected_scale(cluster, pods, namespace)?;
                Ok(Self { expected, desired: share(percentage, expected) })
            }
        }
    }

    fn write(&self, cluster: &Cluster, budget: &mut Value, pods: &[&Value], now: &str) {
        let disrupted = still_disrupted(cluster, budget, pods);
        let is_healthy = |pod: &&&Value| {
            let name = pod["metadata"]["name"].as_str().unwrap_or_default();
            pod["metadata"]["deletionTimestamp"].is_null()
                && !disrupted.contains_key(name)
                && is_ready(pod)
        };
        let healthy = pods.iter().filter(is_healthy).count();
        let healthy = i64::try_from(healthy).unwrap_or(i64::MAX);
        let spare = if self.expected > 0 { (healthy - self.desired).max(0) } else { 0 };
        let conditions = budget["status"]["conditions"].take();
        budget["status"] = json!({
            "currentHealthy": healthy,
            "desiredHealthy": self.desired,
            "expectedPods": self.expected,
            "disruptionsAllowed": spare,
            "observedGeneration": budget["metadata"]["generation"],
        });
        if !disrupted.is_empty() {
            budget["status"]["disruptedPods"] = json!(disrupted);
        }
        if conditions.is_array() {
            budget["status"]["conditions"] = conditions;
        }
        set_disruption_allowed(budget, now);
    }
}

/// The evicted Pods that are expected to be deleted soon.
fn still_disrupted(cluster: &Cluster, budget: &Value, pods: &[&Value]) -> BTreeMap<String, Value> {
    let now = cluster.clock.now().as_second();
    let is_recent = |time: &Value| {
        let time = time.as_str().and_then(|time| time.parse::<jiff::Timestamp>().ok());
        time.is_some_and(|time| time.as_second() + DISRUPTED_SECONDS >= now)
    };
    let stays = |name: &str| {
        pods.iter().any(|pod| {
            pod["metadata"]["name"] == name && pod["metadata"]["deletionTimestamp"].is_null()
        })
    };
    let all = budget["status"]["disruptedPods"].as_object().into_iter().flatten();
    all.filter(|(name, time)| stays(name) && is_recent(time))
        .map(|(name, time)| (name.clone(), time.clone()))
        .collect()
}

/// A number, or a percentage of the whole, rounded up.
fn share(amount: &Value, whole: i64) -> i64 {
    match amount {
        Value::String(text) => {
            let percent: i64 = text.trim_end_matches('%').parse().unwrap_or_default();
            percent.saturating_mul(whole).saturating_add(99) / 100
        }
        number => number.as_i64().unwrap_or_default(),
    }
}

/// The sum of the scales of what controls the Pods.
fn expected_scale(cluster: &Cluster, pods: &[&Value], namespace: &Arc<str>) -> Result<i64, String> {
    let mut scales: BTreeMap<String, i64> = BTreeMap::new();
    for pod in pods {
        let owners = pod["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        let Some(controller) = owners.into_iter().find(|owner| owner["controller"] == true) else {
            continue;
        };
        let Some((uid, scale)) = scale_of(cluster, controller, namespace) else {
            let name = pod["metadata"]["name"].as_str().unwrap_or_default();
            return Err(format!("found no controllers for pod {name:?}"));
        };
        scales.insert(uid, scale);
    }
    Ok(scales.values().sum())
}

/// The scale of a controller: that of the Deployment behind a `ReplicaSet`, or its own.
fn scale_of(cluster: &Cluster, owner: &Value, namespace: &Arc<str>) -> Option<(String, i64)> {
    let text = |field: &str| owner[field].as_str().unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    let resources = cluster.registry.snapshot();
    let resource = resources.by_kind(group, text("kind")).filter(|found| found.has_scale())?;
    let key = ObjectKey::new(Arc::clone(namespace), text("name"));
    let (_, object) = cluster.read(resource, &key)?;
    if object["metadata"]["uid"] != owner["uid"] {
        return None;
    }
    if resource.kind == "ReplicaSet" {
        let owners = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        if let Some(above) = owners.into_iter().find(|owner| owner["controller"] == true) {
            return scale_of(cluster, above, namespace);
        }
    }
    let path = resource.scale.as_ref().map_or(".spec.replicas", |paths| &paths.spec_replicas);
    let pointer = path.replace('.', "/");
    let replicas = object.pointer(&pointer).and_then(Value::as_i64).unwrap_or_default();
    Some((text("uid").to_owned(), replicas))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_rounded_up() {
        for (amount, whole, expected) in
            [(json!(2), 5, 2), (json!("50%"), 5, 3), (json!("0%"), 5, 0), (json!("100%"), 3, 3)]
        {
            assert_eq!(share(&amount, whole), expected, "{amount} of {whole}");
        }
    }

    #[test]
    fn any_text_is_a_share() {
        const TOKENS: [&str; 7] = ["1", "0", "%", "-", "+", "9223372036854775807", " "];
        operetta_harness::random::texts(&TOKENS, |text| {
            let _ = share(&json!(text), 1_000);
        });
    }
}
