//! An object in the versions of its managers.
//!
//! Fields are compared in the version in which they are managed. The real server converts as strictly as it applies: what
//! the other version does not declare cannot be converted.

use std::{borrow::Cow, fmt, sync::Arc};

use serde_json::Value;

use super::{
    object,
    shape::Type,
    validate::{Duplicates, validate},
};
use crate::schema::Schema;

/// The versions of a type.
pub trait Versions: fmt::Debug {
    /// An object in another version, and what that version declares.
    ///
    /// # Errors
    /// Why it cannot be converted.
    fn convert(&self, object: &Value, to: &str) -> Result<(Value, Arc<Schema>), String>;
}

/// A valid object with its type. Without versions it is the same in all of them.
#[derive(Debug, Clone)]
pub(super) struct Typed<'a> {
    pub(super) object: Cow<'a, Value>,
    schema: Kind<'a>,
    versions: Option<&'a dyn Versions>,
}

#[derive(Debug, Clone)]
enum Kind<'a> {
    OfRequest(&'a Schema),
    Other(Arc<Schema>),
}

impl<'a> Typed<'a> {
    /// In the version of the request.
    pub(super) fn new(
        object: &'a Value,
        schema: &'a Schema,
        versions: Option<&'a dyn Versions>,
    ) -> Self {
        Self { object: Cow::Borrowed(object), schema: Kind::OfRequest(schema), versions }
    }

    /// Another object of the same type.
    pub(super) fn with(&self, object: Value) -> Self {
        Self { object: Cow::Owned(object), ..self.clone() }
    }

    /// Whether it differs from version to version.
    pub(super) fn has_versions(&self) -> bool {
        self.versions.is_some()
    }

    pub(super) fn ty(&self) -> Type<'_> {
        Type::of_object(match &self.schema {
            Kind::OfRequest(schema) => schema,
            Kind::Other(schema) => schema,
        })
    }

    /// In another version.
    pub(super) fn at(&self, version: &str) -> Result<Self, String> {
        let is_same = object::api_version(&self.object) == Some(version);
        let Some(versions) = self.versions.filter(|_| !is_same) else { return Ok(self.clone()) };
        let (object, schema) = versions.convert(&self.object, version)?;
        let converted =
            Self { object: Cow::Owned(object), schema: Kind::Other(schema), ..self.clone() };
        validate(&converted.object, converted.ty(), Duplicates::Forbidden)
            .map_err(|errors| errors.to_string())?;
        Ok(converted)
    }
}
