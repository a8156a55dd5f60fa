//! The names of roperator that its published programs and tests use are used by those of this repository.

use std::{fs, path::Path};

/// As they are written where they are used.
const NAMES: &[&str] = &[
    // Connecting.
    "ClientConfig::from_kubeconfig(",
    "ClientConfig::from_service_account(",
    "Credentials::base64_bearer_token(",
    "KubeConfig::load()",
    ".create_client_config_with_credentials(",
    // Configuration.
    "K8sType { api_version:",
    "OperatorConfig::new(",
    ".with_child(",
    ".within_namespace(",
    ".expose_health(false)",
    ".expose_metrics(false)",
    "ChildConfig::on_delete()",
    "ChildConfig::recreate()",
    "ChildConfig::replace()",
    "k8s_types::core::v1::Namespace",
    "k8s_types::core::v1::Pod",
    "k8s_types::core::v1::Service",
    // Handlers.
    "impl Handler for ",
    "impl<H: Handler> Handler for ",
    "handler: impl Handler",
    "(sync, on_error)",
    "Result<FinalizeResponse, Error>",
    "FinalizeResponse { status:",
    "SyncResponse { status:",
    "Error::new(",
    "(Value, Option<Duration>)",
    // Requests.
    "= request.deserialize_parent()?",
    ".deserialize_parent::<",
    ".of_type((\"v1\", \"Pod\"))",
    ".of_type(k8s_types::",
    ".of_type(TREE).iter().count()",
    ".first()",
    ".parent.name()",
    ".namespace()",
    ".pointer(",
    ".generation()",
    ".uid()",
    "{request:?}",
    "{error:?}",
    // Handlers in parts.
    "impl FailableHandler for ",
    "HandlerResult<",
    ".into_error()",
    "DefaultFailableHandler::wrap(",
    ".with_regular_resync(",
    // Running.
    "run_operator_with_client_config(",
    "TestKit::with_test_namespace(",
    "kit.assert_child_resource_eq(",
    "kit.assert_resource_deleted_eventually(",
    "kit.assert_resource_eq_eventually(",
    "kit.assert_resource_exists_eventually(",
    "kit.create_resource(",
    "kit.delete_parent(",
    "kit.delete_resource(",
    "kit.get_current_state_for_parent(",
    "kit.get_resource_from_api_server(",
    "kit.reconcile(",
    "kit.reconcile_and_assert_success(",
    "kit.replace_resource(",
    ".downcast_ref()",
    ".get_sync_error_count_for_parent(",
    "K8sResource::from_value(",
    "ObjectIdRef::new(",
    // Modules.
    "prelude::*",
    "serde_json::{Value, json}",
    "#[derive(Deserialize)]",
    "Serialize, Deserialize",
];

const SOURCES: [&str; 3] =
    ["programs/market_stall.rs", "programs/queue_worker.rs", "tests/roperator/orchard.rs"];

#[operetta_harness::test]
fn every_name_that_the_published_programs_use_is_used_here() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text: String = SOURCES.map(|file| fs::read_to_string(root.join(file)).unwrap()).concat();
    // However it is broken into lines.
    let text: String = text.split_whitespace().collect();
    let is_missing = |name: &&&str| !text.contains(&name.split_whitespace().collect::<String>());
    let missing: Vec<_> = NAMES.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
