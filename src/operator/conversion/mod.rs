//! Conversion: a type in several versions, of which the API server stores one.
//!
//! ```text
//! v1alpha1 --From--> hub (v1) --From--> v1beta1
//!     '-- what the other version cannot hold is kept in an annotation --'
//! ```
//!
//! Nothing here does I/O: conversions can be called from a plain test. See [`Versions`].

mod hub;
mod kept;
mod versions;

#[cfg(feature = "testkit")]
pub(crate) use kept::FIELDS_OF_VERSIONS;

pub use hub::Hub;
pub use versions::{ConversionError, Versions, VersionsError};
