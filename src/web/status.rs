//! Errors and results of commands, as the `Status` of the Kubernetes API.

use std::borrow::Cow;

use actix_web::{
    HttpResponse, ResponseError,
    http::{
        StatusCode,
        header::{self, HeaderName},
    },
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    board::{CommandError, Full},
    object::{K8sType, ObjectKey, Undecodable, legible},
};

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
#[cfg_attr(not(feature = "dashboard"), expect(dead_code, reason = "logins are of the page"))]
pub(super) enum Refused {
    #[error("the path `{path}` does not exist: see `/` for all paths")]
    NoPath { path: String },
    #[error("the operator `{0}` does not exist: see /api/v1/operators")]
    NoOperator(String),
    #[error("the operator `{operator}` has no parent `{key}`")]
    NoParent { operator: String, key: ObjectKey },
    #[error("the operator `{operator}` has no parent `{key}`: {reasons}")]
    NoParentYet { operator: String, key: ObjectKey, reasons: String },
    #[error("{0}")]
    Elsewhere(String),
    #[error("this process works for all parents: it does not share them with other processes")]
    NotShared,
    #[error("the type `{0}` is not cached: see /api/v1/cache")]
    NoType(String),
    #[error("{} `{key}` is not in the cache", .ty.resource_name())]
    NoObject { ty: K8sType, key: ObjectKey },
    #[error("{0}")]
    Undecodable(Undecodable),
    #[error("{} are namespaced: the path must end with /NAMESPACE/NAME", .0.resource_name())]
    NamespaceMissing(K8sType),
    #[error("{} have no namespace: the path must end with /NAME", .0.resource_name())]
    NamespaceForbidden(K8sType),
    #[error(
        "the log filter cannot be changed: the program started the supervisor without `log_level`"
    )]
    NoLogLevel,
    #[error("no deletion of `{0}` is held: there is nothing to allow")]
    NoneHeld(ObjectKey),
    #[error(
        "the code is of other deletions than those of `{0}` that are held now: read which these are, and send their code"
    )]
    OtherDeletions(ObjectKey),
    #[error("{0}")]
    BadRequest(String),
    #[error("{0}")]
    Internal(String),
    #[error("the method {method} is not allowed: this path allows {allowed}")]
    Method { method: String, allowed: String },
    #[error("{0}")]
    Command(#[from] CommandError),
    #[error("the Host header must be 127.0.0.1, localhost or [::1]")]
    WrongHost,
    #[error("the {what} of the request exceeds {limit} bytes")]
    TooLong { what: &'static str, limit: usize },
    #[error("the headers of the request exceed {limit} bytes")]
    HeadersTooLarge { limit: usize },
    #[error("the body of the request exceeds {limit} bytes")]
    BodyTooLarge { limit: usize },
    #[error("the body of the request did not arrive in time")]
    BodyTooSlow,
    #[error("{0}")]
    TooManyListeners(Full),
    #[error("there are too many connections: only /livez, /readyz and /healthz are available")]
    NoRoom,
    #[error("the process is stopping")]
    Stopping,
    #[error("the body of the request is incomplete")]
    BodyBroken,
    #[error(
        "a page of another site may not send a request that changes something or calls a handler: \
         `Sec-Fetch-Site` must be absent, `same-origin` or `none`"
    )]
    OtherSite,
    #[error(
        "another origin may not send a request that changes something or calls a handler: `Origin` \
         must be absent, or be the scheme, host and port of this server"
    )]
    OtherOrigin,
    #[error("a command must be JSON, also without a body: send `Content-Type: application/json`")]
    NotJson,
    #[error(
        "this path accepts only the form of the login page: send the token with each request, as \
         `Authorization: Bearer TOKEN`"
    )]
    NotForm,
    #[error(
        "a form is accepted only from a page of this server: \
         `Origin` or `Sec-Fetch-Site: same-origin` is required"
    )]
    NoOrigin,
    #[error("this server has no login: everybody who reaches it has access")]
    NoLogin,
    #[error("too many logins failed: try again in a minute")]
    TooManyLogins,
    #[error(
        "too many users are logged in: a session ends with a logout, or an hour after its last request"
    )]
    TooManySessions,
    #[error("the request is not authenticated: send a token as `Authorization: Bearer TOKEN`")]
    TokenMissing,
    #[error("the token is invalid, or has another audience: send another one")]
    TokenInvalid,
    #[error("forbidden: User {user:?} cannot {what}{}", because(.reason))]
    NotAllowed { user: String, what: String, reason: String },
    #[error("the API server cannot review access: all access is denied until it can")]
    ReviewsDown,
    #[error("too many requests wait for a review of access: try again in a few seconds")]
    ReviewsBusy,
}

impl Refused {
    /// Neither of two permissions is there.
    pub(super) fn nor(self, other: Self) -> Self {
        match (self, other) {
            (Self::NotAllowed { user, what, reason }, Self::NotAllowed { what: second, .. }) => {
                Self::NotAllowed { user, what: format!("{what}, nor {second}"), reason }
            }
            (first, _) => first,
        }
    }
}

/// Seconds.
const RETRY_AFTER: &str = "5";
const RETRY_LOGIN_AFTER: &str = "60";

/// The result of a command, or an error, as in the Kubernetes API.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names)] // The name is from Kubernetes.
pub(super) struct Status {
    /// Always `Status`.
    kind: &'static str,
    /// Always `v1`.
    api_version: &'static str,
    metadata: Empty,
    /// `Success` or `Failure`.
    status: &'static str,
    /// The result or error as text.
    message: String,
    /// The error in one word, such as `NotFound`; absent on success.
    #[serde(skip_serializing_if = "str::is_empty")]
    #[schemars(with = "String")]
    reason: Cow<'static, str>,
    /// The HTTP status code.
    code: u16,
}

/// An empty object.
#[derive(Debug, Serialize, JsonSchema)]
struct Empty {}

/// The answer to a command that was executed or accepted.
pub(super) fn success(code: StatusCode, message: String) -> HttpResponse {
    HttpResponse::build(code).json(Status::new(code, "Success", message, Cow::Borrowed("")))
}

impl Status {
    fn new(
        code: StatusCode,
        status: &'static str,
        message: String,
        reason: Cow<'static, str>,
    ) -> Self {
        let (kind, api_version, metadata, code) = ("Status", "v1", Empty {}, code.as_u16());
        Self { kind, api_version, metadata, status, message, reason, code }
    }
}

impl Refused {
    fn code_and_reason(&self) -> (StatusCode, Cow<'static, str>) {
        let (code, reason) = match self {
            Self::Command(error) => return code_and_reason(error),
            Self::NoPath { .. }
            | Self::NoOperator(_)
            | Self::NoParent { .. }
            | Self::NoParentYet { .. }
            | Self::NoType(_)
            | Self::NotShared
            | Self::NoObject { .. }
            | Self::Undecodable(_)
            | Self::NoLogin
            | Self::NoLogLevel => (StatusCode::NOT_FOUND, "NotFound"),
            Self::NamespaceMissing(_)
            | Self::NamespaceForbidden(_)
            | Self::BadRequest(_)
            | Self::BodyBroken => (StatusCode::BAD_REQUEST, "BadRequest"),
            Self::NoneHeld(_) | Self::OtherDeletions(_) => (StatusCode::CONFLICT, "Conflict"),
            Self::TooLong { .. } => (StatusCode::URI_TOO_LONG, "BadRequest"),
            Self::HeadersTooLarge { .. } => {
                (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "BadRequest")
            }
            Self::Method { .. } => (StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed"),
            Self::WrongHost
            | Self::OtherSite
            | Self::OtherOrigin
            | Self::NoOrigin
            | Self::NotAllowed { .. } => (StatusCode::FORBIDDEN, "Forbidden"),
            Self::TokenMissing | Self::TokenInvalid => (StatusCode::UNAUTHORIZED, "Unauthorized"),
            Self::BodyTooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge"),
            Self::BodyTooSlow => (StatusCode::REQUEST_TIMEOUT, "Timeout"),
            Self::Elsewhere(_) => (StatusCode::BAD_GATEWAY, "BadGateway"),
            Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "InternalError"),
            Self::TooManyListeners(_) | Self::TooManyLogins | Self::TooManySessions => {
                (StatusCode::TOO_MANY_REQUESTS, "TooManyRequests")
            }
            Self::NoRoom | Self::Stopping | Self::ReviewsDown | Self::ReviewsBusy => {
                (StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable")
            }
            Self::NotJson | Self::NotForm => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType")
            }
        };
        (code, reason.into())
    }

    /// Adds the headers that tell the client how to proceed.
    pub(super) fn add_headers(&self, response: &mut HttpResponse) {
        for (name, value) in self.headers() {
            if let Ok(value) = value.parse() {
                response.headers_mut().insert(name, value);
            }
        }
    }

    fn headers(&self) -> impl Iterator<Item = (HeaderName, &str)> {
        let allowed = match self {
            Self::Method { allowed, .. } => Some((header::ALLOW, allowed.as_str())),
            _ => None,
        };
        let later = match self {
            Self::TooManyListeners(_)
            | Self::NoRoom
            | Self::Stopping
            | Self::ReviewsDown
            | Self::ReviewsBusy => Some(RETRY_AFTER),
            Self::TooManyLogins | Self::TooManySessions => Some(RETRY_LOGIN_AFTER),
            _ => None,
        };
        let later = later.map(|seconds| (header::RETRY_AFTER, seconds));
        // How to authenticate.
        let challenge = match self {
            Self::TokenMissing => Some("Bearer realm=\"operetta\""),
            Self::TokenInvalid => Some("Bearer realm=\"operetta\", error=\"invalid_token\""),
            _ => None,
        };
        let challenge = challenge.map(|challenge| (header::WWW_AUTHENTICATE, challenge));
        [allowed, later, challenge].into_iter().flatten()
    }
}

/// The answer to a command that was not executed.
fn code_and_reason(error: &CommandError) -> (StatusCode, Cow<'static, str>) {
    let (code, reason) = match error {
        CommandError::NoOperator(_) | CommandError::NoParent { .. } => {
            (StatusCode::NOT_FOUND, "NotFound")
        }
        CommandError::Invalid(_) => (StatusCode::BAD_REQUEST, "BadRequest"),
        CommandError::Undecided(_) | CommandError::NotYet(_) => (StatusCode::CONFLICT, "Conflict"),
        CommandError::Busy => (StatusCode::TOO_MANY_REQUESTS, "TooManyRequests"),
        CommandError::Closed => (StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable"),
        CommandError::Refused { code, reason, .. } => {
            let code = StatusCode::from_u16(*code).unwrap_or(StatusCode::BAD_GATEWAY);
            return (code, reason.clone().into());
        }
        CommandError::Unanswered(_) => (StatusCode::GATEWAY_TIMEOUT, "Timeout"),
    };
    (code, reason.into())
}

fn because(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(": {}", legible(reason)) }
}

impl ResponseError for Refused {
    fn status_code(&self) -> StatusCode {
        self.code_and_reason().0
    }

    fn error_response(&self) -> HttpResponse {
        let (code, reason) = self.code_and_reason();
        let status = Status::new(code, "Failure", self.to_string(), reason);
        let mut response = HttpResponse::build(code).json(status);
        self.add_headers(&mut response);
        response
    }
}
