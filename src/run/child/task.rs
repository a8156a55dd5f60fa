//! The tasks of one child, what they wait for, and what is next: values only. The module of the same name
//! implements each.

use crate::{
    history::Verb,
    object::{Object, Uid},
    plan::{ChildId, Deletion, ForeignChild, HeldField, Step, Write},
    reply::ApiError,
    run::{
        drift::rival::Search,
        request::Request,
        turn::{Next, Turn},
    },
};

/// How often a child is written in a reconcile that meets conflicts.
pub(super) const TRIES: usize = 3;

#[derive(Debug)]
pub(in crate::run) enum Task {
    Write(Step),
    /// Take it over from a predecessor, then continue.
    TakeOver(Takeover),
    FindRival(Search, Box<Task>),
    Apply(Attempt),
    Resolve(Attempt),
    Settle(Dispute),
    Adopt(Attempt, Object),
    /// Check whether a refused change allows a deletion.
    Refused(Refused),
    /// Delete it; the number counts the tries.
    Delete(Deletion, usize),
    /// Send its deletion, after all checks.
    Send(Deletion, usize),
    Recreate(Deletion, usize),
    Defer(Deletion),
}

#[derive(Debug)]
pub(in crate::run) enum AwaitedChild {
    TakeOver(TakingOver),
    FindRival(Search, Box<Task>),
    Apply(Applying),
    Adopt(Adopting),
    Dispute(Disputing),
    Delete(Deleting),
    Recreate(Recreating),
}

/// What follows when no request is sent.
#[derive(Debug)]
pub(in crate::run) enum After {
    /// Another module continues.
    Hand(Box<Task>),
    /// The child is to be deleted after all writes.
    Delete(Deletion),
    /// Nothing. Holds the last known object of a child that was to be deleted.
    Nothing(Option<Object>),
}

pub(in crate::run) type ChildNext = Next<Box<AwaitedChild>, After>;

#[derive(Debug)]
pub(in crate::run) struct Attempt {
    pub(super) write: Write,
    pub(super) verb: Verb,
    /// How often the child was already written in this reconcile.
    pub(super) tries: usize,
    /// The error of the last try.
    pub(super) error: Option<ApiError>,
}

#[derive(Debug)]
pub(in crate::run) struct Refused {
    pub(super) write: Write,
    pub(super) error: ApiError,
}

#[derive(Debug)]
pub(in crate::run) enum Applying {
    Foreign(Write, ForeignChild),
    /// The answer to an apply, with the cached child from before the request: the watch event of the write
    /// may arrive before its reply.
    Sent(Attempt, Option<Object>),
    /// A live read of the child after a conflict.
    Looking(Attempt),
    /// A live read of the parent, before a deleted child is created again.
    Parent(Attempt),
    Immutable(Refused),
}

#[derive(Debug)]
pub(in crate::run) struct Dispute {
    /// The full write.
    pub(super) attempt: Attempt,
    /// The cached object at the time of the full apply. If it has changed, the field managers may have
    /// released their fields, and the full apply is repeated.
    pub(super) before: Option<Object>,
    pub(super) live: Option<Object>,
    pub(super) held: Vec<HeldField>,
    /// How often the rest was sent.
    pub(super) rounds: usize,
}

#[derive(Debug)]
pub(in crate::run) enum Disputing {
    Settle(Dispute, Object, Vec<HeldField>),
    /// A live read before this is applied.
    Look(Dispute, Write),
    /// The answer to this write without force, on this version.
    Sent(Dispute, Write, Object),
    /// The same with force.
    Forced(Dispute, Write, Object),
    Skip(Dispute),
}

#[derive(Debug)]
pub(in crate::run) struct Takeover {
    pub(super) id: ChildId,
    pub(super) uid: Uid,
    pub(super) of: TakenOver,
    pub(super) attempt: usize,
    pub(super) then: Box<Task>,
}

#[derive(Debug)]
pub(in crate::run) enum TakenOver {
    OfPredecessor,
    /// List items that collide with those of this refused write.
    Colliding(Box<Refused>),
}

#[derive(Debug)]
pub(in crate::run) enum TakingOver {
    /// The whole object: the cache has only some of the field managers.
    Whole(Takeover),
    Patched(Takeover),
}

#[derive(Debug)]
pub(in crate::run) struct Adoption {
    pub(super) attempt: Attempt,
    pub(super) live: Object,
}

#[derive(Debug)]
pub(in crate::run) enum Adopting {
    Tried(Adoption),
    TriedYielding(Adoption),
    Whole(Adoption),
    HandedOver(Adoption),
}

#[derive(Debug)]
pub(in crate::run) enum Deleting {
    Parent(Deletion, usize),
    Child(Deletion, usize),
    New(Deletion, usize),
    Sent(Deletion, usize),
    Conflict(Deletion, usize),
}

#[derive(Debug)]
pub(in crate::run) struct Recreation {
    pub(super) deletion: Deletion,
    pub(super) tries: usize,
    pub(super) instead_of: Write,
}

#[derive(Debug)]
pub(in crate::run) enum Recreating {
    /// A live read: without its label it is not cached.
    Current(Recreation),
    /// The dry run of the update.
    Update(Recreation, Object),
    /// The dry run of a new object; with the refusal of the update, if any.
    New(Recreation, Object, Option<ApiError>),
}

pub(super) fn done() -> Turn<ChildNext> {
    left(None)
}

/// The end, with the object that a deletion left.
pub(super) fn left(live: Option<Object>) -> Turn<ChildNext> {
    Turn::new(Next::Done(After::Nothing(live)))
}

pub(super) fn later(deletion: Deletion) -> Turn<ChildNext> {
    Turn::new(Next::Done(After::Delete(deletion)))
}

pub(super) fn hand(task: Task) -> Turn<ChildNext> {
    Turn::new(Next::Done(After::Hand(Box::new(task))))
}

pub(super) fn ask(request: Request, state: AwaitedChild) -> Turn<ChildNext> {
    Turn::new(Next::Ask(request, Box::new(state)))
}
