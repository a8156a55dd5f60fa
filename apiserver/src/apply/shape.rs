//! How server-side apply interprets a schema: whether a value is a leaf, a map or a list, and its parts.
//!
//! Without a schema the type is deduced from the value: maps are merged field by field,
//! lists are leaves. Undeclared fields are allowed below `x-kubernetes-preserve-unknown-fields`
//! at any depth, though pruning may remove them later: that is how the real server reads it.

use std::sync::LazyLock;

use serde_json::Value;

use super::object_meta::{OBJECT_META, STRING};
use crate::schema::{ListType, MapType, Schema, SchemaType};

/// The type of a value: as far as known without looking at the value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Type<'a> {
    /// A schema says it.
    Declared {
        schema: &'a Schema,
        /// Whether a schema further up allows undeclared fields.
        keeps_unknown: bool,
        /// Whether the value is a complete Kubernetes object.
        is_object: bool,
    },
    /// Unknown: maps are merged, lists are leaves.
    Deduced,
    /// Unknown: whatever it is, it is one leaf.
    Untyped,
}

/// The form of one value, which decides how it is merged.
#[derive(Debug)]
pub(super) enum Shape<'a> {
    Map(MapShape<'a>),
    Scalar(Scalar),
    List(ListShape<'a>),
}

/// Which scalars a type allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Numeric,
    String,
    Boolean,
    Any,
}

/// An object or map.
#[derive(Debug)]
pub(super) struct MapShape<'a> {
    declared: Option<&'a Schema>,
    keeps_unknown: bool,
    is_object: bool,
    pub(super) atomic: bool,
    /// The type of fields that are not declared; `None` where they are not allowed.
    element: Option<Type<'a>>,
}

/// A list.
#[derive(Debug)]
pub(super) struct ListShape<'a> {
    pub(super) kind: ListKind<'a>,
    pub(super) element: Type<'a>,
}

/// The identity of list elements.
#[derive(Debug, Clone, Copy)]
pub(super) enum ListKind<'a> {
    Atomic,
    Set,
    Keyed(&'a [String]),
}

impl<'a> Type<'a> {
    /// The type of a whole Kubernetes object.
    pub(super) fn of_object(schema: &'a Schema) -> Self {
        let keeps_unknown = schema.ty.is_none() && schema.properties.is_empty();
        Self::Declared { schema, keeps_unknown, is_object: true }
    }

    /// The form of `value`; without one (or with `null`) the first that the type allows.
    pub(super) fn shape(self, value: Option<&Value>) -> Shape<'a> {
        match self.declared_type().or_else(|| deduce(value)) {
            None | Some(SchemaType::Object) => Shape::Map(self.map_shape()),
            Some(SchemaType::Array) => Shape::List(self.list_shape()),
            Some(SchemaType::Integer | SchemaType::Number) => {
                Shape::Scalar(self.scalar(Scalar::Numeric))
            }
            Some(SchemaType::String) => Shape::Scalar(self.scalar(Scalar::String)),
            Some(SchemaType::Boolean) => Shape::Scalar(self.scalar(Scalar::Boolean)),
        }
    }

    /// The map form of this type, if it has one.
    pub(super) fn map(self) -> Option<MapShape<'a>> {
        matches!(self.declared_type(), None | Some(SchemaType::Object)).then(|| self.map_shape())
    }

    /// The list form of this type, if it has one.
    pub(super) fn list(self) -> Option<ListShape<'a>> {
        matches!(self.declared_type(), None | Some(SchemaType::Array)).then(|| self.list_shape())
    }

    /// The value that an absent field of this type has when it is the key of a list element.
    pub(super) fn default_value(self) -> Option<&'a Value> {
        match self {
            Self::Declared { schema, .. } => schema.default.as_ref().filter(|d| !d.is_null()),
            Self::Deduced | Self::Untyped => None,
        }
    }

    fn declared_type(self) -> Option<SchemaType> {
        match self {
            Self::Declared { schema, .. } => schema.ty,
            Self::Deduced | Self::Untyped => None,
        }
    }

    fn scalar(self, of_type: Scalar) -> Scalar {
        match self {
            Self::Declared { schema, .. } if schema.ty.is_none() => Scalar::Any,
            Self::Declared { schema, .. } if of_type == Scalar::String && has_format(schema) => {
                Scalar::Any
            }
            Self::Declared { .. } => of_type,
            Self::Deduced | Self::Untyped => Scalar::Any,
        }
    }

    fn map_shape(self) -> MapShape<'a> {
        match self {
            Self::Declared { schema, keeps_unknown, is_object } => {
                declared_map(schema, keeps_unknown, is_object || schema.embedded_resource)
            }
            Self::Deduced => free_form_map(Self::Deduced, false),
            Self::Untyped => free_form_map(Self::Untyped, true),
        }
    }

    fn list_shape(self) -> ListShape<'a> {
        let Self::Declared { schema, keeps_unknown, .. } = self else {
            return ListShape { kind: ListKind::Atomic, element: Self::Untyped };
        };
        let keeps_unknown = keeps_unknown || schema.preserve_unknown_fields;
        let kind = match &schema.list_type {
            ListType::Atomic => ListKind::Atomic,
            ListType::Set => ListKind::Set,
            ListType::Map(keys) => ListKind::Keyed(keys),
        };
        let element = schema.items.as_deref().map_or(Self::Untyped, |s| declared(s, keeps_unknown));
        ListShape { kind, element }
    }
}

impl<'a> MapShape<'a> {
    /// The type of a declared field.
    pub(super) fn field(&self, name: &str) -> Option<Type<'a>> {
        match name {
            "apiVersion" | "kind" if self.is_object => Some(declared(&STRING, false)),
            "metadata" if self.is_object => Some(declared(self.metadata(), false)),
            _ => {
                let schema = self.declared?.properties.get(name)?;
                Some(declared(schema, self.keeps_unknown))
            }
        }
    }

    /// The type of a field, declared or not; `None` where it is not allowed.
    pub(super) fn child(&self, name: &str) -> Option<Type<'a>> {
        self.field(name).or(self.element)
    }

    /// The type of a field of an object that was found valid.
    pub(super) fn child_or_deduced(&self, name: &str) -> Type<'a> {
        self.child(name).unwrap_or(Type::Deduced)
    }

    /// Whether nothing at all is declared, neither fields nor the type of free keys.
    pub(super) fn is_free_form(&self) -> bool {
        let fieldless = self.declared.is_none_or(|s| s.properties.is_empty()) && !self.is_object;
        fieldless && matches!(self.element, Some(Type::Deduced))
    }

    /// A CRD may restrict a few fields of `metadata`, but does not say what it is made of.
    fn metadata(&self) -> &'a Schema {
        let own = self.declared.and_then(|schema| schema.properties.get("metadata"));
        own.filter(|own| own.properties.contains_key("managedFields"))
            .map_or(LazyLock::force(&OBJECT_META), |own| own)
    }
}

fn declared(schema: &Schema, keeps_unknown: bool) -> Type<'_> {
    Type::Declared { schema, keeps_unknown, is_object: false }
}

fn declared_map(schema: &Schema, keeps_unknown: bool, is_object: bool) -> MapShape<'_> {
    let keeps_unknown = keeps_unknown || schema.preserve_unknown_fields;
    let fieldless = schema.properties.is_empty() && !is_object;
    let element = match schema.additional_properties.as_deref() {
        Some(values) => Some(declared(values, keeps_unknown)),
        None if keeps_unknown || fieldless => Some(Type::Deduced),
        None => None,
    };
    let atomic = schema.map_type == MapType::Atomic;
    MapShape { declared: Some(schema), keeps_unknown, is_object, atomic, element }
}

fn free_form_map(element: Type<'_>, atomic: bool) -> MapShape<'_> {
    MapShape {
        declared: None,
        keeps_unknown: true,
        is_object: false,
        atomic,
        element: Some(element),
    }
}

/// With any string format but `byte` the value has its own syntax, which may be a number.
fn has_format(schema: &Schema) -> bool {
    let format =
        schema.rules.as_ref().and_then(|rules| rules.get("format")).and_then(Value::as_str);
    !matches!(format, None | Some("" | "byte"))
}

fn deduce(value: Option<&Value>) -> Option<SchemaType> {
    match value? {
        Value::Null => None,
        Value::Object(_) => Some(SchemaType::Object),
        Value::Array(_) => Some(SchemaType::Array),
        Value::String(_) => Some(SchemaType::String),
        Value::Number(_) => Some(SchemaType::Number),
        Value::Bool(_) => Some(SchemaType::Boolean),
    }
}
