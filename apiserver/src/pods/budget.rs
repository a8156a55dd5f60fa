//! The disruption budget of a Pod that is to be evicted: whether it allows the eviction, and taking one
//! disruption from it. A controller fills its status.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{budget_condition::set_disruption_allowed, condition::is_ready};
use crate::{
    builtin,
    cluster::Cluster,
    group_resource::GroupResource,
    log::{ObjectKey, Scope},
    resource::{Resource, Subresource},
    status::{Result, StatusError},
    write::{self, Applied, Change, WriteOptions},
};

/// How many evictions may be unconfirmed.
const DISRUPTED_LIMIT: usize = 2000;
/// Who writes the status of a budget here.
const MANAGER: &str = "kube-apiserver";

/// The decision about an eviction.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The Pod may be deleted.
    Allowed,
    /// The same, as long as it does not change: it is not ready, and counts for no budget.
    AllowedUnchanged(String),
    /// It has several budgets.
    Ambiguous,
}

/// Decides about the eviction of a Pod, and takes a disruption from its budget.
pub(super) fn decide(
    cluster: &Cluster,
    key: &ObjectKey,
    pod: &Value,
    dry_run: bool,
) -> Result<Verdict> {
    let resources = cluster.registry.snapshot();
    let id = GroupResource::new("policy", "poddisruptionbudgets");
    let budgets = resources.stored(&id).ok_or_else(StatusError::no_such_resource)?;
    let found = matching(cluster, budgets, &key.namespace, pod);
    let (name, budget) = match found.as_slice() {
        [] => return Ok(Verdict::Allowed),
        [one] => one,
        _ => return Ok(Verdict::Ambiguous),
    };
    if !is_ready(pod) && spares_unhealthy(budget) {
        return Ok(Verdict::AllowedUnchanged(name.to_string()));
    }
    let budget_key = ObjectKey::new(key.namespace.clone(), Arc::clone(name));
    let options = WriteOptions { manager: MANAGER.to_owned(), dry_run, ..WriteOptions::default() };
    let now = cluster.clock.now_text();
    let mut take = |live: &Value| {
        let next = after_eviction(live, &key.name, &now)?;
        Ok(Change { next, managed: Applied::No })
    };
    write::update(cluster, budgets, &budget_key, Subresource::Status, &options, &mut take)?;
    Ok(Verdict::Allowed)
}

/// The refusal of an eviction that its budget does not allow now.
pub(super) fn busy(name: &str) -> StatusError {
    let message = format!("The disruption budget {name} is still being processed by the server.");
    too_many(10, &message)
}

fn too_many(seconds: u64, cause: &str) -> StatusError {
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    StatusError::too_many_requests(message, seconds, "DisruptionBudget", cause)
}

/// The budgets that select a Pod.
fn matching(
    cluster: &Cluster,
    budgets: &Resource,
    namespace: &Arc<str>,
    pod: &Value,
) -> Vec<(Arc<str>, Value)> {
    let (_, all) = cluster.log.entries(&budgets.storage, &Scope::Namespace(Arc::clone(namespace)));
    let none = serde_json::Map::new();
    let labels = pod["metadata"]["labels"].as_object().unwrap_or(&none);
    let decoded = all.into_iter().map(|(key, object)| (key.name, budgets.decode(&object)));
    let selecting = decoded.filter(|(_, budget)| {
        let selector = &budget["spec"]["selector"];
        selector.is_object() && builtin::selects(selector, labels)
    });
    selecting.collect()
}

/// Whether a Pod that is not ready may go without taking a disruption.
fn spares_unhealthy(budget: &Value) -> bool {
    let status = |field: &str| budget["status"][field].as_i64().unwrap_or_default();
    let (current, desired) = (status("currentHealthy"), status("desiredHealthy"));
    budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
        || current >= desired && desired > 0
}

/// The budget with one disruption less.
fn after_eviction(budget: &Value, pod: &str, now: &str) -> Result<Value> {
    let id = GroupResource::new("policy", "poddisruptionbudget");
    let name = budget["metadata"]["name"].as_str().unwrap_or_default();
    let status = |field: &str| budget["status"][field].as_i64().unwrap_or_default();
    let allowed = status("disruptionsAllowed");
    let disrupted = budget["status"]["disruptedPods"].as_object().map_or(0, serde_json::Map::len);
    let generation = budget["metadata"]["generation"].as_i64().unwrap_or_default();
    if status("observedGeneration") < generation {
        return Err(busy(name));
    }
    if allowed < 0 {
        return Err(StatusError::forbidden(&id, name, "pdb disruptions allowed is negative"));
    }
    if disrupted > DISRUPTED_LIMIT {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        return Err(StatusError::forbidden(&id, name, why));
    }
    if allowed == 0 {
        return Err(too_many(0, &why_not(budget, name)));
    }
    let mut next = budget.clone();
    next["status"]["disruptionsAllowed"] = json!(allowed - 1);
    if allowed == 1 {
        set_disruption_allowed(&mut next, now);
    }
    next["status"]["disruptedPods"][pod] = json!(now);
    Ok(next)
}

/// Why a budget allows no disruption.
fn why_not(budget: &Value, name: &str) -> String {
    let status = |field: &str| budget["status"][field].as_i64().unwrap_or_default();
    let conditions = budget["status"]["conditions"].as_array().into_iter().flatten();
    let text =
        |condition: &Value, field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    let refusal = conditions
        .filter(|condition| condition["type"] == "DisruptionAllowed")
        .filter(|condition| condition["status"] == "False")
        .map(|condition| (text(condition, "reason"), text(condition, "message")))
        .find(|(_, message)| !message.is_empty());
    let (current, desired) = (status("currentHealthy"), status("desiredHealthy"));
    let not_now = format!("The disruption budget {name} does not allow evicting pods currently");
    match refusal {
        Some((reason, message)) if reason == "SyncFailed" => {
            format!("{not_now} because it failed sync: {message}")
        }
        _ if current <= desired => {
            format!(
                "The disruption budget {name} needs {desired} healthy pods and has {current} \
                 currently"
            )
        }
        Some((reason, message)) => format!("{not_now} ({reason}): {message}"),
        None => not_now,
    }
}
