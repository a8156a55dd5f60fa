//! From the schemas of definitions to the model of their types.
//!
//! A schema is structural, as the API server demands: it has no references, and each field has one type. What is no such
//! schema becomes a JSON value.

use serde_json::{Map, Value};

use crate::{
    description::markdown,
    model::{Enum, Field, Model, Presence, Root, Struct, Type, Variant},
    names::{self, Names},
    read::Definition,
};

/// The fields of each resource, which no schema describes.
const OF_EVERY_OBJECT: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The types of these definitions.
pub(crate) fn model(definitions: &[Definition]) -> Model {
    let mut builder = Builder::default();
    // Kinds first: what is nested never takes the name of a resource.
    let kind = |it: &Definition| builder.names.unique(names::type_name(&it.kind));
    let kinds: Vec<String> = definitions.iter().map(kind).collect();
    for (definition, name) in definitions.iter().zip(kinds) {
        builder.add(definition, name);
    }
    builder.model
}

/// Collects types, and the names that they have.
#[derive(Default)]
struct Builder {
    model: Model,
    names: Names,
}

/// Where a schema is: in the names of types, and in documentation.
#[derive(Clone)]
struct Place {
    ty: String,
    path: String,
}

impl Builder {
    fn add(&mut self, definition: &Definition, name: String) {
        let Definition { group, version, kind, plural, scope, schema } = definition.clone();
        let place = Place { ty: name.clone(), path: String::new() };
        let mut doc = format!("`{kind}` of `{group}/{version}`.");
        if let Some(text) = description(&schema) {
            doc = format!("{text}\n\n{doc}");
        }
        let ty = self.fields(&schema, &place, name, doc, &OF_EVERY_OBJECT);
        self.model.roots.push(Root { group, version, kind, plural, scope, ty });
    }

    /// The struct of an object, without some of its properties.
    fn fields(
        &mut self,
        schema: &Value,
        place: &Place,
        name: String,
        doc: String,
        without: &[&str],
    ) -> Struct {
        let mut taken = Names::default();
        for json in without {
            taken.unique(names::field(json));
        }
        let fields = sorted(&schema["properties"]);
        let fields = fields.into_iter().filter(|(json, _)| !without.contains(json));
        let fields = fields.map(|(json, inner)| {
            let name = taken.unique(names::field(json));
            self.field(schema, json, name, inner, &place.field(json))
        });
        let fields = fields.collect();
        let rest = keeps_unknown(schema).then(|| taken.unique("other_fields".to_owned()));
        Struct { name, doc, fields, rest }
    }

    fn field(
        &mut self,
        of: &Value,
        json: &str,
        name: String,
        schema: &Value,
        place: &Place,
    ) -> Field {
        let required = of["required"].as_array().into_iter().flatten();
        let is_required = required.into_iter().any(|name| name == json);
        // Of a field with a default the server says the value, where a program does not.
        let presence = match (is_required && schema["default"].is_null(), is_nullable(schema)) {
            (true, false) => Presence::Required,
            (true, true) => Presence::Nullable,
            (false, _) => Presence::Optional,
        };
        let doc = description(schema).unwrap_or_else(|| format!("`{}`.", place.path));
        let ty = self.ty(schema, place);
        Field { name, json: json.to_owned(), doc, ty, presence }
    }

    fn ty(&mut self, schema: &Value, place: &Place) -> Type {
        if schema["x-kubernetes-int-or-string"] == true {
            return Type::IntOrString;
        }
        if schema["x-kubernetes-embedded-resource"] == true {
            return Type::Json;
        }
        match schema["type"].as_str() {
            Some("string") => self.text(schema, place),
            Some("boolean") => Type::Bool,
            Some("integer") if schema["format"] == "int32" => Type::I32,
            Some("integer") => Type::I64,
            Some("number") => Type::F64,
            Some("array") => Type::List(Box::new(self.inner(&schema["items"], &place.item("[]")))),
            Some("object") => self.object(schema, place),
            _ => Type::Json,
        }
    }

    fn inner(&mut self, schema: &Value, place: &Place) -> Type {
        let ty = self.ty(schema, place);
        if is_nullable(schema) { Type::Nullable(Box::new(ty)) } else { ty }
    }

    fn object(&mut self, schema: &Value, place: &Place) -> Type {
        if has_properties(schema) {
            let name = self.names.unique(place.ty.clone());
            let doc = type_doc(schema, place);
            let ty = self.fields(schema, place, name.clone(), doc, &[]);
            self.model.structs.push(ty);
            return Type::Named(name);
        }
        match &schema["additionalProperties"] {
            Value::Object(values) if !values.is_empty() => {
                let inner = self.inner(&schema["additionalProperties"], &place.item("[*]"));
                Type::Map(Box::new(inner))
            }
            Value::Object(_) | Value::Bool(true) => Type::Map(Box::new(Type::Json)),
            _ => Type::Json,
        }
    }

    fn text(&mut self, schema: &Value, place: &Place) -> Type {
        let values = schema["enum"].as_array().into_iter().flatten();
        let values: Vec<&str> = values.filter_map(Value::as_str).collect();
        if values.is_empty() {
            return Type::Text;
        }
        let name = self.names.unique(place.ty.clone());
        let mut taken = Names::default();
        let other = taken.unique("Other".to_owned());
        let variant = |value: &&str| Variant {
            name: taken.unique(names::variant(value)),
            value: (*value).to_owned(),
        };
        let variants = values.iter().map(variant).collect();
        let doc = type_doc(schema, place);
        self.model.enums.push(Enum { name: name.clone(), doc, variants, other });
        Type::Named(name)
    }
}

impl Place {
    fn field(&self, json: &str) -> Self {
        let path = match &*self.path {
            "" => json.to_owned(),
            path => format!("{path}.{json}"),
        };
        Self { ty: names::nested(&self.ty, json), path: path.replace('`', "") }
    }

    fn item(&self, mark: &str) -> Self {
        Self { ty: self.ty.clone(), path: format!("{}{mark}", self.path) }
    }
}

/// The properties in an order that does not depend on the file.
fn sorted(properties: &Value) -> Vec<(&str, &Value)> {
    let properties = properties.as_object().into_iter().flat_map(Map::iter);
    let mut sorted: Vec<_> = properties.map(|(name, schema)| (&**name, schema)).collect();
    sorted.sort_by_key(|(name, _)| *name);
    sorted
}

fn has_properties(schema: &Value) -> bool {
    schema["properties"].as_object().is_some_and(|properties| !properties.is_empty())
}

fn keeps_unknown(schema: &Value) -> bool {
    schema["x-kubernetes-preserve-unknown-fields"] == true
}

fn is_nullable(schema: &Value) -> bool {
    schema["nullable"] == true
}

fn description(schema: &Value) -> Option<String> {
    schema["description"].as_str().map(markdown).filter(|text| !text.is_empty())
}

fn type_doc(schema: &Value, place: &Place) -> String {
    description(schema).unwrap_or_else(|| format!("The type of `{}`.", place.path))
}

#[cfg(test)]
mod tests;
