//! The handler as a function: from a request made of values to a response.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use operetta::{
    object::K8sType,
    operator::{Handler, Permanent, SyncRequest, SyncResponse},
};
use serde_json::{Value, json};

use super::{ConfigPropagation, Propagation, PropagationStatus, children::COPIED_FROM, config};

fn request(kind: &str, selector: &Value) -> SyncRequest {
    let source = json!({"kind": kind, "namespace": "platform", "name": "ca"});
    let namespaces = json!({"selector": selector, "exclude": ["c"]});
    let value = json!({
        "metadata": {"name": "ca"}, "spec": {"source": source, "namespaces": namespaces},
    });
    let request = SyncRequest::example(&K8sType::of::<Propagation>(), value).unwrap();
    ["a", "b", "c", "platform"].iter().fold(request, |request, name| {
        request.with_related::<Namespace>(json!({"metadata": {"name": name}})).unwrap()
    })
}

fn synced(request: SyncRequest) -> anyhow::Result<SyncResponse<PropagationStatus>> {
    ConfigPropagation.sync(&request.typed()?)
}

fn names(response: &SyncResponse<PropagationStatus>) -> Vec<String> {
    let name = |metadata: &Value| format!("{}/{}", metadata["namespace"], metadata["name"]);
    let names = response.children.iter().map(|child| name(&child.object["metadata"]));
    names.map(|name| name.replace('"', "")).collect()
}

#[test]
fn the_operator_can_be_registered() {
    assert_eq!(config().validate(), Ok(()));
}

#[test]
fn each_selected_namespace_gets_a_copy_except_excluded_ones_and_that_of_the_source() {
    let terminating =
        json!({"metadata": {"name": "d", "deletionTimestamp": "2026-01-01T00:00:00Z"}});
    let source = json!({
        "metadata": {"name": "ca", "namespace": "platform", "labels": {"x": "y"}},
        "type": "Opaque", "data": {"k": "dg=="}, "immutable": true,
    });
    let request = request("Secret", &json!({}))
        .with_related::<Namespace>(terminating)
        .and_then(|request| request.with_related::<Secret>(source))
        .unwrap();
    let response = synced(request).unwrap();
    assert_eq!(names(&response), ["a/ca", "b/ca"]);
    let copy = &response.children[0].object;
    assert_eq!(copy["data"], json!({"k": "dg=="}));
    assert_eq!(copy["type"], "Opaque");
    assert_eq!(copy["metadata"]["annotations"], json!({COPIED_FROM: "platform/ca"}));
    assert!(copy.get("immutable").is_none() && copy["metadata"].get("labels").is_none());
    let status = response.status.unwrap();
    assert_eq!((status.namespaces, status.copies), (Some(2), Some(0)));
}

#[test]
fn without_a_source_the_copies_stay_only_where_they_are_selected() {
    let copy = |namespace: &str| json!({"metadata": {"name": "old", "namespace": namespace}, "data": {"k": "v"}});
    let request = request("ConfigMap", &json!({}))
        .with_child::<ConfigMap>(copy("a"))
        .and_then(|request| request.with_child::<ConfigMap>(copy("left")))
        .unwrap();
    let response = synced(request).unwrap();
    assert_eq!(names(&response), ["a/old"]);
    assert!(response.children[0].ensure);
    let ready = &response.status.unwrap().conditions[0];
    assert_eq!((ready.type_.as_str(), ready.reason.as_str()), ("Ready", "SourceMissing"));
    let message = "ConfigMap platform/ca does not exist; the copies stay as they are";
    assert_eq!(ready.message, message);
}

#[test]
fn a_token_of_a_service_account_is_not_copied() {
    let token = json!({
        "metadata": {"name": "ca", "namespace": "platform"},
        "type": "kubernetes.io/service-account-token", "data": {"token": "c2VjcmV0"},
    });
    let request = request("Secret", &json!({})).with_related::<Secret>(token).unwrap();
    let error = synced(request).unwrap_err();
    assert!(
        error.is::<Permanent>() && error.to_string().contains("Secret platform/ca is not copied")
    );
    assert!(!error.to_string().contains("c2VjcmV0"), "{error}");
}

#[test]
fn an_invalid_selector_is_a_permanent_error_and_reads_nothing() {
    let request = request("Secret", &json!({"matchLabels": {"a,b": "c"}})).typed().unwrap();
    assert!(ConfigPropagation.related(&request.parent).is_empty());
    let error = ConfigPropagation.sync(&request).unwrap_err();
    assert!(error.is::<Permanent>() && error.to_string().contains("`a,b=c`"), "{error}");
}
