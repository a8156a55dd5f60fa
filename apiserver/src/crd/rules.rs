//! The rules for writes of a definition, apart from validation.

use serde_json::{Value, json};

use super::{conditions, own_type, versions};
use crate::{builtin, cluster::Cluster, log::ObjectKey};

/// Holds a definition while its custom resources are deleted.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
/// The Go struct of a definition.
const STRUCT: &str = "apiextensions.v1.CustomResourceDefinition";

/// Checks that every value has the type of its field, and returns the fields that definitions do not have.
pub(crate) fn decode(object: &Value) -> Result<Vec<String>, String> {
    builtin::decode_struct(STRUCT, object, "")
}

/// Gives a definition the form in which Go writes it, with its defaults.
pub(crate) fn default(object: &mut Value) {
    builtin::strip(STRUCT, object);
    let spec = &mut object["spec"];
    let kind = spec["names"]["kind"].as_str().unwrap_or_default().to_owned();
    if !kind.is_empty() {
        fill(&mut spec["names"]["singular"], json!(kind.to_lowercase()));
        fill(&mut spec["names"]["listKind"], json!(format!("{kind}List")));
    }
    fill(&mut spec["conversion"], json!({ "strategy": "None" }));
    if spec["conversion"]["webhook"]["clientConfig"]["service"].is_object() {
        fill(&mut spec["conversion"]["webhook"]["clientConfig"]["service"]["port"], json!(443));
    }
    let stored = &object["status"]["storedVersions"];
    if stored.as_array().is_none_or(Vec::is_empty)
        && let Some(storage) = versions::storage_name(object)
    {
        object["status"]["storedVersions"] = json!([storage]);
    }
    builtin::fill(STRUCT, object);
    if object["metadata"].get("creationTimestamp") == Some(&Value::Null)
        && let Some(metadata) = object["metadata"].as_object_mut()
    {
        metadata.remove("creationTimestamp");
    }
}

fn fill(slot: &mut Value, value: Value) {
    if slot.is_null() {
        *slot = value;
    }
}

/// What the server decides about a new definition.
pub(crate) fn prepare_for_create(object: &mut Value) {
    let stored = versions::storage_name(object).map_or(Value::Null, |storage| json!([storage]));
    object["status"] = json!({
        "acceptedNames": { "kind": "", "plural": "" },
        "conditions": null,
        "storedVersions": stored,
    });
}

/// What the server decides about a changed definition.
pub(crate) fn prepare_for_update(object: &mut Value) {
    versions::note_storage(object);
}

/// Marks a definition as being deleted.
pub(crate) fn mark_deleted(object: &mut Value, now: &str) {
    object["metadata"]["deletionTimestamp"] = json!(now);
    let finalizers = &mut object["metadata"]["finalizers"];
    match finalizers.as_array_mut() {
        Some(list) if list.iter().any(|finalizer| finalizer == CLEANUP) => {}
        Some(list) => list.push(json!(CLEANUP)),
        None => *finalizers = json!([CLEANUP]),
    }
    let message =
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    conditions::set(object, now, ["Terminating", "True", "InstanceDeletionPending", message]);
}

/// Whether new custom resources are refused because their definition is being deleted.
pub(crate) fn is_terminating(cluster: &Cluster, definition: &str) -> bool {
    let resources = cluster.registry.snapshot();
    let definitions = own_type::served(&resources);
    let found = definitions.and_then(|d| cluster.log.get(&d.id, &ObjectKey::new("", definition)));
    let deleting = found.filter(|definition| definition.meta.deleting);
    deleting.is_some_and(|definition| conditions::is_true(&definition.value(), "Terminating"))
}
