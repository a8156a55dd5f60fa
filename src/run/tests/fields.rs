//! The part of server-side apply that the tests need: the managers of the leaves of an object. Objects are
//! merged by member, `ownerReferences` by uid; every other list is one value. Knows no versions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// The path from the root to a leaf, in the form of `fieldsV1`.
type Path = Vec<String>;

/// The fields of one manager.
struct Entry {
    manager: String,
    operation: String,
    paths: BTreeSet<Path>,
}

/// A leaf that another manager holds with another value.
pub(super) struct Held {
    pub(super) manager: String,
    /// As the server writes it.
    pub(super) path: String,
}

/// Metadata that identifies the object or belongs to the server.
const NOT_DESIRED: [&str; 7] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "managedFields",
];

/// Applies a body: removes fields that the manager owned and no longer wants, unless others own them too.
///
/// Others hold leaves with another value, and the apply is not forced.
pub(super) fn apply(
    live: &Value,
    body: &Value,
    manager: &str,
    is_forced: bool,
) -> Result<Value, Vec<Held>> {
    let wanted = leaves(body);
    let (mut ours, mut others) = (BTreeSet::new(), Vec::new());
    for entry in entries(live) {
        if (&*entry.manager, &*entry.operation) == (manager, "Apply") {
            ours = entry.paths;
        } else {
            others.push(entry);
        }
    }
    let is_other =
        |path: &Path| wanted.iter().any(|(it, value)| it == path && get(live, path) != Some(value));
    let held: Vec<_> = others.iter().flat_map(|it| it.held(is_other)).collect();
    if !is_forced && !held.is_empty() {
        return Err(held);
    }
    for entry in &mut others {
        entry.paths.retain(|path| !is_other(path));
    }
    let mut object = live.clone();
    let is_shared = |path: &Path| others.iter().any(|it| it.paths.contains(path));
    for path in ours.iter().filter(|path| !wanted.contains_key(*path) && !is_shared(path)) {
        remove(&mut object, path);
    }
    for (path, value) in &wanted {
        set(&mut object, path, value.clone());
    }
    let paths = wanted.into_keys().collect();
    let (manager, operation) = (manager.to_owned(), "Apply".to_owned());
    others.insert(0, Entry { manager, operation, paths });
    write_entries(&mut object, &others);
    Ok(object)
}

/// A merge patch; the manager owns the fields that it changes.
pub(super) fn merge(live: &Value, patch: &Value, manager: &str) -> Value {
    let mut object = live.clone();
    merge_into(&mut object, patch);
    if patch.pointer("/metadata/managedFields").is_some() {
        return object;
    }
    let changed: BTreeSet<Path> = leaves(&object)
        .into_iter()
        .filter(|(path, value)| get(live, path) != Some(value))
        .map(|(path, _)| path)
        .collect();
    let mut all = entries(live);
    for entry in &mut all {
        entry.paths.retain(|path| !changed.contains(path) && get(&object, path).is_some());
    }
    let is_it = |it: &Entry| (&*it.manager, &*it.operation) == (manager, "Update");
    if let Some(entry) = all.iter_mut().find(|it| is_it(it)) {
        entry.paths.extend(changed);
    } else {
        let (manager, operation) = (manager.to_owned(), "Update".to_owned());
        all.push(Entry { manager, operation, paths: changed });
    }
    write_entries(&mut object, &all);
    object
}

/// A manager leaves its fields to another, which applies.
pub(super) fn release(live: &Value, from: &str, to: &str) -> Value {
    let mut all = entries(live);
    let released: BTreeSet<Path> = all
        .iter_mut()
        .filter(|entry| entry.manager == from)
        .flat_map(|entry| std::mem::take(&mut entry.paths))
        .collect();
    if let Some(entry) = all.iter_mut().find(|it| it.manager == to && it.operation == "Apply") {
        entry.paths.extend(released);
    }
    let mut object = live.clone();
    write_entries(&mut object, &all);
    object
}

impl Entry {
    fn held(&self, is_other: impl Fn(&Path) -> bool) -> Vec<Held> {
        let paths = self.paths.iter().filter(|path| is_other(path));
        let text = |path: &Path| {
            let names = path.iter().map(|step| format!(".{}", &step[2..]));
            Held { manager: self.manager.clone(), path: names.collect() }
        };
        paths.map(text).collect()
    }
}

// === leaves ===

fn leaves(body: &Value) -> BTreeMap<Path, Value> {
    let mut found = BTreeMap::new();
    for (name, value) in body.as_object().into_iter().flatten() {
        match name.as_str() {
            "apiVersion" | "kind" | "status" => {}
            "metadata" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    if !NOT_DESIRED.contains(&name.as_str()) {
                        collect(vec!["f:metadata".to_owned(), field(name)], value, &mut found);
                    }
                }
            }
            name => collect(vec![field(name)], value, &mut found),
        }
    }
    found
}

fn collect(path: Path, value: &Value, found: &mut BTreeMap<Path, Value>) {
    let below = |step: String| path.iter().cloned().chain([step]).collect::<Path>();
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                collect(below(field(name)), value, found);
            }
        }
        Value::Array(owners) if path.last().is_some_and(|it| it == "f:ownerReferences") => {
            let step = |owner: &Value| format!("k:{}", json!({"uid": owner["uid"]}));
            found.extend(owners.iter().map(|owner| (below(step(owner)), owner.clone())));
        }
        leaf => drop(found.insert(path, leaf.clone())),
    }
}

fn field(name: &str) -> String {
    format!("f:{name}")
}

fn get<'a>(object: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, step| match step.split_at(2) {
        ("f:", name) => value.get(name),
        (_, key) => value.as_array()?.iter().find(|item| is_keyed(item, key)),
    })
}

fn set(object: &mut Value, path: &[String], value: Value) {
    let Some((step, rest)) = path.split_first() else { return *object = value };
    match step.split_at(2) {
        ("f:", name) => {
            if !object.is_object() {
                *object = json!({});
            }
            set(&mut object[name], rest, value);
        }
        (_, key) => {
            if !object.is_array() {
                *object = json!([]);
            }
            let items = object.as_array_mut().unwrap();
            items.retain(|item| !is_keyed(item, key));
            items.push(value);
        }
    }
}

/// Removes empty containers too.
fn remove(object: &mut Value, path: &[String]) {
    let Some((step, rest)) = path.split_first() else { return };
    match (step.split_at(2), object) {
        (("f:", name), Value::Object(members)) => {
            let Some(member) = members.get_mut(name) else { return };
            remove(member, rest);
            if rest.is_empty() || *member == json!({}) || *member == json!([]) {
                members.remove(name);
            }
        }
        ((_, key), Value::Array(items)) => items.retain(|item| !is_keyed(item, key)),
        _ => {}
    }
}

fn is_keyed(item: &Value, key: &str) -> bool {
    let text = json!({"uid": item["uid"]}).to_string();
    text == key
}

pub(super) fn merge_into(live: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else { return *live = patch.clone() };
    if !live.is_object() {
        *live = json!({});
    }
    for (name, value) in patch {
        if value.is_null() {
            live.as_object_mut().unwrap().remove(name);
        } else {
            merge_into(&mut live[name], value);
        }
    }
}

// === managedFields ===

fn entries(object: &Value) -> Vec<Entry> {
    let entries = object["metadata"]["managedFields"].as_array();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entry = |entry: &Value| {
        let mut paths = BTreeSet::new();
        paths_of(&entry["fieldsV1"], &mut Vec::new(), &mut paths);
        Entry { manager: text(&entry["manager"]), operation: text(&entry["operation"]), paths }
    };
    entries.into_iter().flatten().map(entry).collect()
}

fn write_entries(object: &mut Value, all: &[Entry]) {
    let version = object["apiVersion"].clone();
    let entry = |entry: &Entry| {
        let mut fields = json!({});
        entry.paths.iter().for_each(|path| insert(&mut fields, path));
        json!({
            "manager": entry.manager, "operation": entry.operation, "apiVersion": version,
            "fieldsType": "FieldsV1", "fieldsV1": fields,
        })
    };
    let entries: Vec<_> = all.iter().filter(|it| !it.paths.is_empty()).map(entry).collect();
    object["metadata"]["managedFields"] = Value::from(entries);
}

fn paths_of(fields: &Value, above: &mut Path, found: &mut BTreeSet<Path>) {
    for (step, inner) in fields.as_object().into_iter().flatten().filter(|(step, _)| *step != ".") {
        above.push(step.clone());
        if inner.as_object().is_none_or(Map::is_empty) {
            found.insert(above.clone());
        } else {
            paths_of(inner, above, found);
        }
        above.pop();
    }
}

fn insert(fields: &mut Value, path: &[String]) {
    let mut node = fields;
    for step in path {
        node = node.as_object_mut().unwrap().entry(step.clone()).or_insert_with(|| json!({}));
    }
}
