//! The CRD of a type that derives `CustomResource`, checked for what the framework writes.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion,
};
use kube::CustomResourceExt;
use serde_json::json;

use super::error::ManifestError;
use crate::reply::StatusSchema;

/// The CRD of a parent type.
///
/// # Errors
/// When it declares no status with conditions. For a type whose status the framework should not
/// write, use [`CustomResourceExt::crd`].
pub fn crd<P: CustomResourceExt>() -> Result<CustomResourceDefinition, ManifestError> {
    let crd = P::crd();
    check_crd(&crd)?;
    Ok(crd)
}

/// Checks that each served version of a CRD declares a status with conditions, for example after
/// [`merge_crds`](kube::core::crd::merge_crds).
///
/// # Errors
/// The first field that is not declared.
pub fn check_crd(crd: &CustomResourceDefinition) -> Result<(), ManifestError> {
    for version in crd.spec.versions.iter().filter(|version| version.served) {
        if let Some(path) = undeclared(version) {
            let name = crd.metadata.name.clone().unwrap_or_default();
            return Err(ManifestError::NotDeclared { name, version: version.name.clone(), path });
        }
    }
    Ok(())
}

/// The first field of a condition that the server would drop from a status of this version.
fn undeclared(version: &CustomResourceDefinitionVersion) -> Option<String> {
    let schema = status_schema(version);
    let mut status = json!({"conditions": [{
        "type": "Ready", "status": "True", "reason": "Synced", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }]});
    let dropped = schema.prune(&mut status, ".status").into_iter().next();
    let is_no_list = || !schema.admits_list("conditions");
    dropped.or_else(|| is_no_list().then(|| ".status.conditions as a list".to_owned()))
}

fn status_schema(version: &CustomResourceDefinitionVersion) -> StatusSchema {
    let subresources = version.subresources.as_ref();
    let has_subresource = subresources.is_some_and(|them| them.status.is_some());
    let schema = serde_json::to_value(&version.schema).unwrap_or_default();
    let root = &schema["openAPIV3Schema"];
    let anything = json!({});
    let is_open = root["x-kubernetes-preserve-unknown-fields"] == true;
    let status = root.pointer("/properties/status").or(is_open.then_some(&anything));
    StatusSchema::from_open_api(status, has_subresource)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// A CRD with this root schema, whose version is served or not.
    fn of(root: &Value, subresources: &Value, served: bool) -> CustomResourceDefinition {
        let version = json!({"name": "v1", "served": served, "storage": true,
            "subresources": subresources, "schema": {"openAPIV3Schema": root}});
        serde_json::from_value(json!({
            "metadata": {"name": "things.example.dev"},
            "spec": {"group": "example.dev", "scope": "Namespaced",
                "names": {"kind": "Thing", "plural": "things"}, "versions": [version]},
        }))
        .unwrap()
    }

    fn with_status(status: &Value) -> Value {
        json!({"type": "object", "properties": {"status": status}})
    }

    fn with_conditions(conditions: &Value) -> Value {
        with_status(&json!({"type": "object", "properties": {"conditions": conditions}}))
    }

    fn conditions(fields: &[&str]) -> Value {
        let string = |field: &&str| ((*field).to_owned(), json!({"type": "string"}));
        let properties: serde_json::Map<String, Value> = fields.iter().map(string).collect();
        json!({"type": "array", "items": {"type": "object", "properties": properties}})
    }

    #[test]
    fn a_status_declares_conditions_with_all_fields_that_are_written() {
        let all = ["type", "status", "reason", "message", "lastTransitionTime"];
        let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        for (root, missing) in [
            (with_conditions(&conditions(&all)), None),
            (
                with_conditions(&conditions(&all[..4])),
                Some(".status.conditions[*].lastTransitionTime"),
            ),
            (with_conditions(&json!({"type": "string"})), Some(".status.conditions as a list")),
            (with_status(&json!({"type": "object"})), Some(".status.conditions")),
            (with_status(&free), None),
            (json!({"type": "object"}), Some(".status")),
            (free.clone(), None),
        ] {
            let checked = check_crd(&of(&root, &json!({"status": {}}), true));
            let path = checked.err().and_then(|error| match error {
                ManifestError::NotDeclared { path, .. } => Some(path),
                ManifestError::Config(_) | ManifestError::Yaml(_) => None,
            });
            assert_eq!(path.as_deref(), missing, "{root}");
            assert!(check_crd(&of(&root, &json!({"status": {}}), false)).is_ok(), "not served");
            assert!(check_crd(&of(&root, &json!({}), true)).is_err(), "no subresource");
        }
    }

    #[test]
    fn the_error_names_the_crd_its_version_and_what_to_do() {
        let root = json!({"type": "object"});
        let error = check_crd(&of(&root, &json!({}), true)).unwrap_err().to_string();
        for part in ["things.example.dev", "v1", ".status", "Conditions"] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
