//! The errors of requests to the API server, and their classes.

use std::{sync::Arc, time::Duration};

use http_body_util::LengthLimitError;
use serde::Deserialize;

use super::causes::causes;

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

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", named(*.code, .reason))]
pub(crate) struct Refusal {
    pub(crate) code: u16,
    /// The machine-readable reason, for example `Conflict`; empty if there was none.
    pub(crate) reason: String,
    pub(crate) message: String,
    /// The delay of the `Retry-After` header.
    pub(crate) retry_after: Option<Duration>,
    pub(crate) causes: Vec<Cause>,
    /// Whether it names an object; not if the server does not know the type.
    pub(crate) names_object: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Cause {
    /// The machine-readable reason, for example `FieldManagerConflict`.
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) field: String,
}

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

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct StatusBody {
    reason: String,
    message: String,
    details: Option<StatusDetails>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct StatusDetails {
    name: String,
    retry_after_seconds: u64,
    causes: Vec<Cause>,
}

impl ApiError {
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

/// The messages for an object beyond the limits of etcd and its connection (1.5 and 2 MiB).
const TOO_LARGE: [&str; 2] = ["request is too large", "trying to send message larger than max"];

impl Refusal {
    /// The status code and the reason, where there is one.
    pub(crate) fn name(&self) -> String {
        named(self.code, &self.reason)
    }

    /// Reads the answer to a refused request; a body that is no `Status` becomes the message.
    pub(crate) fn read(code: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        let status: StatusBody = serde_json::from_slice(body).unwrap_or_else(|_| StatusBody {
            message: String::from_utf8_lossy(&body[..body.len().min(256)]).trim().to_owned(),
            ..StatusBody::default()
        });
        let details = status.details.unwrap_or_default();
        let seconds = details.retry_after_seconds;
        let from_details = (seconds > 0).then(|| Duration::from_secs(seconds));
        Self {
            code,
            reason: status.reason,
            message: status.message,
            retry_after: retry_after.or(from_details),
            names_object: !details.name.is_empty(),
            causes: details.causes,
        }
    }

    /// Whether all causes are immutable fields, so that a new object could be accepted.
    pub(crate) fn is_immutable(&self) -> bool {
        const WORDS: [&str; 5] =
            ["immutable", "may not change", "may not be changed", "cannot change", "updates to "];
        let is_immutable = |cause: &Cause| WORDS.iter().any(|words| cause.why().contains(words));
        self.code == 422 && !self.causes.is_empty() && self.causes.iter().all(is_immutable)
    }

    /// Whether the object only conflicts with existing ones: a quota is exhausted, or a port or address is in
    /// use.
    pub(crate) fn is_for_room(&self) -> bool {
        matches!(self.code, 403 | 422)
            && ["exceeded quota", "already allocated"].iter().any(|it| self.message.contains(it))
    }

    /// Whether no new object of the kind, or none with this content, would be accepted under any name: by
    /// missing permissions, or by the Pod security standards.
    pub(crate) fn is_of_every_new_object(&self) -> bool {
        self.code == 403
            && ["cannot create resource", "violates PodSecurity"]
                .iter()
                .any(|it| self.message.contains(it))
    }

    /// Whether the content of the object is refused, independent of its name.
    pub(crate) fn is_about_content(&self) -> bool {
        const NAMES: [&str; 2] = ["metadata.name", "metadata.generateName"];
        // A rule for the whole object may concern its name.
        let is_named = |field: &str| !matches!(field, "" | "<nil>");
        let is_in_it = |cause: &Cause| is_named(&cause.field) && !NAMES.contains(&&*cause.field);
        self.code == 422 && self.causes.iter().any(is_in_it)
    }

    pub(crate) fn class(&self) -> ErrorClass {
        match (self.code, self.retry_after) {
            // 500 too: a timeout of the storage is a `ServerTimeout`.
            (429 | 500..=599, Some(delay)) if !delay.is_zero() => ErrorClass::Wait(delay),
            (409, _) => ErrorClass::Conflict,
            // An apply with the uid of an object that was replaced by one of the same name.
            (422, _) if self.causes.iter().any(|cause| cause.field == "metadata.uid") => {
                ErrorClass::Conflict
            }
            (404, _) if self.names_object => ErrorClass::Missing,
            (404, _) => ErrorClass::NotServed,
            (403, _) => ErrorClass::Forbidden,
            (400 | 405 | 406 | 413 | 415 | 422, _) => ErrorClass::Permanent,
            // Server-side apply of a field that the schema lacks is answered 500.
            (500, _) if self.message.starts_with("failed to create typed patch object") => {
                ErrorClass::Permanent
            }
            // The storage limits are lower than those of the server.
            (500, _) if TOO_LARGE.iter().any(|words| self.message.contains(words)) => {
                ErrorClass::Permanent
            }
            _ => ErrorClass::Retry,
        }
    }
}

impl Cause {
    /// The message without the quoted value, which may contain any words.
    fn why(&self) -> &str {
        let Some((kind, rest)) = self.message.split_once(" value: ") else { return &self.message };
        if kind != "Invalid" {
            // Unsupported, Duplicate: the field itself is not immutable.
            return "";
        }
        let Some(text) = rest.strip_prefix('"') else {
            return rest.rsplit_once(": ").map_or(rest, |(_, why)| why);
        };
        let mut is_escaped = false;
        let ends = text.find(|c| {
            let is_end = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            is_end
        });
        ends.map_or("", |end| &text[end..])
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

/// A server need not give a reason.
fn named(code: u16, reason: &str) -> String {
    if reason.is_empty() { code.to_string() } else { format!("{code} {reason}") }
}

#[cfg(test)]
mod tests;
