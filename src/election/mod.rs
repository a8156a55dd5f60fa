//! Which of several processes with the same operators writes: the one that leads, or each for its share of the parents
//! (`shards`).
//!
//! Layer 1. Nothing here does I/O or reads a clock.
//!
//! ```text
//!  the Lease on the API server --read, seen--> Election::step(input, now) --> Act: read, write, wait
//!                                                        |
//!                                                        v
//!                                     Fence, which every write is checked against
//! ```
//!
//! Invariants:
//! - the fence is open only from an accepted write of the Lease until the renew deadline after that write was
//!   *sent*; nobody else takes the Lease before the longer lease duration after it was *seen*. No clocks of two
//!   machines are compared;
//! - a Lease is taken when it has no holder, when its holder has not renewed it for its duration, or when it does
//!   not exist; each write names the version that it replaces;
//! - the fields of the Lease are those of client-go, so that `kubectl get lease` reads as usual;
//! - the label of a Pod follows the role, and no role waits for it.

mod error;
mod fence;
mod lease;
mod machine;
mod pod_label;
mod settings;
mod shards;
mod since_boot;

pub use error::ElectionError;
pub(crate) use fence::{Fence, FenceReach};
pub(crate) use lease::Lease;
pub(crate) use machine::{Act, Election, Input, Now};
pub use pod_label::LEADER_LABEL;
pub(crate) use pod_label::{PodLabel, PodRole};
pub use settings::LeaderElection;
pub(crate) use settings::Timing;
pub(crate) use shards::{
    Bucket, BucketFence, Buckets, Busy, Role, ShardAct, ShardInput, Shards, Standing,
};
pub use shards::{SHARD_GROUP_LABEL, Sharding, ShardingError};
pub(crate) use since_boot::SinceBoot;
