//! What is wrong with a shard selector, with the messages of kube-apiserver.

use thiserror::Error;

use super::selector::Field;
use crate::schema::go_value::quote;

/// An invalid shard selector.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ShardError {
    #[error("empty shard selector is not allowed; omit the parameter for unfiltered lists")]
    Empty,
    #[error("CEL parse error: {0}")]
    Syntax(String),
    #[error("unsupported function {}; only shardRange() and || are allowed", quote(.0))]
    Function(String),
    #[error("unexpected expression kind {0}; expected shardRange() call or || operator")]
    NoCall(u8),
    #[error("shardRange() requires exactly 3 arguments, got {0}")]
    Arguments(usize),
    #[error(
        "shardRange() first argument: expected field path (e.g. {path}), got expression kind {0}",
        path = Field::Uid.path()
    )]
    NoField(u8),
    #[error(
        "unsupported field path {}; supported: {}, {}",
        quote(.0), Field::Uid.path(), Field::Namespace.path()
    )]
    Field(String),
    #[error(transparent)]
    Bound(#[from] BoundError),
    #[error("shard range start 0x{start:016x} must be less than end 0x{end:016x}")]
    NoRange { start: u128, end: u128 },
    #[error("all shard ranges must use the same field, got {:?} and {:?}", first.path(), other.path())]
    Fields { first: Field, other: Field },
}

/// An invalid bound of a range; `name` is that of the bound.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum BoundError {
    #[error("{name} must be a string literal (e.g. '0xff'), got expression kind {kind}")]
    NoLiteral { name: &'static str, kind: u8 },
    #[error("{name} must be a string literal, got {ty}")]
    NoText { name: &'static str, ty: &'static str },
    #[error("{name} must have '0x' prefix, got {}", quote(text))]
    NoPrefix { name: &'static str, text: String },
    #[error("{name}: hex value is required after '0x'")]
    NoDigits { name: &'static str },
    #[error("{name}: hex value too long ({} chars, max 17): {}", digits.len(), quote(digits))]
    TooLong { name: &'static str, digits: String },
    #[error("{name}: invalid hex character {} in {}", quote(&digit.to_string()), quote(text))]
    NoDigit { name: &'static str, digit: char, text: String },
    #[error("{name}: 17-digit hex value must be '0x10000000000000000' (2^64), got {}", quote(text))]
    TooLarge { name: &'static str, text: String },
    #[error(
        "{name} must be a 0x-prefixed 16-digit hex value, got {} (did you mean \"0x{digits:0>16}\"?)",
        quote(&format!("0x{digits}"))
    )]
    TooShort { name: &'static str, digits: String },
}
