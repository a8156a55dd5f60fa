//! Decides when a parent is reconciled next, the order of parents that wait for a permit, and when an actor that panicked
//! is restarted ([`restarts`]).
//!
//! Layer 1. Pure: a state machine per parent that maps inputs to actions, and a queue per operator. They read
//! no clock (`now` is an argument) and start nothing.
//!
//! | phase \ input | `Touched` | `TimerFired` | `Admitted` | `Finished` | `Retired` |
//! |---|---|---|---|---|---|
//! | Idle | collect, or `Enqueue` | - | - | - | `Stop` |
//! | Waiting(resync, recheck, calming) | collect, or `Enqueue` | `Enqueue` | - | - | `Stop` |
//! | Waiting(debounce, spread) | collect, or `Enqueue` | `Enqueue` | - | - | `Stop` |
//! | Waiting(error) | an awaited object, or parent's own change: as Idle; a child: follow; else stay | `Enqueue` | - | - | `Stop` |
//! | Waiting(error, until gone) | a child is gone, or parent's own change: as Idle; another child: follow; else stay | `Enqueue` | - | - | `Stop` |
//! | Waiting(error, slowed), Waiting(unsettled, slowed) | parent's own change: as Idle; else stay | `Enqueue` | - | - | `Stop` |
//! | Waiting(throttled) | stay | `Enqueue` | - | - | `Stop` |
//! | Resting (permanent error) | a related object, or parent's own change: as Idle; else stay | - | - | - | `Stop` |
//! | Queued | more urgent: `Raise`; else stay | - | `Reconcile` | - | `Stop` |
//! | Running | remember | - | - | wrote, recreating: `Enqueue`; remembered: as after it; else `Wake` or rest; retired: `Stop` | remember |
//!
//! *Throttled* is an answer of the API server with `Retry-After`. The delay is honoured up to ten minutes, even
//! after a change of the parent or its deletion, which are processed afterwards. A server that keeps asking for
//! short delays gets the usual backoff, if that is longer. A delay that the *handler* asks for after a failure
//! is an ordinary error: a change of the parent may fix it.
//!
//! *Until gone* is a failure that the deletion of a child may fix: the child is terminating and to be recreated,
//! so that another failure delays it by a minute at most; or the server refuses to change it, and the user
//! deletes it.
//!
//! *Follow* is a reconcile for a change of a child, after which the retry comes when it was due ([`follow_ups`]): a
//! child that is refused does not keep the status from following the others.
//!
//! *The end of a pause* counts as the parent's own change, in each phase: the timer is set for it if it comes before that
//! of the phase (`PauseEnds`).
//!
//! A reconcile that a user *requested* counts as the parent's own change, and is never collected.
//!
//! *Unsettled* is the third reconcile in a row that wrote children, or a later one: each delay is longer.
//!
//! *Slowed* is a reconcile that wrote a flapping object, because someone else reverts it or the handler returns
//! different children: each delay is longer. If the reconcile failed too, the longer wait counts, and the
//! deletion of a child does not end it.
//!
//! A reconcile that has deleted a child to recreate it is followed by the next at once, unless the one before it
//! did so too: any other wait comes after the child exists again.
//!
//! *Collect*, only with a debounce window:
//!
//! | what changed | when it is reconciled |
//! |---|---|
//! | the parent is being deleted, was listed at the start, or a user requested a reconcile | at once |
//! | the parent itself | at once, if no such change caused a reconcile within the last window; else at the end of that window |
//! | a child, the parent's status, a related object | one window later |
//!
//! *Spread* is a change of a related object that many parents read (`Spread`): each is reconciled after a delay of its
//! own, so that they do not all start at once. It is an ordinary change otherwise, and the earlier timer counts.
//!
//! Changes that arrive while the timer is set do not change it, so that a stream of changes causes one reconcile
//! per window and cannot delay it. A change keeps its urgency, whichever timer it waits for. The reconcile after
//! one that wrote is never collected.
//!
//! A reconcile that wrote children is followed by another with the same permit (`Continued`), up to the third:
//! that counts the reconcile, and forgets what was remembered if the next one saw it. One that only updated
//! children releases the permit while changes or deletions of parents wait, and queues behind them.
//!
//! Invariants: at most one reconcile is in progress; it sees every input that arrives before it starts, and the
//! next one every input that arrives meanwhile.

mod admission_queue;
mod backoff;
mod continuation;
mod facts;
mod follow_ups;
mod machine;
mod priority;
mod restarts;
#[cfg(test)]
pub(crate) mod rng;

pub(crate) use admission_queue::{Position, Queue};
pub(crate) use backoff::Backoff;
pub(crate) use continuation::continues_at_once;
pub use facts::WakeReason;
pub(crate) use facts::{Action, Finished, Input, Phase, Trigger, Wake};
pub(crate) use machine::{Policy, Schedule};
pub use priority::Priority;
pub(crate) use restarts::{Restart, Restarts};

#[cfg(test)]
mod tests;
