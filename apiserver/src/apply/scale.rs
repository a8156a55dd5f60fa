//! The managers of a scale: those who manage the replicas of its object, and back.
//!
//! Who scales becomes the manager of the replicas alone; the other fields of the object keep their managers.

use serde_json::Value;

use super::{
    field_set::FieldSet,
    managers::{self, Managed, Managers},
    path_element::{Path, PathElement},
};

/// The version of scales.
pub(crate) const VERSION: &str = "autoscaling/v1";

/// Where objects have their replicas, by the version that managers wrote them in.
#[derive(Debug)]
pub(crate) struct ReplicasPaths<'a> {
    /// The versions with the names on the way to the replicas; empty for a version without a scale.
    pub paths: Vec<(String, Vec<String>)>,
    /// The version of the request.
    pub version: &'a str,
}

impl ReplicasPaths<'_> {
    fn of(&self, version: &str) -> Option<Path> {
        let (_, names) = self.paths.iter().find(|(known, _)| known == version)?;
        Some(names.iter().map(|name| PathElement::field(name)).collect())
    }
}

/// The `managedFields` of a scale, from those of its object.
pub(crate) fn managers_of_scale(parent: &Value, paths: &ReplicasPaths<'_>) -> Option<Value> {
    let parents = decoded(&parent["metadata"]["managedFields"]);
    let owners = parents.into_iter().filter_map(|(id, managed)| {
        let path = paths.of(&managed.api_version)?;
        managed.fields.contains(&path).then(|| {
            let fields = only(&replicas_of_scale());
            (id, Managed { api_version: VERSION.to_owned(), fields, time: managed.time })
        })
    });
    managers::encode(&owners.collect())
}

/// The `managedFields` of an object, from those that it had and those of its scale.
pub(crate) fn managers_of_parent(
    parent: &Value,
    scale: &Value,
    paths: &ReplicasPaths<'_>,
) -> Option<Value> {
    let parents = decoded(&parent["metadata"]["managedFields"]);
    let mut scales = decoded(&scale["metadata"]["managedFields"]);
    let mut merged = Managers::new();
    let mut times = std::collections::BTreeMap::new();
    for (id, mut managed) in parents {
        times.insert(id.clone(), managed.time.clone());
        let Some(path) = paths.of(&managed.api_version) else { continue };
        let has_replicas = !path.is_empty() && managed.fields.contains(&path);
        if has_replicas && scales.remove(&id).is_none() {
            managed.fields = managed.fields.difference(&only(&path));
        }
        if !managed.fields.is_empty() {
            merged.insert(id, managed);
        }
    }
    let path = paths.of(paths.version).unwrap_or_default();
    for (id, managed) in scales {
        if managed.fields.contains(&replicas_of_scale()) {
            // Whoever is new here has no time, as in the real server.
            let time = times.get(&id).cloned().flatten();
            let api_version = paths.version.to_owned();
            merged.insert(id, Managed { api_version, fields: only(&path), time });
        }
    }
    managers::encode(&merged)
}

fn decoded(managed_fields: &Value) -> Managers {
    managers::decode(Some(managed_fields)).unwrap_or_default()
}

fn replicas_of_scale() -> Path {
    vec![PathElement::field("spec"), PathElement::field("replicas")]
}

fn only(path: &[PathElement]) -> FieldSet {
    let mut set = FieldSet::default();
    set.insert(path);
    set
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(manager: &str, operation: &str, version: &str, fields: &Value) -> Value {
        json!({
            "manager": manager, "operation": operation, "apiVersion": version,
            "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields,
        })
    }

    #[test]
    fn who_scales_takes_the_replicas_and_leaves_the_rest() {
        let names = vec!["spec".to_owned(), "replicas".to_owned()];
        let paths =
            ReplicasPaths { paths: vec![("apps/v1".to_owned(), names)], version: "apps/v1" };
        let both = json!({ "f:spec": { "f:replicas": {}, "f:paused": {} } });
        let parent =
            json!({ "metadata": { "managedFields": [entry("a", "Apply", "apps/v1", &both)] } });
        let replicas = json!({ "f:spec": { "f:replicas": {} } });
        let of_scale = managers_of_scale(&parent, &paths).unwrap();
        assert_eq!(of_scale, json!([entry("a", "Apply", VERSION, &replicas)]));
        let scale =
            json!({ "metadata": { "managedFields": [entry("b", "Apply", VERSION, &replicas)] } });
        let merged = managers_of_parent(&parent, &scale, &paths).unwrap();
        let mut taken = entry("b", "Apply", "apps/v1", &replicas);
        taken.as_object_mut().unwrap().remove("time");
        let rest = json!({ "f:spec": { "f:paused": {} } });
        assert_eq!(merged, json!([taken, entry("a", "Apply", "apps/v1", &rest)]));
    }
}
