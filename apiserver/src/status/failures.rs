//! The failures of requests by their HTTP status, with the messages of kube-apiserver.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::error::StatusError;
use crate::{group_resource::GroupResource, schema::FieldError};

impl StatusError {
    /// 404: the object does not exist.
    pub(crate) fn not_found(resource: &GroupResource, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{resource} \"{name}\" not found")).of(resource, name)
    }

    /// 404: the path leads to no resource.
    pub(crate) fn no_such_resource() -> Self {
        let mut error =
            Self::new(404, "NotFound", "the server could not find the requested resource");
        error.details = json!({});
        error
    }

    /// 409: an object of this name exists and is being deleted.
    pub(crate) fn being_deleted(resource: &GroupResource, name: &str) -> Self {
        let message = format!("object is being deleted: {resource} \"{name}\" already exists");
        Self::new(409, "AlreadyExists", message).of(resource, name)
    }

    /// 409: an object of this name exists.
    pub(crate) fn already_exists(resource: &GroupResource, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{resource} \"{name}\" already exists"))
            .of(resource, name)
    }

    /// 409: a precondition failed.
    pub(crate) fn conflict(resource: &GroupResource, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {resource} \"{name}\": {why}");
        Self::new(409, "Conflict", message).of(resource, name)
    }

    /// 409: the writer had read an older version.
    pub(crate) fn modified(resource: &GroupResource, name: &str) -> Self {
        let why = "the object has been modified; \
                   please apply your changes to the latest version and try again";
        Self::conflict(resource, name, why)
    }

    /// 409: other managers own fields that an apply would change.
    pub(crate) fn apply_conflict(message: impl Into<String>) -> Self {
        Self::new(409, "Conflict", message)
    }

    /// 422: fields have wrong values.
    pub(crate) fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let mut lines: Vec<String> = Vec::new();
        for line in errors.iter().map(ToString::to_string) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let list = match lines.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let message = format!("{} \"{name}\" is invalid: {list}", qualified(kind, group));
        let mut error = Self::new(422, "Invalid", message);
        let causes: Vec<Value> = errors
            .iter()
            .map(|e| json!({ "reason": e.kind.reason(), "message": e.message(), "field": e.path }))
            .collect();
        error.details = json!({ "causes": causes });
        if !kind.is_empty() {
            error.details["kind"] = json!(kind);
        }
        if !name.is_empty() {
            error.details["name"] = json!(name);
        }
        if !group.is_empty() {
            error.details["group"] = json!(group);
        }
        error
    }

    /// 422: a patch that cannot be applied.
    pub(crate) fn unprocessable_patch() -> Self {
        let message = "the server rejected our request due to an error in our request";
        let mut error = Self::new(422, "Invalid", message);
        error.details = json!({});
        error
    }

    /// 400: the request makes no sense.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 401: no or a wrong token.
    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    /// 403: a path that is no resource, and not allowed.
    pub(crate) fn forbidden_path(why: &str) -> Self {
        let mut error = Self::new(403, "Forbidden", format!("forbidden: {why}"));
        error.details = json!({});
        error
    }

    /// 403: not allowed.
    pub(crate) fn forbidden(resource: &GroupResource, name: &str, why: &str) -> Self {
        let message = match name {
            "" => format!("{resource} is forbidden: {why}"),
            _ => format!("{resource} \"{name}\" is forbidden: {why}"),
        };
        Self::new(403, "Forbidden", message).of(resource, name)
    }

    /// 404: there is no such component.
    pub(crate) fn no_component(name: &str) -> Self {
        let mut error = Self::new(404, "NotFound", format!("componentstatus \"{name}\" not found"));
        error.details = json!({ "name": name, "kind": "componentstatus" });
        error
    }

    /// 405: objects of the resource cannot be watched.
    pub(crate) fn cannot_be_watched(plural: &str) -> Self {
        let message = format!("watch is not supported on resources of kind \"{plural}\"");
        let mut error = Self::new(405, "MethodNotAllowed", message);
        error.details = json!({ "kind": plural });
        error
    }

    /// 405: the resource has no such verb.
    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        let mut error = Self::new(405, "MethodNotAllowed", message);
        error.details = json!({});
        error
    }

    /// 406: none of the accepted media types can be produced.
    pub(crate) fn not_acceptable(available: &[&str]) -> Self {
        let available = available.join(", ");
        let message = format!("only the following media types are accepted: {available}");
        Self::new(406, "NotAcceptable", message)
    }

    /// 406: the same, where no answer of the path has such a media type.
    pub(crate) fn not_acceptable_here(available: &[&str]) -> Self {
        let available = available.join(", ");
        let message = format!("406: Not Acceptable\n\nAvailable representations: {available}");
        let mut error = Self::new(406, "NotAcceptable", message);
        error.details = json!({});
        error
    }

    /// 410: the history that the request needs was compacted away.
    pub(crate) fn expired(asked: u64, oldest: u64) -> Self {
        Self::new(410, "Expired", format!("too old resource version: {asked} ({oldest})"))
    }

    /// 413: the body is larger than what is read.
    pub(crate) fn too_large(limit: usize) -> Self {
        let message = format!("Request entity too large: limit is {limit}");
        Self::new(413, "RequestEntityTooLarge", message)
    }

    /// 415: the body is in a format that is not understood.
    pub(crate) fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// 415: the patch type is not supported.
    pub(crate) fn unsupported_patch_type() -> Self {
        let mut error = Self::unsupported_media_type("415: Unsupported Media Type");
        error.details = json!({});
        error
    }

    /// 413: a JSON patch with more operations than are read.
    pub(crate) fn too_many_operations(given: usize, limit: usize) -> Self {
        let message = format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {limit}, \
             got {given}"
        );
        Self::new(413, "RequestEntityTooLarge", message)
    }

    /// 429: not now; `seconds` is when to ask again.
    pub(crate) fn too_many_requests(
        message: &str,
        seconds: u64,
        reason: &str,
        cause: &str,
    ) -> Self {
        let mut error = Self::new(429, "TooManyRequests", message);
        error.details = json!({ "causes": [{ "reason": reason, "message": cause }] });
        if seconds > 0 {
            error.details["retryAfterSeconds"] = json!(seconds);
        }
        error
    }

    /// 500: the answer of the real server to other errors.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// 500: what the real server cannot do, with the reason as a cause.
    pub(crate) fn internal_error(why: &str) -> Self {
        let mut error = Self::new(500, "InternalError", format!("Internal error occurred: {why}"));
        error.details = json!({ "causes": [{ "message": why }] });
        error
    }

    /// What a webhook answers with: its own code, reason and details, and this message.
    pub(crate) fn of_webhook(status: &Value, message: String) -> Self {
        let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok());
        let mut error = Self::new(code.filter(|code| *code >= 400).unwrap_or(400), "", message);
        if let Some(reason) = status["reason"].as_str() {
            error.reason = Cow::Owned(reason.to_owned());
        }
        error.details = status["details"].clone();
        error
    }

    /// 501: a feature that this server does not have; `what` names it.
    pub(crate) fn not_implemented(what: &str) -> Self {
        let message = format!("the embedded API server does not support {what}");
        Self::new(501, "NotImplemented", message)
    }

    /// 503: nothing is there that could answer.
    pub(crate) fn unavailable(why: &str) -> Self {
        Self::new(503, "ServiceUnavailable", why)
    }

    /// 504: a version was asked for that lies in the future.
    pub(crate) fn version_too_large(asked: u64, head: u64) -> Self {
        let message = format!("Too large resource version: {asked}, current: {head}");
        let mut error = Self::new(504, "Timeout", format!("Timeout: {message}"));
        let cause =
            json!({ "reason": "ResourceVersionTooLarge", "message": "Too large resource version" });
        error.details = json!({ "causes": [cause], "retryAfterSeconds": 1 });
        error
    }

    /// 504: the body of a request did not come to its end in time.
    pub(crate) fn body_too_slow() -> Self {
        let why = "request did not complete within requested timeout - context deadline exceeded";
        let mut error = Self::new(504, "Timeout", format!("Timeout: {why}"));
        error.details = json!({});
        error
    }
}

/// A kind or resource with its group, `Deployment.apps`, or bare in the core group.
fn qualified(word: &str, group: &str) -> String {
    match group {
        "" => word.to_owned(),
        _ => format!("{word}.{group}"),
    }
}
