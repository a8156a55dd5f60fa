//! The output of a handler that failed.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    EventType, HandlerEvent,
    shallow::{Shallow, json, limit},
};

/// The response of a handler to its own error. The default is empty: the status stays, and the
/// retry comes with backoff. `Debug` shows no content.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorResponse {
    /// The status, a JSON object; `None` and `null` leave the fields of the status as they are.
    pub status: Option<Value>,
    /// When to try again; `None` leaves that to the class of the error and the backoff.
    pub retry: Option<Duration>,
    /// What is recorded about the parent, see [`ErrorResponse::event`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<HandlerEvent>,
    /// Why the status is not a serializable JSON object; it is reported beside the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unserializable: Option<String>,
}

impl ErrorResponse {
    /// A status, and a retry with backoff.
    pub fn status(status: impl Serialize) -> Self {
        let mut response = Self::default();
        response.status = json(&status, "the status", &mut response.unserializable);
        response
    }

    /// Tries again after this time, at least 100 ms, instead of the backoff.
    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.retry = Some(delay);
        self
    }

    /// Records an Event about the parent beside the one for the error, as
    /// [`SyncResponse::event`](super::SyncResponse::event) does. An invalid one is named beside the error.
    #[must_use]
    pub fn event(
        mut self,
        event_type: EventType,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        self.events.push(HandlerEvent::new(event_type, reason, message));
        self
    }
}

/// A status, and the time of the retry.
impl From<(Value, Option<Duration>)> for ErrorResponse {
    fn from((status, retry): (Value, Option<Duration>)) -> Self {
        Self { status: Some(status), retry, ..Self::default() }
    }
}

impl Shallow for ErrorResponse {
    fn shallow(mut self) -> Self {
        limit(&mut self.status, &mut self.unserializable);
        self
    }
}

impl fmt::Debug for ErrorResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ErrorResponse(status: {}, retry: {:?})", self.status.is_some(), self.retry)
    }
}
