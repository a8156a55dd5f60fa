//! One node of a structural schema: the allowed values at a path of an object.
//!
//! The same node describes a custom resource (parsed from its CRD) and a built-in type (parsed
//! from the data file), so that pruning, defaulting, validation and server-side apply are written
//! once. A node holds facts only; other modules apply them.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

/// The allowed values at one path.
///
/// The default is a node without rules: any value is allowed.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a keyword of its own")]
pub struct Schema {
    /// The JSON type; `None` where the schema does not say (or says int-or-string).
    pub ty: Option<SchemaType>,
    /// The declared fields of an object.
    pub properties: BTreeMap<String, Arc<Schema>>,
    /// The values of a map with free keys (`additionalProperties`).
    pub additional_properties: Option<Arc<Schema>>,
    /// The elements of a list.
    pub items: Option<Arc<Schema>>,
    /// Names of fields that must be present.
    pub required: Vec<String>,
    /// The only values allowed; empty when any is.
    pub enumeration: Vec<Value>,
    /// The value that an absent field gets.
    pub default: Option<Value>,
    /// Whether an explicit `null` is a value.
    pub nullable: bool,
    /// How elements of a list are identified (`x-kubernetes-list-type`).
    pub list_type: ListType,
    /// Whether an object or map is owned as a whole (`x-kubernetes-map-type: atomic`).
    pub map_type: MapType,
    /// Whether undeclared fields are kept (`x-kubernetes-preserve-unknown-fields`).
    pub preserve_unknown_fields: bool,
    /// Whether the value is an integer or a string (`x-kubernetes-int-or-string`).
    pub int_or_string: bool,
    /// Whether the value is a complete object of its own (`x-kubernetes-embedded-resource`).
    pub embedded_resource: bool,
    /// The remaining value rules of this node (`minimum`, `pattern`, `format`, `maxLength`,
    /// `allOf`...) as the JSON Schema object that declared them; `None` when there are none.
    pub rules: Option<Value>,
    /// The rules in CEL (`x-kubernetes-validations`), as they were declared.
    pub validations: Vec<Value>,
}

/// A JSON type as `OpenAPI` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaType {
    /// An object, or a map with free keys.
    Object,
    /// A list.
    Array,
    /// A string.
    String,
    /// A number without a fraction.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
}

/// How server-side apply identifies the elements of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ListType {
    /// The list is one value.
    #[default]
    Atomic,
    /// Each element is its own key.
    Set,
    /// Elements are objects; these fields of an element are its key.
    Map(Vec<String>),
}

/// How the fields of an object or map are owned by server-side apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MapType {
    /// Each field has its own owners.
    #[default]
    Granular,
    /// The object is one value.
    Atomic,
}
