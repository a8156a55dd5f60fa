//! What to do when a change is refused because a field cannot change: a new object instead, where
//! the child type allows it. Decides; the deletion is carried out with the others.

use super::{Context, Report, Troubles};
use crate::{
    cluster::{ApiError, Refusal},
    object::Object,
    plan::{Deletion, Plan, Write, instead_of_immutable},
};

/// The deletion after which the child can be created as it is desired; `None` where the refusal
/// stands. One for each wish: what the server answers the new object with cannot be cured so.
pub(super) async fn deletion(
    context: &Context,
    parent: &Object,
    write: &Write,
    error: &ApiError,
    report: &Report,
) -> Result<Option<Deletion>, ApiError> {
    let is_allowed = context
        .config()
        .child_config(&write.id.ty)
        .is_some_and(|config| config.recreate_if_immutable);
    let Some(refusal) = error.refusal().filter(|refusal| is_allowed && refusal.is_immutable())
    else {
        return Ok(None);
    };
    if report.memory.troubles().recreated.get(&write.id) == Some(&write.desired_hash) {
        return Ok(None);
    }
    let live = context.cluster().read(&write.id.ty, &write.id.key).await?;
    let fields = refusal.causes.iter().map(|cause| cause.field.clone()).collect();
    Ok(live.and_then(|live| {
        instead_of_immutable(context.config(), context.name(), parent, write, &live, fields)
    }))
}

/// How the refusal of a change could be met, where it is that.
pub(super) fn hint(context: &Context, write: &Write, error: &ApiError) -> &'static str {
    let ty = &write.id.ty;
    let may = context.config().child_config(ty).is_some_and(|config| config.leaves_immutable(ty));
    if may && error.refusal().is_some_and(Refusal::is_immutable) {
        "; `ChildConfig::recreate_if_immutable` would create it anew"
    } else {
        ""
    }
}

/// Remembers that a child was deleted so that it can be as it is desired.
pub(super) fn remember(write: &Write, report: &mut Report) {
    report.memory.troubles_mut().recreated.insert(write.id.clone(), write.desired_hash);
}

/// Forgets that of children which are no longer wished.
pub(super) fn forget_undesired(plan: &Plan, report: &mut Report) {
    let Some(troubles) = report.memory.troubles_if(false) else { return };
    if !troubles.recreated.is_empty() {
        let desired = plan.desired();
        troubles.recreated.retain(|id, _| desired.contains(id));
    }
}

/// Forgets that for a wish which is not that of a child as it is by now: should it be wished again,
/// it may well be refused because of what was written since.
pub(super) fn forget_other(written: &Write, report: &mut Report) {
    let Some(Troubles { recreated, .. }) = report.memory.troubles_if(false) else { return };
    if recreated.get(&written.id).is_some_and(|wish| *wish != written.desired_hash) {
        recreated.remove(&written.id);
    }
}
