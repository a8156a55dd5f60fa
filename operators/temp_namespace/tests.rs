//! The handler as a function: a lifecycle of requests with a fixed clock.

use std::time::{Duration, SystemTime};

use k8s_openapi::api::core::v1::Namespace;
use operetta::{
    object::{K8sType, KeptManagers, Object},
    operator::{Children, Handler, Permanent, SyncRequest, SyncResponse},
};
use serde_json::{Value, json};

use super::{Clock, TempNamespace, TempNamespaces, config};

const CREATED: &str = "2026-01-01T00:00:00Z";
const EXPIRES: &str = "2026-01-01T01:00:00Z";

/// Seconds from 1970 to `CREATED`.
const EPOCH: u64 = 1_767_225_600;

fn at_the_start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(EPOCH)
}

fn after_45_minutes() -> SystemTime {
    at_the_start() + Duration::from_mins(45)
}

fn after_an_hour() -> SystemTime {
    at_the_start() + Duration::from_hours(1)
}

fn after_a_day() -> SystemTime {
    at_the_start() + Duration::from_hours(24)
}

fn object(ty: &K8sType, metadata: &Value, rest: Value) -> Object {
    let mut value = rest;
    value["metadata"] = json!({"name": "tmp", "uid": "u", "resourceVersion": "1"});
    let metadata = metadata.as_object().cloned().unwrap();
    value["metadata"].as_object_mut().unwrap().extend(metadata);
    Object::from_value(ty, &value, &KeptManagers::default()).unwrap()
}

fn namespace() -> Object {
    let metadata = json!({"creationTimestamp": CREATED});
    object(&K8sType::of::<Namespace>(), &metadata, json!({}))
}

fn namespace_terminating_since(time: &str) -> Object {
    let metadata = json!({"creationTimestamp": CREATED, "deletionTimestamp": time});
    object(&K8sType::of::<Namespace>(), &metadata, json!({}))
}

fn request(delete_after: &Value, recorded: &Value, namespace: Option<Object>) -> SyncRequest {
    let body = json!({"spec": {"deleteAfter": delete_after}, "status": recorded});
    let parent = object(&K8sType::of::<TempNamespace>(), &json!({}), body);
    let namespaces: Vec<_> = namespace.into_iter().collect();
    SyncRequest::new(parent, Children::new([(K8sType::of::<Namespace>(), namespaces)]))
}

fn try_sync(
    delete_after: &str,
    recorded: &Value,
    namespace: Option<Object>,
    clock: Clock,
) -> anyhow::Result<SyncResponse> {
    let request = request(&json!(delete_after), recorded, namespace);
    let response = TempNamespaces::new(clock).sync(&request)?;
    let status = json!(response.status);
    Ok(response.with_status(status))
}

/// The status after a failed sync.
fn status_of_failure(delete_after: &Value, recorded: &Value) -> Value {
    let request = request(delete_after, recorded, Some(namespace()));
    let handler = TempNamespaces::new(after_a_day);
    let error = handler.sync(&request).unwrap_err();
    handler.on_error(&request, &error).status.unwrap_or_default()
}

/// For a namespace with a lifetime of an hour.
fn sync(recorded: &Value, namespace: Option<Object>, clock: Clock) -> SyncResponse {
    try_sync("1h", recorded, namespace, clock).unwrap()
}

fn recorded() -> Value {
    json!({"phase": "Active", "createdAt": CREATED, "expiresAt": EXPIRES})
}

#[test]
fn the_operator_can_be_registered() {
    assert_eq!(config().validate(), Ok(()));
}

#[test]
fn a_new_parent_gets_a_namespace_of_its_name() {
    let response = sync(&json!({}), None, at_the_start);
    let desired = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "tmp"}});
    assert_eq!(response.children, [desired]);
    assert_eq!(response.status.unwrap(), json!({"phase": "Pending"}));
    assert_eq!(response.resync, None);
}

#[test]
fn the_lifetime_counts_from_the_creation_and_the_next_reconcile_is_at_its_end() {
    let response = sync(&json!({}), Some(namespace()), after_45_minutes);
    assert_eq!(response.children.len(), 1);
    assert_eq!(response.status.unwrap(), recorded());
    assert_eq!(response.resync, Some(Duration::from_mins(15)));
}

#[test]
fn the_status_does_not_depend_on_the_clock() {
    let early = sync(&recorded(), Some(namespace()), at_the_start).status;
    assert_eq!(early, sync(&recorded(), Some(namespace()), after_45_minutes).status);
}

#[test]
fn an_expired_namespace_is_no_longer_wanted() {
    for clock in [after_an_hour as Clock, after_a_day] {
        let response = sync(&recorded(), Some(namespace()), clock);
        assert!(response.children.is_empty());
        assert_eq!(response.status.unwrap()["phase"], "Deleting");
        assert_eq!(response.resync, None);
    }
}

#[test]
fn it_is_deleted_only_after_its_creation_was_recorded() {
    let response = sync(&json!({}), Some(namespace()), after_a_day);
    assert_eq!(response.children.len(), 1);
    assert_eq!(response.status.unwrap()["createdAt"], CREATED);
    assert_eq!(response.resync, Some(Duration::from_secs(1)));
}

#[test]
fn the_time_of_the_deletion_is_the_servers() {
    let terminating = || namespace_terminating_since("2026-01-01T01:00:07Z");
    let status = sync(&recorded(), Some(terminating()), after_a_day).status.unwrap();
    assert_eq!(status["deletedAt"], "2026-01-01T01:00:07Z");
    let status = sync(&status, None, after_a_day).status.unwrap();
    assert_eq!(status["deletedAt"], "2026-01-01T01:00:07Z");
    assert_eq!(status["phase"], "Deleted");
}

#[test]
fn a_namespace_that_was_deleted_at_once_gets_the_current_time_once() {
    let status = sync(&recorded(), None, after_an_hour).status.unwrap();
    assert_eq!(status["deletedAt"], EXPIRES);
    let later = sync(&status, None, after_a_day).status.unwrap();
    assert_eq!(later, status);
}

#[test]
fn once_deleted_it_is_never_created_again() {
    let mut status = recorded();
    status["deletedAt"] = json!(EXPIRES);
    for clock in [at_the_start as Clock, after_a_day] {
        let response = try_sync("9999d", &status, None, clock).unwrap();
        assert!(response.children.is_empty());
        assert_eq!(response.resync, None);
    }
}

#[test]
fn a_namespace_deleted_manually_before_its_expiry_is_created_again() {
    let terminating = namespace_terminating_since("2026-01-01T00:30:00Z");
    let response = sync(&recorded(), Some(terminating), after_45_minutes);
    assert_eq!(response.children.len(), 1);
    let status = response.status.unwrap();
    assert!(status["phase"] == "Deleting" && status.get("deletedAt").is_none());
    assert_eq!(sync(&recorded(), None, after_45_minutes).children.len(), 1);
}

#[test]
fn an_invalid_duration_is_an_error_and_keeps_the_namespace() {
    for text in ["soon", "10", "1w", "99999999999999999999d", "99999999d"] {
        let error = try_sync(text, &recorded(), Some(namespace()), after_a_day).unwrap_err();
        assert!(error.downcast_ref::<Permanent>().is_some(), "{text}");
        assert!(format!("{error:#}").contains(&format!("`{text}`")));
    }
}

#[test]
fn an_error_is_in_the_status_beside_the_recorded_fields_until_it_is_fixed() {
    let status = status_of_failure(&json!("soon"), &recorded());
    assert!(status["error"].as_str().unwrap().contains("`soon`"), "{status}");
    let mut rest = status.clone();
    rest.as_object_mut().unwrap().remove("error");
    assert_eq!(rest, recorded());
    assert_eq!(sync(&status, Some(namespace()), after_45_minutes).status, Some(recorded()));
    let status = status_of_failure(&json!("soon"), &Value::Null);
    assert_eq!(status.as_object().unwrap().len(), 1, "{status}");
}

#[test]
fn a_parent_that_violates_the_schema_keeps_the_recorded_status() {
    let mut deleted = recorded();
    deleted["deletedAt"] = json!(EXPIRES);
    let status = status_of_failure(&json!(7), &deleted);
    assert!(status["error"].is_string(), "{status}");
    assert_eq!(status["deletedAt"], EXPIRES);
    let unreadable = json!({"deletedAt": 7});
    assert_eq!(status_of_failure(&json!("1h"), &unreadable), Value::Null, "it is not overwritten");
}
