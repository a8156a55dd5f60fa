//! What a change of a CRD means for stored objects and for clients. Pure: the committed CRDs and those of the program in,
//! changes out.
//!
//! ```text
//! crd_changes --> definition --> version --> schema --> limits, topology, rules, alternatives
//!                     '--------> lost (a version that is added without conversion)
//! ```
//!
//! What Kubernetes does with a stored object that does not fit any more is taken from "Validation ratcheting" of its page on
//! custom resource definitions: since 1.30 a value that an update leaves as it is may break limits and rules that are newer
//! than the value. Of `required`, types, the keys of lists and alternatives it promises nothing.
//!
//! Invariants:
//! - What is not known to be safe is not called safe.
//! - The same CRDs give the same changes in the same order.

mod alternatives;
mod change;
mod definition;
mod found;
mod limits;
mod lost;
mod rules;
mod schema;
mod topology;
mod version;

pub use change::{CrdChange, Verdict};
use definition::compare;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

use super::error::ManifestError;
use change::whole;

/// What changes from the `old` CRDs, as they are committed, to the `new` ones: whether each change is safe, needs a new
/// version of its type, or breaks stored objects. The worst come first for each type.
///
/// ```
/// use operetta::manifests::{Verdict, crd_changes};
/// # use kube::CustomResource;
/// # #[derive(CustomResource, serde::Serialize, serde::Deserialize, schemars::JsonSchema, Debug, Clone)]
/// # #[kube(group = "example.dev", version = "v1", kind = "Shop", namespaced)]
/// # struct ShopSpec { size: u32 }
/// use kube::CustomResourceExt;
///
/// let new = Shop::crd();
/// let mut old = serde_json::to_value(&new)?;
/// old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["required"] = serde_json::json!([]);
/// let changes = crd_changes(&[old], &[new])?;
/// assert_eq!(changes[0].verdict, Verdict::Breaks);
/// assert_eq!(changes[0].path, ".spec.size");
/// # Ok::<(), operetta::anyhow::Error>(())
/// ```
///
/// # Errors
/// A new CRD is no JSON.
pub fn crd_changes(
    old: &[Value],
    new: &[CustomResourceDefinition],
) -> Result<Vec<CrdChange>, ManifestError> {
    let new = new.iter().map(serde_json::to_value).collect::<Result<Vec<Value>, _>>();
    Ok(between(old, &new.map_err(|error| ManifestError::Yaml(error.into()))?))
}

fn between(old: &[Value], new: &[Value]) -> Vec<CrdChange> {
    let mut changes = Vec::new();
    for old in old {
        let mut of_type = match new.iter().find(|new| name(new) == name(old)) {
            Some(new) => compare(old, new),
            None => vec![gone(old, new)],
        };
        of_type.sort_by_key(|change| std::cmp::Reverse(change.verdict));
        changes.extend(of_type);
    }
    let is_added = |crd: &&Value| old.iter().all(|old| name(old) != name(crd));
    let added = new.iter().filter(is_added);
    changes
        .extend(added.map(|crd| {
            whole(name(crd), Verdict::Safe, "", "the type is added", "install its CRD")
        }));
    changes
}

/// A CRD without a successor of its name, which has the group and the plural.
fn gone(old: &Value, new: &[Value]) -> CrdChange {
    let kind = &old["spec"]["names"]["kind"];
    let successor = new.iter().find(|new| new["spec"]["names"]["kind"] == *kind);
    let (change, remedy) = match successor {
        Some(new) => (
            format!("the kind {} is now {}", text(kind), name(new)),
            "keep the group and the plural: under another name it is another type, without the stored objects",
        ),
        None => (
            "the type is removed".to_owned(),
            "let one release finalize its objects, delete them, and delete the CRD then",
        ),
    };
    whole(name(old), Verdict::Breaks, "", &change, remedy)
}

fn name(crd: &Value) -> &str {
    text(&crd["metadata"]["name"])
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;
