//! The schemas of the framework's status fields, for CRDs that are derived from Rust types.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{Condition, Conditions};

/// Also for other types of conditions, such as `Vec<Condition>` of `k8s-openapi`:
/// `#[schemars(with = "Conditions")]`.
impl JsonSchema for Conditions {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Conditions".into()
    }

    /// A list that server-side apply merges by type.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            "items": Condition::json_schema(generator),
        })
    }
}

impl JsonSchema for Condition {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Condition".into()
    }

    /// With the fields that the framework adds when it writes a condition.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "required": ["type", "status", "lastTransitionTime", "reason", "message"],
            "properties": {
                "type": {
                    "description": "The name of the condition.",
                    "type": "string",
                    "maxLength": 316,
                },
                "status": {
                    "description": "Whether it holds.",
                    "type": "string",
                    "enum": ["True", "False", "Unknown"],
                },
                "observedGeneration": {
                    "description": "The metadata.generation that the condition describes.",
                    "type": "integer",
                    "format": "int64",
                },
                "lastTransitionTime": {
                    "description": "When the status changed last.",
                    "type": "string",
                    "format": "date-time",
                },
                "reason": {
                    "description": "Why, in one word for programs.",
                    "type": "string",
                    "maxLength": 1024,
                },
                "message": {
                    "description": "Why, in a sentence for users.",
                    "type": "string",
                    "maxLength": 32768,
                },
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use schemars::generate::SchemaSettings;
    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};

    use super::*;
    use crate::operator::ChildStatus;

    #[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(default)]
    struct Status {
        conditions: Conditions,
        children: Vec<ChildStatus>,
    }

    /// Otherwise the framework would not, or could not, write the fields.
    #[test]
    fn a_derived_status_declares_all_written_fields_and_requires_none() {
        let settings = SchemaSettings::openapi3().with(|it| it.inline_subschemas = true);
        let schema = settings.into_generator().into_root_schema_for::<Status>().to_value();
        assert_eq!(schema["required"], Value::Null);
        let of = |list: &str| schema["properties"][list]["items"]["properties"].clone();
        for (list, fields) in [
            ("conditions", &["type", "status", "reason", "lastTransitionTime"][..]),
            ("children", &["apiVersion", "kind", "namespace", "name", "state", "message"]),
        ] {
            assert!(fields.iter().all(|field| of(list)[field].is_object()), "{schema}");
        }
        let written = json!({"conditions": [{"type": "Ready", "status": "True", "reason": "Synced",
            "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]});
        let read: Status = serde_json::from_value(written).unwrap();
        assert!(read.conditions.is_true("Ready") && read.children.is_empty());
    }
}
