//! Deleting one child: with proof, and not when it would only come back the same.

use super::{Context, End, Report, immutable, pause, recreate, write::TRIES};
use crate::{
    cluster::{ApiError, Deleted, ErrorClass},
    history::Verb,
    object::Object,
    plan::{AfterDeleteConflict, Deletion, DeletionReason, Step, after_delete_conflict},
};

/// Deletes a child that its plan says should go.
pub(super) async fn delete(
    context: &Context,
    parent: &Object,
    mut deletion: Deletion,
    report: &mut Report,
) {
    for _ in 0..TRIES {
        let id = deletion.id.clone();
        match attempt(context, parent, deletion, report).await {
            Ok(Some(again)) => deletion = again,
            Ok(None) => return,
            Err(error) => return report.child_failed(&id, error),
        }
    }
    report.wait(&deletion.id, &"it keeps changing while it is to be deleted");
}

/// Whether a child is not to be deleted any more, which is noted: its parent goes on with its life.
pub(super) fn is_held(
    context: &Context,
    parent: &Object,
    deletion: &Deletion,
    report: &mut Report,
) -> bool {
    let is_leaving = context.is_leaving(parent);
    if !is_leaving && context.has_left(parent) {
        // Another run decides again, on what the parent is by now.
        report.end = End::Outdated;
        return true;
    }
    match context.paused_meanwhile(parent) {
        Some(_) if is_leaving => {
            report.wait(&deletion.id, &"its deletion waits until the pause is over");
        }
        Some(by) => pause::hold_step(&Step::Delete(deletion.clone()), by, report),
        None => return false,
    }
    true
}

/// Deletes a child as it was last seen; if it is another by now, what is to be deleted comes back.
async fn attempt(
    context: &Context,
    parent: &Object,
    mut deletion: Deletion,
    report: &mut Report,
) -> Result<Option<Deletion>, ApiError> {
    // The looks of `confirm` take their time too.
    if is_held(context, parent, &deletion, report)
        || !confirm(context, parent, &mut deletion, report).await?
        || is_held(context, parent, &deletion, report)
    {
        return Ok(None);
    }
    match send(context, parent, &deletion).await {
        Ok(()) => deleted(context, &deletion, report),
        Err(error) if error.class() == ErrorClass::Missing => learn_absent(context, &deletion),
        Err(error) if error.class() == ErrorClass::Conflict => {
            return decide_again(context, parent, &deletion).await;
        }
        Err(error) => {
            if error.may_have_taken_effect() {
                let is_final = matches!(deletion.why, DeletionReason::Undesired);
                report.deleted += usize::from(is_final);
                // Should it be gone, it was not others who deleted it.
                report.memory.memos.forget(&deletion.id);
            }
            return Err(error);
        }
    }
    Ok(None)
}

async fn send(context: &Context, parent: &Object, deletion: &Deletion) -> Result<(), ApiError> {
    let Deletion { id, uid, version, .. } = deletion;
    let config = context.config().child_config(&id.ty);
    let propagation = config.map(|config| config.propagation).unwrap_or_default();
    match context.cluster().delete(&id.ty, &id.key, (uid, version), propagation).await? {
        Deleted::Gone => learn_gone(context, parent, deletion),
        Deleted::Terminating(object) => context.learn(parent, object),
    }
    Ok(())
}

fn deleted(context: &Context, deletion: &Deletion, report: &mut Report) {
    let paths = match &deletion.why {
        DeletionReason::Undesired => {
            report.deleted += 1;
            Vec::new()
        }
        DeletionReason::Recreate { paths, instead_of: _ } => paths.clone(),
        DeletionReason::Immutable { paths, instead_of } => {
            immutable::remember(instead_of, report);
            paths.clone()
        }
    };
    report.recreated += usize::from(deletion.instead_of().is_some());
    report.memory.memos.forget(&deletion.id);
    context.metrics().child_written(context.name(), &deletion.id.ty, Verb::Deleted);
    report.wrote(&deletion.id, Verb::Deleted, paths);
}

fn learn_gone(context: &Context, parent: &Object, deletion: &Deletion) {
    let Deletion { id, uid, .. } = deletion;
    context.learn_gone(parent, &id.ty, &id.key, uid);
}

/// Somebody else deleted it: our own parent must be told too, as no write makes it run again.
fn learn_absent(context: &Context, deletion: &Deletion) {
    let Deletion { id, uid, .. } = deletion;
    context.learn_absent(&id.ty, &id.key, uid);
}

async fn decide_again(
    context: &Context,
    parent: &Object,
    deletion: &Deletion,
) -> Result<Option<Deletion>, ApiError> {
    let live = context.cluster().read(&deletion.id.ty, &deletion.id.key).await?;
    let (config, name) = (context.config(), context.name());
    match after_delete_conflict(config, name, parent, deletion, live.as_ref()) {
        AfterDeleteConflict::Again(deletion) => return Ok(Some(deletion)),
        AfterDeleteConflict::Gone => learn_absent(context, deletion),
        AfterDeleteConflict::Keep | AfterDeleteConflict::NotOurs => {}
    }
    if let Some(live) = live {
        context.learn_live(live);
    }
    Ok(None)
}

/// Looks before what cannot be undone; `false` when the child is to stay for now.
async fn confirm(
    context: &Context,
    parent: &Object,
    deletion: &mut Deletion,
    report: &mut Report,
) -> Result<bool, ApiError> {
    if deletion.irreplaceable && !is_still_due(context, parent, deletion, report).await? {
        return Ok(false);
    }
    match &deletion.why {
        DeletionReason::Undesired => Ok(true),
        DeletionReason::Recreate { instead_of, .. } => {
            Ok(!recreate::is_in_vain(context, parent, instead_of, report).await?)
        }
        DeletionReason::Immutable { instead_of, .. } => {
            recreate::can_follow(context, instead_of).await.map(|()| true)
        }
    }
}

/// Reads parent and child live before something goes that cannot be rebuilt.
async fn is_still_due(
    context: &Context,
    parent: &Object,
    deletion: &mut Deletion,
    report: &mut Report,
) -> Result<bool, ApiError> {
    let live_parent = context.cluster().read(parent.ty(), parent.key()).await?;
    let is_unchanged = live_parent.as_ref() == Some(parent);
    if let Some(live) = live_parent {
        context.learn_live(live);
    }
    if !is_unchanged {
        report.end = End::Outdated;
        return Ok(false);
    }
    let live = match context.cluster().read(&deletion.id.ty, &deletion.id.key).await? {
        Some(live)
            if live.resource_version() == &deletion.version && *live.uid() == deletion.uid =>
        {
            return Ok(true);
        }
        live => live,
    };
    let (config, name) = (context.config(), context.name());
    match after_delete_conflict(config, name, parent, deletion, live.as_ref()) {
        AfterDeleteConflict::Again(again) => {
            *deletion = again;
            return Ok(true);
        }
        AfterDeleteConflict::Gone => learn_absent(context, deletion),
        AfterDeleteConflict::Keep | AfterDeleteConflict::NotOurs => {}
    }
    if let Some(live) = live {
        context.learn_live(live);
    }
    Ok(false)
}
