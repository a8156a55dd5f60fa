//! As much of an API server as the scripts need: server-side apply with managed fields, defaults
//! and an admission policy. Written apart from the code under test; supports only the types of the
//! scripts. The integration tests run against a real API server.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{
    object::{K8sType, KeptManagers, Object},
    plan::ChildId,
};

pub(super) const MANAGER: &str = "app-operator";

#[derive(Default)]
pub(super) struct Server {
    objects: BTreeMap<ChildId, Stored>,
    version: u64,
    /// JSON pointer and value that admission sets in a type.
    pub(super) policies: Vec<(K8sType, String, Value)>,
}

#[derive(Clone, PartialEq)]
struct Stored {
    body: Value,
    fields: Value,
}

/// 409.
#[derive(Debug)]
pub(super) struct Conflict;

impl Server {
    pub(super) fn get(&self, id: &ChildId) -> Option<Object> {
        let Stored { mut body, fields } = self.objects.get(id)?.clone();
        if fields != json!({}) {
            body["metadata"]["managedFields"] =
                json!([{"manager": MANAGER, "operation": "Apply", "fieldsV1": fields}]);
        }
        let kept = KeptManagers::new([MANAGER]);
        Some(Object::from_value(&id.ty, &body, &kept).unwrap())
    }

    pub(super) fn objects(&self) -> impl Iterator<Item = Object> {
        self.objects.keys().filter_map(|id| self.get(id))
    }

    /// Stores an object of another client.
    pub(super) fn put(&mut self, id: ChildId, body: Value) {
        self.store(id, Stored { body, fields: json!({}) });
    }

    /// Server-side apply by the operator.
    pub(super) fn apply(&mut self, id: &ChildId, body: &Value) -> Result<Object, Conflict> {
        let before = self.objects.get(id).cloned();
        let live = before.as_ref().map_or(&Value::Null, |stored| &stored.body["metadata"]);
        let wanted = &body["metadata"];
        let is_other = |name| wanted.get(name).is_some_and(|wanted| *wanted != live[name]);
        // As on a real server, no object has the first version.
        let is_create = wanted["resourceVersion"] == "1";
        if (before.is_some() && (is_create || is_other("resourceVersion"))) || is_other("uid") {
            return Err(Conflict);
        }
        let mut desired = body.clone();
        let metadata = desired["metadata"].as_object_mut().unwrap();
        metadata.retain(|name, _| name != "uid" && name != "resourceVersion");
        let fields = fields_of_object(&desired);
        let mut stored = before.unwrap_or(Stored { body: json!({}), fields: json!({}) });
        remove(&mut stored.body, &stored.fields, &fields);
        merge(&mut stored.body, &desired, "");
        stored.fields = fields;
        complete(&mut stored.body);
        for (_, pointer, value) in self.policies.iter().filter(|(ty, ..)| *ty == id.ty) {
            *stored.body.pointer_mut(pointer).unwrap() = value.clone();
        }
        self.store(id.clone(), stored);
        Ok(self.get(id).unwrap())
    }

    /// A JSON merge patch by another client.
    pub(super) fn edit(&mut self, id: &ChildId, patch: &Value) {
        let Stored { body: before, fields } = self.objects[id].clone();
        let mut body = before.clone();
        merge_patch(&mut body, patch);
        let fields = still_owned(&fields, &before, &body);
        self.store(id.clone(), Stored { body, fields });
    }

    pub(super) fn delete(
        &mut self,
        id: &ChildId,
        uid: &str,
        version: &str,
    ) -> Result<(), Conflict> {
        let Some(object) = self.get(id) else { return Ok(()) };
        if *object.uid() != *uid || object.resource_version().to_string() != version {
            return Err(Conflict);
        }
        self.objects.remove(id);
        Ok(())
    }

    pub(super) fn remove(&mut self, id: &ChildId) -> Option<Object> {
        let object = self.get(id);
        self.objects.remove(id);
        object
    }

    fn store(&mut self, id: ChildId, mut stored: Stored) {
        self.version += 1;
        let version = self.version;
        if stored.body["metadata"].get("uid").is_none() {
            stored.body["metadata"]["uid"] = json!(format!("uid-{version}"));
        }
        if self.objects.get(&id) != Some(&stored) {
            stored.body["metadata"]["resourceVersion"] = json!(version.to_string());
        }
        self.objects.insert(id, stored);
    }
}

/// The keys of a list, each with its default.
fn keys(list: &str, item: &Value) -> &'static [(&'static str, &'static str)] {
    match list {
        "ports" if item.get("containerPort").is_some() => {
            &[("containerPort", ""), ("protocol", "TCP")]
        }
        "ports" => &[("port", ""), ("protocol", "TCP")],
        "containers" | "env" => &[("name", "")],
        "ownerReferences" => &[("uid", "")],
        _ => &[],
    }
}

fn key_of(list: &str, item: &Value) -> Option<Value> {
    let keys = keys(list, item);
    let value = |name, default: &str| item.get(name).cloned().unwrap_or_else(|| json!(default));
    let key = keys.iter().map(|(name, default)| ((*name).to_owned(), value(*name, default)));
    (!keys.is_empty()).then(|| Value::Object(key.collect()))
}

fn fields_of_object(desired: &Value) -> Value {
    let mut fields = fields_of("", desired);
    let root = fields.as_object_mut().unwrap();
    root.retain(|name, _| name != "f:apiVersion" && name != "f:kind");
    let metadata = root["f:metadata"].as_object_mut().unwrap();
    metadata.retain(|name, _| name != "f:name" && name != "f:namespace");
    fields
}

fn fields_of(name: &str, value: &Value) -> Value {
    let mut fields = Map::new();
    match value {
        Value::Object(members) if name != "selector" => {
            let member =
                |(name, value): (&String, &Value)| (format!("f:{name}"), fields_of(name, value));
            fields.extend(members.iter().map(member));
        }
        Value::Array(items) => {
            for item in items {
                let Some(key) = key_of(name, item) else { continue };
                let mut inner = json!({});
                if name != "ownerReferences" {
                    inner = fields_of("", item);
                    inner["."] = json!({});
                }
                fields.insert(format!("k:{key}"), inner);
            }
        }
        _ => {}
    }
    Value::Object(fields)
}

/// Removes what was applied before and is no longer.
fn remove(live: &mut Value, before: &Value, now: &Value) {
    for (name, inner) in before.as_object().unwrap() {
        let kept = now.get(name);
        if let Some(field) = name.strip_prefix("f:") {
            match (kept, live.get_mut(field)) {
                (Some(kept), Some(live)) => remove(live, inner, kept),
                (None, Some(_)) => drop(live.as_object_mut().unwrap().remove(field)),
                (_, None) => {}
            }
        } else if let (Some(key), Some(items)) = (name.strip_prefix("k:"), live.as_array_mut()) {
            let key: Value = serde_json::from_str(key).unwrap();
            match kept {
                Some(kept) => {
                    items.iter_mut().filter(|i| has(i, &key)).for_each(|i| remove(i, inner, kept));
                }
                None => items.retain(|item| !has(item, &key)),
            }
        }
    }
}

fn has(item: &Value, key: &Value) -> bool {
    key.as_object().unwrap().iter().all(|(name, value)| item.get(name) == Some(value))
}

fn merge(live: &mut Value, desired: &Value, name: &str) {
    match (live, desired) {
        (Value::Object(live), Value::Object(desired)) if name != "selector" => {
            for (name, value) in desired {
                merge(live.entry(name.clone()).or_insert(Value::Null), value, name);
            }
        }
        (Value::Array(live), Value::Array(desired))
            if desired.iter().all(|item| key_of(name, item).is_some()) =>
        {
            for item in desired {
                let key = key_of(name, item).unwrap();
                if let Some(live) = live.iter_mut().find(|live| has(live, &key)) {
                    merge(live, item, "");
                    continue;
                }
                let mut item = item.clone();
                item.as_object_mut().unwrap().extend(key.as_object().unwrap().clone());
                live.push(item);
            }
        }
        (live, desired) => *live = desired.clone(),
    }
}

/// Defaults, canonical quantities, and no empty values.
fn complete(body: &mut Value) {
    if body["kind"] == "Service" {
        body["spec"]["type"] = json!("ClusterIP");
        for port in body["spec"]["ports"].as_array_mut().into_iter().flatten() {
            port["targetPort"] = port["port"].clone();
            port["protocol"] = port.get("protocol").cloned().unwrap_or_else(|| json!("TCP"));
        }
    }
    if body["kind"] == "Pod" {
        body["spec"]["restartPolicy"] = json!("Always");
        for container in body["spec"]["containers"].as_array_mut().into_iter().flatten() {
            container
                .as_object_mut()
                .unwrap()
                .retain(|_, value| *value != "" && *value != json!([]));
            container["imagePullPolicy"] = json!("IfNotPresent");
            if let Some(cpu) = container.pointer_mut("/resources/limits/cpu")
                && *cpu == "0.1"
            {
                *cpu = json!("100m");
            }
            for port in
                container.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten()
            {
                port["protocol"] = port.get("protocol").cloned().unwrap_or_else(|| json!("TCP"));
            }
        }
    }
}

fn merge_patch(live: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else { return *live = patch.clone() };
    if !live.is_object() {
        *live = json!({});
    }
    for (name, value) in patch {
        if value.is_null() {
            live.as_object_mut().unwrap().remove(name);
        } else {
            merge_patch(&mut live[name], value);
        }
    }
}

/// What the operator still owns after another client changed the object.
fn still_owned(fields: &Value, before: &Value, after: &Value) -> Value {
    let mut kept = Map::new();
    for (name, inner) in fields.as_object().unwrap() {
        let at = |value: &Value| match (name.split_once(':'), value) {
            (Some(("f", field)), value) => value.get(field).cloned(),
            (Some(("k", key)), Value::Array(items)) => {
                let key: Value = serde_json::from_str(key).unwrap();
                items.iter().find(|item| has(item, &key)).cloned()
            }
            _ => Some(Value::Null),
        };
        let (before, after) = (at(before), at(after));
        if before == after {
            kept.insert(name.clone(), inner.clone());
        } else if let (Some(before), Some(after)) = (before, after)
            && inner != &json!({})
        {
            kept.insert(name.clone(), still_owned(inner, &before, &after));
        }
    }
    Value::Object(kept)
}
