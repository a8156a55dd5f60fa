//! The versions that objects may be stored in: the storage version is one, and none of them is gone.

use serde_json::Value;

use crate::schema::{FieldError, FieldPath};

/// The errors of `status.storedVersions`.
pub(super) fn errors(definition: &Value) -> Vec<FieldError> {
    let path = FieldPath::new("status").child("storedVersions");
    let (list, versions) =
        (&definition["status"]["storedVersions"], &definition["spec"]["versions"]);
    let stored = list.as_array().map_or(&[][..], Vec::as_slice);
    let versions = versions.as_array().map_or(&[][..], Vec::as_slice);
    if stored.is_empty() {
        return vec![FieldError::invalid(&path, list, "must have at least one stored version")];
    }
    let mut errors = Vec::new();
    for version in versions.iter().filter(|version| version["storage"] == true) {
        if !stored.contains(&version["name"]) {
            let name = version["name"].as_str().unwrap_or_default();
            let detail = format!("must have the storage version {name}");
            errors.push(FieldError::invalid(&path, list, detail));
        }
    }
    for (at, name) in stored.iter().enumerate() {
        if !versions.iter().any(|version| version["name"] == *name) {
            let shown = name.as_str().unwrap_or_default();
            let detail = format!(
                "missing from spec.versions; {shown} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {shown} and removes {shown} from status.storedVersions"
            );
            errors.push(FieldError::invalid(&path.index(at), name, detail));
        }
    }
    errors
}
