//! Errors, each as the `Status` that a Kubernetes API server would answer.

use actix_web::{HttpResponse, ResponseError, http::StatusCode};
use serde::Serialize;

use crate::object::{K8sType, ObjectKey, Undecodable};

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
    #[error("{0}")]
    BadRequest(String),
    #[error("the method {0} is not allowed here: only GET and HEAD are")]
    Method(String),
    #[error("the Host header must be 127.0.0.1, localhost or [::1]")]
    WrongHost,
    #[error("the {what} of a request may have at most {limit} bytes")]
    TooLong { what: &'static str, limit: usize },
    #[error("the headers of a request may have at most {limit} bytes")]
    HeadersTooLarge { limit: usize },
    #[error("the body of a request may have at most {limit} bytes")]
    BodyTooLarge { limit: u64 },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names)] // Kubernetes named it so.
struct Status<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: Empty,
    status: &'static str,
    message: String,
    reason: &'a str,
    code: u16,
}

#[derive(Serialize)]
struct Empty {}

impl Refused {
    fn reason(&self) -> &'static str {
        match self {
            Self::NoPath { .. }
            | Self::NoOperator(_)
            | Self::NoParent { .. }
            | Self::NoType(_)
            | Self::NoObject { .. }
            | Self::LeftOut(_) => "NotFound",
            Self::NamespaceMissing(_)
            | Self::NamespaceForbidden(_)
            | Self::BadRequest(_)
            | Self::TooLong { .. }
            | Self::HeadersTooLarge { .. } => "BadRequest",
            Self::Method(_) => "MethodNotAllowed",
            Self::WrongHost => "Forbidden",
            Self::BodyTooLarge { .. } => "RequestEntityTooLarge",
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
            | Self::LeftOut(_) => StatusCode::NOT_FOUND,
            Self::NamespaceMissing(_) | Self::NamespaceForbidden(_) | Self::BadRequest(_) => {
                StatusCode::BAD_REQUEST
            }
            Self::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::WrongHost => StatusCode::FORBIDDEN,
            Self::TooLong { .. } => StatusCode::URI_TOO_LONG,
            Self::HeadersTooLarge { .. } => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        }
    }

    fn error_response(&self) -> HttpResponse {
        let code = self.status_code();
        let mut response = HttpResponse::build(code);
        if let Self::Method(_) = self {
            response.insert_header(("Allow", "GET, HEAD"));
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
