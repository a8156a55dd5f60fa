//! The values of expressions. Values of an object are borrowed from it, and become values when they are looked at.

use std::{fmt, net::IpAddr, ops::Deref, sync::Arc};

use serde_json::Value;

use super::{constructed::Constructed, list::List, map::Map};
use crate::{
    cel::{
        authorizer::Asking,
        scalar::{
            float::print_float, named_format::NamedFormat, network::Cidr, semver::Version, time,
            url::Url,
        },
    },
    quantity::Quantity,
};

/// A value.
#[derive(Debug, Clone)]
pub(in crate::cel) enum Val<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Text<'a>),
    Bytes(Arc<[u8]>),
    List(List<'a>),
    Map(Map<'a>),
    /// In nanoseconds.
    Duration(i64),
    /// In nanoseconds since 1970.
    Timestamp(i128),
    /// The name of a type.
    Type(Arc<str>),
    Optional(Option<Arc<Val<'a>>>),
    /// Whether it is computed matters: the real server takes no computed one on the right of `==`.
    Quantity(Quantity, bool),
    Ip(IpAddr),
    Cidr(Cidr),
    Url(Arc<Url>),
    Semver(Arc<Version>),
    Format(&'static NamedFormat),
    Constructed(Arc<Constructed<'a>>),
    /// What the schema says nothing about.
    Opaque(&'a Value),
    /// A question whether someone may do something.
    Authorizer(Arc<Asking>),
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cel) enum Failure {
    /// The message of the real interpreter.
    Error(String),
    /// The rule costs more than a rule may.
    TooExpensive,
    /// The real interpreter crashes here, so that nothing decides the error away.
    Crashed(&'static str),
}

impl Failure {
    /// Whether evaluation ends with this, whatever stands around it.
    pub(in crate::cel) fn is_final(&self) -> bool {
        !matches!(self, Self::Error(_))
    }
}

pub(in crate::cel) type Outcome<'a> = Result<Val<'a>, Failure>;

/// An error with this message.
pub(in crate::cel) fn error<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Error(message.into()))
}

/// The error of a call with arguments that no overload takes.
pub(in crate::cel) fn no_overload<T>() -> Result<T, Failure> {
    error("no such overload")
}

/// Text of an object, or new text.
#[derive(Debug, Clone)]
pub(in crate::cel) enum Text<'a> {
    Borrowed(&'a str),
    Owned(Arc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Owned(text) => text,
        }
    }
}

impl<'a> Val<'a> {
    pub(in crate::cel) fn text(text: impl Into<Arc<str>>) -> Self {
        Self::String(Text::Owned(text.into()))
    }

    pub(in crate::cel) fn some(value: Self) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    pub(in crate::cel) fn texts(texts: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Self {
        Self::List(List::own(texts.into_iter().map(Self::text).collect()))
    }

    pub(in crate::cel) fn count(count: usize) -> Self {
        Self::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// The text, if it is one.
    pub(in crate::cel) fn as_text(&self) -> Result<&str, Failure> {
        match self {
            Self::String(text) => Ok(text),
            _ => no_overload(),
        }
    }

    pub(in crate::cel) fn as_int(&self) -> Result<i64, Failure> {
        match self {
            Self::Int(int) => Ok(*int),
            _ => no_overload(),
        }
    }

    pub(in crate::cel) fn as_list(&self) -> Result<&List<'a>, Failure> {
        match self {
            Self::List(list) => Ok(list),
            _ => no_overload(),
        }
    }

    /// The name of the type.
    pub(in crate::cel) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Type(_) => "type",
            Self::Optional(_) => "optional_type",
            Self::Quantity(..) => "kubernetes.Quantity",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Url(_) => "kubernetes.URL",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Constructed(_) => "Object",
            Self::Opaque(_) => "unknown",
            Self::Authorizer(asking) => asking.type_name(),
        }
    }

    /// The number of characters, bytes, elements or entries, if it has them.
    pub(in crate::cel) fn size(&self) -> Option<u64> {
        Some(match self {
            Self::String(text) => text.chars().count() as u64,
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::List(list) => list.len() as u64,
            Self::Map(map) => map.len() as u64,
            Self::Ip(ip) => address_size(*ip),
            Self::Cidr(cidr) => address_size(cidr.address),
            _ => return None,
        })
    }
}

impl fmt::Display for Val<'_> {
    /// The value as `string()` gives it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(text) => f.write_str(text),
            Self::Bytes(bytes) => f.write_str(&String::from_utf8_lossy(bytes)),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Uint(value) => write!(f, "{value}"),
            Self::Double(value) => f.write_str(&print_float(*value)),
            Self::Duration(nanos) => f.write_str(&time::print_duration(*nanos)),
            Self::Timestamp(nanos) => f.write_str(&time::print(*nanos)),
            Self::Type(name) => f.write_str(name),
            Self::Null => f.write_str("null"),
            Self::Ip(ip) => write!(f, "{ip}"),
            Self::Cidr(cidr) => write!(f, "{cidr}"),
            other => f.write_str(other.type_name()),
        }
    }
}

fn address_size(address: IpAddr) -> u64 {
    if address.is_ipv4() { 4 } else { 16 }
}
