//! Defaults must be values that the schema accepts and keeps.

use serde_json::{Value, json};

use super::inner::{items, properties};
use crate::schema::{
    FieldError, FieldPath, Schema, Validator,
    prune::{is_meta_field, prune_value},
    validate::embedded,
};

/// The errors that rules in CEL find in the default of a schema at a path; the flag is whether it is that of a whole
/// object.
pub(crate) type DefaultRules<'a> = &'a dyn Fn(&Schema, bool, &FieldPath, &Value) -> Vec<FieldError>;

/// The errors of the defaults in the schema of whole objects.
pub(crate) fn errors(
    schema: &Value,
    path: &FieldPath,
    must_be_pruned: bool,
    rules: DefaultRules<'_>,
) -> Vec<FieldError> {
    let mut walk = Walk { must_be_pruned, rules, errors: Vec::new() };
    walk.visit(schema, path, true, None);
    walk.errors
}

/// Whether the default of a schema has declared fields only.
pub(super) fn is_pruned(schema: &Value) -> bool {
    let mut default = schema["default"].clone();
    default.is_null() || prune_value(&Schema::from_open_api(schema), &mut default).is_empty()
}

struct Walk<'a> {
    must_be_pruned: bool,
    rules: DefaultRules<'a>,
    errors: Vec<FieldError>,
}

/// Where a schema is inside of the metadata of an object.
struct Meta<'a> {
    object: &'a Value,
    steps: Vec<Step<'a>>,
}

#[derive(Clone)]
enum Step<'a> {
    Field(&'a str),
    Element,
}

impl<'a> Meta<'a> {
    fn with(&self, step: Step<'a>) -> Self {
        let steps = self.steps.iter().cloned().chain([step]).collect();
        Self { object: self.object, steps }
    }

    /// An object with a value at this place.
    fn around(&self, value: &Value) -> Value {
        let mut object = self.steps.iter().rev().fold(value.clone(), |value, step| match step {
            Step::Field(name) => json!({ *name: value }),
            Step::Element => json!([value]),
        });
        for (name, value) in [("apiVersion", "validation/v1"), ("kind", "Validation")] {
            if object.get(name).is_none() {
                object[name] = value.into();
            }
        }
        object
    }
}

impl Walk<'_> {
    /// Defaults in free maps are not looked at.
    fn visit(&mut self, schema: &Value, path: &FieldPath, is_root: bool, meta: Option<&Meta<'_>>) {
        let is_object = is_root || schema["x-kubernetes-embedded-resource"] == true;
        let meta = meta.filter(|_| !is_object);
        if schema.get("default").is_some_and(|default| !default.is_null()) {
            let errors = self.of_default(schema, &path.child("default"), is_object, meta);
            self.errors.extend(errors);
        }
        if let Some(item) = items(schema) {
            let meta = meta.map(|meta| meta.with(Step::Element));
            self.visit(item, &path.child("items"), false, meta.as_ref());
        }
        let own = Meta { object: schema, steps: Vec::new() };
        for (name, path, field) in properties(schema, path) {
            let around = if is_object && is_meta_field(name) { Some(&own) } else { meta };
            let meta = around.map(|around| around.with(Step::Field(name)));
            self.visit(field, &path, false, meta.as_ref());
        }
    }

    fn of_default(
        &self,
        schema: &Value,
        path: &FieldPath,
        is_object: bool,
        meta: Option<&Meta<'_>>,
    ) -> Vec<FieldError> {
        let default = &schema["default"];
        let mut schema = Schema::from_open_api(schema);
        schema.embedded_resource |= is_object;
        let mut errors = Vec::new();
        let of_object = if let Some(meta) = meta {
            metadata_error(meta, default, path).into_iter().collect()
        } else {
            if self.must_be_pruned && !prune_value(&schema, &mut default.clone()).is_empty() {
                errors.push(FieldError::invalid(path, default, "must not have unknown fields"));
            }
            embedded::errors(&schema, default, path)
        };
        if !of_object.is_empty() {
            errors.extend(of_object);
            return errors;
        }
        let of_schema = match Validator::of_default(schema.clone()) {
            Ok(validator) => validator.validate_at(path, default, None),
            Err(error) => vec![FieldError::invalid(path, default, error.to_string())],
        };
        let is_valid = of_schema.is_empty();
        errors.extend(of_schema);
        if is_valid {
            errors.extend((self.rules)(&schema, is_object, path, default));
        }
        errors
    }
}

/// What is wrong with the metadata of an object in which a field has its default.
fn metadata_error(meta: &Meta<'_>, default: &Value, path: &FieldPath) -> Option<FieldError> {
    let mut schema = Schema::from_open_api(meta.object);
    schema.embedded_resource = true;
    let errors = embedded::errors(&schema, &meta.around(default), &FieldPath::root());
    let lines: Vec<_> = errors.iter().map(ToString::to_string).collect();
    let why = match &lines[..] {
        [] => return None,
        [line] => line.clone(),
        lines => format!("[{}]", lines.join(", ")),
    };
    Some(FieldError::invalid(path, default, format!("must result in valid metadata: {why}")))
}
