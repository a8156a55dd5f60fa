//! A refused request: what the API server answered, who decided so, and what that proves.
//!
//! The text of an admission policy or webhook may say anything, so nothing is decided on a deletion from it. The
//! API server shows who refused by how a message begins:
//!
//! | message | who refused |
//! |---|---|
//! | `<Kind>.<group> "<name>" is invalid: ..` | the validation of the type |
//! | `<plural>.<group> "<name>" is forbidden: exceeded quota: ..` | the quota of the namespace |
//! | `<plural>.<group> "<name>" is forbidden: ValidatingAdmissionPolicy ..` | an admission policy |
//! | `admission webhook "<name>" denied the request: ..` | a webhook, with any code, reason and causes |

use std::time::Duration;

use serde::Deserialize;

use super::{class::ErrorClass, immutable};

#[derive(Debug, Clone, PartialEq, Eq, Default, thiserror::Error)]
#[error("{}: {message}", self.name())]
pub(crate) struct Refusal {
    pub(crate) code: u16,
    /// The machine-readable reason, for example `Conflict`; empty if there was none.
    pub(crate) reason: String,
    pub(crate) message: String,
    /// The delay of the `Retry-After` header.
    pub(crate) retry_after: Option<Duration>,
    pub(crate) causes: Vec<Cause>,
    pub(crate) object: RefusedObject,
    /// Where a list whose token has expired continues, on newer objects.
    pub(crate) continues_at: Option<String>,
}

/// The object that the answer names; without a name if the server does not know the type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RefusedObject {
    pub(crate) group: String,
    /// The kind, or the plural of the type.
    pub(crate) kind: String,
    pub(crate) name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Cause {
    /// The machine-readable reason, for example `FieldManagerConflict`.
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) field: String,
    /// Whether a transition rule of the type's schema says this; proven from the schema, not sent.
    #[serde(skip)]
    pub(crate) is_transition_rule: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct StatusBody {
    reason: String,
    message: String,
    details: Option<StatusDetails>,
    metadata: Option<ListMeta>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ListMeta {
    #[serde(rename = "continue")]
    token: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct StatusDetails {
    group: String,
    kind: String,
    name: String,
    retry_after_seconds: u64,
    causes: Vec<Cause>,
}

/// The messages for an object beyond the limits of etcd and its connection (1.5 and 2 MiB).
const TOO_LARGE: [&str; 2] = ["request is too large", "trying to send message larger than max"];

impl Refusal {
    /// Reads the answer to a refused request; a body that is no `Status` becomes the message.
    pub(crate) fn read(code: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        let status: StatusBody = serde_json::from_slice(body).unwrap_or_else(|_| StatusBody {
            message: String::from_utf8_lossy(&body[..body.len().min(256)]).trim().to_owned(),
            ..StatusBody::default()
        });
        let details = status.details.unwrap_or_default();
        let StatusDetails { group, kind, name, retry_after_seconds: seconds, causes } = details;
        let from_details = (seconds > 0).then(|| Duration::from_secs(seconds));
        Self {
            code,
            reason: status.reason,
            message: status.message,
            retry_after: retry_after.or(from_details),
            causes,
            object: RefusedObject { group, kind, name },
            continues_at: status.metadata.and_then(|metadata| metadata.token),
        }
    }

    /// An answer about an object.
    #[cfg(test)]
    pub(crate) fn answered(code: u16) -> Self {
        let name = "a".to_owned();
        Self { code, object: RefusedObject { name, ..RefusedObject::default() }, ..Self::default() }
    }

    /// The status code and the reason, where there is one.
    pub(crate) fn name(&self) -> String {
        let Self { code, reason, .. } = self;
        if reason.is_empty() { code.to_string() } else { format!("{code} {reason}") }
    }

    pub(crate) fn class(&self) -> ErrorClass {
        match (self.code, self.retry_after) {
            // 500 too: a timeout of the storage is a `ServerTimeout`.
            (429 | 500..=599, Some(delay)) if !delay.is_zero() => ErrorClass::Wait(delay),
            // Its code says nothing about the object.
            (404 | 409 | 410, _) if self.is_by_webhook() => ErrorClass::Retry,
            (409, _) => ErrorClass::Conflict,
            // An apply with the uid of an object that was replaced by one of the same name.
            (422, _) if self.is_about_the_uid() => ErrorClass::Conflict,
            (404, _) if !self.object.name.is_empty() => ErrorClass::Missing,
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

    /// Whether it is proven that all causes are immutable fields, so that a new object could be accepted.
    pub(crate) fn is_immutable(&self) -> bool {
        let RefusedObject { group, kind, .. } = &self.object;
        let is_immutable = |cause: &Cause| {
            cause.is_transition_rule
                || immutable::is_proven((group, kind), &cause.field, cause.why())
        };
        self.is_by_validation() && !self.causes.is_empty() && self.causes.iter().all(is_immutable)
    }

    /// Whether the object only conflicts with existing ones: a quota is exhausted, or a port or address is in
    /// use.
    pub(crate) fn is_for_room(&self) -> bool {
        let is_allocated = |cause: &Cause| cause.why().contains("already allocated");
        let is_by_quota = || self.begins_with("is forbidden: exceeded quota: ");
        (self.code == 403 && is_by_quota())
            || (self.is_by_validation()
                && !self.causes.is_empty()
                && self.causes.iter().all(is_allocated))
    }

    /// Whether only the name of the object is refused, or a rule for the whole object, which may concern its name.
    pub(crate) fn is_about_the_name(&self) -> bool {
        const NAMES: [&str; 4] = ["metadata.name", "metadata.generateName", "", "<nil>"];
        let is_name = |cause: &Cause| NAMES.contains(&&*cause.field);
        self.is_by_validation() && !self.causes.is_empty() && self.causes.iter().all(is_name)
    }

    /// Whether the validation of the type refused nothing but this field.
    pub(crate) fn names_only(&self, field: &str) -> bool {
        let causes = &self.causes;
        self.is_by_validation() && !causes.is_empty() && causes.iter().all(|it| it.field == field)
    }

    /// Whether the validation of the type refused it.
    pub(crate) fn is_by_validation(&self) -> bool {
        self.code == 422 && self.begins_with("is invalid: ")
    }

    /// Whether the message names the object, and continues so.
    fn begins_with(&self, words: &str) -> bool {
        let RefusedObject { group, kind, name } = &self.object;
        let dot = if group.is_empty() { "" } else { "." };
        let rest = self.message.strip_prefix(&format!("{kind}{dot}{group} {name:?} "));
        !kind.is_empty() && rest.is_some_and(|rest| rest.starts_with(words))
    }

    fn is_by_webhook(&self) -> bool {
        self.message.starts_with("admission webhook \"")
    }

    fn is_about_the_uid(&self) -> bool {
        self.causes.iter().any(|cause| cause.field == "metadata.uid")
    }
}

impl Cause {
    /// The message without the quoted value, which may contain any words.
    pub(crate) fn why(&self) -> &str {
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

#[cfg(test)]
mod tests;
