//! Why the settings of a group cannot work.

use crate::election::ElectionError;

/// Why the settings of a group cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShardingError {
    /// The name of the group is not the value of a label, or too long.
    #[error(
        "sharding: {0:?} cannot be the name of a group: use at most 40 lower-case letters, digits and `-`"
    )]
    Group(String),
    /// The identity is no part of a name.
    #[error(
        "sharding: {0:?} cannot be an identity, which names a Lease: use lower-case letters, digits, `-` and `.`"
    )]
    Identity(String),
    /// The durations cannot work, as those of a leader election.
    #[error("sharding: {0}")]
    Timing(#[from] ElectionError),
    /// Both a leader election and a group were set.
    #[error(
        "sharding: a process shares its parents out, or waits until it leads: leave out `sharded` or `leader_election`"
    )]
    AndElection,
}
