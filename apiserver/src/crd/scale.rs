//! Validates where the scales of a definition are: paths below `.spec` and `.status`.

use serde_json::json;

use super::form::Part;
use crate::schema::FieldError;

/// The errors of the paths of the scale among subresources.
pub(super) fn errors(subresources: &Part<'_>) -> Vec<FieldError> {
    let scale = &subresources.value["scale"];
    if !scale.is_object() {
        return Vec::new();
    }
    let path = subresources.path.child("scale");
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
    use crate::schema::FieldPath;

    #[test]
    fn scales_are_below_spec_and_status() {
        let lines = |spec: &str, status: &str| -> Vec<String> {
            let value =
                json!({ "scale": { "specReplicasPath": spec, "statusReplicasPath": status } });
            let part = Part { value: &value, path: FieldPath::new("spec.subresources") };
            errors(&part).iter().map(ToString::to_string).collect()
        };
        assert_eq!(lines(".spec.a", ".status.b"), [""; 0]);
        assert_eq!(
            lines("spec.a", ".spec.b"),
            [
                "spec.subresources.scale.specReplicasPath: Invalid value: \"spec.a\": must be a simple \
                 json path starting with .",
                "spec.subresources.scale.statusReplicasPath: Invalid value: \".spec.b\": should be a \
                 json path under .status",
            ]
        );
        assert_eq!(
            lines(".spec.a", ""),
            ["spec.subresources.scale.statusReplicasPath: Required value"]
        );
    }
}
