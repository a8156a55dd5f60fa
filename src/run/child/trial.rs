//! A dry run of a new object in the place of a child, and what its refusal means.

use crate::{
    plan::Write,
    reply::{ApiError, ErrorClass, Refusal},
    run::request::{DryRun, Force, Request},
};

/// A dry run of an object that nobody has.
pub(super) fn trial_of_new(instead_of: &Write) -> Request {
    let trial = instead_of.elsewhere();
    Request::Apply { id: trial.id, body: trial.body, force: Force::Yes, dry_run: DryRun::OfNew }
}

/// An update that is refused because of what cannot change is what recreating is for. What no object
/// may be is not: the child would be gone, and nothing would come after it.
pub(super) fn after_refusal(of_new: ApiError, of_update: Option<ApiError>) -> Result<(), ApiError> {
    let is_told = |is: fn(&Refusal) -> bool| of_new.refusal().is_some_and(is);
    let is_immutable = |error: &ApiError| error.refusal().is_some_and(Refusal::is_immutable);
    match of_update {
        _ if matches!(of_new.class(), ErrorClass::Wait(_) | ErrorClass::Retry) => Err(of_new),
        // Of whatever name.
        _ if is_told(Refusal::is_of_every_new_object) => Err(of_new),
        // What the trial has no room for is taken by the child that would go.
        _ if is_told(Refusal::is_for_room) => Ok(()),
        Some(error) if !is_immutable(&error) && of_new.class() == ErrorClass::Permanent => {
            Err(error)
        }
        Some(error) if !is_immutable(&error) => Err(of_new),
        _ if is_told(Refusal::is_about_content) => Err(of_new),
        // The trial has another name, which may be why it is refused.
        _ => Ok(()),
    }
}
