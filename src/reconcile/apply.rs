//! Step 4: carrying out a plan. A failure with one child does not keep the others from theirs.

use super::{
    Context, End, Report, adopt, contested, delete, flapping, immutable, interlock, lingering,
    pause, takeover,
};
use crate::{
    cluster::{ApiError, ErrorClass},
    history::Verb,
    object::Object,
    operator::ConflictPolicy,
    plan::{AfterConflict, Deletion, Plan, Step, Waiting, WaitingReason, Write, after_conflict},
};

/// How often one child is written in a run when the answer is that it is not as we thought.
pub(super) const TRIES: usize = 3;

/// Carries out a plan, step by step.
pub(super) async fn apply(context: &Context, parent: &Object, plan: Plan, report: &mut Report) {
    let existing = plan.existing();
    immutable::forget_undesired(&plan, report);
    let Plan { steps, memos, waiting } = plan;
    report.unchanged = memos.len();
    report.memory.memos = memos;
    context.metrics().children_unchanged(context.name(), report.unchanged);
    let is_partial = waiting.iter().any(|waiting| waiting.why == WaitingReason::TypeNotSynced);
    for Waiting { id, why } in &waiting {
        report.wait_for(id, why);
    }
    lingering::look(context, &waiting, report).await;
    match may_create(context, parent, &steps, report).await {
        Ok(true) => {}
        Ok(false) => return report.close(),
        Err(error) => {
            report.step_failed(&"the parent", error);
            return report.close();
        }
    }
    let (mut steps, taken) = if is_partial {
        interlock::admit_part(context, parent, steps, existing, report)
    } else {
        interlock::admit(context, parent, steps, existing, report)
    };
    // Or a child that the server never takes would keep those behind it waiting for ever.
    steps.sort_by_key(|step| report.memory.throttled.contains(step.id()));
    let mut deletions = Vec::new();
    for step in steps {
        if context.has_left(parent) {
            report.end = End::Outdated;
            break;
        }
        if let Some(by) = context.paused_meanwhile(parent) {
            pause::hold_step(&step, by, report);
            continue;
        }
        if report.is_throttled() {
            report.hold_back(step.id());
            continue;
        }
        flapping::look(context, &step, report).await;
        match step {
            Step::Create(write) => deletions.extend(create(context, parent, write, report).await),
            Step::Update(write) => deletions.extend(update(context, parent, write, report).await),
            Step::Delete(deletion) => deletions.push(deletion),
        }
    }
    delete_all(context, parent, deletions, report).await;
    if !report.is_throttled() {
        report.memory.throttled.clear();
    }
    interlock::settle(context, taken, report);
    report.memory.had_children |= existing > 0 || !report.writes.is_empty();
    contested::tell(context, parent, report);
    report.close();
}

/// Deletes, unless a write was refused. A deletion that is refused keeps no other from its own: it
/// may be refused for ever.
async fn delete_all(
    context: &Context,
    parent: &Object,
    deletions: Vec<Deletion>,
    report: &mut Report,
) {
    let is_refused = report.was_refused();
    for deletion in deletions {
        if context.has_left(parent) {
            report.end = End::Outdated;
        }
        if report.end != End::Alive {
            // Another run decides again, on what the parent is by now.
            return;
        }
        if let Some(by) = context.paused_meanwhile(parent) {
            pause::hold_step(&Step::Delete(deletion), by, report);
        } else if context.unsynced(parent).contains(&deletion.id.ty) {
            // Since it was planned, or because of what a write was answered.
            report.wait_for(&deletion.id, &WaitingReason::TypeNotSynced);
        } else if is_refused {
            report.wait(&deletion.id, &"its deletion waits until every write is accepted");
        } else if report.is_throttled() {
            report.hold_back(&deletion.id);
        } else {
            delete::delete(context, parent, deletion, report).await;
        }
    }
}

/// Whether the parent is, live, as the plan believes. Asked where a child may be missing because
/// the parent is being deleted in the foreground: the watch of the children can be faster than
/// that of the parent, and what the garbage collector took must not come back.
async fn may_create(
    context: &Context,
    parent: &Object,
    steps: &[Step],
    report: &mut Report,
) -> Result<bool, ApiError> {
    let creates = steps.iter().any(|step| matches!(step, Step::Create(_)));
    let had_children = report.memory.had_children || parent.field("status").is_some();
    if !creates || !had_children {
        return Ok(true);
    }
    let Some(live) = context.cluster().read(parent.ty(), parent.key()).await? else {
        report.end = End::Gone;
        return Ok(false);
    };
    if is_as_planned_for(parent, &live) {
        return Ok(true);
    }
    report.end = End::Outdated;
    context.learn_live(live);
    Ok(false)
}

fn is_as_planned_for(parent: &Object, live: &Object) -> bool {
    let is_same =
        live.generation() == parent.generation() && (live.generation().is_some() || live == parent);
    live.uid() == parent.uid() && !live.is_deleting() && is_same
}

/// Creates a child, unless the object of somebody else that was in the way still is.
async fn create(
    context: &Context,
    parent: &Object,
    write: Write,
    report: &mut Report,
) -> Option<Deletion> {
    let known = report.memory.foreign.get(&write.id).cloned();
    if let Some(known) = known {
        match context.cluster().read(&write.id.ty, &write.id.key).await {
            Ok(Some(live)) if is_unchanged(&known, &live) => {
                report.found_foreign(known);
                return None;
            }
            Ok(_) => {}
            Err(error) => {
                report.child_failed(&write.id, error);
                return None;
            }
        }
    }
    write_child(context, parent, write, Verb::Created, report).await
}

fn is_unchanged(known: &crate::plan::ForeignChild, live: &Object) -> bool {
    known.uid == *live.uid() && known.version == *live.resource_version()
}

/// Updates a child, after taking it over from a predecessor where there was one.
pub(super) async fn update(
    context: &Context,
    parent: &Object,
    write: Write,
    report: &mut Report,
) -> Option<Deletion> {
    if let Err(error) = takeover::take_over(context, parent, &write.id).await {
        report.child_failed(&write.id, error);
        return None;
    }
    write_child(context, parent, write, Verb::Updated, report).await
}

/// What to do about a child after its write was answered 409.
enum Next {
    Write(Write, Verb),
    Delete(Deletion),
    Done,
}

/// Writes one child; what has to be deleted instead comes back.
async fn write_child(
    context: &Context,
    parent: &Object,
    mut write: Write,
    mut verb: Verb,
    report: &mut Report,
) -> Option<Deletion> {
    let mut last = None;
    let config = context.config().child_config(&write.id.ty);
    let is_forced = config.is_none_or(|config| config.conflicts == ConflictPolicy::Force);
    for _ in 0..TRIES {
        let manager = context.name().as_str();
        let id = write.id.clone();
        // Before the request: the event of the write may be faster than its reply.
        let before = context.cached(&id.ty, &id.key);
        let (cluster, body) = (context.cluster(), &write.body);
        let reply = if is_forced {
            cluster.apply(&id.ty, &id.key, manager, body).await
        } else {
            cluster.apply_yielding(&id.ty, &id.key, manager, body).await
        };
        match reply {
            Ok(reply) if before.as_ref() == Some(&reply) => {
                wrote_nothing(context, &write, &reply, report);
                return None;
            }
            Ok(reply) => {
                written(context, parent, &write, verb, reply, report);
                return None;
            }
            // What is in the way of a create may not be a child at all.
            Err(error) if !write.is_creating() && !contested::held(&error).is_empty() => {
                let held = contested::held(&error);
                contested::settle(context, parent, (write, verb), held, report).await;
                return None;
            }
            Err(error) if error.class() == ErrorClass::Conflict => last = Some((id, error)),
            Err(error) => return refused(context, parent, &write, error, report).await,
        }
        (write, verb) = match resolve(context, parent, write, report).await {
            Next::Write(write, verb) => (write, verb),
            Next::Delete(deletion) => return Some(deletion),
            Next::Done => return None,
        };
    }
    if let Some((id, error)) = last {
        report.child_failed(&id, error);
    }
    None
}

/// A write was refused, and no second look at the object can change that.
async fn refused(
    context: &Context,
    parent: &Object,
    write: &Write,
    error: ApiError,
    report: &mut Report,
) -> Option<Deletion> {
    match immutable::deletion(context, parent, write, &error, report).await {
        Ok(Some(deletion)) => return Some(deletion),
        Ok(None) => report.child_failed(&write.id, error),
        Err(error) => report.child_failed(&write.id, error),
    }
    None
}

pub(super) fn written(
    context: &Context,
    parent: &Object,
    write: &Write,
    verb: Verb,
    reply: Object,
    report: &mut Report,
) {
    let name = context.name();
    report.memory.memos.remember(write, &reply);
    immutable::forget_other(write, report);
    context.metrics().child_written(name, &write.id.ty, verb);
    report.wrote(&write.id, verb, write.paths.clone());
    if verb == Verb::Adopted {
        adopt::announce(context, parent, &write.id, report);
    }
    if context.is_watched(&reply) {
        context.learn(parent, reply);
    } else {
        // In the cache it would stay as it is now, whatever becomes of it.
        report.child_failed(&write.id, context.unlabelled());
    }
}

/// The server found nothing to change: not worth a second try.
pub(super) fn wrote_nothing(context: &Context, write: &Write, reply: &Object, report: &mut Report) {
    let name = context.name();
    report.memory.memos.remember(write, reply);
    context.metrics().noop_write(name, &write.id.ty);
    report.wrote_nothing(&write.id, write.paths.clone());
}

async fn adopt(
    context: &Context,
    parent: &Object,
    write: Write,
    live: Option<&Object>,
    report: &mut Report,
) -> Next {
    let Some(live) = live else { return Next::Done };
    let id = write.id.clone();
    match adopt::prepare(context, write, live).await {
        Ok(adopt::Prepared::Apply(write)) => return Next::Write(write, Verb::Adopted),
        Ok(adopt::Prepared::Contested(write, held)) => {
            contested::settle(context, parent, (write, Verb::Adopted), held, report).await;
        }
        Ok(adopt::Prepared::Outdated) => {
            report.wait(&id, &"it changes while it is to be adopted");
        }
        Err(error) => report.child_failed(&id, error),
    }
    Next::Done
}

/// Looks at the live object after a conflict.
async fn resolve(context: &Context, parent: &Object, write: Write, report: &mut Report) -> Next {
    let id = write.id.clone();
    let live = match context.cluster().read(&id.ty, &id.key).await {
        Ok(live) => live,
        Err(error) => {
            report.child_failed(&id, error);
            return Next::Done;
        }
    };
    match after_conflict(context.config(), context.name(), parent, write, live.as_ref()) {
        AfterConflict::CreateAgain(write) => return Next::Write(write, Verb::Created),
        AfterConflict::ApplyWithUid(write) => return Next::Write(write, Verb::Updated),
        AfterConflict::Recreate(deletion) => return Next::Delete(deletion),
        AfterConflict::Adopt(write) => {
            return adopt(context, parent, write, live.as_ref(), report).await;
        }
        AfterConflict::Settled => report.found_settled(&id),
        AfterConflict::Wait(why) => report.wait_for(&id, &why),
        AfterConflict::Foreign(foreign) => {
            context.metrics().conflict(context.name(), &id.ty);
            report.found_foreign(foreign);
            return Next::Done;
        }
    }
    if let Some(live) = live {
        context.learn_live(live);
    }
    Next::Done
}
