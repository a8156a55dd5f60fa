//! Who sends a request, and whether they may: by the bearer token that is sent along, or by the
//! session of a browser, behind which is one.
//!
//! Who it is is known to whoever answers, also to those that have no request at hand: the frame of
//! every page, of errors too, shows it.

use std::{fmt, sync::Arc};

use actix_web::{
    HttpMessage,
    dev::ServiceRequest,
    http::{
        Method,
        header::{self, HeaderMap},
    },
};
use secrecy::{ExposeSecret, SecretString};

use super::{
    access::{self, Access},
    endpoint,
    origin::{self, Protocol},
    status::Refused,
};
use crate::cluster::User;

/// How much of an answer is for who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    All,
    /// Whether all is well, and not a word more.
    Outcome,
}

/// Somebody whom the API server knows.
#[derive(Clone)]
pub(super) struct Visitor {
    pub(super) user: Arc<User>,
    /// Whether they have logged in, and so can log out.
    pub(super) has_session: bool,
}

tokio::task_local! {
    static VISITOR: Option<Visitor>;
}

/// Answers a request in the presence of who sent it.
pub(super) async fn known<T>(visitor: Option<Visitor>, answer: impl Future<Output = T>) -> T {
    VISITOR.scope(visitor, answer).await
}

/// Who sent the request that is being answered, where somebody has asked.
pub(super) fn current() -> Option<Visitor> {
    VISITOR.try_with(Clone::clone).ok().flatten()
}

/// Who sent this request, once it was admitted, or refused what it asks for.
pub(super) fn of(request: &ServiceRequest) -> Option<Visitor> {
    request.extensions().get::<Visitor>().cloned()
}

/// Finds out who sends a request, and whether they may; `wanted` is who may ask for it.
pub(super) async fn admit(
    access: &Access,
    protocol: Protocol,
    wanted: Option<endpoint::Access>,
    request: &ServiceRequest,
) -> Result<Shown, Refused> {
    access.tidy();
    if wanted == Some(endpoint::Access::Public) {
        return Ok(Shown::All);
    }
    match authorize(access, protocol, request).await {
        Ok(()) => Ok(Shown::All),
        // A probe has no token.
        Err(_) if wanted == Some(endpoint::Access::Open) => Ok(Shown::Outcome),
        Err(refused) => Err(refused),
    }
}

async fn authorize(
    access: &Access,
    protocol: Protocol,
    request: &ServiceRequest,
) -> Result<(), Refused> {
    // The path that chooses the route: not as it was spelled.
    let path = request.match_info().as_str();
    let verb = verb(request.method());
    let credential = Credential::of(access, protocol, request)?;
    let identified = access.identify(credential.token.expose_secret()).await;
    if let (Err(Refused::TokenInvalid), Some(session)) = (&identified, credential.session) {
        access.log_out(session);
    }
    let known = identified?;
    let has_session = credential.session.is_some();
    let visitor = Visitor { user: Arc::clone(&known.user), has_session };
    request.extensions_mut().insert(visitor);
    access.check(&known, &verb, path).await
}

/// What a request says of who sends it.
struct Credential<'a> {
    token: SecretString,
    /// Where the token is that of a session.
    session: Option<&'a str>,
}

impl<'a> Credential<'a> {
    /// A token that is sent along counts more than a session.
    fn of(
        access: &Access,
        protocol: Protocol,
        request: &'a ServiceRequest,
    ) -> Result<Self, Refused> {
        let headers = request.headers();
        if let Some(token) = bearer(headers) {
            return Ok(Self { token: token.into(), session: None });
        }
        let cookie = access::session(headers, protocol);
        let session = cookie.filter(|_| origin::may_use_cookie(request.method(), headers));
        let token = session.and_then(|session| access.token_of(session));
        token.map(|token| Self { token, session }).ok_or(Refused::TokenMissing)
    }
}

fn verb(method: &Method) -> String {
    match method {
        &Method::HEAD => "get".to_owned(),
        method => method.as_str().to_lowercase(),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

impl fmt::Debug for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visitor").field("user", &self.user.username).finish_non_exhaustive()
    }
}
