//! `deploy/crds.yaml`: the CRDs of the parent types.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operetta::manifests::{ManifestError, check_crd, to_yaml};

use crate::{Operator, manifest};

/// The CRD of each operator's parent type that is its own.
pub fn crds(operators: &[Operator]) -> Vec<CustomResourceDefinition> {
    operators.iter().filter_map(|operator| operator.crd.clone()).collect()
}

/// The same as YAML, checked; `flags` are those with which the operators were chosen.
pub fn yaml(operators: &[Operator], flags: &[String]) -> Result<String, ManifestError> {
    let crds = crds(operators);
    crds.iter().try_for_each(check_crd)?;
    to_yaml(&manifest::header("crds", flags), &crds)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn schema(of: &str) -> Value {
        let crds = crds(&crate::all());
        let crd = crds.iter().find(|crd| crd.spec.names.kind == of).unwrap();
        let version = &crd.spec.versions[0];
        serde_json::to_value(version.schema.as_ref().unwrap()).unwrap()["openAPIV3Schema"].clone()
    }

    #[test]
    fn the_committed_crds_are_up_to_date() {
        manifest::assert_committed("crds", &yaml(&crate::all(), &[]).unwrap());
    }

    #[test]
    fn every_parent_type_has_a_status_subresource_with_the_frameworks_fields() {
        for crd in crds(&crate::all()) {
            let subresources = crd.spec.versions[0].subresources.as_ref().unwrap();
            assert!(subresources.status.is_some());
            let schema = schema(&crd.spec.names.kind);
            let status = &schema["properties"]["status"]["properties"];
            assert_eq!(status["conditions"]["x-kubernetes-list-map-keys"], json!(["type"]));
            assert_eq!(status["observedGeneration"]["type"], "integer");
        }
    }

    #[test]
    fn the_schemas_validate_the_spec() {
        let echo = &schema("EchoServer")["properties"]["spec"];
        assert_eq!(echo["required"], json!(["serviceName"]));
        assert_eq!(echo["properties"]["serviceName"]["maxLength"], 63);
        let temp = &schema("TempNamespace")["properties"]["spec"];
        assert_eq!(temp["properties"]["deleteAfter"]["pattern"], "^[0-9]+[smhdSMHD]$");
    }
}
