//! The group with which the process shares its parents.

use crate::election::{Buckets, Standing};

/// The part of this process in its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) name: String,
    /// This member, as its Lease is named.
    pub(crate) member: String,
    /// The buckets in which this process works.
    pub(crate) works: Buckets,
    /// Those that it gives up.
    pub(crate) closing: Buckets,
    /// Whether others are to have all, because its caches could not be completed.
    pub(crate) declines: bool,
    /// Those whose objects it watches.
    pub(crate) watches: Buckets,
    /// Those in which no member works, as far as this process knows.
    pub(crate) unowned: Buckets,
    /// Whether the API server selects the parents of a process; otherwise the process drops what it receives of others. None
    /// while it is not known.
    pub(crate) selects_shards: Option<bool>,
    /// The other members, and what they say; none if their Lease was edited.
    pub(crate) others: Vec<(String, Option<Standing>)>,
}
