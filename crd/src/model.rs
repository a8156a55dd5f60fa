//! What the types of a definition are, as values: `schema` makes them, `tokens` writes them as Rust.
//!
//! Names are identifiers, yet without `r#`. Documentation is Markdown, and never empty.

use crate::read::Scope;

/// The types of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Model {
    pub(crate) roots: Vec<Root>,
    pub(crate) structs: Vec<Struct>,
    pub(crate) enums: Vec<Enum>,
}

/// A resource.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Root {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) scope: Scope,
    /// Its fields but `apiVersion`, `kind` and `metadata`.
    pub(crate) ty: Struct,
}

/// An object with fields.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Struct {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) fields: Vec<Field>,
    /// The field that has what the schema does not name, where the server keeps that.
    pub(crate) rest: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) json: String,
    pub(crate) doc: String,
    /// Without the `Option` that follows from the presence.
    pub(crate) ty: Type,
    pub(crate) presence: Presence,
}

/// Whether a field has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Always.
    Required,
    /// It is always there, and may be null.
    Nullable,
    /// It may be absent.
    Optional,
}

/// A text with known values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Enum {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) variants: Vec<Variant>,
    /// The variant of any other value.
    pub(crate) other: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Variant {
    pub(crate) name: String,
    pub(crate) value: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    Text,
    Bool,
    I32,
    I64,
    F64,
    IntOrString,
    /// Any JSON value.
    Json,
    /// A struct or an enum of the model.
    Named(String),
    List(Box<Self>),
    Map(Box<Self>),
    /// An item of a list or of a map that may be null.
    Nullable(Box<Self>),
}
