//! The types of expressions, and how messages name them. A type may be an object whose fields have types.

use std::{collections::BTreeMap, fmt, sync::Arc};

/// A type.
#[derive(Debug, Clone)]
#[expect(clippy::enum_variant_names, reason = "a type can be the type of a type")]
pub(super) enum Type {
    Dyn,
    /// The type of what did not compile, which goes with everything.
    Error,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    List(Arc<Type>),
    Map(Arc<(Type, Type)>),
    Optional(Arc<Type>),
    /// The type of a type; of which one is not always known.
    Type(Option<Arc<Type>>),
    /// A type of a library, such as `kubernetes.Quantity`.
    Named(Arc<str>),
    /// An object with declared fields.
    Object(Arc<Declared>),
    /// What an overload leaves open.
    Parameter(Arc<str>),
}

/// The declaration of a value: its type, and bounds of sizes for the estimate of costs.
#[derive(Debug)]
pub(super) struct Declared {
    /// Distinguishes objects.
    pub(super) name: String,
    kind: Kind,
    /// The most characters, elements or entries; zero for what has none.
    pub(super) max_elements: u64,
    /// The shortest form in JSON.
    pub(super) min_size: u64,
}

#[derive(Debug)]
enum Kind {
    Simple(Type),
    List(Arc<Declared>),
    Map(Arc<Declared>),
    Object(Fields),
}

/// The fields of an object by their identifiers.
type Fields = BTreeMap<String, Arc<Declared>>;

impl Type {
    pub(super) fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    pub(super) fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new((key, value)))
    }

    pub(super) fn optional(value: Self) -> Self {
        Self::Optional(Arc::new(value))
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }

    /// The type inside of an optional, or this type.
    pub(super) fn unwrapped(&self) -> (Self, bool) {
        match self {
            Self::Optional(inner) => (Self::clone(inner), true),
            other => (other.clone(), false),
        }
    }

    /// The types inside of this one.
    pub(super) fn parameters(&self) -> Vec<&Self> {
        match self {
            Self::List(inner) | Self::Optional(inner) | Self::Type(Some(inner)) => vec![inner],
            Self::Map(both) => vec![&both.0, &both.1],
            _ => Vec::new(),
        }
    }

    /// The same type with other types inside.
    pub(super) fn with_parameters(&self, mut new: impl FnMut(&Self) -> Self) -> Self {
        match self {
            Self::List(inner) => Self::list(new(inner)),
            Self::Optional(inner) => Self::optional(new(inner)),
            Self::Type(Some(inner)) => Self::Type(Some(Arc::new(new(inner)))),
            Self::Map(both) => Self::map(new(&both.0), new(&both.1)),
            other => other.clone(),
        }
    }

    /// Whether values have a fixed size.
    pub(super) fn is_scalar(&self) -> bool {
        match self {
            Self::Bool
            | Self::Double
            | Self::Duration
            | Self::Int
            | Self::Timestamp
            | Self::Uint => true,
            Self::Optional(inner) => inner.is_scalar(),
            _ => false,
        }
    }
}

impl Declared {
    /// The declaration of an object of a library.
    pub(super) fn named(name: &str, fields: Vec<(String, Arc<Self>)>) -> Arc<Self> {
        Arc::new(Self::object(name, fields.into_iter().collect(), 2))
    }

    /// The declaration of a value of this type.
    pub(super) fn of_type(ty: Type) -> Arc<Self> {
        Arc::new(Self::simple(ty, 0, 1))
    }

    /// The type of the value.
    pub(super) fn ty(self: &Arc<Self>) -> Type {
        match &self.kind {
            Kind::Simple(ty) => ty.clone(),
            Kind::List(element) => Type::list(element.ty()),
            Kind::Map(value) => Type::map(Type::String, value.ty()),
            Kind::Object(_) => Type::Object(Arc::clone(self)),
        }
    }

    /// The field of this identifier.
    pub(super) fn field(&self, identifier: &str) -> Option<&Arc<Self>> {
        match &self.kind {
            Kind::Object(fields) => fields.get(identifier),
            _ => None,
        }
    }

    /// The elements of a list, or the values of a map.
    pub(super) fn element(&self) -> Option<&Arc<Self>> {
        match &self.kind {
            Kind::List(element) | Kind::Map(element) => Some(element),
            _ => None,
        }
    }

    /// Whether this is a map. The keys of a map have a type too.
    pub(super) fn is_map(&self) -> bool {
        matches!(self.kind, Kind::Map(_))
    }

    pub(super) fn simple(ty: Type, max_elements: u64, min_size: u64) -> Self {
        Self { name: String::new(), kind: Kind::Simple(ty), max_elements, min_size }
    }

    pub(super) fn list(element: Arc<Self>, max_elements: u64) -> Self {
        Self { name: String::new(), kind: Kind::List(element), max_elements, min_size: 2 }
    }

    pub(super) fn map(value: Arc<Self>, max_elements: u64) -> Self {
        Self { name: String::new(), kind: Kind::Map(value), max_elements, min_size: 2 }
    }

    pub(super) fn object(name: &str, fields: Fields, min_size: u64) -> Self {
        Self { name: name.to_owned(), kind: Kind::Object(fields), max_elements: 0, min_size }
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(a), Self::List(b)) | (Self::Optional(a), Self::Optional(b)) => a == b,
            (Self::Map(a), Self::Map(b)) => a == b,
            (Self::Type(a), Self::Type(b)) => a == b,
            (Self::Named(a), Self::Named(b)) | (Self::Parameter(a), Self::Parameter(b)) => a == b,
            (Self::Object(a), Self::Object(b)) => a.name == b.name,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dyn => f.write_str("dyn"),
            Self::Error => f.write_str("!error!"),
            Self::Null => f.write_str("null"),
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Uint => f.write_str("uint"),
            Self::Double => f.write_str("double"),
            Self::String => f.write_str("string"),
            Self::Bytes => f.write_str("bytes"),
            Self::Duration => f.write_str("duration"),
            Self::Timestamp => f.write_str("timestamp"),
            Self::List(inner) => write!(f, "list({inner})"),
            Self::Map(both) => write!(f, "map({}, {})", both.0, both.1),
            Self::Optional(inner) => write!(f, "optional_type({inner})"),
            Self::Type(None) => f.write_str("type"),
            Self::Type(Some(inner)) => write!(f, "type({inner})"),
            Self::Named(name) | Self::Parameter(name) => f.write_str(name),
            Self::Object(object) => f.write_str(&object.name),
        }
    }
}
