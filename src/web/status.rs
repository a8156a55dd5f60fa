//! Errors, each as the `Status` that a Kubernetes API server would answer.

use actix_web::{
    HttpResponse, ResponseError,
    http::{StatusCode, header},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    board::Full,
    object::{K8sType, ObjectKey, Undecodable},
};

/// Why a request is not answered with what it asks for.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("there is no path `{path}`: `/` lists the paths")]
    NoPath { path: String },
    #[error("there is no operator `{0}`: /api/v1/operators lists them")]
    NoOperator(String),
    #[error("the operator `{operator}` knows no parent `{key}`")]
    NoParent { operator: String, key: ObjectKey },
    #[error("no type `{0}` is cached: /api/v1/cache lists those that are")]
    NoType(String),
    #[error("{} `{key}` is not in the cache", .ty.resource_name())]
    NoObject { ty: K8sType, key: ObjectKey },
    #[error("{0}")]
    LeftOut(Undecodable),
    #[error("{} are namespaced: the path must end with /NAMESPACE/NAME", .0.resource_name())]
    NamespaceMissing(K8sType),
    #[error("{} have no namespace: the path must end with /NAME", .0.resource_name())]
    NamespaceForbidden(K8sType),
    #[error(
        "this program offers no change of its logs: it started the supervisor without `log_level`"
    )]
    NoLogLevel,
    #[error("{0}")]
    BadRequest(String),
    #[error("the method {method} is not allowed here: this path has {allowed}")]
    Method { method: String, allowed: String },
    #[error("the Host header must be 127.0.0.1, localhost or [::1]")]
    WrongHost,
    #[error("the {what} of a request may have at most {limit} bytes")]
    TooLong { what: &'static str, limit: usize },
    #[error("the headers of a request may have at most {limit} bytes")]
    HeadersTooLarge { limit: usize },
    #[error("the body of the request may have at most {limit} bytes")]
    BodyTooLarge { limit: u64 },
    #[error("the body of the request did not come in time")]
    BodyTooSlow,
    #[error("{0}")]
    TooManyListeners(Full),
    #[error("the process ends")]
    Stopping,
}

/// In seconds.
const RETRY_AFTER: &str = "5";

/// Why a request was not answered, as a Kubernetes API server says it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names)] // Kubernetes named it so.
pub(super) struct Status {
    /// Always `Status`.
    kind: &'static str,
    /// Always `v1`.
    api_version: &'static str,
    metadata: Empty,
    /// Always `Failure`.
    status: &'static str,
    /// What is wrong, for people.
    message: String,
    /// What is wrong in one word, such as `NotFound`.
    reason: &'static str,
    /// The HTTP status code.
    code: u16,
}

/// Nothing.
#[derive(Debug, Serialize, JsonSchema)]
struct Empty {}

impl Refused {
    fn reason(&self) -> &'static str {
        match self {
            Self::NoPath { .. }
            | Self::NoOperator(_)
            | Self::NoParent { .. }
            | Self::NoType(_)
            | Self::NoObject { .. }
            | Self::LeftOut(_)
            | Self::NoLogLevel => "NotFound",
            Self::NamespaceMissing(_)
            | Self::NamespaceForbidden(_)
            | Self::BadRequest(_)
            | Self::TooLong { .. }
            | Self::HeadersTooLarge { .. } => "BadRequest",
            Self::Method { .. } => "MethodNotAllowed",
            Self::WrongHost => "Forbidden",
            Self::BodyTooLarge { .. } => "RequestEntityTooLarge",
            Self::BodyTooSlow => "Timeout",
            Self::TooManyListeners(_) => "TooManyRequests",
            Self::Stopping => "ServiceUnavailable",
        }
    }
}

impl ResponseError for Refused {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::NoPath { .. }
            | Self::NoOperator(_)
            | Self::NoParent { .. }
            | Self::NoType(_)
            | Self::NoObject { .. }
            | Self::LeftOut(_)
            | Self::NoLogLevel => StatusCode::NOT_FOUND,
            Self::NamespaceMissing(_) | Self::NamespaceForbidden(_) | Self::BadRequest(_) => {
                StatusCode::BAD_REQUEST
            }
            Self::Method { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::WrongHost => StatusCode::FORBIDDEN,
            Self::TooLong { .. } => StatusCode::URI_TOO_LONG,
            Self::HeadersTooLarge { .. } => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooManyListeners(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Stopping => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn error_response(&self) -> HttpResponse {
        let code = self.status_code();
        let mut response = HttpResponse::build(code);
        if let Self::Method { allowed, .. } = self {
            response.insert_header((header::ALLOW, allowed.as_str()));
        }
        if let Self::TooManyListeners(_) | Self::Stopping = self {
            response.insert_header(("Retry-After", RETRY_AFTER));
        }
        response.json(Status {
            kind: "Status",
            api_version: "v1",
            metadata: Empty {},
            status: "Failure",
            message: self.to_string(),
            reason: self.reason(),
            code: code.as_u16(),
        })
    }
}
