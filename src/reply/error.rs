//! The errors of requests to the API server.

use std::{sync::Arc, time::Duration};

use http_body_util::LengthLimitError;

use super::{causes::causes, class::ErrorClass, refusal::Refusal};

#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum ApiError {
    #[error("{refusal} ({request})")]
    Refused {
        /// Verb and path.
        request: String,
        /// The answer.
        refusal: Box<Refusal>,
    },
    /// The connection failed, or the reply was incomplete. Whether the request took effect is unknown.
    #[error("no answer from the API server: {} ({request})", causes(.source.as_ref()))]
    Unreachable { request: String, source: Arc<dyn std::error::Error + Send + Sync> },
    /// No answer came in time. Whether the request took effect is unknown.
    #[error("no answer from the API server within {} s ({request})", .after.as_secs_f64())]
    TimedOut {
        /// Verb and path.
        request: String,
        /// The deadline that passed.
        after: Duration,
    },
    /// The answer violates the API.
    #[error("the answer of the API server cannot be read: {why} ({request})")]
    Malformed {
        /// Verb and path.
        request: String,
        /// What is wrong with it; never its content.
        why: String,
    },
    /// It was not sent, because another process leads.
    #[error(
        "this process is not the leader, and another process does the work: nothing was sent ({request})"
    )]
    NotLeading {
        /// Verb and path.
        request: String,
    },
    /// The server stored the object without the label by which it is watched.
    #[error(
        "the API server stored the object without the label `{label}`, which the watch selects: \
         exclude it from the admission policy that removes the label"
    )]
    Unlabelled { label: String },
}

impl ApiError {
    /// Whether the same request failed in the same way.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        let kind = |error: &Self| std::mem::discriminant(error);
        kind(self) == kind(other)
            && self.request() == other.request()
            && self.refusal() == other.refusal()
    }

    fn request(&self) -> Option<&str> {
        match self {
            Self::Refused { request, .. }
            | Self::Unreachable { request, .. }
            | Self::TimedOut { request, .. }
            | Self::Malformed { request, .. }
            | Self::NotLeading { request } => Some(request),
            Self::Unlabelled { .. } => None,
        }
    }

    /// The error without the request: the object that it is about is named beside it.
    pub(crate) fn said(&self) -> String {
        let text = self.to_string();
        match self.request().and_then(|request| text.strip_suffix(&format!(" ({request})"))) {
            Some(said) => said.to_owned(),
            None => text,
        }
    }

    /// What went wrong in one word, without what the server said.
    pub(crate) fn kind(&self) -> String {
        match self {
            Self::Refused { refusal, .. } => refusal.name(),
            Self::Unreachable { .. } => "Unreachable".to_owned(),
            Self::TimedOut { .. } => "TimedOut".to_owned(),
            Self::Malformed { .. } => "Malformed".to_owned(),
            Self::NotLeading { .. } => "NotLeading".to_owned(),
            Self::Unlabelled { .. } => "Unlabelled".to_owned(),
        }
    }
}

impl ApiError {
    /// An answer that is not the expected JSON. Only the position is shown, as the parser's message quotes
    /// content.
    pub(crate) fn malformed(request: String, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let why = format!("unexpected JSON at line {line}, column {column}");
        Self::Malformed { request, why }
    }

    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused { refusal, .. } => Some(refusal),
            Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Malformed { .. }
            | Self::NotLeading { .. }
            | Self::Unlabelled { .. } => None,
        }
    }

    /// Whether the server is throttling requests, so that others should wait.
    pub(crate) fn is_throttling(&self) -> bool {
        matches!(self.class(), ErrorClass::Wait(_)) || self.code() == Some(429)
    }

    /// Whether the request may have taken effect anyway.
    pub(crate) fn may_have_taken_effect(&self) -> bool {
        let was_sent = !matches!(self, Self::NotLeading { .. });
        was_sent && self.code().is_none_or(|code| code >= 500)
    }

    /// Whether the server cannot be reached, or does not answer in time.
    pub(crate) fn is_unanswered(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::TimedOut { .. })
    }

    /// Whether a smaller request may succeed: it took too long, or the answer was too large.
    pub(crate) fn is_too_much(&self) -> bool {
        match self {
            Self::TimedOut { .. } => true,
            Self::Unreachable { source, .. } => source.is::<LengthLimitError>(),
            Self::Refused { .. }
            | Self::Malformed { .. }
            | Self::NotLeading { .. }
            | Self::Unlabelled { .. } => false,
        }
    }

    pub(crate) fn class(&self) -> ErrorClass {
        match self {
            Self::Refused { refusal, .. } => refusal.class(),
            Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Malformed { .. }
            | Self::NotLeading { .. } => ErrorClass::Retry,
            Self::Unlabelled { .. } => ErrorClass::Permanent,
        }
    }

    /// The HTTP status code, if the server answered.
    pub(crate) fn code(&self) -> Option<u16> {
        self.refusal().map(|refusal| refusal.code)
    }
}

#[cfg(test)]
mod tests;
