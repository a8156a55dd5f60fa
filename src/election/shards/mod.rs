//! Shards: several processes share the parents of all operators out among them.
//!
//! A parent is in one of 64 buckets, by the hash of its uid. Each process is a member of a group, and has a Lease, in which
//! it says what it holds. There is no coordinator: all members compute the same assignment from the Leases.
//!
//! ```text
//!  Leases of the group --Listed, Seen--> Shards::step(input, now) --> Act: write, list, remove, wait
//!  caches --Warm-->                           |
//!  work that has ended --Idle-->              v
//!                         Role: until when it writes, the buckets in which it works, the buckets to watch
//! ```
//!
//! A bucket passes from one member to another in these steps:
//!
//! ```text
//!  giver:   works ---- the taker says it is warm ---> closing: no reconcile begins --idle--> says it does not hold it
//!  taker:   watches the bucket too --in sync--> says it is warm          says it holds it --lists--> works
//! ```
//!
//! Invariants:
//! - a member works in a bucket only after it has *said* so in its Lease, and has *then* listed the Leases and found no
//!   other that holds the bucket. Of two that say so at once at most one finds nobody;
//! - it stops at the renew deadline after its last accepted renewal was *sent*, and then begins again with nothing. The
//!   others take its buckets after the longer lease duration since they *saw* that renewal. No clocks of two machines are
//!   compared;
//! - a member gives a bucket up when the next one is warm and its own work there has ended;
//! - a Lease that was edited or deleted by hand frees no bucket before its duration has passed. So a member takes what nobody
//!   is seen to hold only after the renew deadline since its start: somebody may hold it whose Lease was deleted.

mod assignment;
mod bucket;
mod error;
mod fence;
mod machine;
mod member;
mod peers;
mod settings;

pub(crate) use bucket::{Bucket, Buckets};
pub use error::ShardingError;
pub(crate) use fence::{BucketFence, Busy};
pub(crate) use machine::{Role, ShardAct, ShardInput, Shards};
pub use member::SHARD_GROUP_LABEL;
pub(crate) use member::Standing;
pub use settings::Sharding;

#[cfg(test)]
mod simulation;
