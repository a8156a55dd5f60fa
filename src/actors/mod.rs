//! Who decides when: thin shells around pure state.
//!
//! Layer 10, and the only module that starts actors. An actor translates a message to an input,
//! asks the pure part what to do and does it; it never waits.
//!
//! ```text
//! watch loops --Noted--> Reflector (one per type) --Observed, WatchChanged--> OperatorActor
//! runs --Published-----> Reflector                     OperatorActor --Touched, Retire--> Reconciler
//!                                                    OperatorActor <--Ended-- Reconciler
//! commands --Asked--> OperatorActor --Touched, Resumed--> Reconciler
//! ```
//!
//! Rules:
//! - reconcilers are spread over a few threads by the uid of their parents, all other actors share one;
//! - user code and I/O run on the supervisor's runtime, never on an actor's task;
//! - a reconciler has at most one reconcile in flight and one timer; a parent that is gone and comes back
//!   gets another one when the first has ended, so that its reconciles do not overlap;
//! - a reconciler tells of its end however it ends; one that died of a defect is followed by another;
//! - stopping is a message;
//! - every message is a letter in the `mailbox` module's sense, so that what waits is counted.

mod arbiters;
mod awaited;
mod deferred;
mod mailbox;
mod messages;
mod operator_actor;
mod reason;
mod reconciler;
mod reflector;
mod shown;
mod timer;

pub use arbiters::{ArbiterPool, Arbiters};
pub use mailbox::MeteredRecipient;
pub use messages::{
    Asked, Observed, OperatorStateChanged, Published, WatchChanged, WatchCondition,
};
pub use operator_actor::{OperatorActor, OperatorParts};
pub use reflector::{Reflector, ReflectorParts};

#[cfg(test)]
mod tests;
