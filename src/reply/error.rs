//! What can go wrong between us and the API server, and what kind of trouble it is.

use std::{sync::Arc, time::Duration};

use http_body_util::LengthLimitError;
use serde::Deserialize;

/// A request did not do what it was sent for.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ApiError {
    /// The server answered, and refused.
    #[error("{request}: {refusal}")]
    Refused {
        /// Verb and path.
        request: String,
        /// The answer.
        refusal: Box<Refusal>,
    },
    /// No answer came: the connection failed, or the reply was cut in half. Whether the request
    /// took effect is not known.
    #[error("{request}: no answer from the API server: {source}")]
    Unreachable {
        /// Verb and path.
        request: String,
        /// Why.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// No answer came in time. Whether the request took effect is not known.
    #[error("{request}: no answer from the API server within {} s", .after.as_secs_f64())]
    TimedOut {
        /// Verb and path.
        request: String,
        /// The deadline that passed.
        after: Duration,
    },
    /// The answer is not what the API promises.
    #[error("{request}: the answer cannot be read: {why}")]
    Malformed {
        /// Verb and path.
        request: String,
        /// What is wrong with it; never its content.
        why: String,
    },
    /// The server took what was sent, without the label by which it is watched.
    #[error(
        "the API server keeps it without the label `{label}`, by which changes of it would be seen: \
         take it out of the admission policy that removes the label"
    )]
    Unlabelled {
        /// The label.
        label: String,
    },
}

/// A `Status` that says no.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", named(*.code, .reason))]
pub struct Refusal {
    /// The HTTP status code.
    pub code: u16,
    /// The machine-readable reason, for example `Conflict`; empty if there was none.
    pub reason: String,
    /// The message for people.
    pub message: String,
    /// What the `Retry-After` header asks for.
    pub retry_after: Option<Duration>,
    /// What it is about, one by one.
    pub causes: Vec<Cause>,
    /// Whether it names an object: a server that does not know the type does not.
    pub names_object: bool,
}

/// One of the reasons for a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Cause {
    /// The machine-readable reason, for example `FieldManagerConflict`.
    pub reason: String,
    /// The message for people.
    pub message: String,
    /// The path of the field.
    pub field: String,
}

/// What kind of trouble an error is, for scheduling, metrics and Events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// May go away by itself: retry with backoff.
    Retry,
    /// The object is not as we thought: read it and decide again.
    Conflict,
    /// The object is not there.
    Missing,
    /// The server does not know the type, or not now: that says nothing about its objects.
    NotServed,
    /// The server wants less: wait this long.
    Wait(Duration),
    /// We may not: retry with backoff, and say which permission is missing.
    Forbidden,
    /// The request can never work as it is.
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

/// What etcd, and the connection to it, say of an object beyond their limits (1.5 and 2 MiB).
const TOO_LARGE: [&str; 2] = ["request is too large", "trying to send message larger than max"];

impl Refusal {
    /// The status code and the reason, where there is one.
    pub fn name(&self) -> String {
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

    /// Whether nothing is wrong but that fields cannot change once they are set, so that a new
    /// object could be as it was asked for.
    pub fn is_immutable(&self) -> bool {
        const WORDS: [&str; 5] =
            ["immutable", "may not change", "may not be changed", "cannot change", "updates to "];
        let is_immutable = |cause: &Cause| WORDS.iter().any(|words| cause.why().contains(words));
        self.code == 422 && !self.causes.is_empty() && self.causes.iter().all(is_immutable)
    }

    /// Whether an object may only not be beside those that there are: a quota is used up, or a port
    /// or an address is taken.
    pub fn is_for_room(&self) -> bool {
        matches!(self.code, 403 | 422)
            && ["exceeded quota", "already allocated"].iter().any(|it| self.message.contains(it))
    }

    /// Whether no new object of the kind would be taken from us, or none like this, however it is called:
    /// by the rights that we have, or by the Pod security standards.
    pub fn is_of_every_new_object(&self) -> bool {
        self.code == 403
            && ["cannot create resource", "violates PodSecurity"]
                .iter()
                .any(|it| self.message.contains(it))
    }

    /// Whether something in the object is refused: with another name it would be too.
    pub fn is_about_content(&self) -> bool {
        const NAMES: [&str; 2] = ["metadata.name", "metadata.generateName"];
        // A rule about all of the object may be one about its name.
        let is_told = |field: &str| !matches!(field, "" | "<nil>");
        let is_in_it = |cause: &Cause| is_told(&cause.field) && !NAMES.contains(&&*cause.field);
        self.code == 422 && self.causes.iter().any(is_in_it)
    }

    /// What kind of trouble it is.
    pub fn class(&self) -> ErrorClass {
        match (self.code, self.retry_after) {
            // 500 too: what the storage did not answer in time is a `ServerTimeout`.
            (429 | 500..=599, Some(delay)) if !delay.is_zero() => ErrorClass::Wait(delay),
            (409, _) => ErrorClass::Conflict,
            // An apply with the uid of an object that has given way to a namesake.
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
            // What the storage never takes: it allows less than the server does.
            (500, _) if TOO_LARGE.iter().any(|words| self.message.contains(words)) => {
                ErrorClass::Permanent
            }
            _ => ErrorClass::Retry,
        }
    }
}

impl Cause {
    /// The message without the value that it quotes, which may hold any words.
    fn why(&self) -> &str {
        let Some((kind, rest)) = self.message.split_once(" value: ") else { return &self.message };
        if kind != "Invalid" {
            // Unsupported, Duplicate: no other value would have been taken.
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
    /// An answer that is not the JSON that it should be, by position: the reader quotes it.
    pub(crate) fn malformed(request: String, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let why = format!("not what was asked for, at line {line}, column {column}");
        Self::Malformed { request, why }
    }

    /// The answer, where there was one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused { refusal, .. } => Some(refusal),
            Self::Unreachable { .. }
            | Self::TimedOut { .. }
            | Self::Malformed { .. }
            | Self::Unlabelled { .. } => None,
        }
    }

    /// Whether the server has more to do than it can, so that whatever else there is should wait.
    pub fn is_throttling(&self) -> bool {
        matches!(self.class(), ErrorClass::Wait(_)) || self.code() == Some(429)
    }

    /// Whether the request may have taken effect all the same.
    pub fn may_have_taken_effect(&self) -> bool {
        self.code().is_none_or(|code| code >= 500)
    }

    /// Whether less may be answered: it took too long, or was larger than what is read.
    pub(crate) fn is_too_much(&self) -> bool {
        match self {
            Self::TimedOut { .. } => true,
            Self::Unreachable { source, .. } => source.is::<LengthLimitError>(),
            Self::Refused { .. } | Self::Malformed { .. } | Self::Unlabelled { .. } => false,
        }
    }

    /// What kind of trouble it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Refused { refusal, .. } => refusal.class(),
            Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Malformed { .. } => {
                ErrorClass::Retry
            }
            Self::Unlabelled { .. } => ErrorClass::Permanent,
        }
    }

    /// The HTTP status code, where there was an answer.
    pub fn code(&self) -> Option<u16> {
        self.refusal().map(|refusal| refusal.code)
    }
}

/// A server need not give a reason.
fn named(code: u16, reason: &str) -> String {
    if reason.is_empty() { code.to_string() } else { format!("{code} {reason}") }
}

#[cfg(test)]
mod tests;
