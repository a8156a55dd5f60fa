//! The CRD of a type that derives `CustomResource`, checked for what the framework writes.

use std::any::type_name;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion,
};
use kube::CustomResourceExt;
use serde_json::{Value, json};

use super::{
    error::ManifestError,
    made::{derived, made},
    structural,
    versions::{merged, united},
    webhooks::WebhookReach,
};
use crate::{
    operator::{OperatorConfig, conversion::Versions},
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
    crds_in_versions(operators, [], None)
}

/// The same with all versions of the types that the program converts, also of those that no operator brings along. Such a
/// CRD has one stored version. Where `reach` names how the API server reaches the program, it has the conversion by it,
/// without the authority of its certificate.
///
/// # Errors
/// Those of [`crds`], and versions or operators that disagree about the names, the scope or the versions of a type.
pub fn crds_in_versions<'a>(
    operators: impl IntoIterator<Item = &'a OperatorConfig>,
    versions: impl IntoIterator<Item = &'a Versions>,
    reach: Option<&WebhookReach>,
) -> Result<Vec<CustomResourceDefinition>, ManifestError> {
    let crds = all(operators, versions, reach)?;
    crds.iter().try_for_each(check_crd)?;
    Ok(crds)
}

/// The same, also of types that declare no status. The server that they are for checks their schemas.
pub(crate) fn definitions<'a>(
    operators: impl IntoIterator<Item = &'a OperatorConfig>,
    versions: impl IntoIterator<Item = &'a Versions>,
    reach: Option<&WebhookReach>,
) -> Result<Vec<CustomResourceDefinition>, ManifestError> {
    all(operators, versions, reach)
}

/// In the order of the operators; then the types of which no operator brings a CRD along.
fn all<'a>(
    operators: impl IntoIterator<Item = &'a OperatorConfig>,
    versions: impl IntoIterator<Item = &'a Versions>,
    reach: Option<&WebhookReach>,
) -> Result<Vec<CustomResourceDefinition>, ManifestError> {
    let of_types = versions.into_iter().map(|versions| merged(versions, reach));
    let mut of_types = of_types.collect::<Result<Vec<_>, _>>()?;
    let mut crds: Vec<CustomResourceDefinition> = Vec::new();
    let of_operators = operators.into_iter().filter_map(|config| config.definition.as_ref());
    for crd in of_operators.map(made) {
        let crd = crd?;
        let is_it = |other: &CustomResourceDefinition| other.metadata.name == crd.metadata.name;
        if let Some(index) = crds.iter().position(is_it) {
            crds[index] = united(crds[index].clone(), crd)?;
        } else if let Some(index) = of_types.iter().position(is_it) {
            crds.push(united(of_types.remove(index), crd)?);
        } else {
            crds.push(crd);
        }
    }
    crds.extend(of_types);
    Ok(crds)
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
