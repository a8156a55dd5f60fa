//! The CRD of a type that derives `CustomResource`, checked for what the framework writes.

use std::{
    any::{Any, type_name},
    panic,
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion,
};
use kube::CustomResourceExt;
use serde_json::{Value, json};

use super::{error::ManifestError, structural};
use crate::{
    operator::{Definition, OperatorConfig},
    reply::StatusSchema,
};

/// The CRD of a parent type.
///
/// # Errors
/// When the Rust type has no schema that a CRD may have, and when it declares no status with conditions. For a type
/// whose status the framework should not write, use [`CustomResourceExt::crd`].
pub fn crd<P: CustomResourceExt>() -> Result<CustomResourceDefinition, ManifestError> {
    let crd = derived(type_name::<P>(), P::crd)?;
    check_crd(&crd)?;
    Ok(crd)
}

/// The CRDs that operators bring along, each once: of parent types made with [`OperatorConfig::custom`], and those of
/// [`OperatorConfig::with_crd`].
///
/// # Errors
/// Those of [`crd`] and of [`check_crd`].
pub fn crds<'a>(
    operators: impl IntoIterator<Item = &'a OperatorConfig>,
) -> Result<Vec<CustomResourceDefinition>, ManifestError> {
    let crds = definitions(operators)?;
    crds.iter().try_for_each(check_crd)?;
    Ok(crds)
}

/// The same, also of types that declare no status. The server that they are for checks their schemas.
pub(crate) fn definitions<'a>(
    operators: impl IntoIterator<Item = &'a OperatorConfig>,
) -> Result<Vec<CustomResourceDefinition>, ManifestError> {
    let definitions = operators.into_iter().filter_map(|config| config.definition.as_ref());
    let mut crds: Vec<CustomResourceDefinition> = Vec::new();
    for crd in definitions.map(made) {
        let crd = crd?;
        if crds.iter().all(|other| other.metadata.name != crd.metadata.name) {
            crds.push(crd);
        }
    }
    Ok(crds)
}

fn made(definition: &Definition) -> Result<CustomResourceDefinition, ManifestError> {
    match definition {
        Definition::Derived { rust_type, make } => derived(rust_type, *make),
        Definition::Given(crd) => Ok(CustomResourceDefinition::clone(crd)),
    }
}

/// A schema that kube cannot change to one of a CRD makes it panic.
fn derived(
    rust_type: &str,
    make: fn() -> CustomResourceDefinition,
) -> Result<CustomResourceDefinition, ManifestError> {
    panic::catch_unwind(make).map_err(|panicked| ManifestError::Schema {
        name: rust_type.to_owned(),
        why: format!(
            "{}. Of an enum with `#[serde(tag = ..)]` no CRD can be made: leave the tag out, so that each variant is a \
             field of its own, or use a struct with a field for the kind",
            said(&*panicked)
        ),
    })
}

fn said(panicked: &(dyn Any + Send)) -> String {
    let text = panicked.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panicked.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_else(|| "it panicked".to_owned())
}

/// Checks that the schema of each version of a CRD is structural, and that each served one declares a status with
/// conditions, for example after [`merge_crds`](kube::core::crd::merge_crds).
///
/// # Errors
/// The first fault of a schema, or the first field that is not declared.
pub fn check_crd(crd: &CustomResourceDefinition) -> Result<(), ManifestError> {
    for version in &crd.spec.versions {
        if let Some(why) = structural::fault(&schema_of(version)) {
            let name = crd.metadata.name.clone().unwrap_or_default();
            let name = format!("version {} of the CRD {name}", version.name);
            return Err(ManifestError::Schema { name, why });
        }
    }
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

fn schema_of(version: &CustomResourceDefinitionVersion) -> Value {
    let mut schema = serde_json::to_value(&version.schema).unwrap_or_default();
    schema["openAPIV3Schema"].take()
}

fn status_schema(version: &CustomResourceDefinitionVersion) -> StatusSchema {
    let subresources = version.subresources.as_ref();
    let has_subresource = subresources.is_some_and(|them| them.status.is_some());
    let root = &schema_of(version);
    let anything = json!({});
    let is_open = root["x-kubernetes-preserve-unknown-fields"] == true;
    let status = root.pointer("/properties/status").or(is_open.then_some(&anything));
    StatusSchema::from_open_api(status, has_subresource)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::object::K8sType;

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
            let path = checked.err().map(|error| match error {
                ManifestError::NotDeclared { path, .. } => path,
                other => panic!("{other}"),
            });
            assert_eq!(path.as_deref(), missing, "{root}");
            assert!(check_crd(&of(&root, &json!({"status": {}}), false)).is_ok(), "not served");
            assert!(check_crd(&of(&root, &json!({}), true)).is_err(), "no subresource");
        }
    }

    /// The variants give a field of one name different types.
    #[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
    #[kube(group = "example.dev", version = "v1", kind = "Tagged", namespaced)]
    #[serde(tag = "kind")]
    enum TaggedSpec {
        A { size: u32 },
        B { size: String },
    }

    #[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
    #[kube(group = "example.dev", version = "v1", kind = "Free", namespaced)]
    struct FreeSpec {
        values: BTreeMap<String, Value>,
        last: Vec<Value>,
    }

    #[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
    #[serde(untagged)]
    enum Either {
        Number(u32),
        Text(String),
    }

    #[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
    #[kube(group = "example.dev", version = "v1", kind = "Untagged", namespaced)]
    struct UntaggedSpec {
        either: Either,
    }

    #[test]
    fn a_rust_type_without_a_schema_for_a_crd_is_an_error_with_its_name() {
        for (made, words) in [
            (crd::<Tagged>(), ["Tagged", "leave the tag out"]),
            (crd::<Free>(), ["frees.example.dev", ".spec.last[*] has no type"]),
            (crd::<Untagged>(), ["untaggeds.example.dev", ".spec.either"]),
        ] {
            let error = made.unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }

    #[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
    #[kube(group = "example.dev", version = "v1", kind = "Thing", namespaced)]
    #[kube(status = "ThingStatus")]
    struct ThingSpec {}

    #[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
    #[serde(default)]
    struct ThingStatus {
        conditions: crate::operator::Conditions,
    }

    #[test]
    fn operators_bring_the_crd_of_a_type_of_their_own_along_once() {
        let names = |configs: &[OperatorConfig]| {
            let crds = crds(configs).map_err(|error| error.to_string())?;
            Ok::<_, String>(
                crds.into_iter().filter_map(|crd| crd.metadata.name).collect::<Vec<_>>(),
            )
        };
        let (derived, elsewhere) =
            (OperatorConfig::custom::<Thing>("a"), OperatorConfig::of::<Thing>("b"));
        let given = elsewhere.clone().with_crd(crd::<Thing>().unwrap());
        let other =
            OperatorConfig::new("c", K8sType::namespaced("example.dev/v1", "Other", "others"));
        assert_eq!(names(&[elsewhere, other]), Ok(vec![]));
        assert_eq!(names(&[derived.clone(), given]), Ok(vec!["things.example.dev".to_owned()]));
        let faulty = names(&[derived, OperatorConfig::custom::<Tagged>("d")]).unwrap_err();
        assert!(faulty.contains("Tagged") && faulty.contains("leave the tag out"), "{faulty}");
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
