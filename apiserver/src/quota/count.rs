//! What the objects of a namespace use, as its quotas count it.

use std::sync::Arc;

use serde_json::Value;

use super::{
    amounts::{self, Amounts},
    matching, usage,
};
use crate::{
    cluster::Cluster, group_resource::GroupResource, log::Scope, quantity::Quantity,
    resource::Resource,
};

/// What is used of a quota.
pub(crate) fn counted(cluster: &Cluster, quota: &Value, namespace: &Arc<str>) -> Value {
    amounts::json(&sum(cluster, quota, &amounts::of(&quota["spec"]["hard"]), namespace))
}

/// What is used of a quota, but not less than its status reports.
pub(crate) fn counted_at_least(cluster: &Cluster, quota: &Value, namespace: &Arc<str>) -> Value {
    let hard = amounts::of(&quota["spec"]["hard"]);
    let mut used = sum(cluster, quota, &hard, namespace);
    amounts::raise(&mut used, &amounts::masked(&amounts::of(&quota["status"]["used"]), &hard));
    amounts::json(&used)
}

fn sum(cluster: &Cluster, quota: &Value, hard: &Amounts, namespace: &Arc<str>) -> Amounts {
    let resources = cluster.registry.snapshot();
    let mut sum: Amounts = hard.keys().map(|name| (name.clone(), Quantity::whole(0))).collect();
    let is_counted = |resource: &&Arc<Resource>| {
        let id: &GroupResource = &resource.id;
        resource.namespaced
            && resource.is_stored_form()
            && hard.keys().any(|name| usage::counts(id, name))
    };
    for resource in resources.iter().filter(is_counted) {
        let scope = Scope::Namespace(Arc::clone(namespace));
        for (_, object) in cluster.log.entries(&resource.storage, &scope).1 {
            let object = object.value();
            if matching::matches(quota, hard, &resource.id, &object) {
                let used = amounts::masked(&usage::of(&resource.id, &object), hard);
                amounts::add(&mut sum, &used);
            }
        }
    }
    sum
}
