//! The rules for writes of a definition, apart from validation.

use serde_json::{Value, json};

use super::{own_type, versions};
use crate::{cluster::Cluster, log::ObjectKey};

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
    if spec["conversion"]["webhook"]["clientConfig"]["service"].is_object() {
        fill(&mut spec["conversion"]["webhook"]["clientConfig"]["service"]["port"], json!(443));
    }
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

/// Whether new custom resources are refused because their definition is being deleted.
pub(crate) fn is_terminating(cluster: &Cluster, definition: &str) -> bool {
    let resources = cluster.registry.snapshot();
    let definitions = own_type::served(&resources);
    let found = definitions.and_then(|d| cluster.log.get(&d.id, &ObjectKey::new("", definition)));
    found.is_some_and(|definition| definition.meta.deleting)
}
