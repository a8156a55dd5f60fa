//! The roles and bindings of a new cluster, as `data/rbac.json` has them.
//!
//! They are read once in a process, and all servers of the process share them: the same objects with the same uids,
//! versions and times, in the same memory.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::{
    aggregate::{AGGREGATION_MANAGER, aggregated_rules},
    group::GROUP,
};
use crate::{
    clock::{Clock, Ids},
    group_resource::GroupResource,
    log::{Backup, Expect, Log, ObjectKey, Write},
};

const DATA: &str = include_str!("../../data/rbac.json");
/// Who makes them.
const MANAGER: &str = "kube-apiserver";

/// The roles and bindings, stored.
pub(crate) fn objects() -> &'static Backup {
    static OBJECTS: OnceLock<Backup> = OnceLock::new();
    OBJECTS.get_or_init(stored)
}

/// The same as they are declared: without what a server adds.
pub(crate) fn declared() -> Vec<Value> {
    serde_json::from_str(DATA).expect("the embedded data is JSON")
}

fn stored() -> Backup {
    let mut objects = declared();
    let log = Log::new(0);
    let (now, ids) = (Clock::new().now_text(), Ids::new(0));
    for object in &mut objects {
        let managed = managed_fields(object);
        let metadata = &mut object["metadata"];
        metadata["uid"] = ids.uid().into();
        metadata["creationTimestamp"] = now.as_str().into();
        let entry = managed_by(MANAGER, "Update", &now, &managed);
        metadata["managedFields"] = json!([entry]);
    }
    fill_aggregated(&mut objects, &now);
    for object in objects {
        store(&log, object);
    }
    log.backup()
}

/// Every field that an object has is its maker's; `roleRef` and lists are one field each.
fn managed_fields(object: &Value) -> Value {
    let mut fields = Map::new();
    let given = |field: &str| !object[field].is_null();
    for field in ["rules", "roleRef", "subjects"].into_iter().filter(|field| given(field)) {
        fields.insert(format!("f:{field}"), json!({}));
    }
    if given("aggregationRule") {
        let rule = json!({ ".": {}, "f:clusterRoleSelectors": {} });
        fields.insert("f:aggregationRule".to_owned(), rule);
    }
    let keys = |field: &str| -> Value {
        let map = object["metadata"][field].as_object().into_iter().flatten();
        let keys = map.map(|(key, _)| (format!("f:{key}"), json!({})));
        std::iter::once((".".to_owned(), json!({}))).chain(keys).collect::<Map<_, _>>().into()
    };
    let metadata = json!({ "f:annotations": keys("annotations"), "f:labels": keys("labels") });
    fields.insert("f:metadata".to_owned(), metadata);
    fields.into()
}

fn managed_by(manager: &str, operation: &str, now: &str, fields: &Value) -> Value {
    json!({
        "manager": manager,
        "operation": operation,
        "apiVersion": format!("{GROUP}/v1"),
        "time": now,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    })
}

/// Gives the rules to roles that are made of others, until nothing changes any more.
fn fill_aggregated(objects: &mut [Value], now: &str) {
    let aggregated = |object: &Value| !object["aggregationRule"].is_null();
    loop {
        let others: Vec<Value> =
            objects.iter().filter(|object| object["kind"] == "ClusterRole").cloned().collect();
        let mut changed = false;
        for role in objects.iter_mut().filter(|object| aggregated(object)) {
            let rules = aggregated_rules(role, &others);
            if role["rules"].as_array() != Some(&rules) {
                role["rules"] = rules.into();
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for role in objects.iter_mut().filter(|object| aggregated(object)) {
        let own = managed_by(AGGREGATION_MANAGER, "Apply", now, &json!({ "f:rules": {} }));
        if let Some(entries) =
            role["metadata"].get_mut("managedFields").and_then(Value::as_array_mut)
        {
            entries.insert(0, own);
        }
    }
}

fn store(log: &Log, object: Value) {
    let plural = match object["kind"].as_str() {
        Some("ClusterRole") => "clusterroles",
        Some("ClusterRoleBinding") => "clusterrolebindings",
        Some("Role") => "roles",
        _ => "rolebindings",
    };
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    let key = ObjectKey::new(text("namespace"), text("name"));
    let resource = Arc::new(GroupResource::new(GROUP, plural));
    let write = Write {
        resource: &resource,
        key,
        expect: Expect::Absent,
        delete: false,
        value: object,
        epoch: 0,
    };
    log.commit(write).expect("the names of the embedded objects differ");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        log::Scope,
        write::{self, Applied, WriteOptions},
    };

    fn stored_roles(log: &Log) -> Vec<Value> {
        let resource = GroupResource::new(GROUP, "clusterroles");
        let (_, entries) = log.entries(&resource, &Scope::All);
        entries.iter().map(|(_, object)| object.value()).collect()
    }

    #[tokio::test]
    async fn an_initial_role_is_what_creating_it_would_make() {
        let server = crate::Server::start();
        let cluster = &server.shared.cluster;
        let mut all = stored_roles(&cluster.log).into_iter();
        let original = all.find(|it| it["metadata"]["name"] == "system:node").expect("it exists");
        let mut sent = original.clone();
        sent["metadata"] = json!({
            "name": "copy",
            "labels": original["metadata"]["labels"],
            "annotations": original["metadata"]["annotations"],
        });
        let resources = cluster.registry.snapshot();
        let resource = resources.by_kind(GROUP, "ClusterRole").expect("it is served");
        let options = WriteOptions { manager: MANAGER.to_owned(), ..Default::default() };
        let copy = write::create(cluster, resource, "", sent, Applied::No, &options)
            .expect("it is valid")
            .object
            .value();
        assert_eq!(copy["rules"], original["rules"]);
        let fields = |role: &Value| role["metadata"]["managedFields"][0]["fieldsV1"].clone();
        assert_eq!(fields(&copy), fields(&original));
        let members = |role: &Value| -> Vec<String> {
            role["metadata"].as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
        };
        assert_eq!(members(&copy), members(&original));
    }

    #[test]
    fn an_admin_may_what_an_editor_may_who_may_what_a_viewer_may() {
        let log = Log::new(1);
        log.begin(objects());
        let all = stored_roles(&log);
        let rules = |name: &str| {
            let role = all.iter().find(|role| role["metadata"]["name"] == name);
            role.and_then(|role| role["rules"].as_array().cloned()).expect("it has rules")
        };
        let (view, edit, admin) = (rules("view"), rules("edit"), rules("admin"));
        assert!(!view.is_empty() && view.iter().all(|rule| edit.contains(rule)));
        assert!(edit.len() > view.len() && edit.iter().all(|rule| admin.contains(rule)));
        assert!(admin.len() > edit.len());
    }
}
