//! Which fields others hold, from the causes of a 409.

use crate::{
    diff::is_handed_over,
    object::K8sType,
    operator::Labels,
    plan::{HeldField, is_ownership_field},
    reply::{ApiError, Cause},
};

/// The fields that others hold, if that is why the server refused an apply.
pub(in crate::run) fn held(error: &ApiError) -> Vec<HeldField> {
    let causes = error.refusal().map(|refusal| refusal.causes.as_slice()).unwrap_or_default();
    let conflicts = causes.iter().filter(|cause| cause.reason == "FieldManagerConflict");
    let held = conflicts.map(|cause| {
        // conflict with "kubectl" using v1
        let manager = cause.message.split('"').nth(1).unwrap_or_default().to_owned();
        HeldField { path: cause.field.clone(), manager }
    });
    held.collect()
}

/// The fields that remain held after an adoption: built-in Kubernetes managers keep theirs, and entries of a
/// subresource or another version stay with their manager.
///
/// The server refused the apply for another reason.
pub(super) fn held_after_adoption(
    error: ApiError,
    ty: &K8sType,
    labels: &Labels,
) -> Result<Vec<HeldField>, ApiError> {
    let mut held = held(&error);
    if held.is_empty() {
        return Err(error);
    }
    let causes = error.refusal().map(|refusal| refusal.causes.as_slice()).unwrap_or_default();
    // conflict with "kube-controller-manager" with subresource "scale" using apps/v1 at ...
    let stays = |held: &HeldField| {
        let is_it =
            |cause: &&Cause| cause.field == held.path && cause.message.contains(&held.manager);
        let message = causes.iter().find(is_it).map_or("", |cause| &cause.message);
        let using = message.split_once(" using ").and_then(|(_, rest)| rest.split(' ').next());
        !is_ownership_field(&held.path, labels)
            && (!is_handed_over(&held.manager)
                || message.contains(" with subresource ")
                || using.is_some_and(|version| version != ty.api_version()))
    };
    held.retain(stays);
    Ok(held)
}
