//! Whether it would be in vain to delete a child so that a new one comes: asked by dry runs, before
//! what cannot be undone.
//!
//! | the update | a new object | |
//! |---|---|---|
//! | changes nothing, or our labels only | | the difference is the work of the server, or is mended |
//! | would be taken, or fields cannot change | is as the child is | the work of a policy on creation |
//! | would be taken, or fields cannot change | is refused for what is in it | it stays |
//! | would be taken, or fields cannot change | anything else | it is recreated |
//! | is refused for another reason | would be taken | it is recreated |
//! | is refused for another reason | is refused too | no object may be like that: it stays |
//! | whatever is said of it | we may create none, or a rule for Pods forbids it | it stays |

use super::{Context, Report, takeover, write};
use crate::{
    cluster::{ApiError, ErrorClass, Refusal},
    history::Verb,
    object::Object,
    plan::{Write, are_alike, differ_in_claim_only, explains},
};

/// Whether a child is to stay: a new one would be the same, which is remembered, or it is as desired
/// and only not tied to us, which is mended.
///
/// # Errors
/// No new object could follow it, or that cannot be found out now.
pub(super) async fn is_in_vain(
    context: &Context,
    parent: &Object,
    instead_of: &Write,
    report: &mut Report,
) -> Result<bool, ApiError> {
    let (id, name) = (&instead_of.id, context.name());
    // Or what it left, and is not desired, would not show.
    takeover::take_over(context, parent, id).await?;
    let Some(current) = current(context, instead_of).await? else { return Ok(false) };
    let trial = context.cluster().try_apply(&id.ty, &id.key, name.as_str(), &instead_of.body).await;
    let is_alike = match trial {
        Ok(reply) if explains(&current, &reply, name) => true,
        Ok(reply) if differ_in_claim_only(&current, &reply, &context.config().labels) => {
            tie(context, parent, instead_of, report).await;
            return Ok(true);
        }
        Ok(_) => would_be_alike(context, instead_of, &current, None).await?,
        Err(error) if error.class() == ErrorClass::Permanent => {
            would_be_alike(context, instead_of, &current, Some(error)).await?
        }
        Err(error) if error.class() == ErrorClass::Conflict => false,
        Err(error) => return Err(error),
    };
    if is_alike {
        settle(context, instead_of, &current, report);
    }
    Ok(is_alike)
}

/// Without its label it is not cached.
async fn current(context: &Context, write: &Write) -> Result<Option<Object>, ApiError> {
    match context.cached(&write.id.ty, &write.id.key) {
        Some(cached) => Ok(Some(cached)),
        None => context.cluster().read(&write.id.ty, &write.id.key).await,
    }
}

/// Whether a new object would be as the child is, although the update would not be (`refused`: or
/// may not be): what sets its fields does so only when an object is created.
async fn would_be_alike(
    context: &Context,
    instead_of: &Write,
    current: &Object,
    refused: Option<ApiError>,
) -> Result<bool, ApiError> {
    let (cluster, name, trial) = (context.cluster(), context.name(), instead_of.elsewhere());
    let (ty, key) = (&trial.id.ty, &trial.id.key);
    match cluster.try_create(ty, key, name.as_str(), &trial.body).await {
        Ok(reply) => Ok(are_alike(current, &reply, name)),
        Err(error) => after_refusal(error, refused).map(|()| false),
    }
}

/// Makes sure that a new object can follow a child which differs in what cannot be changed.
///
/// # Errors
/// None could, or that cannot be found out now.
pub(super) async fn can_follow(context: &Context, instead_of: &Write) -> Result<(), ApiError> {
    let (trial, name) = (instead_of.elsewhere(), context.name());
    let (ty, key) = (&trial.id.ty, &trial.id.key);
    match context.cluster().try_create(ty, key, name.as_str(), &trial.body).await {
        Ok(_) => Ok(()),
        Err(error) => after_refusal(error, None),
    }
}

/// An update that is refused because of what cannot change is what recreating is for. What no object
/// may be is not: the child would be gone, and nothing would come after it.
fn after_refusal(of_new: ApiError, of_update: Option<ApiError>) -> Result<(), ApiError> {
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

/// There is nothing to do about a child, now and until it changes: which is seen where it is watched.
fn settle(context: &Context, instead_of: &Write, current: &Object, report: &mut Report) {
    report.memory.memos.remember(instead_of, current, context.name());
    if !context.is_watched(current) {
        report.child_failed(&instead_of.id, context.unlabelled());
    }
}

async fn tie(context: &Context, parent: &Object, instead_of: &Write, report: &mut Report) {
    if write::is_halted(context, parent, (instead_of, Verb::Updated), report) {
        return;
    }
    let write = instead_of.clone();
    if let Some(deletion) = write::update(context, parent, write, report).await {
        report.wait(&deletion.id, &"it changed while it was tied to its parent");
    }
}
