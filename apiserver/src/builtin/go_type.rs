//! The Go structs behind the built-in types, as the data file describes them: which fields JSON
//! has, which of them are left out when empty, and which defaults the Go scheme gives.
//!
//! Facts only; what is done with them is decided by the modules beside this one.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// All structs by name.
pub(super) type Structs = BTreeMap<&'static str, GoStruct>;

/// The Go type of a field, as far as JSON can tell the difference.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum GoType {
    String,
    Bool,
    Int32,
    Int64,
    Float64,
    Bytes,
    Quantity,
    IntOrString,
    Time,
    MicroTime,
    /// Any JSON.
    Any,
    Struct(&'static str),
    Pointer(Box<GoType>),
    List(Box<GoType>),
    Map(Box<GoType>),
}

/// One Go struct.
#[derive(Debug, Deserialize)]
pub(super) struct GoStruct {
    #[serde(borrow)]
    pub(super) fields: BTreeMap<&'static str, GoField>,
    #[serde(default)]
    pub(super) atomic: bool,
    #[serde(default)]
    pub(super) rules: Vec<Rule>,
}

/// One field of a struct. The names of the members are those of the data file, spelled out.
#[derive(Debug, Deserialize)]
pub(super) struct GoField {
    #[serde(rename = "t", deserialize_with = "notation")]
    pub(super) ty: GoType,
    /// The name of the scalar type, where it has one of its own: `v1.Protocol`.
    #[serde(rename = "n", borrow)]
    pub(super) name: Option<&'static str>,
    /// Not written when empty.
    #[serde(rename = "o", default)]
    pub(super) omitted: bool,
    #[serde(rename = "r", default)]
    pub(super) required: bool,
    #[serde(rename = "e", default)]
    pub(super) enumeration: Vec<Value>,
    #[serde(rename = "d")]
    pub(super) default: Option<Value>,
    #[serde(rename = "l", borrow)]
    pub(super) list_type: Option<&'static str>,
    #[serde(rename = "k", default)]
    pub(super) list_map_keys: Vec<String>,
    #[serde(rename = "a", default)]
    pub(super) atomic: bool,
    #[serde(rename = "f", borrow)]
    pub(super) format: Option<&'static str>,
}

/// A default: set the field at `path` unless it is set.
#[derive(Debug, Deserialize)]
pub(super) struct Rule {
    #[serde(rename = "p")]
    pub(super) path: &'static str,
    #[serde(rename = "v")]
    pub(super) value: Value,
    /// Only if one of these holds; no condition when empty.
    #[serde(default)]
    pub(super) when: Vec<Condition>,
    /// Not if one of these holds.
    #[serde(default)]
    pub(super) unless: Vec<Condition>,
}

/// Holds when the field is set, and to one of `values` if there are any.
#[derive(Debug, Deserialize)]
pub(super) struct Condition {
    #[serde(rename = "p")]
    pub(super) path: &'static str,
    #[serde(rename = "in", default, borrow)]
    pub(super) values: Vec<&'static str>,
}

impl GoType {
    /// What Go has where JSON says nothing; pointers, lists, maps and times are `null`.
    pub(super) fn zero(&self) -> Value {
        match self {
            Self::String | Self::Bytes => Value::from(""),
            Self::Bool => Value::from(false),
            Self::Int32 | Self::Int64 | Self::Float64 | Self::IntOrString => Value::from(0),
            Self::Quantity => Value::from("0"),
            Self::Struct(_) => Value::Object(serde_json::Map::new()),
            Self::Time
            | Self::MicroTime
            | Self::Any
            | Self::Pointer(_)
            | Self::List(_)
            | Self::Map(_) => Value::Null,
        }
    }

    /// Whether Go cannot tell this value from an absent one.
    pub(super) fn is_zero(&self, value: &Value) -> bool {
        match (self, value) {
            (_, Value::Null) => true,
            (Self::List(_), Value::Array(list)) => list.is_empty(),
            (Self::Map(_), Value::Object(map)) => map.is_empty(),
            (Self::String | Self::Bytes, Value::String(text)) => text.is_empty(),
            (Self::Bool, Value::Bool(flag)) => !flag,
            (Self::Int32 | Self::Int64 | Self::Float64 | Self::IntOrString, Value::Number(n)) => {
                n.as_f64() == Some(0.0)
            }
            _ => false,
        }
    }

    fn parse(text: &'static str) -> Option<Self> {
        let inner = |rest| Self::parse(rest).map(Box::new);
        if let Some(rest) = text.strip_prefix('*') {
            return inner(rest).map(Self::Pointer);
        }
        if let Some(rest) = text.strip_prefix("map[]") {
            return inner(rest).map(Self::Map);
        }
        if let Some(rest) = text.strip_prefix("[]") {
            return inner(rest).map(Self::List);
        }
        if let Some(name) = text.strip_prefix('#') {
            return Some(Self::Struct(name));
        }
        Some(match text {
            "string" => Self::String,
            "bool" => Self::Bool,
            "int32" => Self::Int32,
            "int64" => Self::Int64,
            "float64" => Self::Float64,
            "bytes" => Self::Bytes,
            "quantity" => Self::Quantity,
            "intOrString" => Self::IntOrString,
            "time" => Self::Time,
            "microTime" => Self::MicroTime,
            "any" => Self::Any,
            _ => return None,
        })
    }
}

fn notation<'de: 'static, D: serde::Deserializer<'de>>(source: D) -> Result<GoType, D::Error> {
    let text = <&'static str>::deserialize(source)?;
    GoType::parse(text)
        .ok_or_else(|| serde::de::Error::custom(format!("{text} is not the notation of a type")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notation_reads_as_go_writes_types() {
        let parsed = GoType::parse("map[][]*#core.v1.Pod");
        let pod = GoType::Pointer(Box::new(GoType::Struct("core.v1.Pod")));
        assert_eq!(parsed, Some(GoType::Map(Box::new(GoType::List(Box::new(pod))))));
        assert_eq!(GoType::parse("complex128"), None);
    }

    #[test]
    fn only_values_that_go_cannot_tell_from_absent_ones_are_zero() {
        let list = GoType::List(Box::new(GoType::String));
        let pointer = GoType::Pointer(Box::new(GoType::Int32));
        assert!(list.is_zero(&serde_json::json!([])));
        assert!(GoType::Int32.is_zero(&serde_json::json!(0)));
        assert!(!pointer.is_zero(&serde_json::json!(0)));
    }
}
