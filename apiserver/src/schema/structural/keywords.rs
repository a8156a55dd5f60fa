//! Keywords that a schema must not use, or not together: of one schema, before and after those inside of it.

use serde_json::{Value, json};

use super::{
    inner::{additional_properties, properties, type_name},
    list_keys,
    strictness::Strictness,
};
use crate::schema::{FieldError, FieldPath, SchemaType, crd, crd::flag, prune::is_meta_field};

/// The context of a schema.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Context {
    is_root: bool,
    /// Inside of `metadata` or another field that every object has.
    in_meta: bool,
    /// Why there must be no default.
    no_default: Option<&'static str>,
}

impl Context {
    /// The context of the schema of whole objects.
    pub(crate) fn root() -> Self {
        Self { is_root: true, ..Self::default() }
    }
}

/// How one schema is inside of another.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step<'a> {
    Values,
    Property(&'a str),
    Items,
    /// Below `allOf` and the like, or where no schema should be.
    Branch,
}

/// A schema inside of another.
#[derive(Debug)]
pub(crate) struct Inner<'a> {
    pub(crate) schema: &'a Value,
    pub(crate) path: FieldPath,
    pub(crate) context: Context,
    pub(crate) step: Step<'a>,
}

/// The schemas inside of a schema, in the order of the real server.
pub(crate) fn inside<'a>(schema: &'a Value, path: &FieldPath, outer: &Context) -> Vec<Inner<'a>> {
    let context = Context { is_root: false, ..*outer };
    let mut inside = Vec::new();
    if let Some(values) = additional_properties(schema) {
        let reason = "inside additionalProperties applying to object metadata";
        let no_default = if outer.in_meta { Some(reason) } else { outer.no_default };
        let (path, context) =
            (path.child("additionalProperties"), Context { no_default, ..context });
        inside.push(Inner { schema: values, path, context, step: Step::Values });
    }
    let is_resource = outer.is_root || flag(schema, "x-kubernetes-embedded-resource");
    for (name, path, field) in properties(schema, path) {
        let context = if is_resource && is_meta_field(name) { meta(*outer, name) } else { context };
        inside.push(Inner { schema: field, path, context, step: Step::Property(name) });
    }
    let mut push = |path: FieldPath, schema: &'a Value, step| {
        inside.push(Inner { schema, path, context, step });
    };
    if let Some(not) = schema.get("not").filter(|not| not.is_object()) {
        push(path.child("not"), not, Step::Branch);
    }
    for name in ["allOf", "oneOf", "anyOf"] {
        for (index, branch) in crd::list(schema, name).iter().enumerate() {
            push(path.child(name).index(index), branch, Step::Branch);
        }
    }
    for (name, definition) in entries(schema, "definitions") {
        push(path.child("definitions").key(name), definition, Step::Branch);
    }
    match schema.get("items") {
        Some(item @ Value::Object(_)) => push(path.child("items"), item, Step::Items),
        Some(Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                push(path.child("items").index(index), item, Step::Items);
            }
        }
        _ => {}
    }
    for (name, schema) in entries(schema, "dependencies").filter(|(_, it)| it.is_object()) {
        push(path.child("dependencies").key(name), schema, Step::Branch);
    }
    inside
}

fn entries<'a>(schema: &'a Value, name: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    schema.get(name).and_then(Value::as_object).into_iter().flatten()
}

fn meta(outer: Context, name: &str) -> Context {
    let top = match name {
        "metadata" => "in top-level metadata",
        "kind" => "in top-level kind",
        _ => "in top-level apiVersion",
    };
    let no_default = if outer.is_root { Some(top) } else { outer.no_default };
    Context { is_root: false, in_meta: true, no_default }
}

/// The errors of a schema that are reported before those of the schemas inside of it.
pub(crate) fn before(
    schema: &Value,
    path: &FieldPath,
    context: &Context,
    strictness: &Strictness,
) -> Vec<FieldError> {
    const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
    let mut errors = Vec::new();
    let forbidden = |name: &str, detail: &str| FieldError::forbidden(&path.child(name), detail);
    let ty = type_name(schema);
    if strictness.known_types && !ty.is_empty() && SchemaType::from_open_api(ty).is_none() {
        errors.push(FieldError::not_supported(&path.child("type"), &ty.into(), TYPES));
    }
    if let Some(reason) = context.no_default.filter(|_| !schema["default"].is_null()) {
        errors.push(forbidden("default", &format!("must not be set {reason}")));
    }
    errors.extend(unsupported_keywords(schema, path));
    if ty == "null" {
        let detail = "type cannot be set to null, use nullable as an alternative";
        errors.push(forbidden("type", detail));
    }
    if schema["items"].as_array().is_some_and(|items| !items.is_empty()) {
        errors.push(forbidden("items", "items must be a schema object and not an array"));
    }
    if context.in_meta && flag(schema, "x-kubernetes-embedded-resource") {
        let detail = "must not be used inside of resource meta";
        errors.push(forbidden("x-kubernetes-embedded-resource", detail));
    }
    if flag(schema, "uniqueItems") {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes \
                      quadratic";
        errors.push(forbidden("uniqueItems", detail));
    }
    let map = schema.get("additionalProperties").filter(|map| **map != json!(true));
    if map.is_some() && !properties(schema, path).is_empty() {
        let detail = "additionalProperties and properties are mutual exclusive";
        errors.push(forbidden("additionalProperties", detail));
    }
    errors
}

fn unsupported_keywords(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let is_set = |value: &Value| match value {
        Value::Null => false,
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"]
        .into_iter()
        .filter(|name| schema.get(name).is_some_and(is_set))
        .map(|name| FieldError::forbidden(&path.child(name), format!("{name} is not supported")))
        .collect()
}

/// The errors of a schema that are reported after those of the schemas inside of it.
pub(crate) fn after(schema: &Value, path: &FieldPath, strictness: &Strictness) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&json!(false)) {
        let path = path.child("x-kubernetes-preserve-unknown-fields");
        errors.push(FieldError::invalid(&path, &json!(false), "must be true or undefined"));
    }
    errors.extend(list_keys::errors(schema, path, strictness));
    errors
}

/// What a schema cannot have, and what is said of it.
const KEYWORDS: [(&str, &str); 7] = [
    ("id", "OpenAPIV3Schema 'id' is not supported"),
    ("$schema", "OpenAPIV3Schema 'schema' is not supported"),
    ("$ref", "OpenAPIV3Schema '$ref' is not supported"),
    ("patternProperties", "OpenAPIV3Schema 'patternProperties' is not supported"),
    ("dependencies", "OpenAPIV3Schema 'dependencies' is not supported"),
    ("additionalItems", "OpenAPIV3Schema 'additionalItems' is not supported"),
    ("definitions", "OpenAPIV3Schema 'definitions' is not supported"),
];

/// Why a schema cannot be structural at all, before it is looked at.
pub(super) fn unreadable(schema: &Value) -> Option<&'static str> {
    let is_set = |name: &str| match schema.get(name) {
        None | Some(Value::Null) => false,
        Some(Value::Object(fields)) => name == "additionalItems" || !fields.is_empty(),
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(_) => true,
    };
    let named = KEYWORDS.iter().find(|(name, _)| is_set(name)).map(|(_, why)| *why);
    let is_false = schema.get("x-kubernetes-preserve-unknown-fields") == Some(&json!(false));
    let preserve = is_false.then_some(
        "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined",
    );
    let list = schema["items"].as_array().is_some_and(|items| !items.is_empty());
    let list = list.then_some("OpenAPIV3Schema 'items' must be a schema, but is an array");
    let inside = inside(schema, &FieldPath::root(), &Context::default());
    named.or(preserve).or(list).or_else(|| inside.iter().find_map(|inner| unreadable(inner.schema)))
}
