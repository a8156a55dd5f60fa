//! Validation of the metadata of an update.

use serde_json::Value;

use super::{
    ObjectMeta, managed_fields, owners,
    rules::{annotation_errors, go_list, label_errors},
};
use crate::schema::{FieldError, FieldPath};

/// The errors of the metadata of `new`, which replaces `old`.
pub fn validate_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let path = FieldPath::new("metadata");
    let metadata = |object: &'_ Value| object.get("metadata").cloned().unwrap_or_default();
    let (new, old) = (metadata(new), metadata(old));
    match (ObjectMeta::read(&new, &path), ObjectMeta::read(&old, &path)) {
        (Ok(new), Ok(old)) => update_errors(&new, &old, &path),
        (Err(error), _) | (_, Err(error)) => vec![error],
    }
}

fn update_errors(new: &ObjectMeta<'_>, old: &ObjectMeta<'_>, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    errors.extend(new_finalizers_error(new, old, path));
    if new.resource_version.is_empty() {
        let path = path.child("resourceVersion");
        errors.push(FieldError::invalid(&path, &"".into(), "must be specified for an update"));
    }
    if new.generation < old.generation {
        let path = path.child("generation");
        errors.push(FieldError::invalid(&path, &new.generation.into(), "must not be decremented"));
    }
    errors.extend(immutable_errors(new, old, path));
    errors.extend(label_errors(new.labels, &path.child("labels")));
    errors.extend(annotation_errors(new.annotations, &path.child("annotations")));
    errors.extend(owners::errors(new.owner_references, &path.child("ownerReferences")));
    errors.extend(managed_fields::errors(new.managed_fields, &path.child("managedFields")));
    errors
}

/// An object that is being deleted takes no new finalizers.
fn new_finalizers_error(
    new: &ObjectMeta<'_>,
    old: &ObjectMeta<'_>,
    path: &FieldPath,
) -> Option<FieldError> {
    old.deletion_timestamp?;
    let mut added: Vec<_> =
        new.finalizers.iter().copied().filter(|name| !old.finalizers.contains(name)).collect();
    added.sort_unstable();
    added.dedup();
    let detail = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers {}",
        go_list(&added)
    );
    (!added.is_empty()).then(|| FieldError::forbidden(&path.child("finalizers"), detail))
}

fn immutable_errors(
    new: &ObjectMeta<'_>,
    old: &ObjectMeta<'_>,
    path: &FieldPath,
) -> Vec<FieldError> {
    let values = |meta: &ObjectMeta<'_>| -> [(&str, Value); 6] {
        [
            ("name", meta.name.into()),
            ("namespace", meta.namespace.into()),
            ("uid", meta.uid.into()),
            ("creationTimestamp", meta.creation_timestamp.into()),
            ("deletionTimestamp", meta.deletion_timestamp.into()),
            ("deletionGracePeriodSeconds", meta.deletion_grace_period.into()),
        ]
    };
    let changed = values(new).into_iter().zip(values(old)).filter(|(new, old)| new != old);
    let error = |((name, value), _): ((&str, Value), _)| {
        FieldError::invalid(&path.child(name), &value, "field is immutable")
    };
    changed.map(error).collect()
}
