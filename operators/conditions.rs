//! The schema of `status.conditions`, which the framework writes and every parent type declares.

use schemars::{Schema, SchemaGenerator, json_schema};

/// A list of conditions that server-side apply merges by type.
pub(crate) fn conditions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
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
                    "description": "The metadata.generation that this was said of.",
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
                    "description": "Why, in a sentence for people.",
                    "type": "string",
                    "maxLength": 32768,
                },
            },
        },
    })
}
