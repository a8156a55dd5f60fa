//! Admission of objects that are sent to a subresource and not stored: bindings, evictions, requests for tokens.

use std::sync::Arc;

use serde_json::Value;

use super::call::Call;
use crate::{
    admission::{Admission, Operation},
    cluster::Cluster,
    status::StatusError,
};

/// The way of such an object through admission.
pub(super) struct Admitted(Option<Arc<Admission>>);

impl Admitted {
    /// The way of an object of this kind, by group, version and name.
    pub(super) fn of(call: &Call<'_>, kind: (&str, &str, &str), subresource: &str) -> Self {
        Self(call.admission_of(kind, subresource))
    }

    /// Lets the chain change the object.
    pub(super) fn mutate(&self, cluster: &Cluster, object: &mut Value) -> Result<(), StatusError> {
        let Some(admission) = &self.0 else { return Ok(()) };
        let outcome = admission.mutate(cluster, Operation::Create, object, None, &|_, _| Ok(()));
        outcome.map_err(|error| error.with_warnings(&admission.warnings()))
    }

    /// Lets the chain refuse the object.
    pub(super) fn validate(&self, cluster: &Cluster, object: &Value) -> Result<(), StatusError> {
        let Some(admission) = &self.0 else { return Ok(()) };
        let outcome = admission.validate(cluster, Operation::Create, object, None);
        outcome.map_err(|error| error.with_warnings(&admission.warnings()))
    }

    /// What the chain warned of.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.0.as_ref().map(|admission| admission.warnings()).unwrap_or_default()
    }
}
