//! Why an apply was refused.

use super::{conflict::Conflicts, validate::TypeErrors};

/// Why an apply was refused; the text is the message of the `Status`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// Others manage fields that would change.
    #[error("{0}")]
    Conflicts(Conflicts),
    /// The applied object contains `managedFields`.
    #[error("metadata.managedFields must be nil")]
    ManagedFieldsGiven,
    /// The applied object has another type than the resource of the request.
    #[error("invalid object type: {0}")]
    WrongType(String),
    /// The applied object does not match the schema.
    #[error("failed to create typed patch object ({object}): {errors}")]
    Patch {
        /// `namespace/name; group/version, Kind=Kind`
        object: String,
        /// What does not fit.
        errors: TypeErrors,
    },
    /// The stored object does not match the schema.
    #[error("failed to create typed live object ({object}): {errors}")]
    Live {
        /// `namespace/name; group/version, Kind=Kind`
        object: String,
        /// What does not fit.
        errors: TypeErrors,
    },
    /// The stored object cannot be read in the version of another manager.
    #[error("{0}")]
    Conversion(String),
    /// The `managedFields` of the stored object cannot be read.
    #[error("failed to decode managed fields: {0}")]
    ManagedFields(String),
}

impl ApplyError {
    /// The HTTP status code that the real server answers with.
    pub fn code(&self) -> u16 {
        match self {
            Self::Conflicts(_) => 409,
            Self::ManagedFieldsGiven | Self::WrongType(_) => 400,
            Self::Patch { .. }
            | Self::Live { .. }
            | Self::Conversion(_)
            | Self::ManagedFields(_) => 500,
        }
    }
}
