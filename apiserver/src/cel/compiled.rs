//! The rules of a schema, compiled once per version of a definition.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{
    declared::{completed, is_map},
    escape::escape,
    field_path,
    rule::{Expression, Rule},
    ty::Declared,
};
use crate::schema::Schema;

/// The compiled rules of a schema and of those inside of it.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(super) schema: Arc<Schema>,
    pub(super) own: Vec<CompiledRule>,
    pub(super) properties: BTreeMap<String, Rules>,
    pub(super) items: Option<Box<Rules>>,
    pub(super) values: Option<Box<Rules>>,
}

/// A rule that is compiled.
#[derive(Debug)]
pub(super) struct CompiledRule {
    pub(super) rule: Rule,
    pub(super) expression: Result<Expression, String>,
    pub(super) message: Option<Expression>,
    /// Where the error is reported, if not at the value.
    pub(super) path: Option<String>,
}

impl Rules {
    /// Compiles the rules of a schema of whole objects; `None` if it has none.
    pub(crate) fn new(schema: &Schema) -> Option<Self> {
        let schema = Arc::new(completed(schema, true));
        Self::compile(&schema, true, None)
    }

    /// The same for the values of a schema inside of objects.
    pub(crate) fn of_values(schema: &Schema, is_resource: bool) -> Option<Self> {
        Self::compile(&Arc::new(completed(schema, is_resource)), is_resource, None)
    }

    fn compile(
        schema: &Arc<Schema>,
        is_resource: bool,
        known: Option<&Arc<Declared>>,
    ) -> Option<Self> {
        if !has_rules(schema) {
            return None;
        }
        let declared = match known {
            Some(declared) => Arc::clone(declared),
            None => Declared::of(schema, is_resource, "selfType1")?,
        };
        let compile = |rule: &Value| CompiledRule::new(rule, schema, &declared);
        let own = schema.validations.iter().filter_map(compile).collect();
        let inner = |inner: &Arc<Schema>, known| {
            Self::compile(inner, inner.embedded_resource, known).map(Box::new)
        };
        let mut properties = BTreeMap::new();
        for (name, property) in &schema.properties {
            let known = escape(name).and_then(|name| declared.field(&name));
            if let Some(rules) = inner(property, known) {
                properties.insert(name.clone(), *rules);
            }
        }
        let items = schema.items.as_ref().and_then(|items| inner(items, declared.element()));
        let values = schema.additional_properties.as_ref();
        let values =
            values.filter(|_| is_map(schema)).and_then(|values| inner(values, declared.element()));
        Some(Self { schema: Arc::clone(schema), own, properties, items, values })
    }
}

impl CompiledRule {
    fn new(rule: &Value, schema: &Schema, declared: &Arc<Declared>) -> Option<Self> {
        let rule_value = rule;
        let rule = Rule::of(rule_value);
        if rule.source.trim().is_empty() {
            return None;
        }
        let expression = rule.compile(declared);
        let message = rule.compile_message(declared).and_then(Result::ok);
        let path = match rule.field_path.as_str() {
            "" => None,
            path => field_path::normalise(path, schema).ok().map(|path| path.to_string()),
        };
        Some(Self { rule, expression, message, path })
    }
}

fn has_rules(schema: &Schema) -> bool {
    let inner =
        schema.properties.values().chain(&schema.items).chain(&schema.additional_properties);
    !schema.validations.is_empty() || inner.into_iter().any(|inner| has_rules(inner))
}
