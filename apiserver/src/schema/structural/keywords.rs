//! Keywords that a schema must not use, or not together.

use serde_json::{Value, json};

use super::{
    inner::{additional_properties, branches, items, properties, type_name},
    list_keys,
};
use crate::schema::{FieldError, FieldPath, SchemaType, crd::flag, prune::is_meta_field};

/// The context of a schema.
#[derive(Clone, Copy, Default)]
struct Context {
    root: bool,
    /// Inside of `metadata` or another field that every object has.
    meta: bool,
    /// Why there must be no default.
    no_default: Option<&'static str>,
}

/// The errors of the keywords of a schema and of those below it.
pub(super) fn errors(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit(schema, path, Context { root: true, ..Context::default() }, &mut errors);
    errors
}

fn visit(schema: &Value, path: &FieldPath, context: Context, errors: &mut Vec<FieldError>) {
    errors.extend(own_errors(schema, path, context));
    errors.extend(list_keys::errors(schema, path));
    let inner = Context { root: false, ..context };
    if let Some(values) = additional_properties(schema) {
        let reason = "inside additionalProperties applying to object metadata";
        let no_default = if context.meta { Some(reason) } else { context.no_default };
        let inner = Context { no_default, ..inner };
        visit(values, &path.child("additionalProperties"), inner, errors);
    }
    let resource = context.root || flag(schema, "x-kubernetes-embedded-resource");
    for (name, path, field) in properties(schema, path) {
        let inner = if resource && is_meta_field(name) { meta(context, name) } else { inner };
        visit(field, &path, inner, errors);
    }
    for (path, branch) in branches(schema, path) {
        visit(branch, &path, inner, errors);
    }
    if let Some(item) = items(schema) {
        visit(item, &path.child("items"), inner, errors);
    }
}

fn meta(outer: Context, name: &str) -> Context {
    let top = match name {
        "metadata" => "in top-level metadata",
        "kind" => "in top-level kind",
        _ => "in top-level apiVersion",
    };
    let no_default = if outer.root { Some(top) } else { outer.no_default };
    Context { root: false, meta: true, no_default }
}

fn own_errors(schema: &Value, path: &FieldPath, context: Context) -> Vec<FieldError> {
    let mut errors = type_errors(schema, path);
    let forbidden = |name: &str, detail: &str| FieldError::forbidden(&path.child(name), detail);
    if let Some(reason) = context.no_default.filter(|_| !schema["default"].is_null()) {
        errors.push(forbidden("default", &format!("must not be set {reason}")));
    }
    errors.extend(unsupported_keywords(schema, path));
    if schema["items"].is_array() {
        errors.push(forbidden("items", "items must be a schema object and not an array"));
    }
    if context.meta && flag(schema, "x-kubernetes-embedded-resource") {
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
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&json!(false)) {
        let path = path.child("x-kubernetes-preserve-unknown-fields");
        errors.push(FieldError::invalid(&path, &json!(false), "must be true or undefined"));
    }
    errors
}

fn type_errors(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
    let ty = type_name(schema);
    let path = path.child("type");
    let mut errors = Vec::new();
    if !ty.is_empty() && SchemaType::from_open_api(ty).is_none() {
        errors.push(FieldError::not_supported(&path, &ty.into(), TYPES));
    }
    if ty == "null" {
        let detail = "type cannot be set to null, use nullable as an alternative";
        errors.push(FieldError::forbidden(&path, detail));
    }
    errors
}

fn unsupported_keywords(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let is_set = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"]
        .into_iter()
        .filter(|name| schema.get(name).is_some_and(is_set))
        .map(|name| FieldError::forbidden(&path.child(name), format!("{name} is not supported")))
        .collect()
}
