//! Objects inside of custom objects (`x-kubernetes-embedded-resource`) as the real server reads them: with a kind, a
//! version and metadata of the right types, and nothing in the metadata that it does not know.

use serde_json::{Map, Value};

use crate::{
    builtin,
    schema::{FieldError, FieldPath, Schema},
};

/// Returns the fields of their metadata that no object has, which are dropped.
///
/// # Errors
/// The first value of another type. The real server reads in no order, this by name.
pub(super) fn read(schema: &Schema, object: &mut Value) -> Result<Vec<String>, FieldError> {
    let mut unknown = Vec::new();
    read_below(schema, object, &FieldPath::root(), &mut unknown)?;
    Ok(unknown)
}

fn read_below(
    schema: &Schema,
    value: &mut Value,
    path: &FieldPath,
    unknown: &mut Vec<String>,
) -> Result<(), FieldError> {
    match value {
        Value::Object(fields) => {
            if schema.embedded_resource {
                unknown.extend(read_resource(fields, path)?);
            }
            for (name, value) in fields {
                if let Some(field) = schema.properties.get(name) {
                    read_below(field, value, &path.child(name), unknown)?;
                } else if let Some(values) = &schema.additional_properties {
                    read_below(values, value, &path.key(name), unknown)?;
                }
            }
        }
        Value::Array(items) => {
            let Some(item) = &schema.items else { return Ok(()) };
            for (index, value) in items.iter_mut().enumerate() {
                read_below(item, value, &path.index(index), unknown)?;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    Ok(())
}

fn read_resource(
    fields: &mut Map<String, Value>,
    path: &FieldPath,
) -> Result<Vec<String>, FieldError> {
    for name in ["apiVersion", "kind"] {
        if let Some(value) = fields.get(name).filter(|value| !value.is_string()) {
            return Err(FieldError::invalid(&path.child(name), value, "must be a string"));
        }
    }
    let Some(metadata) = fields.get_mut("metadata") else { return Ok(Vec::new()) };
    let path = path.child("metadata");
    let unknown = builtin::decode_metadata(metadata, &path.to_string())
        .map_err(|why| FieldError::invalid(&path, metadata, why))?;
    builtin::round_trip_metadata(metadata);
    Ok(unknown)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// An object with others in a field and in a list.
    fn schema() -> Schema {
        let embedded = json!({"type": "object", "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true});
        Schema::from_open_api(&json!({"type": "object", "properties": {
            "one": embedded, "many": {"type": "array", "items": embedded},
        }}))
    }

    #[test]
    fn values_of_other_types_are_refused_where_they_are() {
        let refused = |mut object: Value| read(&schema(), &mut object).unwrap_err().to_string();
        assert_eq!(
            refused(json!({"one": {"kind": 5}})),
            "one.kind: Invalid value: 5: must be a string"
        );
        assert_eq!(
            refused(json!({"many": [{}, {"apiVersion": null}]})),
            "many[1].apiVersion: Invalid value: null: must be a string"
        );
        assert_eq!(
            refused(json!({"one": {"metadata": {"labels": "a"}}})),
            "one.metadata: Invalid value: {\"labels\":\"a\"}: json: cannot unmarshal string into Go struct field \
             ObjectMeta.labels of type map[string]string"
        );
    }

    #[test]
    fn unknown_fields_of_metadata_are_named_and_dropped() {
        let mut object = json!({"many": [{"metadata": {"name": "n", "nick": "m"}, "nick": 1}]});
        assert_eq!(read(&schema(), &mut object).unwrap(), ["many[0].metadata.nick"]);
        assert_eq!(object, json!({"many": [{"metadata": {"name": "n"}, "nick": 1}]}));
    }
}
