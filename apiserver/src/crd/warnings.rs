//! What a valid definition is warned of: formats that mean nothing.

use serde_json::Value;

use super::form::{Form, schema};
use crate::schema::{go_value, unrecognized_formats};

/// The warnings about a definition. Those about what it had before are not repeated.
pub(crate) fn warnings(definition: &Value, before: Option<&Value>) -> Vec<String> {
    let known = before.map(formats).unwrap_or_default();
    let mut warnings = Vec::new();
    for format in formats(definition).iter().filter(|format| !known.contains(format)) {
        let warning = format!("unrecognized format {}", go_value::quote(format));
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    warnings
}

fn formats(definition: &Value) -> Vec<String> {
    let form = Form::of(&definition["spec"]);
    form.versions.iter().flat_map(|version| unrecognized_formats(schema(version))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_format_is_warned_of_once_and_when_it_is_new() {
        let with = |fields: Value| {
            let schema = json!({"openAPIV3Schema": {"type": "object", "properties": fields}});
            json!({"spec": {"versions": [{"schema": schema}, {"schema": schema}]}})
        };
        let known = with(json!({
            "a": {"type": "string", "format": "uuid"}, "b": {"type": "integer", "format": "int32"},
        }));
        assert_eq!(warnings(&known, None), [""; 0]);
        let odd = with(json!({
            "a": {"type": "string", "format": "int32"},
            "b": {"type": "array", "items": {"type": "string", "format": "x\"y"}},
        }));
        let expected = [r#"unrecognized format "x\"y""#, r#"unrecognized format "int32""#];
        let mut found = warnings(&odd, None);
        found.sort();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(expected.iter().all(|it| found.iter().any(|found| found == it)), "{found:?}");
        assert_eq!(warnings(&odd, Some(&odd)), [""; 0]);
    }
}
