//! Authenticates and authorizes requests: by their bearer token, or by the token of a browser's session.
//!
//! The user is available to handlers, also without the request: the frame of every page shows it, also
//! for errors.

use std::sync::Arc;

use actix_web::{
    HttpMessage,
    dev::ServiceRequest,
    http::{
        Method,
        header::{self, HeaderMap},
    },
    web::Data,
};
use secrecy::{ExposeSecret, SecretString};

use super::{
    access::{Access, Target},
    endpoint::{AccessRule, Endpoint},
    logins::Session,
    origin::Protocol,
    standing::Standing,
    state::WebState,
    status::Refused,
    targets,
};
use crate::cluster::User;

/// How much of an answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    All,
    Outcome,
}

#[derive(Clone)]
pub(super) struct Visitor {
    pub(super) user: Arc<User>,
    /// Whether they have a session, and can log out.
    #[cfg_attr(not(feature = "dashboard"), expect(dead_code, reason = "for the page"))]
    pub(super) has_session: bool,
}

tokio::task_local! {
    /// The user of the request that is handled.
    pub(super) static VISITOR: Option<Visitor>;
}

/// The user of this request, after [`admit`].
pub(super) fn of(request: &ServiceRequest) -> Option<Visitor> {
    request.extensions().get::<Visitor>().cloned()
}

/// Authenticates and authorizes a request for an endpoint.
pub(super) async fn admit(
    access: &Access,
    protocol: Protocol,
    endpoint: Option<&Endpoint>,
    request: &ServiceRequest,
) -> Result<Shown, Refused> {
    let wanted = endpoint.map(|endpoint| endpoint.access);
    access.logins().tidy();
    if wanted == Some(AccessRule::Public) {
        return Ok(Shown::All);
    }
    match authorize(access, protocol, endpoint, request).await {
        Ok(()) => Ok(Shown::All),
        // A probe has no token.
        Err(_) if wanted == Some(AccessRule::Open) => Ok(Shown::Outcome),
        Err(refused) => Err(refused),
    }
}

async fn authorize(
    access: &Access,
    protocol: Protocol,
    endpoint: Option<&Endpoint>,
    request: &ServiceRequest,
) -> Result<(), Refused> {
    let verb = verb(request.method());
    let credential = Credential::of(access, protocol, request)?;
    let identified = access.identify(credential.token.expose_secret()).await;
    if let (Err(Refused::TokenInvalid), Some(session)) = (&identified, &credential.session) {
        session.end();
    }
    let known = identified?;
    let has_session = credential.session.is_some();
    let visitor = Visitor { user: Arc::clone(&known.user), has_session };
    request.extensions_mut().insert(visitor);
    if let Some(target) = access.check(&known, &verb, wanted(endpoint, request)).await? {
        let (Credential { token, session }, access) = (credential, access.clone());
        request.extensions_mut().insert(Standing { access, token, session, verb, target });
    }
    Ok(())
}

fn wanted(endpoint: Option<&Endpoint>, request: &ServiceRequest) -> Vec<Target> {
    // The decoded path, which selects the route.
    let (path, query) = (request.match_info().as_str(), request.query_string());
    let board = request.app_data::<Data<WebState>>().map(|state| &state.board);
    targets::of(endpoint, path, query, board)
}

struct Credential {
    token: SecretString,
    session: Option<Session>,
}

impl Credential {
    /// A bearer token takes precedence over a session.
    fn of(access: &Access, protocol: Protocol, request: &ServiceRequest) -> Result<Self, Refused> {
        if let Some(token) = bearer(request.headers()) {
            return Ok(Self { token: token.into(), session: None });
        }
        let session = access.logins().session(request.head(), protocol);
        let (session, token) = session.ok_or(Refused::TokenMissing)?;
        Ok(Self { token, session: Some(session) })
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
