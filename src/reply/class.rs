//! The classes of errors.

use std::time::Duration;

/// The class of an error, for scheduling, metrics and Events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorClass {
    /// Transient: retry with backoff.
    Retry,
    /// The object has changed: read it and decide again.
    Conflict,
    /// The object does not exist.
    Missing,
    /// The server does not serve the type, perhaps temporarily; its objects may exist.
    NotServed,
    /// The server is throttling: wait this long.
    Wait(Duration),
    /// A permission is missing: retry with backoff, and name it.
    Forbidden,
    /// The request can never succeed unchanged.
    Permanent,
}
