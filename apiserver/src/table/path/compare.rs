//! What a path finds, and how two of them compare: only values of one kind do.

use std::cmp::Ordering;

use serde_json::Value;

/// A value of the object, or one that is written in the path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::table) enum Found<'a> {
    Json(&'a Value),
    Text(&'a str),
    Integer(i64),
    Float(f64),
    Bool(bool),
    /// A part of a text.
    Byte(u8),
}

/// How the sides of a filter compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Less,
    Greater,
    Equal,
    NotEqual,
    LessOrEqual,
    GreaterOrEqual,
    /// It is not known, which shows when it is needed.
    Unknown,
}

/// Two values that cannot be compared so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Incomparable;

impl Operator {
    /// The operator of a text.
    pub(super) fn of(text: &str) -> Self {
        match text {
            "<" => Self::Less,
            ">" => Self::Greater,
            "==" => Self::Equal,
            "!=" => Self::NotEqual,
            "<=" => Self::LessOrEqual,
            ">=" => Self::GreaterOrEqual,
            _ => Self::Unknown,
        }
    }

    /// Whether two values compare so.
    pub(super) fn holds(self, left: Found<'_>, right: Found<'_>) -> Result<bool, Incomparable> {
        let equal = || equal(left, right);
        let less = || less(left, right);
        match self {
            Self::Less => less(),
            Self::Equal => equal(),
            Self::NotEqual => equal().map(|equal| !equal),
            Self::LessOrEqual => Ok(less()? || equal()?),
            Self::Greater => Ok(!(less()? || equal()?)),
            Self::GreaterOrEqual => less().map(|less| !less),
            Self::Unknown => Err(Incomparable),
        }
    }
}

/// A value by its kind.
enum Basic<'a> {
    Bool(bool),
    Integer(i64),
    Byte(u8),
    Float(f64),
    Text(&'a str),
}

fn basic(found: Found<'_>) -> Result<Basic<'_>, Incomparable> {
    Ok(match found {
        Found::Json(Value::Bool(truth)) => Basic::Bool(*truth),
        Found::Json(Value::String(text)) => Basic::Text(text),
        Found::Json(Value::Number(number)) => match number.as_i64() {
            Some(integer) => Basic::Integer(integer),
            None => Basic::Float(number.as_f64().ok_or(Incomparable)?),
        },
        Found::Json(Value::Null | Value::Array(_) | Value::Object(_)) => return Err(Incomparable),
        Found::Text(text) => Basic::Text(text),
        Found::Integer(integer) => Basic::Integer(integer),
        Found::Float(float) => Basic::Float(float),
        Found::Bool(truth) => Basic::Bool(truth),
        Found::Byte(byte) => Basic::Byte(byte),
    })
}

fn equal(left: Found<'_>, right: Found<'_>) -> Result<bool, Incomparable> {
    match (basic(left)?, basic(right)?) {
        (Basic::Bool(left), Basic::Bool(right)) => Ok(left == right),
        (left, right) => Ok(order(&left, &right)? == Some(Ordering::Equal)),
    }
}

fn less(left: Found<'_>, right: Found<'_>) -> Result<bool, Incomparable> {
    Ok(order(&basic(left)?, &basic(right)?)? == Some(Ordering::Less))
}

fn order(left: &Basic<'_>, right: &Basic<'_>) -> Result<Option<Ordering>, Incomparable> {
    Ok(match (left, right) {
        (Basic::Integer(left), Basic::Integer(right)) => Some(left.cmp(right)),
        (Basic::Integer(left), Basic::Byte(right)) => Some(left.cmp(&i64::from(*right))),
        (Basic::Byte(left), Basic::Integer(right)) => Some(i64::from(*left).cmp(right)),
        (Basic::Byte(left), Basic::Byte(right)) => Some(left.cmp(right)),
        (Basic::Float(left), Basic::Float(right)) => left.partial_cmp(right),
        (Basic::Text(left), Basic::Text(right)) => Some(left.cmp(right)),
        _ => return Err(Incomparable),
    })
}
