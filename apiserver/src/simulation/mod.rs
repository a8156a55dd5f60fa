//! Workloads that only look as if they ran: the controllers, the scheduler and the kubelet of one node, simulated.
//!
//! ```text
//!  log ─> driver ─ route (what a change concerns) ─ decide ─ observe (reads) ─> log
//!           │                                         └ deployment, stateful_set, job, pod, ...: pure
//!           └ perform (writes) ─> write ─> log
//! ```
//!
//! A server runs this only when it is asked to, see [`crate::Builder::simulate_workloads`].
//!
//! **Invariants.** The decision of a controller is a function of observed objects and the time, and is data: writes,
//! and when to look again. A write to an object is made only if the object is as it was observed. Nothing is kept
//! that is not in objects, but the times at which to look again.

mod autoscaler;
mod condition;
mod cron_job;
mod daemon_set;
mod decide;
mod decision;
mod deployment;
mod driver;
mod endpoints;
mod item;
mod job;
mod node;
mod object;
mod observe;
mod ownership;
mod perform;
mod pod;
mod readiness;
mod recorder;
mod replica_set;
mod revisions;
mod route;
mod schedule;
mod stateful_set;
mod template;
mod timing;
mod volume;

pub(crate) use self::driver::run;
pub use self::timing::WorkloadTiming;
