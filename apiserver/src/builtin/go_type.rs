//! The Go structs behind the built-in types, as the data file describes them: which fields JSON
//! has, which of them are left out when empty, and which defaults the Go scheme gives.
//!
//! Facts only; what is done with them is decided by the modules beside this one.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::Value;

/// All structs by name.
pub(crate) type Structs = BTreeMap<&'static str, GoStruct>;

/// The Go type of a field, as far as JSON can tell the difference.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum GoType {
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
pub(crate) struct GoStruct {
    #[serde(borrow, deserialize_with = "in_order")]
    pub(crate) fields: BTreeMap<&'static str, GoField>,
    #[serde(default)]
    pub(crate) atomic: bool,
    #[serde(default)]
    pub(crate) rules: Vec<Rule>,
}

/// One field of a struct. The names of the members are those of the data file, spelled out.
#[derive(Debug, Deserialize)]
pub(crate) struct GoField {
    #[serde(rename = "t", deserialize_with = "notation")]
    pub(crate) ty: GoType,
    /// The name of the scalar type, where it has one of its own: `v1.Protocol`.
    #[serde(rename = "n", borrow)]
    pub(crate) name: Option<&'static str>,
    /// Not written when empty.
    #[serde(rename = "o", default)]
    pub(crate) omitted: bool,
    #[serde(rename = "r", default)]
    pub(crate) required: bool,
    #[serde(rename = "e", default)]
    pub(crate) enumeration: Vec<Value>,
    #[serde(rename = "d")]
    pub(crate) default: Option<Value>,
    #[serde(rename = "l", borrow)]
    pub(crate) list_type: Option<&'static str>,
    #[serde(rename = "k", default)]
    pub(crate) list_map_keys: Vec<String>,
    #[serde(rename = "a", default)]
    pub(crate) atomic: bool,
    #[serde(rename = "f", borrow)]
    pub(crate) format: Option<&'static str>,
    #[serde(rename = "ps", borrow)]
    pub(crate) patch_strategy: Option<&'static str>,
    #[serde(rename = "pk", borrow)]
    pub(crate) patch_merge_key: Option<&'static str>,
    /// Where protobuf has the field; `None` where it has none.
    #[serde(rename = "w", default, deserialize_with = "wire_notation")]
    pub(crate) wire: Option<Wire>,
    /// How many fields of the struct come before it.
    #[serde(skip)]
    pub(crate) place: u16,
}

/// The place of a field in a protobuf message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wire {
    /// The number of the field, after those of the embedded structs that hold it.
    pub(crate) numbers: Vec<u32>,
    /// What does not follow from the Go type.
    pub(crate) form: WireForm,
}

/// How protobuf writes a type, or the elements of a list or map of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WireForm {
    /// As the Go type says.
    Plain,
    /// A message that holds JSON.
    Raw,
    /// A message that holds a list.
    Items,
    /// A message that holds a schema or a boolean.
    OrBool,
    /// A message that holds one schema or a list of them.
    OrArray,
    /// A message that holds a schema or a list of strings.
    OrStrings,
}

/// A default: set the field at `path` unless it is set.
#[derive(Debug, Deserialize)]
pub(crate) struct Rule {
    #[serde(rename = "p")]
    pub(crate) path: &'static str,
    #[serde(rename = "v")]
    pub(crate) value: Value,
    /// Only if one of these holds; no condition when empty.
    #[serde(default)]
    pub(crate) when: Vec<Condition>,
    /// Not if one of these holds.
    #[serde(default)]
    pub(crate) unless: Vec<Condition>,
}

/// Holds when the field is set, and to one of `values` if there are any.
#[derive(Debug, Deserialize)]
pub(crate) struct Condition {
    #[serde(rename = "p")]
    pub(crate) path: &'static str,
    #[serde(rename = "in", default, borrow)]
    pub(crate) values: Vec<&'static str>,
}

impl GoType {
    /// What Go has where JSON says nothing; pointers, lists, maps and times are `null`.
    pub(crate) fn zero(&self) -> Value {
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
    pub(crate) fn is_zero(&self, value: &Value) -> bool {
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

/// The fields, which the data file has in the order of the struct.
fn in_order<'de: 'static, D: Deserializer<'de>>(
    source: D,
) -> Result<BTreeMap<&'static str, GoField>, D::Error> {
    struct InOrder;

    impl<'de: 'static> Visitor<'de> for InOrder {
        type Value = BTreeMap<&'static str, GoField>;

        fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
            text.write_str("the fields of a struct")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut fields = BTreeMap::new();
            for place in 0.. {
                let Some((name, field)) = map.next_entry::<&'static str, GoField>()? else { break };
                fields.insert(name, GoField { place, ..field });
            }
            Ok(fields)
        }
    }

    source.deserialize_map(InOrder)
}

fn notation<'de: 'static, D: Deserializer<'de>>(source: D) -> Result<GoType, D::Error> {
    let text = <&'static str>::deserialize(source)?;
    GoType::parse(text)
        .ok_or_else(|| serde::de::Error::custom(format!("{text} is not the notation of a type")))
}

impl Wire {
    /// `3`, `2.1`, or `8:raw`.
    fn parse(text: &str) -> Option<Self> {
        let (numbers, form) = text.split_once(':').unwrap_or((text, ""));
        let form = match form {
            "" => WireForm::Plain,
            "raw" => WireForm::Raw,
            "items" => WireForm::Items,
            "orBool" => WireForm::OrBool,
            "orArray" => WireForm::OrArray,
            "orStrings" => WireForm::OrStrings,
            _ => return None,
        };
        let numbers =
            numbers.split('.').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        Some(Self { numbers, form })
    }
}

fn wire_notation<'de: 'static, D: Deserializer<'de>>(source: D) -> Result<Option<Wire>, D::Error> {
    let text = <&'static str>::deserialize(source)?;
    let wrong = || serde::de::Error::custom(format!("{text} is not the notation of a wire field"));
    Wire::parse(text).map(Some).ok_or_else(wrong)
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
    fn a_wire_notation_reads_as_numbers_and_a_form() {
        let wire = |numbers: &[u32], form| Some(Wire { numbers: numbers.to_vec(), form });
        assert_eq!(Wire::parse("3"), wire(&[3], WireForm::Plain));
        assert_eq!(Wire::parse("2.11:raw"), wire(&[2, 11], WireForm::Raw));
        assert_eq!(Wire::parse("2:duration"), None);
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
