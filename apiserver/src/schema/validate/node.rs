//! A schema as validation needs it: patterns compiled, and only the keywords that apply.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Value};
use thiserror::Error;

use super::{
    format::{self, Check},
    pattern,
};
use crate::schema::{FieldPath, Schema, SchemaType};

/// A schema cannot be compiled, because of a pattern.
#[derive(Debug, Error)]
#[error("error building validator: {at}: {reason}")]
pub struct ValidatorError {
    at: String,
    reason: String,
}

/// What is validated by a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Objects,
    /// Defaults: here an int-or-string may be anything.
    Defaults,
}

/// One node of a compiled schema.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) types: Vec<SchemaType>,
    pub(super) nullable: bool,
    pub(super) format: Option<Box<Format>>,
    pub(super) branches: Option<Box<Branches>>,
    pub(super) text: Option<Box<Text>>,
    pub(super) number: Option<Box<Bounds>>,
    pub(super) list: Option<Box<Sizes>>,
    pub(super) object: Option<Box<Sizes>>,
    pub(super) enumeration: Vec<Value>,
    pub(super) items: Option<Box<Node>>,
    pub(super) values: Option<Box<Node>>,
    pub(super) properties: BTreeMap<String, Node>,
    pub(super) required: Vec<String>,
}

/// A format that is known for the type.
#[derive(Debug)]
pub(super) struct Format {
    pub(super) name: String,
    pub(super) check: Option<Check>,
}

/// `anyOf`, `oneOf`, `allOf` and `not`.
#[derive(Debug, Default)]
pub(super) struct Branches {
    pub(super) any_of: Vec<Node>,
    pub(super) one_of: Vec<Node>,
    pub(super) all_of: Vec<Node>,
    pub(super) not: Option<Node>,
}

/// What a text must be.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) longest: Option<i64>,
    pub(super) shortest: Option<i64>,
    pub(super) pattern: Option<(String, Regex)>,
}

/// What a number must be.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    pub(super) multiple_of: Option<f64>,
    pub(super) maximum: Option<f64>,
    pub(super) below_maximum: bool,
    pub(super) minimum: Option<f64>,
    pub(super) above_minimum: bool,
}

/// How many elements a list or an object must have.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    pub(super) least: Option<i64>,
    pub(super) most: Option<i64>,
    pub(super) unique: bool,
}

impl Node {
    /// Compiles a schema; `at` is where it is.
    pub(super) fn compile(
        schema: &Schema,
        usage: Use,
        at: &FieldPath,
    ) -> Result<Self, ValidatorError> {
        let nothing = Map::new();
        let rules = schema.rules.as_ref().and_then(Value::as_object).unwrap_or(&nothing);
        let types = types(schema, usage);
        let inner = |schema: &Schema, name: &str| {
            Self::compile(schema, usage, &at.child(name)).map(Box::new)
        };
        let properties = schema.properties.iter().map(|(name, field)| {
            let at = at.child("properties").key(name);
            Ok((name.clone(), Self::compile(field, usage, &at)?))
        });
        Ok(Self {
            nullable: schema.nullable,
            format: known_format(rules, &types, usage).map(Box::new),
            branches: branches(rules, usage, at)?.map(Box::new),
            text: text(rules, at)?.map(Box::new),
            number: number(rules).map(Box::new),
            list: sizes(rules, "minItems", "maxItems").map(Box::new),
            object: sizes(rules, "minProperties", "maxProperties").map(Box::new),
            enumeration: schema.enumeration.clone(),
            items: schema.items.as_deref().map(|items| inner(items, "items")).transpose()?,
            values: schema
                .additional_properties
                .as_deref()
                .map(|values| inner(values, "additionalProperties"))
                .transpose()?,
            properties: properties.collect::<Result<_, _>>()?,
            required: schema.required.clone(),
            types,
        })
    }
}

fn types(schema: &Schema, usage: Use) -> Vec<SchemaType> {
    if schema.int_or_string && usage == Use::Objects {
        return vec![SchemaType::Integer, SchemaType::String];
    }
    schema.ty.into_iter().collect()
}

/// The format, unless it means nothing for values of these types.
fn known_format(rules: &Map<String, Value>, types: &[SchemaType], usage: Use) -> Option<Format> {
    let name = rules.get("format")?.as_str().filter(|name| !name.is_empty())?;
    let applies = usage == Use::Defaults || format::is_known_for(name, types);
    applies.then(|| Format { name: name.to_owned(), check: format::check(name) })
}

fn branches(
    rules: &Map<String, Value>,
    usage: Use,
    at: &FieldPath,
) -> Result<Option<Branches>, ValidatorError> {
    let compile = |branch: &Value, at: &FieldPath| {
        Node::compile(&Schema { default: None, ..Schema::from_open_api(branch) }, usage, at)
    };
    let list = |name: &str| -> Result<Vec<Node>, ValidatorError> {
        let list = rules.get(name).and_then(Value::as_array).into_iter().flatten().enumerate();
        list.map(|(index, branch)| compile(branch, &at.child(name).index(index))).collect()
    };
    let branches = Branches {
        any_of: list("anyOf")?,
        one_of: list("oneOf")?,
        all_of: list("allOf")?,
        not: rules.get("not").map(|branch| compile(branch, &at.child("not"))).transpose()?,
    };
    let Branches { any_of, one_of, all_of, not } = &branches;
    let none = any_of.is_empty() && one_of.is_empty() && all_of.is_empty() && not.is_none();
    Ok((!none).then_some(branches))
}

fn text(rules: &Map<String, Value>, at: &FieldPath) -> Result<Option<Text>, ValidatorError> {
    let (longest, shortest) = (integer(rules, "maxLength"), integer(rules, "minLength"));
    let pattern = rules.get("pattern").and_then(Value::as_str).filter(|it| !it.is_empty());
    let compiled = |pattern: &str| match pattern::parse(pattern) {
        Ok(regex) => Ok((pattern.to_owned(), regex)),
        Err(reason) => Err(ValidatorError { at: at.child("pattern").to_string(), reason }),
    };
    let pattern = pattern.map(compiled).transpose()?;
    let none = longest.is_none() && shortest.is_none() && pattern.is_none();
    Ok((!none).then_some(Text { longest, shortest, pattern }))
}

fn number(rules: &Map<String, Value>) -> Option<Bounds> {
    let float = |name: &str| rules.get(name).and_then(Value::as_f64);
    let flag = |name: &str| rules.get(name) == Some(&Value::Bool(true));
    let bounds = Bounds {
        multiple_of: float("multipleOf"),
        maximum: float("maximum"),
        below_maximum: flag("exclusiveMaximum"),
        minimum: float("minimum"),
        above_minimum: flag("exclusiveMinimum"),
    };
    let any = bounds.multiple_of.or(bounds.maximum).or(bounds.minimum);
    any.is_some().then_some(bounds)
}

fn sizes(rules: &Map<String, Value>, least: &str, most: &str) -> Option<Sizes> {
    let (least, most) = (integer(rules, least), integer(rules, most));
    let unique = rules.get("uniqueItems") == Some(&Value::Bool(true));
    (least.is_some() || most.is_some() || unique).then_some(Sizes { least, most, unique })
}

fn integer(rules: &Map<String, Value>, name: &str) -> Option<i64> {
    rules.get(name).and_then(Value::as_i64)
}
