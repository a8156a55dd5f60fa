//! Drops the fields of an object that its schema does not declare.
//!
//! Goes as deep as the schema does. `apiVersion`, `kind` and `metadata` of the object and of the
//! resources embedded in it are not pruned, because the schema does not declare them.

use serde_json::{Map, Value};

use super::Schema;

/// Whether this field belongs to every Kubernetes object.
pub(super) fn is_meta_field(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata")
}

/// Drops undeclared fields of an object and returns their paths, sorted: `spec.ports[0].typo`.
///
/// A kube-apiserver names them in warnings: `unknown field "spec.ports[0].typo"`.
pub fn prune(schema: &Schema, object: &mut Value) -> Vec<String> {
    let mut dropped = Dropped::default();
    dropped.visit(schema, object, Rule { resource: true, ..Rule::of(schema) });
    dropped.sorted()
}

/// Like [`prune`], for a value inside of an object.
pub(super) fn prune_value(schema: &Schema, value: &mut Value) -> Vec<String> {
    let mut dropped = Dropped::default();
    dropped.visit(schema, value, Rule::of(schema));
    dropped.sorted()
}

/// Fields of a value that are kept although its schema does not declare them.
#[derive(Clone, Copy)]
struct Rule {
    /// The value is an object with metadata of its own.
    resource: bool,
    /// Undeclared fields are kept.
    keep: bool,
}

impl Rule {
    fn of(schema: &Schema) -> Self {
        Self { resource: schema.embedded_resource, keep: schema.preserve_unknown_fields }
    }
}

/// The position of the walk and the dropped fields.
#[derive(Default)]
struct Dropped {
    here: String,
    paths: Vec<String>,
}

impl Dropped {
    fn visit(&mut self, schema: &Schema, value: &mut Value, rule: Rule) {
        match value {
            Value::Object(fields) => self.visit_fields(schema, fields, rule),
            Value::Array(items) => self.visit_items(schema, items, rule),
            _ => {}
        }
    }

    fn visit_fields(&mut self, schema: &Schema, fields: &mut Map<String, Value>, rule: Rule) {
        fields.retain(|name, value| {
            if rule.resource && is_meta_field(name) {
                return true;
            }
            let declared = schema.properties.get(name).or(schema.additional_properties.as_ref());
            if let Some(field) = declared {
                self.below_field(name, |dropped| dropped.visit(field, value, Rule::of(field)));
            } else if !rule.keep {
                self.below_field(name, |dropped| dropped.paths.push(dropped.here.clone()));
            }
            declared.is_some() || rule.keep
        });
    }

    /// The elements of a list that keeps undeclared fields keep theirs.
    fn visit_items(&mut self, schema: &Schema, items: &mut [Value], list: Rule) {
        let undeclared = Schema::default();
        let item = schema.items.as_deref().unwrap_or(&undeclared);
        let rule = Rule { keep: list.keep || item.preserve_unknown_fields, ..Rule::of(item) };
        for (index, value) in items.iter_mut().enumerate() {
            let step = format!("[{index}]");
            self.below(&step, |dropped| dropped.visit(item, value, rule));
        }
    }

    fn below_field(&mut self, name: &str, visit: impl FnOnce(&mut Self)) {
        let dot = if self.here.is_empty() { "" } else { "." };
        self.below(&format!("{dot}{name}"), visit);
    }

    /// Does something below a field or element of the current value.
    fn below(&mut self, step: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.here.len();
        self.here.push_str(step);
        visit(self);
        self.here.truncate(length);
    }

    fn sorted(mut self) -> Vec<String> {
        self.paths.sort();
        self.paths
    }
}

#[cfg(test)]
mod tests;
