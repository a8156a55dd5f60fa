//! What comes before a sync: the finalizer of parents that need one, and the end of parents that go,
//! be it because they are deleted or because they left the selection.

use super::{
    Context, End, Failure, PausedBy, Report,
    call::{self, Failed},
    flapping, ours, pause, status, uncollectable,
};
use crate::{
    cluster::{ApiError, ErrorClass},
    history::RunStep,
    object::Object,
    operator::{FinalizeResponse, Handler},
    plan::{add_finalizer, remove_finalizer},
};

/// What is left to do for a parent.
pub(super) enum Prepared {
    /// Sync it; this is the newest version of it.
    Sync(Object),
    /// Nothing more in this run.
    Done,
}

type Change = fn(&Context, &Object) -> Option<serde_json::Value>;

const TRIES: usize = 3;

/// Adds or removes our finalizer where it is due, and finalizes a parent that goes.
pub(super) async fn prepare(context: &Context, parent: Object, report: &mut Report) -> Prepared {
    if let Some(by) = context.paused_by(&parent) {
        return pause::prepare(context, parent, by, report).await;
    }
    let (is_leaving, is_held) = (context.is_leaving(&parent), holds_ours(context, &parent));
    if is_leaving && is_held && !leaves_still(context, &parent, report).await {
        return Prepared::Done;
    }
    match (is_leaving, is_held, context.needs_finalizer()) {
        (true, false, _) => Prepared::Done,
        (true, true, true) => {
            finalize(context, &parent, report).await;
            Prepared::Done
        }
        // A finalizer from a time when one was asked for.
        (true, true, false) => {
            release(context, &parent, report).await;
            Prepared::Done
        }
        (false, _, true) => sync_after(context, &parent, adding, report).await,
        (false, _, false) => sync_after(context, &parent, removing, report).await,
    }
}

/// An end cannot be taken back, so that it is not begun on what may be old: of a server that was given
/// back a backup the parent may be alive, or it is selected again. A version of the lost history may
/// have been given again: only the texts tell them apart.
async fn leaves_still(context: &Context, parent: &Object, report: &mut Report) -> bool {
    if !context.may_be_old(parent) {
        return true;
    }
    match context.cluster().read(parent.ty(), parent.key()).await {
        Ok(Some(live)) if live == *parent && live.json() == parent.json() => return true,
        Ok(Some(live)) if live.uid() == parent.uid() => context.learn_live(live),
        Ok(_) => context.learn_absent(parent.ty(), parent.key(), parent.uid()),
        Err(error) => {
            not_patched(context, parent, error, report).await;
            return false;
        }
    }
    report.end = End::Outdated;
    false
}

/// A parent that has left meanwhile gets no finalizer: nobody might take it off.
fn adding(context: &Context, parent: &Object) -> Option<serde_json::Value> {
    let (name, former) = (context.name().finalizer(), &context.config().predecessor.finalizers);
    context.selects(parent).then(|| add_finalizer(parent, &name, former))?
}

fn removing(context: &Context, parent: &Object) -> Option<serde_json::Value> {
    let (name, former) = (context.name().finalizer(), &context.config().predecessor.finalizers);
    remove_finalizer(parent, &name, former)
}

/// Whether the finalizers of a parent that stays are not as they should be.
pub(super) fn is_due(context: &Context, parent: &Object) -> bool {
    let change: Change = if context.needs_finalizer() { adding } else { removing };
    change(context, parent).is_some()
}

/// Changes the finalizers where that is due; usually no request is sent.
async fn sync_after(
    context: &Context,
    parent: &Object,
    change: Change,
    report: &mut Report,
) -> Prepared {
    let is_due = change(context, parent).is_some();
    if is_due && flapping::puts_off_finalizers(context, report) {
        // Without the finalizer that it needs a parent gets no children.
        let is_bare = context.needs_finalizer() && !context.holds(parent);
        return if is_bare { Prepared::Done } else { Prepared::Sync(parent.clone()) };
    }
    match patch(context, parent, change).await {
        Ok(Some(parent)) if !context.is_leaving(&parent) => {
            if let Some(by) =
                context.paused_by(&parent).filter(|_| change(context, &parent).is_some())
            {
                // Since the run began: without the finalizer that it needs it gets no children.
                return pause::prepare(context, parent, by, report).await;
            }
            if is_due {
                flapping::note_finalizers(context, report);
            }
            Prepared::Sync(parent)
        }
        Ok(_) => Prepared::Done,
        Err(error) => {
            not_patched(context, parent, error, report).await;
            Prepared::Done
        }
    }
}

async fn finalize(context: &Context, parent: &Object, report: &mut Report) {
    if !context.handler().has_finalizer() {
        return collect_and_release(context, parent, report).await;
    }
    let observed = context.observed(parent);
    let children = ours(context, parent, &observed);
    let called = call::call(context, (parent, children), report, <dyn Handler>::finalize);
    match called.await.and_then(check) {
        Ok(FinalizeResponse { retry: None, .. }) => {
            collect_and_release(context, parent, report).await;
        }
        Ok(FinalizeResponse { status, retry: Some(after), .. }) => {
            report.waiting.push("the handler is still finalizing".to_owned());
            report.resync = Some(after);
            report.end = End::Finalizing;
            status::write(context, parent, status, report).await;
        }
        Err(Failed { failure, status }) => {
            // However permanent: whoever rests here keeps the parent from going.
            report.fail(failure.into_passing());
            status::write(context, parent, status, report).await;
        }
    }
}

fn check(response: FinalizeResponse) -> Result<FinalizeResponse, Failed> {
    match &response.unserializable {
        // The status of a parent that may go is not written.
        Some(why) if response.retry.is_some() => Err(Failure::unserializable(why.clone()).into()),
        Some(_) | None => Ok(response),
    }
}

/// A parent that only leaves the selection keeps its children.
async fn collect_and_release(context: &Context, parent: &Object, report: &mut Report) {
    // While the handler was called.
    if let Some(by) = context.paused_by_now(parent) {
        return pause::stay(context, parent, by, report).await;
    }
    let is_free = !parent.is_deleting() || uncollectable::remove(context, parent, report).await;
    report.lap(RunStep::Apply);
    if is_free {
        release(context, parent, report).await;
        report.lap(RunStep::Apply);
    } else if report.end == End::Alive {
        status::write(context, parent, None, report).await;
    }
}

async fn release(context: &Context, parent: &Object, report: &mut Report) {
    // While children went.
    if let Some(by) = context.paused_by_now(parent) {
        return pause::stay(context, parent, by, report).await;
    }
    match patch(context, parent, removing).await {
        Ok(reply) => {
            if let Some((live, by)) = reply.as_ref().and_then(|live| kept(context, live)) {
                return pause::stay(context, live, by, report).await;
            }
            if reply.as_ref().is_some_and(|live| has_come_back(context, live)) {
                report.end = End::Outdated;
                return;
            }
            report.end = End::Finalized;
            if reply.is_some_and(|reply| reply.has_ended()) {
                // The reply has the version from before its end: without this the cache has our
                // finalizer until the event comes, and a child that goes would finalize again.
                context.learn_absent(parent.ty(), parent.key(), parent.uid());
            }
        }
        Err(error) => not_patched(context, parent, error, report).await,
    }
}

/// What keeps our finalizer on a parent that was read on the way, if a pause does.
fn kept<'a>(context: &Context, live: &'a Object) -> Option<(&'a Object, PausedBy)> {
    let by = context.paused_by(live)?;
    holds_ours(context, live).then_some((live, by))
}

/// Whether a parent that was read on the way does not leave after all.
fn has_come_back(context: &Context, live: &Object) -> bool {
    !context.is_leaving(live) && context.holds(live)
}

/// The condition says so: nothing else of the run will.
async fn not_patched(context: &Context, parent: &Object, error: ApiError, report: &mut Report) {
    report.step_failed(&"the finalizer", error);
    report.close();
    status::write(context, parent, None, report).await;
}

/// Whether a parent that goes waits for us: our finalizer is on it or, if it is being deleted, one of
/// the operator that we took over from. That operator may never have answered for what only is not
/// selected.
pub(super) fn holds_ours(context: &Context, parent: &Object) -> bool {
    let former = &context.config().predecessor.finalizers;
    context.holds(parent)
        || (parent.is_deleting() && parent.finalizers().iter().any(|held| former.contains(held)))
}

/// Changes the finalizers of the parent, deciding again on a live read when it has changed: those
/// of one that is paused by then, or whose operator is, stay as they are, and those of one that has
/// begun to leave, or does not any more. `None` when the parent is gone.
async fn patch(
    context: &Context,
    parent: &Object,
    change: Change,
) -> Result<Option<Object>, ApiError> {
    let (cluster, manager) = (context.cluster(), context.name().as_str());
    let was_leaving = context.is_leaving(parent);
    let mut parent = parent.clone();
    for attempt in 1.. {
        let Some(body) = change(context, &parent) else { break };
        match cluster.patch_object(parent.ty(), parent.key(), manager, &body).await {
            Ok(reply) => {
                if context.answers_for(&reply) {
                    context.learn(&parent, reply.clone());
                } else {
                    // No event will follow that ends the parent: this tells our own operator too.
                    context.learn_live(reply.clone());
                }
                return Ok(Some(reply));
            }
            Err(error) if error.class() == ErrorClass::Missing => return Ok(None),
            Err(error) if error.class() == ErrorClass::Conflict && attempt < TRIES => {}
            Err(error) => return Err(error),
        }
        match cluster.read(parent.ty(), parent.key()).await? {
            Some(live) if live.uid() == parent.uid() => {
                context.learn_live(live.clone());
                parent = live;
                let is_paused = context.paused_by(&parent).is_some();
                if is_paused || context.is_leaving(&parent) != was_leaving {
                    break;
                }
            }
            Some(_) | None => return Ok(None),
        }
    }
    Ok(Some(parent))
}
