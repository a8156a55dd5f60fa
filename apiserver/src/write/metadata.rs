//! The fields of `metadata` that belong to the server: set at creation, kept by every update.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::peculiar;
use crate::{
    builtin,
    cluster::Cluster,
    group_resource::GroupResource,
    resource::{Resource, Subresource},
    schema::{FieldError, FieldErrorKind},
    status::{Result, StatusError},
};

/// The base of a generated name is cut so that name and suffix fit into 63 characters.
const GENERATE_NAME_BASE: usize = 58;

/// Drops what Go would not write back: empty values, and fields that it does not know. Custom resources only;
/// the fields of built-in types are all treated so.
pub(super) fn round_trip(object: &mut Value) {
    builtin::round_trip_metadata(&mut object["metadata"]);
    let metadata = metadata_mut(object);
    metadata.retain(|_, value| !is_empty(value));
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// New finalizers that may collide with those of others. Built-in types refuse them.
pub(super) fn finalizer_warnings(object: &Value, live: Option<&Value>) -> Vec<String> {
    const STANDARD: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];
    let names = |object: &Value| -> BTreeSet<String> {
        let finalizers = object["metadata"]["finalizers"].as_array().into_iter().flatten();
        finalizers.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let known = live.map(names).unwrap_or_default();
    let is_bare = |name: &&String| !name.contains('/') && !STANDARD.contains(&name.as_str());
    names(object)
        .difference(&known)
        .filter(is_bare)
        .map(|name| {
            let path = if name.contains('.') { "including a path (/) " } else { "" };
            format!(
                "metadata.finalizers: {name:?}: prefer a domain-qualified finalizer name {path}\
                 to avoid accidental conflicts with other finalizer writers"
            )
        })
        .collect()
}

/// Drops what the client that creates an object cannot decide: it manages no such field. Not so a client that
/// updates or applies an object that does not exist.
pub(crate) fn drop_system_fields(object: &mut Value) {
    let metadata = metadata_mut(object);
    for field in ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        metadata.remove(field);
    }
    metadata.remove("selfLink");
}

/// Fills in what the server decides about a new object.
pub(super) fn prepare_for_create(
    cluster: &Cluster,
    resource: &Resource,
    namespace: &str,
    object: &mut Value,
) {
    let metadata = metadata_mut(object);
    // Types that do not count theirs keep what a client gives.
    if resource.has_generation {
        metadata.insert("generation".into(), json!(1));
    }
    if resource.namespaced {
        metadata.insert("namespace".into(), json!(namespace));
    } else {
        metadata.remove("namespace");
    }
    // Also of an object that an update or an apply creates.
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        metadata.remove(field);
    }
    metadata.insert("uid".into(), json!(cluster.ids.uid()));
    metadata.insert("creationTimestamp".into(), json!(cluster.clock.now_text()));
}

/// The name of a new object; generated if only a prefix is given.
pub(super) fn generate_name(cluster: &Cluster, object: &mut Value) -> bool {
    let metadata = metadata_mut(object);
    if metadata.get("name").and_then(Value::as_str).is_some_and(|name| !name.is_empty()) {
        return false;
    }
    let Some(base) = metadata.get("generateName").and_then(Value::as_str) else { return false };
    if base.is_empty() {
        return false;
    }
    let base: String = base.chars().take(GENERATE_NAME_BASE).collect();
    metadata.insert("name".into(), json!(format!("{base}{}", cluster.ids.suffix())));
    true
}

/// Keeps what an update cannot change, and checks the version that it was made from.
pub(super) fn prepare_for_update(
    resource: &Resource,
    subresource: Subresource,
    live: &Value,
    next: &mut Value,
    dry_run: bool,
) -> Result<()> {
    check_version(resource, live, next)?;
    if peculiar::keeps_metadata(resource, subresource) {
        let managed = next["metadata"].get("managedFields").cloned();
        next["metadata"] = live["metadata"].clone();
        set_or_remove(next, "managedFields", managed);
        return Ok(());
    }
    let live = &live["metadata"];
    for field in ["resourceVersion", "creationTimestamp", "generation"] {
        set_or_remove(next, field, live.get(field).cloned());
    }
    // The real server drops it only where it stores the object.
    if !dry_run {
        set_or_remove(next, "selfLink", None);
    }
    // Validation refuses another uid, and a deletionTimestamp in the request.
    keep_unless(next, live, "uid", |given| given.is_null() || given == "");
    keep_unless(next, live, "namespace", |given| given.is_null() || given == "");
    keep_unless(next, live, "deletionTimestamp", |_| !live["deletionTimestamp"].is_null());
    keep_unless(next, live, "deletionGracePeriodSeconds", Value::is_null);
    Ok(())
}

fn keep_unless(next: &mut Value, live: &Value, field: &str, keep: impl Fn(&Value) -> bool) {
    if keep(&next["metadata"][field]) {
        set_or_remove(next, field, live.get(field).cloned());
    }
}

fn check_version(resource: &Resource, live: &Value, next: &Value) -> Result<()> {
    let name = live["metadata"]["name"].as_str().unwrap_or_default();
    let found = live["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    match given_version(next)? {
        None if peculiar::needs_version(resource) => {
            let error = FieldError {
                path: "metadata.resourceVersion".to_owned(),
                kind: FieldErrorKind::Invalid,
                value: Some("0".to_owned()),
                detail: "must be specified for an update".to_owned(),
            };
            let GroupResource { group, plural } = &*resource.id;
            Err(StatusError::invalid(group, plural, name, &[error]))
        }
        Some(version) if version.to_string() != found => {
            Err(StatusError::modified(&resource.id, name))
        }
        _ => Ok(()),
    }
}

/// The version that the client has seen; zero is none.
pub(crate) fn given_version(object: &Value) -> Result<Option<u64>> {
    match object["metadata"]["resourceVersion"].as_str().unwrap_or_default() {
        "" => Ok(None),
        text => match text.parse::<u64>() {
            Ok(version) => Ok(Some(version).filter(|version| *version != 0)),
            Err(_) => Err(StatusError::internal(format!(
                "strconv.ParseUint: parsing \"{text}\": invalid syntax"
            ))),
        },
    }
}

/// `metadata` as a map; objects that got this far have one.
pub(crate) fn metadata_mut(object: &mut Value) -> &mut Map<String, Value> {
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    object["metadata"].as_object_mut().expect("it was made a map above")
}

fn set_or_remove(object: &mut Value, field: &str, value: Option<Value>) {
    let metadata = metadata_mut(object);
    match value {
        Some(value) => metadata.insert(field.to_owned(), value),
        None => metadata.remove(field),
    };
}
