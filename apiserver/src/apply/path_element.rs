//! One step of a field path, its encoded form (`f:`, `k:`, `v:`, `i:`) and its form in messages.

use std::fmt;

use serde_json::{Map, Value};

use super::{
    go_format::{json, quoted},
    json_order::Ordered,
};

/// One step from a value to a value inside it. The order of variants is the order of the encoding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathElement {
    /// The field of an object, or the key of a map.
    Field(String),
    /// The element of a list whose key fields have these values; sorted by name.
    Key(Vec<(String, Ordered)>),
    /// The element of a set with this value.
    Value(Ordered),
    /// The element of a list at this position.
    Index(i64),
}

/// Where a value is inside an object.
pub(super) type Path = Vec<PathElement>;

/// A path as messages show it: `.spec.ports[port=80,protocol="TCP"].name`.
pub(super) fn display(path: &[PathElement]) -> String {
    path.iter().map(ToString::to_string).collect()
}

impl PathElement {
    pub(super) fn field(name: &str) -> Self {
        Self::Field(name.to_owned())
    }

    /// The key of a list element; `fields` may come in any order.
    pub(super) fn key(mut fields: Vec<(String, Ordered)>) -> Self {
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        Self::Key(fields)
    }

    pub(super) fn encode(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(fields) => format!(
                "k:{{{}}}",
                join(fields, |(name, value)| {
                    format!("{}:{}", Value::from(name.as_str()), json(&value.0))
                })
            ),
            Self::Value(value) => format!("v:{}", json(&value.0)),
            Self::Index(index) => format!("i:{index}"),
        }
    }

    /// `Ok(None)` for a kind of element that a later Kubernetes may know.
    pub(super) fn decode(text: &str) -> Result<Option<Self>, String> {
        let Some((kind, rest)) = text.split_at_checked(2) else {
            return Err(format!("path element too short: {text:?}"));
        };
        match kind {
            "f:" => Ok(Some(Self::field(rest))),
            "k:" => decode_key(rest).map(Some),
            "v:" => parse(rest).map(|value| Some(Self::Value(Ordered(value)))),
            "i:" => rest.parse().map(|i| Some(Self::Index(i))).map_err(|e| format!("{text}: {e}")),
            _ if kind.ends_with(':') => Ok(None),
            _ => Err(format!("missing colon: {text}")),
        }
    }
}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(fields) => {
                let fields = join(fields, |(name, value)| format!("{name}={}", quoted(&value.0)));
                write!(f, "[{fields}]")
            }
            Self::Value(value) => write!(f, "[={}]", quoted(&value.0)),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

fn join<T>(items: &[T], each: impl Fn(&T) -> String) -> String {
    items.iter().map(each).collect::<Vec<_>>().join(",")
}

fn decode_key(text: &str) -> Result<PathElement, String> {
    let fields: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| format!("k:{text}: {error}"))?;
    let fields = fields.into_iter().map(|(name, value)| (name, Ordered(value)));
    Ok(PathElement::key(fields.collect()))
}

fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("v:{text}: {error}"))
}
