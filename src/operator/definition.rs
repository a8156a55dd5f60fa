//! The CRD of a parent type, which an operator brings along.

use std::{fmt, sync::Arc};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

/// The CRD of a parent type.
#[derive(Clone)]
pub(crate) enum Definition {
    /// Of a Rust type. It is made when it is asked for, because that panics where the type has no schema that a CRD may
    /// have.
    Derived { rust_type: &'static str, make: fn() -> CustomResourceDefinition },
    /// As the program has it, for example from a file.
    Given(Arc<CustomResourceDefinition>),
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Derived { rust_type, make: _ } => f.write_str(rust_type),
            Self::Given(crd) => f.write_str(crd.metadata.name.as_deref().unwrap_or_default()),
        }
    }
}
