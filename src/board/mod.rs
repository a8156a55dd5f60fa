//! The read model of the web: plain values, written by the actors and read by the web. It also
//! carries the commands of users to the supervisor.
//!
//! Layer 7. It decides nothing, and no decision reads it. Reads return copies, so that a slow reader
//! blocks nobody.
//!
//! ```text
//! supervisor, operator actors --register, set_operator--+
//! reflectors ------------------add_store, update_type---+--> Board --copies--> web
//! reconcilers -----------------record, forget-----------+      | feed --notices--> web
//! queues, undeclared fields ---show_*-------------------+
//! actors, runtime -------------pulse--------------------+
//!
//! web --command--> Board --a bounded channel--> supervisor --> operator actors
//! ```
//!
//! Invariants:
//! - Records for unregistered operators are dropped.
//! - A lock is held only to copy values, and for a bounded number of parents at once.
//! - Listeners are notified in the order of the changes, under the lock of the board. Notifying takes
//!   only the lock of the feed and never blocks. Without listeners it costs one check.

mod answer;
mod asking;
mod commands;
mod event_reading;
mod facts;
mod feed;
mod parents;
mod preview;
mod pulse;
mod queue;
mod reader;
mod select;
mod shared;

pub use answer::{Answer, CommandError};
pub use commands::{Command, CommandRequest, WebRequest};
pub use event_reading::{EventReading, EventRequest, EventSubject};
pub use facts::{
    NamespaceState, OperatorInfo, OperatorPause, OperatorSnapshot, OperatorState, ParentPage,
    ParentPhase, ParentState, ReconcileStage, TypeError, TypeSnapshot, TypeState,
};
pub use feed::{Change, Full, MAX_LISTENERS, NoNotice, Notice, ParentName, Subscription};
pub use parents::ParentFilter;
pub use preview::{Preview, PreviewRequest};
pub use pulse::{BEAT_DEADLINE, BEAT_EVERY, Beat, Pulse};
pub use queue::QueueState;
pub use reader::Reader;
pub use select::Selection;
pub use shared::Board;
