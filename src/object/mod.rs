//! Kubernetes objects as values: their identity, their content, and how they are compared.
//!
//! Layer 0. Nothing here does I/O or reads a clock.
//!
//! Invariants:
//! - an [`Object`] is immutable; a newer version of it is another value;
//! - an [`Object`] holds the JSON that the server sent, not a tree, and never prints its content.

mod cached;
mod ending;
mod event;
mod field_owners;
mod field_set;
mod finished_job;
mod json;
mod k8s_type;
mod key;
mod legible;
pub(crate) mod own_labels;
mod readiness;
mod ready_state;
mod redactor;
mod reference;
mod secret_fields;
mod secret_values;
mod selector;
mod typed_resource;
mod uid;
mod undecodable;
mod version;
mod workload;

pub(crate) use cached::Outline;
pub use cached::{KeptManagers, Object, ParseAsError, ParseObjectError};
pub(crate) use ending::being_deleted;
pub(crate) use event::ObjectEvent;
pub(crate) use field_owners::{FieldOwner, field_owners};
pub(crate) use field_set::{FieldItem, FieldSet};
pub(crate) use json::BorrowedText;
pub use k8s_type::K8sType;
pub use key::{ObjectKey, ParseKeyError};
pub(crate) use legible::quoted;
pub use legible::{OneLine, legible, legible_json, legible_yaml};
pub use readiness::Readiness;
pub use ready_state::ReadyState;
pub(crate) use redactor::{Quoted, Redactor, WITHHELD};
pub use reference::{KeyRef, TypeRef};
pub(crate) use secret_fields::{MarkedValues, SecretFields};
pub(crate) use secret_values::{REDACTED, SecretValues, hide_secret, hide_secrets};
pub use selector::{LabelSelector, SelectorError};
pub use typed_resource::{ResourceScope, Scope, TypedResource};
pub use uid::Uid;
pub(crate) use undecodable::Undecodable;
pub use version::ResourceVersion;
pub(crate) use workload::{claims_of, pod_selector};
