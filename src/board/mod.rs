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
//! migrations of types ---------set_migration------------+
//! member of a group -----------show_group---------------+
//! all of these ----------------what happened---> Activity-+
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

mod activity;
mod answer;
mod asking;
mod commands;
mod credentials;
mod dependants;
mod event_reading;
mod facts;
mod feed;
mod group;
mod grouping;
mod migrating;
mod migration;
#[cfg(feature = "testkit")]
mod panics;
mod parents;
mod pause_request;
mod preview;
mod process;
mod pulse;
mod queue;
mod reader;
mod related;
mod sampling;
mod select;
mod shared;
mod snapshots;
mod timeline;
mod trend;
mod type_facts;
mod types;
mod webhook_reads;

pub(crate) use activity::{
    ActivityFilter, ActivityKind, ActivityLimit, ActivityPage, LeaderChange, Line, Names,
    Rejection, Shelf,
};
pub(crate) use answer::{CommandError, Responder};
pub use commands::Command;
pub(crate) use commands::{CommandRequest, ExternalChange, WebRequest};
pub(crate) use credentials::CredentialState;
pub(crate) use dependants::{
    Dependants, DependantsRequest, Depth, Owners, OwnersRequest, Workload,
};
pub(crate) use event_reading::{EventReading, EventRequest, EventSubject};
pub(crate) use facts::{Leadership, OperatorInfo, OperatorRestarts, OperatorSnapshot, ParentPage};
pub use facts::{OperatorState, ParentPhase, ParentState, ReconcileStage};
pub(crate) use feed::{Change, Full, MAX_LISTENERS, NoNotice, Notice, ParentName, Subscription};
pub(crate) use group::Group;
pub(crate) use migration::{Migration, MigrationState};
pub(crate) use parents::ParentFilter;
pub(crate) use pause_request::PauseEnd;
pub use pause_request::PauseRequest;
pub(crate) use preview::{Preview, PreviewRequest};
pub(crate) use pulse::{BEAT_DEADLINE, BEAT_EVERY, Beat, Pulse};
pub(crate) use queue::QueueState;
pub(crate) use reader::Reader;
#[cfg(feature = "dashboard")]
pub(crate) use select::Place;
#[cfg(any(feature = "dashboard", feature = "mcp"))]
pub(crate) use select::Selection;
pub(crate) use select::Window;
pub use shared::Board;
#[cfg(feature = "dashboard")]
pub(crate) use trend::TREND_POINTS;
pub(crate) use trend::TrendPoint;
pub(crate) use type_facts::{NamespaceState, TypeError, TypeSnapshot, TypeState};
