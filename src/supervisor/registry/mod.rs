//! Who is registered: operators come and go while the process runs, and the watches follow the demand.
//!
//! ```text
//! Registrar --Request--> serve --admit, dismiss--> Members --> wiring: start and stop actors
//!                          ^                          |
//!                          +------ what is over ------+--> demand: which watches to open, change, close
//! ```
//!
//! The thread of the actors alone changes it. An operator that goes remains until its reconciles have ended.

mod error;
mod in_place;
mod members;
mod reconfigure;
mod registrar;
mod reread;
mod serve;
mod shared;
mod sources;
mod types;
mod wanted_buckets;

pub use error::RegistrationError;
pub(super) use members::Members;
pub use registrar::{OnRemoval, Registrar};
pub(super) use serve::{Inboxes, serve};
pub(super) use shared::watches_of_unlabelled;
pub(super) use types::Watched;
pub(super) use wanted_buckets::WantedBuckets;
