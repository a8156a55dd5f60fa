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

/// Whether recreating helps although the new object was refused: where it needs the room of the child, or where
/// only the name of the dry run is refused. Otherwise the child would be deleted without replacement: for content
/// that no object may have, by a missing permission, or by an admission that refuses new objects.
pub(super) fn after_refusal(of_new: ApiError, of_update: Option<ApiError>) -> Result<(), ApiError> {
    let new_is = |is: fn(&Refusal) -> bool| of_new.refusal().is_some_and(is);
    let is_immutable = |error: &ApiError| error.refusal().is_some_and(Refusal::is_immutable);
    match of_update {
        // The quota or port is in use by the child to delete.
        _ if new_is(Refusal::is_for_room) => Ok(()),
        Some(error) if !is_immutable(&error) && of_new.class() == ErrorClass::Permanent => {
            Err(error)
        }
        Some(error) if !is_immutable(&error) => Err(of_new),
        _ if new_is(Refusal::is_about_the_name) => Ok(()),
        _ => Err(of_new),
    }
}
