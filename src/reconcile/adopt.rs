//! Taking over an object that was there before the child, where the child type allows it. Prepares
//! the apply that makes it ours and says that it happened; does not send that apply.

use serde_json::Value;

use super::{Context, Report, contested, events, halt::Halt};
use crate::{
    cluster::{ApiError, ErrorClass, EventKind},
    history::Verb,
    object::{Object, ResourceVersion},
    operator::ConflictPolicy,
    plan::{ChildId, HeldField, Write, adoption, without},
};

/// How an object can become a child.
pub(super) enum Prepared {
    /// By this apply: what its managers owned is ours.
    Apply(Write),
    /// Not at all: others hold these fields, and would hold them then. Nothing was changed.
    Contested(Write, Vec<HeldField>),
    /// Not now, as nothing more is to be written. Nothing was changed.
    Halted(Halt, Write),
    /// It is another one by now.
    Outdated,
}

/// Makes what the managers of `live` own ours, for the apply that adopts exactly what is left by
/// that. `verb` says whether an adoption was begun before.
///
/// # Errors
/// The server would refuse the apply, or the hand-over. Nothing was changed then.
pub(super) async fn prepare(
    context: &Context,
    parent: &Object,
    (write, verb): (Write, Verb),
    live: &Object,
    report: &Report,
) -> Result<Prepared, ApiError> {
    let (cluster, manager, id) = (context.cluster(), context.name().as_str(), &write.id);
    let trial = write.clone().adopting(live.uid(), live.resource_version());
    match cluster.try_apply(&id.ty, &id.key, manager, &trial.body).await {
        Ok(_) => {}
        Err(error) if error.class() == ErrorClass::Conflict => return Ok(Prepared::Outdated),
        Err(error) => return Err(error),
    }
    match stays_held(context, &trial).await {
        Ok(held) if held.is_empty() => {}
        Ok(held) => return Ok(Prepared::Contested(write, held)),
        Err(error) if error.class() == ErrorClass::Conflict => return Ok(Prepared::Outdated),
        Err(error) => return Err(error),
    }
    // From here on the adoption is completed, also if the object changes under it.
    if let Some(halt) = Halt::before(context, parent, verb, report) {
        return Ok(Prepared::Halted(halt, write));
    }
    Ok(match hand_over(context, id, live).await? {
        Some(version) => Prepared::Apply(write.adopting(live.uid(), &version)),
        None => Prepared::Outdated,
    })
}

/// What others would hold after the hand-over, where nothing could be applied for that.
async fn stays_held(context: &Context, trial: &Write) -> Result<Vec<HeldField>, ApiError> {
    let (cluster, manager, id) = (context.cluster(), context.name().as_str(), &trial.id);
    let policy = context.config().child_config(&id.ty).map(|config| config.conflicts);
    if policy.is_none_or(|policy| policy == ConflictPolicy::Force) {
        return Ok(Vec::new());
    }
    let held = match cluster.try_apply_yielding(&id.ty, &id.key, manager, &trial.body).await {
        Ok(_) => Vec::new(),
        Err(error) => contested::held_after_adoption(error, &id.ty, &context.config().labels)?,
    };
    let is_in_vain = policy == Some(ConflictPolicy::Report) || without(trial, &held).is_none();
    Ok(if is_in_vain { held } else { Vec::new() })
}

/// The version after which everything is ours; `None` when the object has changed.
async fn hand_over(
    context: &Context,
    id: &ChildId,
    live: &Object,
) -> Result<Option<ResourceVersion>, ApiError> {
    let (cluster, name) = (context.cluster(), context.name());
    // Whole: a live read knows only the managers that operators need.
    let whole = cluster.read_whole(&id.ty, &id.key).await?;
    let Some(whole) = whole.filter(|whole| is_same(whole, live)) else { return Ok(None) };
    let Some(patch) = adoption(&whole, name) else {
        return Ok(Some(live.resource_version().clone()));
    };
    match cluster.patch_object(&id.ty, &id.key, name.as_str(), &patch).await {
        Ok(reply) => Ok(Some(reply.resource_version().clone())),
        Err(error) if error.class() == ErrorClass::Conflict => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_same(whole: &Value, live: &Object) -> bool {
    let metadata = &whole["metadata"];
    metadata["uid"] == live.uid().to_string()
        && metadata["resourceVersion"] == live.resource_version().to_string()
}

/// Says that an object has become a child.
pub(super) fn announce(context: &Context, parent: &Object, id: &ChildId, report: &mut Report) {
    let message = format!("{id} was there already and had no controller; it is a child now");
    tracing::info!(operator = %context.name(), parent = %parent.key(), "{message}");
    events::tell(context, parent, (EventKind::Normal, "Adopted", message), report);
}
