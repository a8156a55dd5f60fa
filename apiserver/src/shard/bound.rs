//! Reads a bound of a range: a literal text of 16 digits, or that of 2^64.

use cel::common::ast::{Expr, LiteralValue};

use super::error::BoundError;

/// Behind the largest hash.
const END: u128 = 1 << 64;

/// The bound that an argument says.
pub(super) fn bound(name: &'static str, argument: &Expr) -> Result<u128, BoundError> {
    let Expr::Literal(literal) = argument else {
        return Err(BoundError::NoLiteral { name, kind: kind(argument) });
    };
    match literal {
        LiteralValue::String(text) => number(name, text.inner()),
        other => Err(BoundError::NoText { name, ty: go_type(other) }),
    }
}

fn number(name: &'static str, text: &str) -> Result<u128, BoundError> {
    let no_prefix = || BoundError::NoPrefix { name, text: text.to_owned() };
    let digits = text.strip_prefix("0x").ok_or_else(no_prefix)?;
    let is_digit = |digit: char| matches!(digit, '0'..='9' | 'a'..='f');
    match digits.len() {
        0 => return Err(BoundError::NoDigits { name }),
        18.. => return Err(BoundError::TooLong { name, digits: digits.to_owned() }),
        _ => {}
    }
    let value = u128::from_str_radix(digits, 16);
    match (digits.chars().find(|digit| !is_digit(*digit)), digits.len(), value) {
        (None, 16, Ok(value)) => Ok(value),
        (None, 17, Ok(END)) => Ok(END),
        (Some(digit), ..) => Err(BoundError::NoDigit { name, digit, text: text.to_owned() }),
        (None, 17, _) => Err(BoundError::TooLarge { name, text: text.to_owned() }),
        (None, ..) => Err(BoundError::TooShort { name, digits: digits.to_owned() }),
    }
}

/// The number that the real parser has for a kind of expression.
pub(super) fn kind(expression: &Expr) -> u8 {
    match expression {
        Expr::Unspecified => 0,
        Expr::Call(_) => 1,
        Expr::Comprehension(_) => 2,
        Expr::Ident(_) => 3,
        Expr::List(_) => 4,
        Expr::Literal(_) => 5,
        Expr::Map(_) => 6,
        Expr::Select(_) => 7,
        Expr::Struct(_) => 8,
    }
}

/// What Go calls the type of a literal.
fn go_type(literal: &LiteralValue) -> &'static str {
    match literal {
        LiteralValue::Boolean(_) => "bool",
        LiteralValue::Bytes(_) => "[]uint8",
        LiteralValue::Double(_) => "float64",
        LiteralValue::Int(_) => "int64",
        LiteralValue::Null => "structpb.NullValue",
        LiteralValue::String(_) => "string",
        LiteralValue::UInt(_) => "uint64",
    }
}
