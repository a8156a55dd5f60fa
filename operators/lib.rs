//! The operators of this repository.
//!
//! One folder per operator. One line in [`all`] adds an operator to the binary; its CRD and its
//! permissions are then part of `deploy/` and of every start. Nothing here starts anything.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operetta::{
    cli::{Deployed, Program},
    manifests::{self, ManifestError},
    operator::AnyOperator,
    supervisor::{Supervisor, SupervisorBuilder},
};

pub mod config_propagation;
pub mod database;
pub mod deployment_scaler;
pub mod echo_server;
pub mod temp_namespace;

mod selector;

pub use selector::{InvalidSelector, LabelOperator, Requirement, Selector};

/// Every operator of this binary, one line each.
pub fn all() -> Vec<AnyOperator> {
    vec![
        echo_server::operator(),
        temp_namespace::operator(),
        config_propagation::operator(),
        deployment_scaler::operator(),
        database::operator(),
    ]
}

/// The CRDs of all operators, in all versions.
///
/// # Errors
/// Those of [`manifests::crds_in_versions`].
pub fn crds() -> Result<Vec<CustomResourceDefinition>, ManifestError> {
    let operators = all();
    let configs = operators.iter().map(AnyOperator::config);
    manifests::crds_in_versions(configs, &[database::versions()], None)
}

/// Registers operators with a supervisor.
pub fn register_all(builder: SupervisorBuilder, operators: Vec<AnyOperator>) -> SupervisorBuilder {
    operators.into_iter().fold(builder, SupervisorBuilder::register_any)
}

/// Registers what the API server asks: the versions of types, and webhooks.
pub fn with_webhooks(builder: SupervisorBuilder) -> SupervisorBuilder {
    let builder = builder.versions(database::versions());
    database::webhooks().into_iter().fold(builder, SupervisorBuilder::webhook)
}

/// The name of the binary in a cluster, also that of its account.
pub const NAME: &str = "operetta";
/// Its namespace.
pub const NAMESPACE: &str = "operetta-system";

/// The binary, with all operators.
pub fn program() -> Program {
    let version = env!("CARGO_PKG_VERSION");
    let deployed = Deployed::new(NAME, version)
        .namespace(NAMESPACE)
        .image("operetta-operators")
        .description("The operators of Operetta in one process.");
    let supervisor = Supervisor::builder().program("operators", version);
    let supervisor = with_webhooks(register_all(supervisor, all())).webhooks("0.0.0.0:9443");
    Program::new(supervisor)
        .about("Runs the operators of this repository in one process.")
        .deployed(deployed)
        .suggest([
            "kubectl apply -f examples/echo-server.yaml",
            "kubectl get echoservers,pods,services",
        ])
        .prefer_embedded()
}

#[cfg(test)]
mod tests {
    use operetta::cli::permissions;
    use serde_json::{Value, json};

    use super::*;

    fn schema(of: &str) -> Value {
        let crds = crds().unwrap();
        let crd = crds.iter().find(|crd| crd.spec.names.kind == of).unwrap();
        let version = &crd.spec.versions[0];
        serde_json::to_value(version.schema.as_ref().unwrap()).unwrap()["openAPIV3Schema"].clone()
    }

    #[test]
    fn every_parent_type_has_a_status_subresource_with_the_frameworks_fields() {
        for crd in crds().unwrap() {
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

    #[test]
    fn no_rule_is_a_wildcard() {
        let rules = permissions(&all()).unwrap().rules();
        assert!(!rules.is_empty() && !format!("{rules:?}").contains('*'), "{rules:?}");
    }
}
