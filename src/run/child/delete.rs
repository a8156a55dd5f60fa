//! Deletes one child, with uid and version as preconditions, and not if it would be recreated the same.
//!
//! | waits for | answer | next |
//! |---|---|---|
//! | the parent, before an irreplaceable child is deleted | it changed | nothing: another reconcile decides |
//! | | unchanged | the child |
//! | the child, likewise | it changed | the decision again |
//! | | unchanged | the deletion, or first the dry runs of a recreation |
//! | a dry run of a new object | it would be accepted | the deletion |
//! | the deletion | accepted | it was deleted |
//! | | 404 | someone else deleted it |
//! | | 409 | the child and the decision again, three times at most |

use super::{
    dry_run::{after_refusal, dry_run_of_new},
    task::{AwaitedChild, ChildNext, Deleting, TRIES, Task, ask, done, hand, left},
};
use crate::{
    history::Verb,
    journal::{End, Fact, Left, Wait, Written},
    object::Object,
    plan::{AfterDeleteConflict, ChildId, Deletion, DeletionReason, Step, after_delete_conflict},
    reply::{ApiError, Deleted, ErrorClass},
    run::{
        effect::Cache,
        module_view::View,
        request::{Answer, Reply, Request},
        turn::{Turn, child_failed, held_step, waits},
    },
};

/// The facts if a child must not be deleted any more: its parent stays, or is paused.
pub(in crate::run) fn is_held(deletion: &Deletion, view: &View<'_>) -> Option<Vec<Fact>> {
    let is_leaving = view.settings.is_leaving(view.parent);
    let stays = !is_leaving || view.settings.takes_leave(view.parent);
    if stays && view.has_left() {
        // Another reconcile decides on the current parent.
        return Some(vec![Fact::Parent(End::Outdated)]);
    }
    match view.paused_meanwhile()? {
        _ if is_leaving => Some(vec![waits(&deletion.id, Wait::EndPaused)]),
        by => {
            let step = Step::Delete(deletion.clone());
            Some(held_step(&step, by, view.progress.held_writes()).into())
        }
    }
}

pub(super) fn begin(deletion: Deletion, tries: usize, view: &View<'_>) -> Turn<ChildNext> {
    if tries > TRIES {
        return done()
            .note(waits(&deletion.id, Wait::Others("it keeps changing, so it was not deleted")));
    }
    if let Some(facts) = is_held(&deletion, view) {
        return held(facts);
    }
    if deletion.irreplaceable {
        let parent = Request::Read(ChildId::of(view.parent));
        return ask(parent, AwaitedChild::Delete(Deleting::Parent(deletion, tries)));
    }
    confirmed(deletion, tries, view)
}

pub(super) fn answered(state: Deleting, answer: Answer, view: &View<'_>) -> Turn<ChildNext> {
    match state {
        Deleting::Parent(deletion, tries) => match Reply::object(answer) {
            Ok(live) => parent_seen(deletion, tries, live, view),
            Err(error) => failed(&deletion, error),
        },
        Deleting::Child(deletion, tries) => match Reply::object(answer) {
            Ok(live) => child_seen(deletion, tries, live, view),
            Err(error) => failed(&deletion, error),
        },
        Deleting::New(deletion, tries) => {
            let reply = Reply::written(answer).map(drop);
            match reply.or_else(|error| after_refusal(error, None)) {
                Ok(()) => send(deletion, tries, view),
                Err(error) => failed(&deletion, error),
            }
        }
        Deleting::Sent(deletion, tries) => sent(deletion, tries, Reply::deleted(answer), view),
        Deleting::Conflict(deletion, tries) => match Reply::object(answer) {
            Ok(live) => {
                decided_again(&deletion, live, view, |again| hand(Task::Delete(again, tries + 1)))
            }
            Err(error) => failed(&deletion, error),
        },
    }
}

fn parent_seen(
    deletion: Deletion,
    tries: usize,
    live: Option<Object>,
    view: &View<'_>,
) -> Turn<ChildNext> {
    let is_unchanged = live.as_ref() == Some(view.parent);
    let seen = done().cache(live.map(Cache::Saw));
    if !is_unchanged {
        return seen.note(Fact::Parent(End::Outdated));
    }
    let request = Request::Read(deletion.id.clone());
    seen.before(ask(request, AwaitedChild::Delete(Deleting::Child(deletion, tries))))
}

fn child_seen(
    deletion: Deletion,
    tries: usize,
    live: Option<Object>,
    view: &View<'_>,
) -> Turn<ChildNext> {
    let is_it =
        |live: &Object| live.resource_version() == &deletion.version && *live.uid() == deletion.uid;
    if live.as_ref().is_some_and(is_it) {
        return confirmed(deletion, tries, view);
    }
    decided_again(&deletion, live, view, |again| confirmed(again, tries, view))
}

fn decided_again(
    deletion: &Deletion,
    live: Option<Object>,
    view: &View<'_>,
    again: impl FnOnce(Deletion) -> Turn<ChildNext>,
) -> Turn<ChildNext> {
    let (config, name) = (view.settings.config(), view.settings.name());
    let seen = live.clone().map(Cache::Saw);
    match after_delete_conflict(config, name, view.parent, deletion, live.as_ref()) {
        AfterDeleteConflict::Again(deletion) => again(deletion),
        AfterDeleteConflict::Gone => done().cache([absent(deletion)]).cache(seen),
        AfterDeleteConflict::Keep | AfterDeleteConflict::NotOurs => left(live).cache(seen),
    }
}

/// The child is the expected version. Its replacement is checked by a dry run first.
fn confirmed(deletion: Deletion, tries: usize, view: &View<'_>) -> Turn<ChildNext> {
    match &deletion.why {
        DeletionReason::Undesired => send(deletion, tries, view),
        DeletionReason::Recreate { .. } => hand(Task::Recreate(deletion, tries)),
        DeletionReason::Immutable { instead_of, .. } => {
            ask(dry_run_of_new(instead_of), AwaitedChild::Delete(Deleting::New(deletion, tries)))
        }
    }
}

/// Sends the deletion. A pause may have begun during the reads before it.
pub(super) fn send(deletion: Deletion, tries: usize, view: &View<'_>) -> Turn<ChildNext> {
    if let Some(facts) = is_held(&deletion, view) {
        return held(facts);
    }
    let of_type = || view.settings.config().child_config(&deletion.id.ty);
    let config = deletion.instead_of().map(|write| write.config).or_else(of_type);
    let propagation = config.map(|config| config.propagation).unwrap_or_default();
    let Deletion { id, uid, version, .. } = deletion.clone();
    let request = Request::Delete { id, uid, version, propagation };
    ask(request, AwaitedChild::Delete(Deleting::Sent(deletion, tries)))
}

fn sent(
    deletion: Deletion,
    tries: usize,
    reply: Result<Deleted, ApiError>,
    view: &View<'_>,
) -> Turn<ChildNext> {
    match reply {
        Ok(Deleted::Gone) => {
            let gone = Cache::Deleted(deletion.id.clone(), deletion.uid.clone());
            done().cache([gone]).note(deleted(deletion, view))
        }
        Ok(Deleted::Terminating(object)) => {
            left(Some(object.clone())).cache([Cache::Wrote(object)]).note(deleted(deletion, view))
        }
        Err(error) if error.class() == ErrorClass::Missing => done().cache([absent(&deletion)]),
        Err(error) if error.class() == ErrorClass::Conflict => {
            let request = Request::Read(deletion.id.clone());
            ask(request, AwaitedChild::Delete(Deleting::Conflict(deletion, tries)))
        }
        Err(error) if error.may_have_taken_effect() => {
            // If it is gone later, this request deleted it.
            let (child, is_final) = (deletion.id.clone(), deletion.instead_of().is_none());
            done().note(Fact::MayBeDeleted { child, is_final }).before(failed(&deletion, error))
        }
        Err(error) => failed(&deletion, error),
    }
}

fn deleted(deletion: Deletion, view: &View<'_>) -> Fact {
    let (paths, left) = match deletion.why {
        DeletionReason::Undesired => (Vec::new(), Left::Gone),
        DeletionReason::Recreate { paths, .. } => (paths, Left::ToRecreate { immutable: None }),
        DeletionReason::Immutable { paths, instead_of } => {
            (paths, Left::ToRecreate { immutable: Some(instead_of.desired_hash) })
        }
    };
    let rewrite = view.rewrite_of(&deletion.id).cloned();
    Fact::Written(Written { child: deletion.id, verb: Verb::Deleted, paths, rewrite, left })
}

/// Someone else deleted it. This wakes the own parent too, as no own write does.
fn absent(deletion: &Deletion) -> Cache {
    Cache::Absent(deletion.id.clone(), deletion.uid.clone())
}

fn failed(deletion: &Deletion, error: ApiError) -> Turn<ChildNext> {
    done().note(child_failed(&deletion.id, error))
}

fn held(facts: Vec<Fact>) -> Turn<ChildNext> {
    let mut turn = done();
    turn.facts = facts;
    turn
}
