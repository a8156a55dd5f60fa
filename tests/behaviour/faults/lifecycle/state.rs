//! The state of the world, without what differs between runs.

use std::collections::{BTreeMap, BTreeSet};

use kube::api::ListParams;

use super::*;
use crate::world::{POD, SECRET};

/// The objects by type, namespace and name.
pub(super) type Objects = BTreeMap<String, Value>;

/// The state after a step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Moment {
    pub(super) objects: Objects,
    /// The objects with the same uid as before the step.
    pub(super) survivors: BTreeSet<String>,
}

impl Moment {
    pub(super) fn new(before: &Objects, after: &Objects, namespace: &str) -> Self {
        let (old, new) = (uids(before), uids(after));
        let survivors = new.into_iter().filter(|(key, uid)| old.get(key) == Some(uid));
        let survivors = survivors.map(|(key, _)| key).collect();
        Self { objects: alike(after, namespace), survivors }
    }

    /// The differences, one line each.
    pub(super) fn difference(&self, expected: &Self) -> String {
        let keys: BTreeSet<&String> = expected.objects.keys().chain(self.objects.keys()).collect();
        let differs = |key: &&String| expected.objects.get(*key) != self.objects.get(*key);
        let line = |key: &String| {
            let [wanted, found] = [expected, self].map(|moment| moment.objects.get(key));
            let text = |object: Option<&Value>| object.map_or("nothing".into(), Value::to_string);
            format!("{key}: {} instead of {}\n", text(found), text(wanted))
        };
        let replaced = expected.survivors.difference(&self.survivors);
        let replaced = replaced.map(|key| format!("{key}: another object\n"));
        keys.into_iter().filter(differs).map(line).chain(replaced).collect()
    }
}

/// Everything in the namespaces of a run.
pub(super) async fn objects(world: &World, elsewhere: &str) -> Objects {
    let mut objects = Objects::new();
    for (kind, place) in [
        (RECIPE, "here"),
        (CONFIG_MAP, "here"),
        (SECRET, "here"),
        (POD, "here"),
        (CONFIG_MAP, "there"),
    ] {
        let namespace = if place == "here" { &world.namespace } else { elsewhere };
        let api = world.api_in(kind, Some(namespace));
        for object in api.list(&ListParams::default()).await.unwrap() {
            let key = format!("{}/{place}/{}", kind.2, object.metadata.name.as_deref().unwrap());
            objects.insert(key, serde_json::to_value(object).unwrap());
        }
    }
    objects
}

/// The objects without versions and times, with names in place of uids.
fn alike(objects: &Objects, namespace: &str) -> Objects {
    let uids = uids(objects);
    let named = |(key, object): (&String, &Value)| {
        let mut text = timeless(object.clone()).to_string().replace(namespace, "here");
        for (key, uid) in &uids {
            text = text.replace(uid.as_str(), key);
        }
        (key.clone(), serde_json::from_str(&text).unwrap())
    };
    objects.iter().map(named).collect()
}

/// Sorts managers, which servers order by time, and removes the annotations of the test.
fn timeless(mut object: Value) -> Value {
    let metadata = object["metadata"].as_object_mut().unwrap();
    for field in ["resourceVersion", "creationTimestamp", "annotations"] {
        metadata.remove(field);
    }
    if let Some(managers) = metadata["managedFields"].as_array_mut() {
        managers.retain(|entry| entry["manager"] != "by-hand");
        for entry in &mut *managers {
            entry.as_object_mut().unwrap().remove("time");
        }
        managers.sort_by_key(Value::to_string);
    }
    let conditions = object.pointer_mut("/status/conditions");
    for condition in conditions.and_then(Value::as_array_mut).into_iter().flatten() {
        condition.as_object_mut().unwrap().remove("lastTransitionTime");
    }
    object
}

fn uids(objects: &Objects) -> BTreeMap<String, String> {
    let uid = |(key, object): (&String, &Value)| {
        (key.clone(), object["metadata"]["uid"].as_str().unwrap().to_owned())
    };
    objects.iter().map(uid).collect()
}
