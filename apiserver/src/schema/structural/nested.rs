//! Schemas below `allOf`, `anyOf`, `oneOf` and `not`: they restrict, they do not declare.

use serde_json::{Value, json};

use super::inner::{items, properties};
use crate::schema::{
    FieldError, FieldPath,
    crd::{flag, list},
    validate::pattern,
};

/// The errors of the value rules of a schema that declares.
pub(super) fn errors(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let first = list(schema, "allOf").first();
    let excused = Excused {
        any_of: spells_int_or_string(schema),
        any_of_of_first: first.is_some_and(spells_int_or_string),
    };
    visit_rules(schema, path, excused, &mut errors);
    errors
}

/// The places where the types of an int-or-string may be written out.
#[derive(Clone, Copy, Default)]
struct Excused {
    any_of: bool,
    /// In the first branch of `allOf`.
    any_of_of_first: bool,
}

fn spells_int_or_string(schema: &Value) -> bool {
    schema.get("anyOf") == Some(&json!([{"type": "integer"}, {"type": "string"}]))
}

fn visit_rules(schema: &Value, path: &FieldPath, excused: Excused, errors: &mut Vec<FieldError>) {
    for name in ["anyOf", "allOf", "oneOf"] {
        if name == "anyOf" && excused.any_of {
            continue;
        }
        for (index, branch) in list(schema, name).iter().enumerate() {
            let any_of = name == "allOf" && index == 0 && excused.any_of_of_first;
            let excused = Excused { any_of, ..Excused::default() };
            visit(branch, &path.child(name).index(index), excused, errors);
        }
    }
    if let Some(not) = schema.get("not") {
        visit(not, &path.child("not"), Excused::default(), errors);
    }
    if let Some(Err(error)) = schema.get("pattern").and_then(Value::as_str).map(pattern::parse) {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(FieldError::invalid(&path.child("pattern"), &schema["pattern"], detail));
    }
}

fn visit(branch: &Value, path: &FieldPath, excused: Excused, errors: &mut Vec<FieldError>) {
    visit_rules(branch, path, excused, errors);
    if let Some(item) = items(branch) {
        visit(item, &path.child("items"), Excused::default(), errors);
    }
    for (name, path, field) in properties(branch, path) {
        visit(field, &path, Excused::default(), errors);
        if name == "metadata" {
            errors.push(FieldError::forbidden(&path, "must not be specified in a nested context"));
        }
    }
    errors.extend(declarations(branch, path));
}

fn declarations(branch: &Value, path: &FieldPath) -> Vec<FieldError> {
    let texts = ["type", "title", "description"].map(|name| (name, "must be empty"));
    let flags = [
        "nullable",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
    ];
    let values =
        ["default", "additionalProperties", "x-kubernetes-list-type", "x-kubernetes-map-type"];
    let lists = ["x-kubernetes-list-map-keys", "x-kubernetes-validations"];
    let is_set = |name: &&str| match branch.get(name) {
        None | Some(Value::Null) => false,
        Some(value) => *name != "additionalProperties" || *value != json!(false),
    };
    let texts = texts.into_iter().filter(|(name, _)| branch.get(name).is_some_and(|v| v != ""));
    let flags = flags.into_iter().filter(|name| flag(branch, name));
    let values = values.into_iter().filter(is_set);
    let lists = lists.into_iter().filter(|name| !list(branch, name).is_empty());
    texts
        .chain(flags.map(|name| (name, "must be false")))
        .chain(values.map(|name| (name, "must be undefined")))
        .chain(lists.map(|name| (name, "must be empty")))
        .map(|(name, must)| {
            FieldError::forbidden(&path.child(name), format!("{must} to be structural"))
        })
        .collect()
}
