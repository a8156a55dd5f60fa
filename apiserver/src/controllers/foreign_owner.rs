//! Owners that are in another namespace than what names them, which is reported by an Event.
//!
//! What becomes of the dependent is decided by garbage collection.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::{Meta, ObjectKey, OwnerReference, Scope},
    resource::Resource,
    write::{self, Applied, Complaints, WriteOptions},
};

const REASON: &str = "OwnerRefInvalidNamespace";
const REPORTER: &str = "garbage-collector-controller";
/// Where Events are about what has no namespace.
const DEFAULT: &str = "default";

/// Reports an owner of an object that exists in another namespace, once.
pub(super) fn report(
    cluster: &Cluster,
    resource: &Resource,
    (key, meta): (&ObjectKey, &Meta),
    owner: &OwnerReference,
) {
    let namespace = &*key.namespace;
    if !is_elsewhere(cluster, namespace, owner) || is_reported(cluster, namespace, &meta.uid) {
        return;
    }
    let OwnerReference { api_version, kind, name, uid, .. } = owner;
    let shown = format!("[{api_version}/{kind}, namespace: {namespace}, name: {name}, uid: {uid}]");
    let message = format!("ownerRef {shown} does not exist in namespace \"{namespace}\"");
    let about = json!({
        "kind": resource.kind,
        "namespace": namespace,
        "name": &*key.name,
        "uid": &*meta.uid,
        "apiVersion": resource.api_version(),
    });
    create(cluster, event(&about, &message, cluster.clock.now()));
}

/// Whether an object of this uid exists in a namespace, and not in this one.
fn is_elsewhere(cluster: &Cluster, namespace: &str, owner: &OwnerReference) -> bool {
    let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
    let resources = cluster.registry.snapshot();
    let Some(resource) = resources.by_kind(group, &owner.kind).filter(|it| it.namespaced) else {
        return false;
    };
    let here = ObjectKey::new(namespace, owner.name.clone());
    let found = cluster.log.get(&resource.storage, &here);
    if found.is_some_and(|found| found.meta.uid == owner.uid) {
        return false;
    }
    let all = cluster.log.entries(&resource.storage, &Scope::All).1;
    all.iter().any(|(key, found)| *key.namespace != *namespace && found.meta.uid == owner.uid)
}

fn is_reported(cluster: &Cluster, namespace: &str, uid: &str) -> bool {
    let events = GroupResource::new("", "events");
    let scope = Scope::Namespace(or_default(namespace).into());
    cluster.log.entries(&events, &scope).1.iter().any(|(_, event)| {
        let event = event.value();
        event["reason"] == REASON && event["involvedObject"]["uid"] == uid
    })
}

fn event(about: &Value, message: &str, now: Timestamp) -> Value {
    let namespace = or_default(about["namespace"].as_str().unwrap_or_default());
    let name = about["name"].as_str().unwrap_or_default();
    let time = crate::clock::seconds(now);
    let mut about = about.clone();
    if about["namespace"] == "" {
        about.as_object_mut().map(|about| about.remove("namespace"));
    }
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": format!("{name}.{:x}", now.as_nanosecond()),
            "namespace": namespace,
        },
        "involvedObject": about,
        "reason": REASON,
        "message": message,
        "source": { "component": REPORTER },
        "firstTimestamp": time,
        "lastTimestamp": time,
        "count": 1,
        "type": "Warning",
        "eventTime": null,
        "reportingComponent": REPORTER,
        "reportingInstance": "",
    })
}

fn create(cluster: &Cluster, mut event: Value) {
    let resources = cluster.registry.snapshot();
    let Some(resource) = resources.by_kind("", "Event") else { return };
    let namespace = event["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
    let manager = "kube-controller-manager".to_owned();
    let options = WriteOptions { manager, ..WriteOptions::default() };
    if write::decode(resource, &mut event, options.validation, Complaints::default()).is_ok() {
        // Its namespace may be ending.
        let _ = write::create(cluster, resource, &namespace, event, Applied::No, &options);
    }
}

fn or_default(namespace: &str) -> &str {
    if namespace.is_empty() { DEFAULT } else { namespace }
}
