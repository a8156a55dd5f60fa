//! The actors: thin shells around pure state machines.
//!
//! Layer 10, and the only module that starts actors. An actor translates a message to an input, lets the
//! pure part decide and performs the result; it never waits.
//!
//! ```text
//! watch loops --Noted--> Reflector (one per type) --Observed, WatchChanged--> OperatorActor
//! reconciles --Observed--> Reflector                  OperatorActor --Touched, Retire--> Reconciler
//!                                                    OperatorActor <--Ended-- Reconciler
//! RelatedReflector --RelatedObserved, RelatedSettled--> OperatorActor --RelatedChanged--> Reconciler
//! watch of the Lease, answers --Answered--> Elector (one per Lease) --hold, open--> gates of the operators
//! watch of the group's Leases, answers --GroupAnswered--> Sharder --hold, open, BucketsChanged--> gates, operators
//! commands --Asked--> OperatorActor --Touched, Resumed--> Reconciler
//! ```
//!
//! Rules:
//! - reconcilers are spread over a few threads by the uid of their parents, all other actors share one;
//! - user code and I/O run on the supervisor's runtime, never on an actor's task;
//! - a reconciler has at most one reconcile in flight and one timer; a parent that is deleted and created
//!   again gets another one when the first has stopped, so that its reconciles do not overlap;
//! - a reconciler reports its end, also after a panic, and is replaced after a panic. The other actors are restarted in
//!   place (`supervised`);
//! - stopping is a message;
//! - every message is metered, so that the depth of every mailbox is known;
//! - changes of objects wait in a backlog, which holds one of each object when many wait.

mod arbiters;
mod awaited;
mod backlog;
mod deferred;
mod elector;
mod mailbox;
mod messages;
mod observers;
mod operator_actor;
mod problem;
mod reason;
mod reconciler;
mod reflecting;
mod reflector;
mod related;
mod sharder;
mod shown;
mod supervised;
mod timer;
mod watching;
mod written;

pub(crate) use arbiters::{ArbiterPool, Arbiters};
pub(crate) use backlog::BacklogRecipient;
pub(crate) use elector::{Elected, Elector, ElectorParts};
pub(crate) use mailbox::MeteredRecipient;
pub(crate) use messages::{Asked, Observed, OperatorStateChanged, Reconfigured};
pub(crate) use operator_actor::{OperatorParts, handle::OperatorHandle};
pub(crate) use reflector::{Awaited, Reflector, ReflectorHandle, ReflectorParts};
pub(crate) use related::{RelatedHandle, RelatedParts, RelatedReflector};
pub(crate) use sharder::{SharderParts, handle::Sharded};
pub(crate) use watching::WatchParts;

#[cfg(test)]
mod tests;
