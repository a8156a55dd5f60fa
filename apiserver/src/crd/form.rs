//! The specification of a definition in the form that kube-apiserver validates: what all versions have in common
//! stands above them.

use serde_json::Value;

use crate::schema::FieldPath;

/// The fields of a version that move.
const SHARED: [&str; 4] =
    ["schema", "subresources", "additionalPrinterColumns", "selectableFields"];

/// A specification, and which fields of its versions moved.
#[derive(Debug)]
pub(super) struct Form<'a> {
    pub(super) spec: &'a Value,
    pub(super) versions: Vec<&'a Value>,
    shared: [bool; 4],
}

/// One value of a field that may move, and the path at which errors name it.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) value: &'a Value,
    pub(super) path: FieldPath,
}

impl<'a> Form<'a> {
    pub(super) fn of(spec: &'a Value) -> Self {
        let versions: Vec<_> = spec["versions"].as_array().into_iter().flatten().collect();
        let shared = SHARED.map(|field| {
            let mut same = versions.windows(2).map(|pair| pair[0][field] == pair[1][field]);
            !versions.is_empty() && same.all(|same| same)
        });
        Self { spec, versions, shared }
    }

    /// Whether a field stands above the versions.
    pub(super) fn is_shared(&self, field: &str) -> bool {
        SHARED.iter().zip(self.shared).any(|(name, shared)| *name == field && shared)
    }

    /// The field that all versions have in common, if it is given.
    pub(super) fn shared(&self, field: &str) -> Option<Part<'a>> {
        let value = &self.versions.first().filter(|_| self.is_shared(field))?[field];
        let name = if field == "schema" { "validation" } else { field };
        (!value.is_null()).then(|| Part { value, path: FieldPath::new("spec").child(name) })
    }

    /// The field of one version, if it is given and the others differ.
    pub(super) fn own(&self, at: usize, field: &str) -> Option<Part<'a>> {
        let value = &self.versions[at][field];
        let is_own = !value.is_null() && !self.is_shared(field);
        is_own.then(|| Part { value, path: version_path(at).child(field) })
    }

    /// A version without what it has in common with all others, as messages show it.
    pub(super) fn rest_of(&self, version: &Value) -> Value {
        let mut rest = version.clone();
        if let Some(fields) = rest.as_object_mut() {
            fields.retain(|field, _| !self.is_shared(field));
        }
        rest
    }
}

/// The schema of a version.
pub(super) fn schema(version: &Value) -> &Value {
    &version["schema"]["openAPIV3Schema"]
}

/// Whether these subresources have a status.
pub(super) fn has_status(subresources: &Value) -> bool {
    !subresources["status"].is_null()
}

/// Where a version is, as errors show it.
pub(super) fn version_path(at: usize) -> FieldPath {
    FieldPath::new("spec").child("versions").index(at)
}
