//! From Go structs to structural schemas, as the real server's `OpenAPI` document describes them.
//!
//! Defaults in a schema are those that `OpenAPI` has (they complete the keys of list elements in
//! server-side apply); defaulting of built-in objects never reads them.

use std::{collections::HashMap, sync::Arc};

use serde_json::json;

use super::go_type::{GoField, GoStruct, GoType, Structs};
use crate::schema::{ListType, MapType, Schema, SchemaType};

/// The schema of every struct.
pub(super) fn schemas(structs: &Structs) -> HashMap<&'static str, Arc<Schema>> {
    let mut building = Building { structs, finished: HashMap::new(), open: Vec::new() };
    for name in structs.keys() {
        building.of_struct(name);
    }
    building.finished
}

struct Building<'a> {
    structs: &'a Structs,
    finished: HashMap<&'static str, Arc<Schema>>,
    open: Vec<&'static str>,
}

impl Building<'_> {
    fn of_struct(&mut self, name: &'static str) -> Arc<Schema> {
        if let Some(known) = self.finished.get(name) {
            return Arc::clone(known);
        }
        if self.open.contains(&name) {
            return Arc::new(anything());
        }
        let Some(go_struct) = self.structs.get(name) else { return Arc::new(anything()) };
        self.open.push(name);
        let schema = Arc::new(self.of_fields(go_struct));
        self.open.pop();
        self.finished.insert(name, Arc::clone(&schema));
        schema
    }

    fn of_fields(&mut self, go_struct: &GoStruct) -> Schema {
        let mut schema = Schema { ty: Some(SchemaType::Object), ..Schema::default() };
        if go_struct.atomic {
            schema.map_type = MapType::Atomic;
        }
        for (name, field) in &go_struct.fields {
            schema.properties.insert((*name).to_owned(), self.of_field(field));
            if field.required {
                schema.required.push((*name).to_owned());
            }
        }
        schema
    }

    fn of_field(&mut self, field: &GoField) -> Arc<Schema> {
        let plain = self.of_type(&field.ty);
        let mut schema = Arc::unwrap_or_clone(plain);
        schema.enumeration.clone_from(&field.enumeration);
        schema.default.clone_from(&field.default);
        if field.required && schema.default.is_none() && is_plain(&field.ty) {
            schema.default = Some(field.ty.zero());
        }
        if field.atomic {
            schema.map_type = MapType::Atomic;
        }
        if schema.ty == Some(SchemaType::Array) {
            schema.list_type = list_type(field);
        }
        if let Some(format) = field.format.filter(|_| schema.rules.is_none()) {
            schema.rules = Some(json!({ "format": format }));
        }
        Arc::new(schema)
    }

    fn of_type(&mut self, ty: &GoType) -> Arc<Schema> {
        let of = |ty| Schema { ty: Some(ty), ..Schema::default() };
        let formatted =
            |ty, format: &str| Schema { rules: Some(json!({ "format": format })), ..of(ty) };
        Arc::new(match ty {
            GoType::Struct(name) => return self.of_struct(name),
            GoType::Pointer(inner) => return self.of_type(inner),
            GoType::String => of(SchemaType::String),
            GoType::Bytes => formatted(SchemaType::String, "byte"),
            GoType::Time | GoType::MicroTime => formatted(SchemaType::String, "date-time"),
            GoType::Bool => of(SchemaType::Boolean),
            GoType::Int32 => formatted(SchemaType::Integer, "int32"),
            GoType::Int64 => formatted(SchemaType::Integer, "int64"),
            GoType::Float64 => of(SchemaType::Number),
            // The real document says "string or number", which no single type says.
            GoType::Quantity => Schema::default(),
            GoType::IntOrString => Schema { int_or_string: true, ..Schema::default() },
            GoType::Any => anything(),
            GoType::List(item) => {
                Schema { items: Some(self.of_type(item)), ..of(SchemaType::Array) }
            }
            GoType::Map(element) => {
                let values = Some(self.of_type(element));
                Schema { additional_properties: values, ..of(SchemaType::Object) }
            }
        })
    }
}

/// Whether Go writes a value of the type even if it is empty: then the document has it as the default.
fn is_plain(ty: &GoType) -> bool {
    matches!(ty, GoType::String | GoType::Bool | GoType::Int32 | GoType::Int64 | GoType::Float64)
}

fn anything() -> Schema {
    Schema { preserve_unknown_fields: true, ..Schema::default() }
}

fn list_type(field: &GoField) -> ListType {
    match field.list_type {
        Some("set") => ListType::Set,
        Some("map") => ListType::Map(field.list_map_keys.clone()),
        _ => ListType::Atomic,
    }
}
