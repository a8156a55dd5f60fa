//! What the web shows: plain values, written by those who act and read by those who look. And the
//! one way back, for what a person orders.
//!
//! Layer 7. It decides nothing and nothing that decides reads it. Reads give copies, so that a
//! slow reader holds up nobody.
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
//! - what was never registered is never shown: records for unknown operators are dropped;
//! - no lock is held while anything but a copy is made, and of parents only of so many at once;
//! - what changes is told to those who listen, in the order in which it changes: while the board is
//!   locked, as telling takes no other lock but its own and waits for nobody. Listeners hold up nobody,
//!   and without them it costs a look.

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
pub use feed::{Change, Full, MAX_LISTENERS, Notice, ParentName, Silence, Subscription};
pub use parents::ParentFilter;
pub use preview::{Preview, PreviewRequest};
pub use pulse::{BEAT_DEADLINE, BEAT_EVERY, Beat, Pulse};
pub use queue::QueueState;
pub use reader::Reader;
pub use select::Selection;
pub use shared::Board;
