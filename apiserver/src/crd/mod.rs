//! Custom resource definitions: from an object in the log to resources that are served.
//!
//! ```text
//!  create / update ─ validate ─ commit ─ publish ─┬─ status: names accepted, established
//!                                                 └─ registry: one Resource per served version
//!  delete ─ finalizer ─ terminate: delete the custom resources, then give the definition up
//! ```
//!
//! A definition is published before its write is answered: its paths exist at once.

mod names;
mod own_type;
mod validate;
mod versions;

use std::sync::PoisonError;

use serde_json::{Value, json};

pub(crate) use self::{
    own_type::resource as definition_resource,
    validate::{validate, validate_update},
};
use crate::{
    cluster::Cluster,
    log::{ObjectKey, Scope},
    resource::Resource,
    write::{self, Applied, Change, DeleteOptions, Propagation, Subresource, WriteOptions},
};

/// Holds a definition while its custom resources are deleted.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Fills in the defaults of a definition.
pub(crate) fn default(object: &mut Value) {
    let spec = &mut object["spec"];
    let kind = spec["names"]["kind"].as_str().unwrap_or_default().to_owned();
    if spec["names"].is_object() {
        fill(&mut spec["names"]["singular"], json!(kind.to_lowercase()));
        fill(&mut spec["names"]["listKind"], json!(format!("{kind}List")));
    }
    fill(&mut spec["conversion"], json!({ "strategy": "None" }));
}

fn fill(slot: &mut Value, value: Value) {
    if slot.is_null() {
        *slot = value;
    }
}

/// What the server decides about a new definition.
pub(crate) fn prepare_for_create(object: &mut Value) {
    object["status"] = json!({
        "acceptedNames": { "kind": "", "plural": "" },
        "conditions": null,
        "storedVersions": [versions::storage(object)],
    });
}

/// Makes the newest state of a definition count: its status, and what is served.
pub(crate) fn publish(cluster: &Cluster, name: &str) {
    let _one_at_a_time = cluster.publishing.lock().unwrap_or_else(PoisonError::into_inner);
    let resources = cluster.registry.snapshot();
    let Some(definitions) = resources.by_kind("apiextensions.k8s.io", own_type::KIND) else {
        return;
    };
    let key = ObjectKey::new("", name);
    let Some((_, definition)) = cluster.read(definitions, &key) else {
        cluster.registry.define(name, Vec::new());
        return;
    };
    let verdict = names::judge(&resources, name, &definition);
    if verdict.accepted() {
        cluster.registry.define(name, versions::resources(name, &definition));
    }
    write_status(cluster, definitions, &key, &verdict);
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
    // Whoever changed or deleted it meanwhile publishes it again.
    let _ = write::update(cluster, definitions, key, Subresource::Status, &options, &mut change);
}

/// Goes on with the deletion of a definition: its custom resources first.
pub(crate) fn terminate(cluster: &Cluster, name: &str) {
    let resources = cluster.registry.snapshot();
    let Some(definitions) = resources.by_kind("apiextensions.k8s.io", own_type::KIND) else {
        return;
    };
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
            // Whoever deleted it meanwhile did what was wanted.
            let _ = write::delete(cluster, resource, &key, &options);
        }
    }
}

fn give_up(cluster: &Cluster, definitions: &Resource, key: &ObjectKey) {
    let mut change = |live: &Value| {
        let mut next = live.clone();
        if let Some(finalizers) = next["metadata"]["finalizers"].as_array_mut() {
            finalizers.retain(|finalizer| finalizer != CLEANUP);
        }
        Ok(Change { next, managed: Applied::Yes })
    };
    let options = WriteOptions::default();
    // Gone already is as good.
    let _ = write::update(cluster, definitions, key, Subresource::Main, &options, &mut change);
}

/// Whether new custom resources are refused because their definition is being deleted.
pub(crate) fn is_terminating(cluster: &Cluster, definition: &str) -> bool {
    let resources = cluster.registry.snapshot();
    let definitions = resources.by_kind("apiextensions.k8s.io", own_type::KIND);
    let found = definitions.and_then(|d| cluster.log.get(&d.id, &ObjectKey::new("", definition)));
    found.is_some_and(|definition| definition.meta.deleting)
}
