//! What can be done about one child, what that waits for, and what is next: values only. What each of them
//! means is in the file of its name.

use crate::{
    history::Verb,
    object::{Object, Uid},
    plan::{ChildId, Deletion, ForeignChild, HeldField, Step, Write},
    reply::ApiError,
    run::{drift::rival::Search, request::Request, turn::Turn},
};

/// How often one child is written in a reconcile when the answer is that it is not as we thought.
pub(super) const TRIES: usize = 3;

/// What is to be done about a child.
#[derive(Debug)]
pub(in crate::run) enum Task {
    /// Begin with a step of the plan.
    Write(Step),
    /// Take it over from a predecessor, and then do something.
    TakeOver(Takeover),
    /// Find out who else writes it, and then do something.
    FindRival(Search, Box<Task>),
    /// Send an apply.
    Apply(Attempt),
    /// Look at it after a conflict.
    Resolve(Attempt),
    /// Decide about fields that others hold.
    Settle(Dispute),
    /// Make an object of nobody the child.
    Adopt(Attempt, Object),
    /// See whether a refused change allows a deletion.
    Refused(Refused),
    /// Delete it, for the so-many-th time.
    Delete(Deletion, usize),
    /// Send its deletion: all that had to be found out before was.
    Send(Deletion, usize),
    /// Find out whether a new object would differ from it.
    Recreate(Deletion, usize),
    /// Delete it when all writes are done.
    Defer(Deletion),
}

/// What a child waits for.
#[derive(Debug)]
pub(in crate::run) enum State {
    TakeOver(TakingOver),
    FindRival(Search, Box<Task>),
    Apply(Applying),
    Adopt(Adopting),
    Dispute(Disputing),
    Delete(Deleting),
    Recreate(Recreating),
}

/// What is next for a child.
#[derive(Debug)]
pub(in crate::run) enum Next {
    /// Send this, and continue with the answer.
    Ask(Request, Box<State>),
    /// Another room continues.
    Hand(Box<Task>),
    /// It is to be deleted when all writes are done.
    Delete(Deletion),
    /// Nothing. What is left of a child that was to be deleted, as it was last seen.
    Done(Option<Object>),
}

/// An apply that is to be sent.
#[derive(Debug)]
pub(in crate::run) struct Attempt {
    pub(super) write: Write,
    pub(super) verb: Verb,
    /// How often the child was written before in this reconcile.
    pub(super) tries: usize,
    /// Why it was not written then.
    pub(super) error: Option<ApiError>,
}

/// A write that the server refuses.
#[derive(Debug)]
pub(in crate::run) struct Refused {
    pub(super) write: Write,
    pub(super) error: ApiError,
}

/// What an apply waits for.
#[derive(Debug)]
pub(in crate::run) enum Applying {
    /// A look at what was in the way of a create.
    InTheWay(Write, ForeignChild),
    /// The answer to an apply. With the child as it was cached before the request: the event of the write
    /// may be faster than its reply.
    Sent(Attempt, Option<Object>),
    /// A look at the child after a conflict.
    Looking(Attempt),
    /// A look at the parent, before a child that others deleted is created again.
    Parent(Attempt),
    /// A look at a child that cannot be changed.
    Immutable(Refused),
}

/// An apply that others dispute.
#[derive(Debug)]
pub(in crate::run) struct Dispute {
    /// All that is desired.
    pub(super) attempt: Attempt,
    /// The object as it was known when all was applied: if it is another by now, who held fields may have
    /// let go of them, and all is to be applied again.
    pub(super) before: Option<Object>,
    /// What was read and is still to be decided on.
    pub(super) live: Option<Object>,
    /// What is left to others.
    pub(super) held: Vec<HeldField>,
    /// How often the rest was sent.
    pub(super) rounds: usize,
}

/// What a dispute waits for.
#[derive(Debug)]
pub(in crate::run) enum Disputing {
    /// A look at what changed since all was applied.
    Settle(Dispute, Object, Vec<HeldField>),
    /// A look before this is applied.
    Look(Dispute, Write),
    /// The answer to what was applied of this without force, on this version.
    Sent(Dispute, Write, Object),
    /// The same with force.
    Forced(Dispute, Write, Object),
    /// A look at what is left alone.
    Leave(Dispute),
}

/// A takeover, and what comes after it.
#[derive(Debug)]
pub(in crate::run) struct Takeover {
    pub(super) id: ChildId,
    pub(super) uid: Uid,
    pub(super) of: TakenOver,
    pub(super) attempt: usize,
    pub(super) then: Box<Task>,
}

/// What is taken over.
#[derive(Debug)]
pub(in crate::run) enum TakenOver {
    /// All that a predecessor owns.
    OfPredecessor,
    /// Items of lists that collide with those that this would have applied.
    Colliding(Refused),
}

/// What a takeover waits for.
#[derive(Debug)]
pub(in crate::run) enum TakingOver {
    /// All of the object: the cache knows only some of the field managers.
    Whole(Takeover),
    Patched(Takeover),
}

/// An adoption that has begun.
#[derive(Debug)]
pub(in crate::run) struct Adoption {
    pub(super) attempt: Attempt,
    pub(super) live: Object,
}

/// What an adoption waits for.
#[derive(Debug)]
pub(in crate::run) enum Adopting {
    Tried(Adoption),
    TriedYielding(Adoption),
    Whole(Adoption),
    HandedOver(Adoption),
}

/// What a deletion waits for, and for the so-many-th time.
#[derive(Debug)]
pub(in crate::run) enum Deleting {
    Parent(Deletion, usize),
    Child(Deletion, usize),
    New(Deletion, usize),
    Sent(Deletion, usize),
    Conflict(Deletion, usize),
}

/// A recreation that may be in vain.
#[derive(Debug)]
pub(in crate::run) struct Recreation {
    pub(super) deletion: Deletion,
    pub(super) tries: usize,
    pub(super) instead_of: Write,
}

/// What the dry runs of a recreation wait for.
#[derive(Debug)]
pub(in crate::run) enum Recreating {
    /// A look: without its label it is not cached.
    Current(Recreation),
    /// What the update would be.
    Update(Recreation, Object),
    /// What a new object would be; the update was refused, or may not be.
    New(Recreation, Object, Option<ApiError>),
}

/// Nothing more is done about a child, as something has happened.
pub(super) fn done() -> Turn<Next> {
    Turn::new(Next::Done(None))
}

pub(super) fn hand(task: Task) -> Turn<Next> {
    Turn::new(Next::Hand(Box::new(task)))
}

pub(super) fn ask(request: Request, state: State) -> Turn<Next> {
    Turn::new(Next::Ask(request, Box::new(state)))
}
