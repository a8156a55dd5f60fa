//! What a valid definition is warned of: sets of what has no equality, and formats that mean nothing.

use serde_json::Value;

use super::form::{Form, schema};
use crate::schema::{go_value, schema_has, unrecognized_formats};

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
    let known = before.map(types_of_sets).unwrap_or_default();
    let sets = types_of_sets(definition).into_iter();
    warnings.extend(sets.filter(|of| !known.contains(of)).map(set_warning));
    warnings
}

/// The types of items of which there are sets, of those that have no equality.
fn types_of_sets(definition: &Value) -> Vec<&'static str> {
    let form = Form::of(&definition["spec"]);
    let is_set_of = |schema: &Value, of: &str| {
        schema["x-kubernetes-list-type"] == "set" && schema["items"]["type"] == of
    };
    let has_set_of = |of: &&'static str| {
        form.versions
            .iter()
            .any(|version| schema_has(schema(version), &|schema: &Value| is_set_of(schema, of)))
    };
    ["array", "object"].into_iter().filter(has_set_of).collect()
}

fn set_warning(of: &str) -> String {
    format!(
        "x-kubernetes-list-type: set for items of type {of:?} is not supported by \
         server-side apply or CEL validation rules"
    )
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

    #[test]
    fn a_set_of_objects_or_lists_is_warned_of_once_and_when_it_is_new() {
        let with = |of: &str| {
            let set =
                json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": of}});
            let properties = json!({"a": set, "b": {"type": "object", "properties": {"c": set}}});
            let schema = json!({"openAPIV3Schema": {"type": "object", "properties": properties}});
            json!({"spec": {"versions": [{"schema": schema}, {"schema": schema}]}})
        };
        assert_eq!(warnings(&with("string"), None), [""; 0]);
        assert_eq!(
            warnings(&with("object"), Some(&with("array"))),
            ["x-kubernetes-list-type: set for items of type \"object\" is not supported by \
              server-side apply or CEL validation rules"]
        );
        assert_eq!(warnings(&with("object"), Some(&with("object"))), [""; 0]);
    }
}
