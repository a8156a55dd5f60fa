//! A failed request, and its `Status` object.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::group_resource::GroupResource;

/// Why a request failed, with all that a client may act upon.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct StatusError {
    /// The HTTP status.
    pub code: u16,
    /// The machine-readable reason, for example `AlreadyExists`.
    pub reason: Cow<'static, str>,
    /// The human-readable message.
    pub message: String,
    /// The `details` of the body; `Null` when there are none.
    pub details: Value,
    /// The token with which a list may continue with the current state.
    pub continue_token: Option<Box<str>>,
    /// The warnings that come with the answer.
    pub warnings: Box<[String]>,
}

/// The outcome of what may fail with a status.
pub(crate) type Result<T> = std::result::Result<T, StatusError>;

impl StatusError {
    /// An error without details.
    pub(super) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: Cow::Borrowed(reason),
            message: message.into(),
            details: Value::Null,
            continue_token: None,
            warnings: Box::default(),
        }
    }

    /// The same error, with an object in its details.
    pub(super) fn of(mut self, resource: &GroupResource, name: &str) -> Self {
        self.details = json!({ "kind": resource.plural });
        if !name.is_empty() {
            self.details["name"] = json!(name);
        }
        if !resource.group.is_empty() {
            self.details["group"] = json!(resource.group);
        }
        self
    }

    /// The same failure, for an object whose name was generated.
    #[must_use]
    pub(crate) fn of_generated_name(mut self) -> Self {
        if self.reason == "AlreadyExists" {
            let more = ", the server was not able to generate a unique name for the object";
            self.message.push_str(more);
            self.details["retryAfterSeconds"] = json!(1);
        }
        self
    }

    /// Adds a machine-readable cause to the details.
    #[must_use]
    pub(crate) fn with_cause(mut self, reason: &str, message: &str, field: &str) -> Self {
        let cause = json!({ "reason": reason, "message": message, "field": field });
        if !self.details.is_object() {
            self.details = json!({});
        }
        match self.details["causes"].as_array_mut() {
            Some(causes) => causes.push(cause),
            None => self.details["causes"] = json!([cause]),
        }
        self
    }

    /// Adds the warnings from before the failure.
    #[must_use]
    pub(crate) fn with_warnings(mut self, warnings: &[String]) -> Self {
        self.warnings = [warnings, &self.warnings].concat().into();
        self
    }

    /// Whether the request failed before it reached the handler of its path.
    pub(crate) fn is_of_path(&self) -> bool {
        *self == Self::no_such_resource() || self.message.starts_with("406: Not Acceptable")
    }

    /// How many seconds a client should wait before the next try.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        self.details.get("retryAfterSeconds").and_then(Value::as_u64)
    }

    /// The `Status` object.
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        });
        if let Some(token) = &self.continue_token {
            body["metadata"]["continue"] = json!(token);
        }
        if !self.reason.is_empty() {
            body["reason"] = json!(self.reason);
        }
        if !self.details.is_null() {
            body["details"] = self.details.clone();
        }
        body
    }
}
