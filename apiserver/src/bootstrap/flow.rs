//! Priority levels and flow schemas, with what their controller says about them. They limit nothing here.

use serde_json::{Value, json};

use super::object::create;
use crate::{
    cluster::Cluster,
    log::ObjectKey,
    resource::{Resource, Subresource},
    write::{self, Applied, Change, WriteOptions},
};

const GROUP: &str = "flowcontrol.apiserver.k8s.io";
const PRODUCER: &str = "api-priority-and-fairness-config-producer-v1";
const CONSUMER: &str = "api-priority-and-fairness-config-consumer-v1";
/// One object a line.
const DATA: &str = include_str!("../../data/flowcontrol.txt");

pub(super) fn complete(cluster: &Cluster) {
    let resources = cluster.registry.snapshot();
    for line in DATA.lines() {
        let object: Value = serde_json::from_str(line)
            .expect("the data file is part of this program and tested with it");
        let kind = object["kind"].as_str().unwrap_or_default();
        let Some(resource) = resources.by_kind(GROUP, kind) else { continue };
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let is_schema = kind == "FlowSchema";
        if create(cluster, resource, object, PRODUCER) && is_schema {
            find_level(cluster, resource, &name);
        }
    }
}

/// Says that the priority level of a flow schema exists.
fn find_level(cluster: &Cluster, schemas: &Resource, name: &str) {
    let now = cluster.clock.now_text();
    let mut change = |live: &Value| {
        let mut next = live.clone();
        let level = next["spec"]["priorityLevelConfiguration"]["name"].as_str().unwrap_or_default();
        next["status"] = json!({ "conditions": [{
            "type": "Dangling",
            "status": "False",
            "lastTransitionTime": now,
            "reason": "Found",
            "message": format!(
                "This FlowSchema references the PriorityLevelConfiguration object named {level:?} and it exists"
            ),
        }]});
        if let Some(managers) =
            next["metadata"].get_mut("managedFields").and_then(Value::as_array_mut)
        {
            managers.insert(0, managed_status(&now));
        }
        Ok(Change { next, managed: Applied::Yes })
    };
    let options = WriteOptions { manager: CONSUMER.to_owned(), ..WriteOptions::default() };
    let key = ObjectKey::new("", name);
    // It may be deleted already.
    let _ = write::update(cluster, schemas, &key, Subresource::Status, &options, &mut change);
}

fn managed_status(now: &str) -> Value {
    let fields = json!({
        ".": {},
        "f:lastTransitionTime": {},
        "f:message": {},
        "f:reason": {},
        "f:status": {},
        "f:type": {},
    });
    json!({
        "manager": CONSUMER,
        "operation": "Apply",
        "apiVersion": format!("{GROUP}/v1"),
        "time": now,
        "fieldsType": "FieldsV1",
        "fieldsV1": { "f:status": { "f:conditions": { "k:{\"type\":\"Dangling\"}": fields } } },
        "subresource": "status",
    })
}
