//! The controller of definitions: it publishes them, and deletes them with their custom resources.

use std::sync::{Arc, PoisonError};

use serde_json::Value;

use crate::{
    bootstrap,
    cluster::Cluster,
    crd::{self, CLEANUP, conditions, names, versions},
    log::{ObjectKey, Scope},
    resource::{Origin, Resource, Resources, Subresource},
    write::{self, Applied, Change, DeleteOptions, Propagation, WriteOptions},
};

/// Publishes the newest state of a definition: its status, and the served resources.
pub(crate) fn publish(cluster: &Cluster, name: &str) {
    let _one_at_a_time = cluster.publishing.lock().unwrap_or_else(PoisonError::into_inner);
    let resources = cluster.registry.snapshot();
    let Some(definitions) = crd::definitions(&resources) else { return };
    publish_one(cluster, definitions, name);
    let group = name.split_once('.').map_or("", |(_, group)| group);
    for other in waiting(cluster, definitions, group) {
        publish_one(cluster, definitions, &other);
    }
    bootstrap::follow_types(cluster);
}

fn publish_one(cluster: &Cluster, definitions: &Resource, name: &str) {
    let key = ObjectKey::new("", name);
    let Some((_, mut definition)) = cluster.read(definitions, &key) else {
        cluster.registry.define(name, Vec::new());
        return;
    };
    let resources = cluster.registry.snapshot();
    let verdict = names::judge(&resources, name, &definition);
    if let Some(names) = verdict.served(&definition) {
        definition["spec"]["names"] = names.clone();
    }
    // Whoever has read documents of the types need not read them again.
    if verdict.served(&definition).is_some() && !is_served(&resources, name, &definition) {
        cluster.registry.define(name, versions::resources(name, &definition));
    }
    change_status(cluster, definitions, &key, &|next| {
        verdict.write_into(next, &cluster.clock.now_text());
    });
}

/// The definitions of a group that do not have the names that they ask for: one may be free now.
fn waiting(cluster: &Cluster, definitions: &Resource, group: &str) -> Vec<String> {
    let entries = cluster.log.entries(&definitions.storage, &Scope::All).1;
    let of_group = entries
        .into_iter()
        .filter(|(key, _)| key.name.split_once('.').is_some_and(|(_, of)| of == group));
    let waits =
        |definition: &Value| definition["spec"]["names"] != definition["status"]["acceptedNames"];
    of_group
        .filter(|(_, object)| waits(&object.value()))
        .map(|(key, _)| key.name.to_string())
        .collect()
}

/// Whether the types of a definition are served as it is now.
fn is_served(resources: &Resources, name: &str, definition: &Value) -> bool {
    let state = versions::state(definition);
    let is_same = |resource: &Arc<Resource>| match &resource.origin {
        Origin::Custom(custom) => custom.state == state,
        Origin::BuiltIn(_) | Origin::Definition => false,
    };
    resources.of_definition(name).first().is_some_and(is_same)
}

/// Serves the persisted definitions: established ones under the names that were accepted, then those whose
/// publication was interrupted.
pub(crate) fn serve_again(cluster: &Cluster) {
    let resources = cluster.registry.snapshot();
    let Some(definitions) = crd::definitions(&resources) else { return };
    let mut interrupted = Vec::new();
    for (key, object) in cluster.log.entries(&definitions.storage, &Scope::All).1 {
        let mut definition = definitions.decode(&object);
        if conditions::is_true(&definition, "Established") {
            definition["spec"]["names"] = definition["status"]["acceptedNames"].clone();
            cluster.registry.define(&key.name, versions::resources(&key.name, &definition));
        } else {
            interrupted.push(key.name);
        }
    }
    for name in interrupted {
        publish(cluster, &name);
    }
}

/// Changes the status or the finalizers of a definition.
fn change_status(
    cluster: &Cluster,
    definitions: &Resource,
    key: &ObjectKey,
    change: &dyn Fn(&mut Value),
) {
    let mut change = |live: &Value| {
        let mut next = live.clone();
        change(&mut next);
        Ok(Change { next, managed: Applied::No })
    };
    let options = WriteOptions { manager: "kube-apiserver".to_owned(), ..WriteOptions::default() };
    // A concurrent change or deletion publishes it again.
    let _ = write::update(cluster, definitions, key, Subresource::Status, &options, &mut change);
}

/// Continues the deletion of a definition: its custom resources first.
pub(super) fn terminate(cluster: &Cluster, name: &str) {
    let resources = cluster.registry.snapshot();
    let Some(definitions) = crd::definitions(&resources) else { return };
    let key = ObjectKey::new("", name);
    let found = cluster.log.get(&definitions.id, &key).filter(|found| found.meta.deleting);
    let Some(definition) = found.map(|found| found.value()).filter(holds_for_cleanup) else {
        return;
    };
    let end = if conditions::is_true(&definition, "Established") {
        let terminating = |next: &mut Value| {
            let message = "CustomResource deletion is in progress";
            let condition = ["Terminating", "True", "InstanceDeletionInProgress", message];
            conditions::set(next, &cluster.clock.now_text(), condition);
        };
        change_status(cluster, definitions, &key, &terminating);
        if !is_empty_after_deletion(cluster, &resources, name) {
            return;
        }
        ["InstanceDeletionCompleted", "removed all instances"]
    } else {
        ["NeverEstablished", "resource was never established"]
    };
    give_up(cluster, definitions, &key, end);
    publish(cluster, name);
}

fn holds_for_cleanup(definition: &Value) -> bool {
    let finalizers = definition["metadata"]["finalizers"].as_array().into_iter().flatten();
    finalizers.into_iter().any(|finalizer| finalizer == CLEANUP)
}

/// Deletes the objects of a definition; whether there are none.
fn is_empty_after_deletion(cluster: &Cluster, resources: &Resources, name: &str) -> bool {
    resources.of_definition(name).first().is_none_or(|resource| {
        delete_all(cluster, resource);
        cluster.log.is_empty(&resource.storage, &Scope::All)
    })
}

fn delete_all(cluster: &Cluster, resource: &Resource) {
    let options =
        DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
    for (key, object) in cluster.log.entries(&resource.storage, &Scope::All).1 {
        if !object.meta.deleting {
            // It was deleted concurrently.
            let _ = write::delete(cluster, resource, &key, &options);
        }
    }
}

fn give_up(
    cluster: &Cluster,
    definitions: &Resource,
    key: &ObjectKey,
    [reason, message]: [&str; 2],
) {
    let finish = |next: &mut Value| {
        let condition = ["Terminating", "False", reason, message];
        conditions::set(next, &cluster.clock.now_text(), condition);
        let finalizers = next["metadata"].get_mut("finalizers").and_then(Value::as_array_mut);
        if let Some(finalizers) = finalizers {
            finalizers.retain(|finalizer| finalizer != CLEANUP);
        }
    };
    // It may be deleted already.
    change_status(cluster, definitions, key, &finish);
}
