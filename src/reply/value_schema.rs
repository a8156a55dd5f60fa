//! The schema of one value, as far as it is needed for a status. One exists per parent type for the lifetime
//! of the process, so unused parts are dropped.

use serde_json::{Map, Value};

/// The fields that the API server itself declares in an embedded Kubernetes object.
const EMBEDDED: [&str; 3] = ["apiVersion", "kind", "metadata"];

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ValueSchema {
    properties: Box<[(Box<str>, ValueSchema)]>,
    /// The schema of other fields.
    others: Option<Box<ValueSchema>>,
    items: Option<Box<ValueSchema>>,
    default: Option<Box<Value>>,
    may_be_list: bool,
    /// Whether undeclared fields are allowed.
    is_open: bool,
    embeds_object: bool,
}

impl ValueSchema {
    pub(crate) fn read(schema: &Value) -> Self {
        let inner = |name: &str| schema.get(name).filter(|inner| inner.is_object());
        let boxed = |name: &str| inner(name).map(|inner| Box::new(Self::read(inner)));
        let properties = schema.get("properties").and_then(Value::as_object);
        let property = |(name, inner): (&String, &Value)| (name.as_str().into(), Self::read(inner));
        Self {
            properties: properties.into_iter().flatten().map(property).collect(),
            others: boxed("additionalProperties"),
            items: boxed("items"),
            default: schema.get("default").cloned().map(Box::new),
            may_be_list: schema.get("type").is_none_or(|name| name == "array"),
            is_open: is_open(schema),
            embeds_object: is_true(schema, "x-kubernetes-embedded-resource"),
        }
    }

    pub(crate) fn property(&self, name: &str) -> Option<&Self> {
        self.properties.iter().find(|(property, _)| **property == *name).map(|(_, inner)| inner)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        self.property(name).or(self.others.as_deref())
    }

    pub(crate) fn items(&self) -> Option<&Self> {
        self.items.as_deref()
    }

    /// The default that the server sets.
    pub(crate) fn default(&self) -> Option<&Value> {
        self.default.as_deref()
    }

    /// Whether a field may be sent, whatever its value.
    pub(crate) fn admits(&self, name: &str) -> bool {
        let is_embedded = || self.embeds_object && EMBEDDED.contains(&name);
        self.field(name).is_some() || self.is_open || is_embedded()
    }

    /// Whether it may be a list.
    pub(crate) fn may_be_list(&self) -> bool {
        self.may_be_list
    }

    /// Adds the defaults of the server to an object.
    pub(crate) fn fill_in(&self, object: &mut Map<String, Value>) {
        for (name, inner) in &self.properties {
            if let Some(default) = inner.default().filter(|_| !object.contains_key(&**name)) {
                object.insert(name.as_ref().to_owned(), default.clone());
            }
        }
    }
}

/// Whether any field is allowed: explicitly, by an empty schema, or by constructs that are not supported
/// here.
fn is_open(schema: &Value) -> bool {
    const ALTERNATIVES: [&str; 5] = ["$ref", "allOf", "anyOf", "oneOf", "not"];
    let says_any_of = |fields: &[&str]| fields.iter().any(|field| schema.get(field).is_some());
    is_true(schema, "x-kubernetes-preserve-unknown-fields")
        || is_true(schema, "additionalProperties")
        || schema.as_object().is_some_and(Map::is_empty)
        || (says_any_of(&ALTERNATIVES) && !says_any_of(&["type", "properties"]))
}

fn is_true(schema: &Value, field: &str) -> bool {
    schema.get(field) == Some(&Value::Bool(true))
}
