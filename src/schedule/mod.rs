//! When does a parent run next, and who runs first when many want to?
//!
//! Layer 1. Pure: a state machine per parent that is told what happened and answers what to do, and
//! a queue per operator. They read no clock (`now` is an argument) and start nothing.
//!
//! | phase \ input | `Touched` | `TimerFired` | `Admitted` | `Finished` | `Retired` |
//! |---|---|---|---|---|---|
//! | Idle | collect, or `Enqueue` | - | - | - | `Stop` |
//! | Waiting(resync, recheck, calming) | collect, or `Enqueue` | `Enqueue` | - | - | `Stop` |
//! | Waiting(debounce) | collect, or `Enqueue` | `Enqueue` | - | - | `Stop` |
//! | Waiting(error) | an awaited object, or parent's own change: as Idle; else stay | `Enqueue` | - | - | `Stop` |
//! | Waiting(error, until gone) | a child is gone, or parent's own change: as Idle; else stay | `Enqueue` | - | - | `Stop` |
//! | Waiting(unsettled, slowed) | parent's own change: as Idle; else stay | `Enqueue` | - | - | `Stop` |
//! | Waiting(throttled) | stay | `Enqueue` | - | - | `Stop` |
//! | Resting (permanent error) | parent's own change: as Idle; else stay | - | - | - | `Stop` |
//! | Queued | more urgent: `Raise`; else stay | - | `Reconcile` | - | `Stop` |
//! | Running | remember | - | - | wrote, recreating: `Enqueue`; remembered: as after it; else `Wake` or rest; retired: `Stop` | remember |
//!
//! *Throttled* is an answer of the API server with `Retry-After`. It is obeyed (at most ten minutes; a
//! server that asks for little again and again is given the usual backoff, if that is longer)
//! even against a change of the parent or its deletion, which are seen when the time is over. What
//! the *handler* asks for when it fails is an ordinary error: a change of the parent may well mend it.
//!
//! *Until gone* is a failure that the end of a child may mend: of one that is to be created anew and on its
//! way out, where no failure beside it makes it wait for longer than a minute; or of one that the server
//! refuses to change, which a person deletes.
//!
//! That somebody *asked* for a reconcile counts as the parent's own change, and is never collected.
//!
//! *Unsettled* is the third reconcile in a row that wrote children, or one after it: the next look comes
//! later each time.
//!
//! *Slowed* is a reconcile that wrote what is written again and again, because somebody else changes it back
//! or the handler keeps changing its mind: the next look comes later each time, and it does come. If the
//! run failed too, the longer wait counts, and the end of no child ends it.
//!
//! A reconcile that has deleted a child to create it anew is followed by the next at once, unless one before it
//! has done so too: whatever else there is to wait for comes when the child is there again.
//!
//! *Collect*, only with a debounce window:
//!
//! | what changed | when it runs |
//! |---|---|
//! | the parent is being deleted, was there at the start, or somebody asked for a reconcile | at once |
//! | the parent itself | at once, if no such change made it run within the window before; else at the end of that window |
//! | a child, the parent's status | one window later |
//!
//! Changes that arrive while the timer is set change nothing about it, so that a stream of changes
//! makes one reconcile per window and cannot put it off. Whichever timer a change waits for, it is as
//! urgent as ever when that goes off. What an own write needs (the next reconcile after one
//! that wrote) is never collected.
//!
//! A reconcile that wrote children is followed by another on the place that it has (`WentOn`), up to the
//! third: that counts the reconcile, and forgets what was remembered if the next one saw it. One that only
//! changed some gives the place up while changes or deletions of parents wait, and goes behind them.
//!
//! Invariants: at most one reconcile is under way; every fact that arrives before it starts is seen by it,
//! and every fact that arrives meanwhile by the next.

mod backoff;
mod facts;
mod going_on;
mod machine;
mod priority;
mod queue;
#[cfg(test)]
pub(crate) mod rng;

pub use backoff::Backoff;
pub use facts::{Action, Finished, Input, Phase, Trigger, Wake, WakeReason};
pub use going_on::{WRITING_RECONCILES_AT_ONCE, goes_on};
pub use machine::{Policy, Schedule};
pub use priority::Priority;
pub use queue::{Place, Queue};

#[cfg(test)]
mod tests;
