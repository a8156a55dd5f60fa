//! Pods from the templates of workloads.

use serde_json::{Value, json};

use super::object::{name, owner_reference};

/// The letters of hashes, as in generated names.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// A Pod of a workload; its name is generated.
pub(super) fn pod(owner: &Value, template: &Value) -> Value {
    let mut metadata = json!({
        "generateName": format!("{}-", name(owner)),
        "namespace": owner["metadata"]["namespace"],
        "ownerReferences": [owner_reference(owner)],
    });
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(given) = template["metadata"].get(field) {
            metadata[field] = given.clone();
        }
    }
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"] })
}

/// A short text that differs between templates. It is not the hash of the real controllers, which depends on how
/// Go prints a value.
pub(super) fn hash(template: &Value, collisions: i64) -> String {
    let text = format!("{template}{collisions}");
    let hash = text
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let letter = |digit: u8| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()]);
    hash.to_string().bytes().map(letter).collect()
}

/// A template without a label.
pub(super) fn without_label(template: &Value, label: &str) -> Value {
    let mut template = template.clone();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(label);
    }
    template
}
