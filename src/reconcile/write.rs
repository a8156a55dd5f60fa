//! Writing one child: the first request, which others may be sent beside, and what follows from its
//! answer, which changes the report.

use super::{
    Context, Report, adopt, contested, flapping,
    halt::{self, Halt},
    immutable, takeover,
};
use crate::{
    cluster::{ApiError, ErrorClass},
    history::Verb,
    object::Object,
    operator::ConflictPolicy,
    plan::{AfterConflict, Deletion, ForeignChild, Step, Write, after_conflict},
};

/// How often one child is written in a run when the answer is that it is not as we thought.
pub(super) const TRIES: usize = 3;

/// What came of the first request for a step.
pub(super) enum Begun {
    /// None is sent now: it is deleted when all writes are done.
    Deletion(Deletion),
    /// None was sent, as what was in the way of the child is there still.
    InTheWay(ForeignChild),
    /// What comes before it has failed already.
    Failed(Write, ApiError),
    /// It was answered.
    Answered(Attempt),
}

/// An apply and its answer.
pub(super) struct Attempt {
    write: Write,
    verb: Verb,
    /// The child as it was cached before.
    before: Option<Object>,
    reply: Result<Object, ApiError>,
}

/// What to do about a child after its write was answered 409.
pub(super) enum Next {
    Write(Write, Verb),
    Delete(Deletion),
    Done,
}

/// Sends the first request for a step. `known` is what stood where the child should be.
pub(super) async fn begin(
    context: &Context,
    parent: &Object,
    step: Step,
    known: Option<ForeignChild>,
) -> Begun {
    match step {
        Step::Create(write) => create(context, write, known).await,
        Step::Update(write) => match takeover::take_over(context, parent, &write.id).await {
            Ok(()) => Begun::Answered(send(context, write, Verb::Updated).await),
            Err(error) => Begun::Failed(write, error),
        },
        Step::Delete(deletion) => Begun::Deletion(deletion),
    }
}

/// Creates a child, unless the object of somebody else that was in the way still is.
async fn create(context: &Context, write: Write, known: Option<ForeignChild>) -> Begun {
    if let Some(known) = known {
        match context.cluster().read(&write.id.ty, &write.id.key).await {
            Ok(Some(live)) if is_unchanged(&known, &live) => return Begun::InTheWay(known),
            Ok(_) => {}
            Err(error) => return Begun::Failed(write, error),
        }
    }
    Begun::Answered(send(context, write, Verb::Created).await)
}

fn is_unchanged(known: &ForeignChild, live: &Object) -> bool {
    known.uid == *live.uid() && known.version == *live.resource_version()
}

async fn send(context: &Context, write: Write, verb: Verb) -> Attempt {
    let (ty, key) = (&write.id.ty, &write.id.key);
    let config = context.config().child_config(ty);
    let is_forced = config.is_none_or(|config| config.conflicts == ConflictPolicy::Force);
    // Before the request: the event of the write may be faster than its reply.
    let before = context.cached(ty, key);
    let (cluster, manager) = (context.cluster(), context.name().as_str());
    let reply = if is_forced {
        cluster.apply(ty, key, manager, &write.body).await
    } else {
        cluster.apply_yielding(ty, key, manager, &write.body).await
    };
    Attempt { write, verb, before, reply }
}

/// Takes in what was answered, and goes on until the child is written or cannot be; what has to be
/// deleted comes back.
pub(super) async fn finish(
    context: &Context,
    parent: &Object,
    begun: Begun,
    report: &mut Report,
) -> Option<Deletion> {
    match begun {
        Begun::Deletion(deletion) => return Some(deletion),
        Begun::InTheWay(known) => report.found_foreign(known),
        Begun::Failed(write, error) => report.child_failed(&write.id, error),
        Begun::Answered(attempt) => return conclude(context, parent, attempt, report).await,
    }
    None
}

/// Updates a child, after taking it over from a predecessor where there was one.
pub(super) async fn update(
    context: &Context,
    parent: &Object,
    write: Write,
    report: &mut Report,
) -> Option<Deletion> {
    let begun = begin(context, parent, Step::Update(write), None).await;
    finish(context, parent, begun, report).await
}

async fn conclude(
    context: &Context,
    parent: &Object,
    mut attempt: Attempt,
    report: &mut Report,
) -> Option<Deletion> {
    for tries in 1.. {
        let (write, verb, before, error) = take_in(context, parent, attempt, report)?;
        // What is in the way of a create may not be a child at all.
        let held = if write.is_creating() { Vec::new() } else { contested::held(&error) };
        if held.is_empty() && error.class() != ErrorClass::Conflict {
            report.found_way(&write.id);
            return refused(context, parent, &write, error, report).await;
        }
        if is_halted(context, parent, (&write, verb), report) {
            return None;
        }
        let id = write.id.clone();
        let next = if held.is_empty() {
            resolve(context, parent, (write, verb), report).await
        } else {
            report.found_way(&id);
            contested::settle(context, parent, (write, verb, before), held, report).await
        };
        attempt = match next {
            Next::Write(..) if tries == TRIES => {
                report.child_failed(&id, error);
                return None;
            }
            Next::Write(write, verb) if is_halted(context, parent, (&write, verb), report) => {
                return None;
            }
            Next::Write(write, verb) => send(context, write, verb).await,
            Next::Delete(deletion) => return Some(deletion),
            Next::Done => return None,
        };
    }
    None
}

/// Takes in what was answered; what was not accepted comes back.
fn take_in(
    context: &Context,
    parent: &Object,
    attempt: Attempt,
    report: &mut Report,
) -> Option<(Write, Verb, Option<Object>, ApiError)> {
    let Attempt { write, verb, before, reply } = attempt;
    match reply {
        Ok(reply) if before.as_ref() == Some(&reply) => {
            wrote_nothing(context, &write, &reply, report);
        }
        Ok(reply) => written(context, parent, &write, verb, reply, report),
        Err(error) => return Some((write, verb, before, error)),
    }
    None
}

/// Whether a child is not to be written once more, which is noted.
pub(super) fn is_halted(
    context: &Context,
    parent: &Object,
    (write, verb): (&Write, Verb),
    report: &mut Report,
) -> bool {
    let Some(halt) = Halt::before(context, parent, verb, report) else { return false };
    let write = write.clone();
    let step = if write.is_creating() { Step::Create(write) } else { Step::Update(write) };
    halt.hold(&step, report);
    true
}

/// A write was refused, and no second look at the object can change that.
pub(super) async fn refused(
    context: &Context,
    parent: &Object,
    write: &Write,
    error: ApiError,
    report: &mut Report,
) -> Option<Deletion> {
    match immutable::deletion(context, parent, write, &error, report).await {
        Ok(Some(deletion)) => return Some(deletion),
        Ok(None) => {
            let hint = immutable::hint(context, write, &error);
            report.child_failed(&write.id, error);
            report.hint(&write.id, hint);
        }
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
    report.memory.memos.remember(write, &reply, name);
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
    report.memory.memos.remember(write, reply, name);
    context.metrics().noop_write(name, &write.id.ty);
    report.wrote_nothing(&write.id, write.paths.clone());
}

async fn adopt(
    context: &Context,
    parent: &Object,
    (write, verb): (Write, Verb),
    live: Option<&Object>,
    report: &mut Report,
) -> Next {
    let Some(live) = live else { return Next::Done };
    let id = write.id.clone();
    match adopt::prepare(context, parent, (write, verb), live, report).await {
        Ok(adopt::Prepared::Apply(write)) => return Next::Write(write, Verb::Adopted),
        Ok(adopt::Prepared::Contested(write, held)) => {
            let disputed = (write, Verb::Adopted, None);
            return contested::settle(context, parent, disputed, held, report).await;
        }
        Ok(adopt::Prepared::Halted(halt, write)) => halt.hold(&Step::Create(write), report),
        Ok(adopt::Prepared::Outdated) => {
            report.put_off(&id, &"it changes while it is to be adopted");
        }
        Err(error) => report.child_failed(&id, error),
    }
    Next::Done
}

/// Somebody else deleted it, which may have been the garbage collector.
async fn create_again(
    context: &Context,
    parent: &Object,
    write: Write,
    report: &mut Report,
) -> Next {
    match halt::is_as_planned(context, parent, report).await {
        Ok(true) => return Next::Write(write, Verb::Created),
        Ok(false) => {}
        Err(error) => report.child_failed(&write.id, error),
    }
    Next::Done
}

/// Looks at the live object after a conflict.
async fn resolve(
    context: &Context,
    parent: &Object,
    (write, verb): (Write, Verb),
    report: &mut Report,
) -> Next {
    let id = write.id.clone();
    let live = match context.cluster().read(&id.ty, &id.key).await {
        Ok(live) => live,
        Err(error) => {
            report.child_failed(&id, error);
            return Next::Done;
        }
    };
    // If anything is in the way, it is what is found now.
    report.found_way(&id);
    match after_conflict(context.config(), context.name(), parent, write, live.as_ref()) {
        AfterConflict::CreateAgain(write) => {
            return create_again(context, parent, write, report).await;
        }
        AfterConflict::ApplyWithUid(write) => {
            if let Some(live) = &live {
                flapping::found(context, &write, live, report).await;
            }
            return Next::Write(write, Verb::Updated);
        }
        AfterConflict::Recreate(deletion) => {
            if let (Some(live), Some(write)) = (&live, deletion.instead_of()) {
                flapping::found(context, write, live, report).await;
            }
            return Next::Delete(deletion);
        }
        AfterConflict::Adopt(write) => {
            return adopt(context, parent, (write, verb), live.as_ref(), report).await;
        }
        AfterConflict::Settled => report.found_settled(&id),
        AfterConflict::Wait(why) => {
            report.put_off += usize::from(why.is_deleting());
            report.wait_for(&id, &why);
        }
        AfterConflict::Foreign(foreign) => {
            context.metrics().conflict(context.name(), &id.ty);
            report.found_foreign(foreign);
            return Next::Done;
        }
    }
    if let Some(live) = live {
        context.learn_left(live, report);
    }
    Next::Done
}
