//! A claim that exists, as the decisions of this operator need it.

use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::ResourceExt;
use serde_json::{Value, json};

use super::children::names::HELD;

/// What of a claim counts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Claim {
    pub(super) name: String,
    pub(super) phase: Phase,
    /// The volume that it is bound to.
    pub(super) volume: Option<String>,
    /// Whether it stays until a last backup is made.
    pub(super) is_held: bool,
    pub(super) is_deleting: bool,
    /// The part of its specification that this operator writes.
    pub(super) spec: Value,
}

/// Whether a claim has a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It never had one: nothing is in it.
    Pending,
    Bound,
    /// Its volume does not exist any more.
    Lost,
}

impl Claim {
    pub(super) fn of(claim: &PersistentVolumeClaim) -> Self {
        let spec = claim.spec.clone().unwrap_or_default();
        let requests = spec.resources.and_then(|resources| resources.requests);
        let mut written =
            json!({"accessModes": spec.access_modes, "resources": {"requests": requests}});
        if let Some(class) = spec.storage_class_name {
            written["storageClassName"] = json!(class);
        }
        Self {
            name: claim.name_any(),
            phase: phase(claim),
            volume: spec.volume_name,
            is_held: claim.finalizers().iter().any(|finalizer| finalizer == HELD),
            is_deleting: claim.metadata.deletion_timestamp.is_some(),
            spec: written,
        }
    }

    /// Whether a Pod may have written something into it.
    pub(super) fn may_have_data(&self) -> bool {
        self.phase != Phase::Pending || self.volume.is_some()
    }
}

fn phase(claim: &PersistentVolumeClaim) -> Phase {
    let status = claim.status.as_ref();
    match status.and_then(|status| status.phase.as_deref()) {
        Some("Bound") => Phase::Bound,
        Some("Lost") => Phase::Lost,
        Some(_) | None => Phase::Pending,
    }
}
