//! Why a leader election cannot work.

/// Why the settings of a leader election cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElectionError {
    /// The name of the Lease is no name of an object.
    #[error(
        "leader election: {0:?} cannot be the name of a Lease: use lower-case letters, digits, `-` and `.`"
    )]
    Name(String),
    /// The renew deadline is not before the end of the lease.
    #[error(
        "leader election: the renew deadline of {renew_deadline_ms} ms must be shorter than the lease of {lease_ms} ms, so \
         that a leader stops before another process takes over"
    )]
    Deadline {
        /// The renew deadline in milliseconds.
        renew_deadline_ms: u128,
        /// The lease duration in milliseconds.
        lease_ms: u128,
    },
    /// The leader would not renew in time.
    #[error(
        "leader election: the retry period of {retry_ms} ms must be positive and shorter than the renew deadline of \
         {renew_deadline_ms} ms"
    )]
    Retry {
        /// The retry period in milliseconds.
        retry_ms: u128,
        /// The renew deadline in milliseconds.
        renew_deadline_ms: u128,
    },
    /// A Lease has whole seconds.
    #[error(
        "leader election: the lease of {lease_ms} ms must be of whole seconds, and at least one"
    )]
    Seconds {
        /// The lease duration in milliseconds.
        lease_ms: u128,
    },
    /// The name of the Pod is no name of an object.
    #[error(
        "leader election: {0:?} cannot be the name of a Pod: give the name of the Pod in which this process runs, which the \
         downward API has as `metadata.name`"
    )]
    Pod(String),
    /// The label of one Pod would follow the Leases of several operators.
    #[error(
        "leader election: the label of the Pod {0:?} cannot follow a Lease for each operator: leave out `labels_pod` or \
         `per_operator`"
    )]
    SharedPod(String),
}
