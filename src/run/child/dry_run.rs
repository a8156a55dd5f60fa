//! The dry run of a new object in place of a child, and the meaning of its refusal.

use crate::{
    plan::Write,
    reply::{ApiError, ErrorClass, Refusal},
    run::request::{DryRun, Force, Request},
};

/// A dry run that creates an object under an unused name.
pub(super) fn dry_run_of_new(instead_of: &Write) -> Request {
    let trial = instead_of.elsewhere();
    Request::Apply { id: trial.id, body: trial.body, force: Force::Yes, dry_run: DryRun::OfNew }
}

/// Whether recreating helps: yes for immutable fields, no for content that no object may have. Then the child
/// would be deleted without replacement.
pub(super) fn after_refusal(of_new: ApiError, of_update: Option<ApiError>) -> Result<(), ApiError> {
    let new_is = |is: fn(&Refusal) -> bool| of_new.refusal().is_some_and(is);
    let is_immutable = |error: &ApiError| error.refusal().is_some_and(Refusal::is_immutable);
    match of_update {
        _ if matches!(of_new.class(), ErrorClass::Wait(_) | ErrorClass::Retry) => Err(of_new),
        // Independent of the name.
        _ if new_is(Refusal::is_of_every_new_object) => Err(of_new),
        // The quota or port is in use by the child to delete.
        _ if new_is(Refusal::is_for_room) => Ok(()),
        Some(error) if !is_immutable(&error) && of_new.class() == ErrorClass::Permanent => {
            Err(error)
        }
        Some(error) if !is_immutable(&error) => Err(of_new),
        _ if new_is(Refusal::is_about_content) => Err(of_new),
        // The other name of the dry run may be the cause.
        _ => Ok(()),
    }
}
