//! Validates where the scales of a definition are: paths below `.spec` and `.status`.

use serde_json::{Value, json};

use super::versions;
use crate::schema::{FieldError, FieldPath};

/// The errors of the paths of a definition's scales.
pub(super) fn errors(spec: &Value, path: &FieldPath) -> Vec<FieldError> {
    versions::errors(spec, path, "subresources", of_version)
}

fn of_version(version: &Value, path: &FieldPath) -> Vec<FieldError> {
    let scale = &version["subresources"]["scale"];
    if !scale.is_object() {
        return Vec::new();
    }
    let path = path.child("subresources").child("scale");
    let table: [(&str, &[&str], &str); 3] = [
        ("specReplicasPath", &[".spec."], ".spec"),
        ("statusReplicasPath", &[".status."], ".status"),
        ("labelSelectorPath", &[".spec.", ".status."], "either .spec or .status"),
    ];
    let error = |(field, roots, shown): (&str, &[&str], &str)| {
        let (given, path) = (scale[field].as_str().unwrap_or_default(), path.child(field));
        let invalid = |detail: &str| Some(FieldError::invalid(&path, &json!(given), detail));
        match given {
            "" if field == "labelSelectorPath" => None,
            "" => Some(FieldError::required(&path, "")),
            _ if !given.starts_with('.') => invalid("must be a simple json path starting with ."),
            _ if roots.iter().any(|root| given.starts_with(root)) => None,
            _ => invalid(&format!("should be a json path under {shown}")),
        }
    };
    table.into_iter().filter_map(error).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_below_spec_and_status() {
        let scale = |spec: &str, status: &str| {
            json!({ "subresources": { "scale": {
                "specReplicasPath": spec, "statusReplicasPath": status,
            } } })
        };
        let lines = |versions: Value| -> Vec<String> {
            let errors = errors(&json!({ "versions": versions }), &FieldPath::new("spec"));
            errors.iter().map(ToString::to_string).collect()
        };
        assert_eq!(lines(json!([scale(".spec.a", ".status.b"), {}])), [""; 0]);
        assert_eq!(
            lines(json!([scale("spec.a", ".spec.b")])),
            [
                "spec.subresources.scale.specReplicasPath: Invalid value: \"spec.a\": must be a simple \
                 json path starting with .",
                "spec.subresources.scale.statusReplicasPath: Invalid value: \".spec.b\": should be a \
                 json path under .status",
            ]
        );
        assert_eq!(
            lines(json!([{}, scale(".spec.a", "")])),
            ["spec.versions[1].subresources.scale.statusReplicasPath: Required value"]
        );
    }
}
