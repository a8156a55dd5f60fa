//! Resource quotas and limit ranges: what the objects of a namespace may use.
//!
//! ```text
//!  write ─ admission ─┬─ limit_range: defaults, bounds of one object
//!                     └─ charge: usage ≤ hard? ─> status.used, before the object is stored
//!  log ─ controllers ─ counted ─> status.hard, status.used
//! ```
//!
//! **Invariants.** A write is charged by compare-and-swap, before it is stored; what it did not use after all is
//! given back when the objects are counted again. Objects are counted when a quota changes, and when something
//! of its namespace changes or is deleted. A namespace without quotas costs one look per write.
//!
//! Not imitated: device classes, volume attribute classes, and resources of pods as a kubelet reports them.

mod amounts;
mod charge;
mod count;
mod limit_range;
mod matching;
mod pod;
mod usage;

pub(crate) use self::{
    charge::{Charge, charge},
    count::{counted, counted_at_least},
    limit_range::{default_pod, violation},
};
