//! What a schema declares to expressions: a type, and bounds of sizes for the estimate of costs.
//!
//! Parts of a schema that have no type are not visible to expressions.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{escape::escape, ty::Type};
use crate::schema::{Schema, SchemaType};

/// The largest request, on which bounds rest that the schema does not give.
pub(super) const MAX_REQUEST: u64 = 3 * 1024 * 1024;

/// The declaration of a value.
#[derive(Debug)]
pub(super) struct Declared {
    /// Distinguishes objects.
    pub(super) name: String,
    kind: Kind,
    /// The most characters, elements or entries; zero for what has none.
    pub(super) max_elements: u64,
    /// The shortest form in JSON.
    pub(super) min_size: u64,
}

#[derive(Debug)]
enum Kind {
    Simple(Type),
    List(Arc<Declared>),
    Map(Arc<Declared>),
    /// By the identifiers of the fields.
    Object(BTreeMap<String, Arc<Declared>>),
}

impl Declared {
    /// The declaration of a schema. Whole resources have a kind, a version and a name.
    pub(super) fn of(schema: &Schema, is_resource: bool, name: &str) -> Option<Arc<Self>> {
        let declared = if schema.int_or_string {
            let max = max_characters(schema).unwrap_or(MAX_REQUEST - 2);
            Self::simple(Type::Dyn, max, 1)
        } else {
            match schema.ty? {
                SchemaType::Object if !is_resource && is_map(schema) => Self::map(schema, name)?,
                SchemaType::Object => Self::object(schema, is_resource, name),
                SchemaType::Array => Self::list(schema, name)?,
                SchemaType::String => Self::string(schema),
                SchemaType::Boolean => Self::simple(Type::Bool, 0, 4),
                SchemaType::Number => Self::simple(Type::Double, 0, 1),
                SchemaType::Integer => Self::simple(Type::Int, 0, 1),
            }
        };
        Some(Arc::new(declared))
    }

    /// The declaration of an object of a library.
    pub(super) fn named(name: &str, fields: Vec<(String, Arc<Self>)>) -> Arc<Self> {
        let kind = Kind::Object(fields.into_iter().collect());
        Arc::new(Self { name: name.to_owned(), kind, max_elements: 0, min_size: 2 })
    }

    /// The declaration of a value of this type.
    pub(super) fn of_type(ty: Type) -> Arc<Self> {
        Arc::new(Self::simple(ty, 0, 1))
    }

    /// The type of the value.
    pub(super) fn ty(self: &Arc<Self>) -> Type {
        match &self.kind {
            Kind::Simple(ty) => ty.clone(),
            Kind::List(element) => Type::list(element.ty()),
            Kind::Map(value) => Type::map(Type::String, value.ty()),
            Kind::Object(_) => Type::Object(Arc::clone(self)),
        }
    }

    /// The field of this identifier.
    pub(super) fn field(&self, identifier: &str) -> Option<&Arc<Self>> {
        match &self.kind {
            Kind::Object(fields) => fields.get(identifier),
            _ => None,
        }
    }

    /// The elements of a list, or the values of a map.
    pub(super) fn element(&self) -> Option<&Arc<Self>> {
        match &self.kind {
            Kind::List(element) | Kind::Map(element) => Some(element),
            _ => None,
        }
    }

    /// Whether this is a map, whose keys have a type too.
    pub(super) fn is_map(&self) -> bool {
        matches!(self.kind, Kind::Map(_))
    }

    fn simple(ty: Type, max_elements: u64, min_size: u64) -> Self {
        Self { name: String::new(), kind: Kind::Simple(ty), max_elements, min_size }
    }

    fn map(schema: &Schema, name: &str) -> Option<Self> {
        let values = schema.additional_properties.as_deref()?;
        let value = Self::of(values, values.embedded_resource, &format!("{name}.@idx"))?;
        let fits = (MAX_REQUEST - 2) / (value.min_size + 6);
        let max_elements = number(schema, "maxProperties").unwrap_or(fits);
        Some(Self { name: String::new(), kind: Kind::Map(value), max_elements, min_size: 2 })
    }

    fn list(schema: &Schema, name: &str) -> Option<Self> {
        let items = schema.items.as_deref()?;
        let element = Self::of(items, items.embedded_resource, &format!("{name}.@idx"))?;
        let fits = (MAX_REQUEST - 2) / (element.min_size + 1);
        let max_elements = number(schema, "maxItems").unwrap_or(fits);
        Some(Self { name: String::new(), kind: Kind::List(element), max_elements, min_size: 2 })
    }

    fn object(schema: &Schema, is_resource: bool, name: &str) -> Self {
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
        Self { name: name.to_owned(), kind: Kind::Object(fields), max_elements: 0, min_size }
    }

    fn string(schema: &Schema) -> Self {
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
pub(super) fn resource_fields() -> BTreeMap<String, Arc<Schema>> {
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
