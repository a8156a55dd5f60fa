//! Makes the writes of a decision.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    decision::{Notice, Target, Write},
    node::NODE,
    object::{name, text},
    recorder,
};
use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::{Object, ObjectKey},
    pods::{self, Binding},
    resource::{Resource, Subresource},
    status::{Result, StatusError},
    write::{
        self, Applied, Change, Complaints, DeleteOptions, FieldValidation, Propagation,
        WriteOptions,
    },
};

/// The field manager of all that is simulated.
const MANAGER: &str = "simulated-workloads";

/// Makes a write.
pub(super) fn perform(cluster: &Cluster, write: Write) -> Result<()> {
    match write {
        Write::Create(object) => create(cluster, object).map(|_| ()),
        Write::Spawn { owner, source, pod } => spawn(cluster, owner, source, pod),
        Write::Patch(target, patch) => {
            update(cluster, &target, Subresource::Main, &|next| json_patch::merge(next, &patch))
        }
        Write::Status(target, status, annotations) => {
            update(cluster, &target, Subresource::Status, &|next| {
                next["status"] = status.clone();
                for (key, value) in &annotations {
                    next["metadata"]["annotations"][key] = value.clone();
                }
            })
        }
        Write::Delete(target) => delete(cluster, &target, None),
        Write::End(target) => delete(cluster, &target, Some(0)),
        Write::Bind(target) => bind(cluster, &target),
        Write::Record(notice) => record(cluster, &notice),
    }
}

fn spawn(cluster: &Cluster, about: Target, source: &'static str, pod: Value) -> Result<()> {
    let pod = create(cluster, pod)?.value();
    let message = format!("Created pod: {}", name(&pod));
    record(cluster, &Notice { about, kind: "Normal", reason: "SuccessfulCreate", message, source })
}

fn create(cluster: &Cluster, mut object: Value) -> Result<Arc<Object>> {
    let resource = resource(cluster, text(&object["apiVersion"]), text(&object["kind"]))?;
    let namespace = text(&object["metadata"]["namespace"]).to_owned();
    write::decode(&resource, &mut object, FieldValidation::Ignore, Complaints::default())
        .map_err(|why| StatusError::internal(why.to_string()))?;
    let written = write::create(cluster, &resource, &namespace, object, Applied::No, &options())?;
    Ok(written.object)
}

fn update(
    cluster: &Cluster,
    target: &Target,
    subresource: Subresource,
    change: &dyn Fn(&mut Value),
) -> Result<()> {
    let (resource, key) = found(cluster, target)?;
    let mut change = |live: &Value| {
        if text(&live["metadata"]["resourceVersion"]) != target.version {
            return Err(StatusError::modified(&resource.id, &target.name));
        }
        let mut next = live.clone();
        change(&mut next);
        Ok(Change { next, managed: Applied::No })
    };
    write::update(cluster, &resource, &key, subresource, &options(), &mut change).map(|_| ())
}

fn delete(cluster: &Cluster, target: &Target, grace: Option<i64>) -> Result<()> {
    let (resource, key) = found(cluster, target)?;
    let options = DeleteOptions {
        uid: Some(target.uid.clone()),
        propagation: Some(Propagation::Background),
        grace,
        ..DeleteOptions::default()
    };
    write::delete(cluster, &resource, &key, &options).map(|_| ())
}

fn bind(cluster: &Cluster, target: &Target) -> Result<()> {
    let (resource, key) = found(cluster, target)?;
    let binding = json!({
        "metadata": { "uid": target.uid },
        "target": { "kind": "Node", "name": NODE },
    });
    pods::bind(cluster, &resource, &key, &Binding(&binding), false)
}

/// Records an Event; one that was recorded before is counted.
fn record(cluster: &Cluster, notice: &Notice) -> Result<()> {
    let now = cluster.clock.now();
    let event = recorder::event(notice, now);
    let resource = resource(cluster, "v1", "Event")?;
    let metadata = |field: &str| text(&event["metadata"][field]).to_owned();
    let key = ObjectKey::new(metadata("namespace"), metadata("name"));
    if cluster.read(&resource, &key).is_none() {
        return create(cluster, event).map(|_| ());
    }
    let mut change =
        |live: &Value| Ok(Change { next: recorder::again(live, now), managed: Applied::No });
    write::update(cluster, &resource, &key, Subresource::Main, &options(), &mut change).map(|_| ())
}

fn options() -> WriteOptions {
    WriteOptions { manager: MANAGER.to_owned(), ..WriteOptions::default() }
}

fn found(cluster: &Cluster, target: &Target) -> Result<(Arc<Resource>, ObjectKey)> {
    let resource = resource(cluster, &target.api_version, &target.kind)?;
    Ok((resource, ObjectKey::new(target.namespace.as_str(), target.name.as_str())))
}

fn resource(cluster: &Cluster, api_version: &str, kind: &str) -> Result<Arc<Resource>> {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let resources = cluster.registry.snapshot();
    let found = resources.by_kind(group, kind).cloned();
    found.ok_or_else(|| StatusError::not_found(&GroupResource::new(group, kind), kind))
}
