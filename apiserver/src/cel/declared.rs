//! What a schema declares to expressions.
//!
//! Parts of a schema that have no type are not visible to expressions.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{
    escape::escape,
    ty::{Declared, Type},
};
use crate::schema::{Schema, SchemaType};

/// The largest request, on which bounds rest that the schema does not give.
pub(super) const MAX_REQUEST: u64 = 3 * 1024 * 1024;

impl Declared {
    /// The declaration of a schema. Whole resources have a kind, a version and a name.
    pub(super) fn of(schema: &Schema, is_resource: bool, name: &str) -> Option<Arc<Self>> {
        let declared = if schema.int_or_string {
            let max = max_characters(schema).unwrap_or(MAX_REQUEST - 2);
            Self::simple(Type::Dyn, max, 1)
        } else {
            match schema.ty? {
                SchemaType::Object if !is_resource && is_map(schema) => Self::map_of(schema, name)?,
                SchemaType::Object => Self::object_of(schema, is_resource, name),
                SchemaType::Array => Self::list_of(schema, name)?,
                SchemaType::String => Self::string_of(schema),
                SchemaType::Boolean => Self::simple(Type::Bool, 0, 4),
                SchemaType::Number => Self::simple(Type::Double, 0, 1),
                SchemaType::Integer => Self::simple(Type::Int, 0, 1),
            }
        };
        Some(Arc::new(declared))
    }

    fn map_of(schema: &Schema, name: &str) -> Option<Self> {
        let values = schema.additional_properties.as_deref()?;
        let value = Self::of(values, values.embedded_resource, &format!("{name}.@idx"))?;
        let fits = (MAX_REQUEST - 2) / (value.min_size + 6);
        let max_elements = number(schema, "maxProperties").unwrap_or(fits);
        Some(Self::map(value, max_elements))
    }

    fn list_of(schema: &Schema, name: &str) -> Option<Self> {
        let items = schema.items.as_deref()?;
        let element = Self::of(items, items.embedded_resource, &format!("{name}.@idx"))?;
        let fits = (MAX_REQUEST - 2) / (element.min_size + 1);
        let max_elements = number(schema, "maxItems").unwrap_or(fits);
        Some(Self::list(element, max_elements))
    }

    fn object_of(schema: &Schema, is_resource: bool, name: &str) -> Self {
        let mut properties = schema.properties.clone();
        if is_resource {
            properties.extend(resource_fields());
        }
        let mut fields = BTreeMap::new();
        let mut min_size = 2;
        for (field, property) in &properties {
            let inner = format!("{name}.{field}");
            let Some(declared) = Self::of(property, property.embedded_resource, &inner) else {
                continue;
            };
            if schema.required.contains(field) && property.default.is_none() {
                min_size += field.len() as u64 + declared.min_size + 4;
            }
            if let Some(identifier) = escape(field) {
                fields.insert(identifier, declared);
            }
        }
        Self::object(name, fields, min_size)
    }

    fn string_of(schema: &Schema) -> Self {
        let rule = schema.rules.as_ref().and_then(|rules| rules.get("format"));
        match rule.and_then(Value::as_str) {
            Some("byte") => {
                let max = number(schema, "maxLength").unwrap_or(MAX_REQUEST - 2);
                Self::simple(Type::Bytes, max, 2)
            }
            Some("duration") => Self::simple(Type::Duration, 32, 3),
            Some("date") => Self::simple(Type::Timestamp, 12, 12),
            Some("date-time") => Self::simple(Type::Timestamp, 32, 21),
            _ => {
                let longest = schema.enumeration.iter().filter_map(Value::as_str).map(str::len);
                let choice = longest.max().map(|length| length as u64);
                let max = max_characters(schema).or(choice).unwrap_or(MAX_REQUEST - 2);
                Self::simple(Type::String, max, 2)
            }
        }
    }
}

/// The fields that every resource has, whatever its schema says.
fn resource_fields() -> BTreeMap<String, Arc<Schema>> {
    let text = Arc::new(Schema { ty: Some(SchemaType::String), ..Schema::default() });
    let named = |names: [&str; 2]| names.map(|name| (name.to_owned(), Arc::clone(&text)));
    let metadata = Schema {
        ty: Some(SchemaType::Object),
        properties: BTreeMap::from(named(["name", "generateName"])),
        ..Schema::default()
    };
    let mut fields = BTreeMap::from(named(["kind", "apiVersion"]));
    fields.insert("metadata".to_owned(), Arc::new(metadata));
    fields
}

/// The schema in which whole resources have the fields that they have.
pub(super) fn completed(schema: &Schema, is_resource: bool) -> Schema {
    let mut schema = schema.clone();
    let complete = |inner: &Arc<Schema>| Arc::new(completed(inner, inner.embedded_resource));
    for property in schema.properties.values_mut() {
        *property = complete(property);
    }
    schema.items = schema.items.as_ref().map(complete);
    schema.additional_properties = schema.additional_properties.as_ref().map(complete);
    if is_resource {
        schema.properties.extend(resource_fields());
    }
    schema
}

/// Whether the keys of an object are free, and its values have a schema.
pub(super) fn is_map(schema: &Schema) -> bool {
    schema.additional_properties.as_deref().is_some_and(|values| *values != Schema::default())
}

fn max_characters(schema: &Schema) -> Option<u64> {
    // A character has up to four bytes.
    number(schema, "maxLength").map(|length| length.saturating_mul(4))
}

fn number(schema: &Schema, rule: &str) -> Option<u64> {
    let value = schema.rules.as_ref()?.get(rule)?.as_i64()?;
    Some(u64::try_from(value).unwrap_or(0))
}
