//! The controller of definitions: it publishes them, and deletes them with their custom resources.

use std::sync::{Arc, PoisonError};

use serde_json::Value;

use crate::{
    cluster::Cluster,
    crd::{self, CLEANUP, names, versions},
    log::{ObjectKey, Scope},
    resource::{Origin, Resource, Resources, Subresource},
    write::{self, Applied, Change, DeleteOptions, Propagation, WriteOptions},
};

/// Publishes the newest state of a definition: its status, and the served resources.
pub(crate) fn publish(cluster: &Cluster, name: &str) {
    let _one_at_a_time = cluster.publishing.lock().unwrap_or_else(PoisonError::into_inner);
    let resources = cluster.registry.snapshot();
    let Some(definitions) = crd::definitions(&resources) else { return };
    let key = ObjectKey::new("", name);
    let Some((_, definition)) = cluster.read(definitions, &key) else {
        cluster.registry.define(name, Vec::new());
        return;
    };
    let verdict = names::judge(&resources, name, &definition);
    // Whoever has read documents of the types need not read them again.
    if verdict.accepted() && !is_served(&resources, name, &definition) {
        cluster.registry.define(name, versions::resources(name, &definition));
    }
    write_status(cluster, definitions, &key, &verdict);
}

/// Whether the types of a definition are served as it is now.
fn is_served(resources: &Resources, name: &str, definition: &Value) -> bool {
    let state = versions::state(definition);
    let is_same = |resource: &Arc<Resource>| match &resource.origin {
        Origin::Custom(custom) => custom.state == state && state.is_some(),
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
        if names::is_established(&definition) {
            // Its own names may come later, in the same generation.
            definition["metadata"]["generation"] = Value::Null;
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

fn write_status(
    cluster: &Cluster,
    definitions: &Resource,
    key: &ObjectKey,
    verdict: &names::Verdict,
) {
    let mut change = |live: &Value| {
        let mut next = live.clone();
        verdict.write_into(&mut next, &cluster.clock.now_text());
        versions::note_storage(&mut next);
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
    let deleting =
        cluster.log.get(&definitions.id, &key).is_some_and(|definition| definition.meta.deleting);
    if !deleting {
        return;
    }
    let empty = resources.of_definition(name).first().is_none_or(|resource| {
        delete_all(cluster, resource);
        cluster.log.is_empty(&resource.storage, &Scope::All)
    });
    if empty {
        give_up(cluster, definitions, &key);
    }
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

fn give_up(cluster: &Cluster, definitions: &Resource, key: &ObjectKey) {
    let mut change = |live: &Value| {
        let mut next = live.clone();
        if let Some(finalizers) =
            next["metadata"].get_mut("finalizers").and_then(Value::as_array_mut)
        {
            finalizers.retain(|finalizer| finalizer != CLEANUP);
        }
        Ok(Change { next, managed: Applied::Yes })
    };
    let options = WriteOptions::default();
    // It may be deleted already.
    let _ = write::update(cluster, definitions, key, Subresource::Main, &options, &mut change);
}
