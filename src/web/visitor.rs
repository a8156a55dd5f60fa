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
    access::{Access, Known, Target},
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
    /// Whether they were admitted for the parents of one namespace, or for one parent.
    pub(super) is_limited: bool,
}

/// A user of a path whose handler checks permissions itself.
#[derive(Clone)]
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "for `mcp`"))]
pub(super) struct Caller {
    access: Access,
    known: Known,
}

#[cfg(feature = "mcp")]
impl Caller {
    pub(super) fn name(&self) -> &str {
        &self.known.user.username
    }

    /// Whether this user may send a request for one of these.
    pub(super) async fn check(&self, method: &Method, targets: Vec<Target>) -> Result<(), Refused> {
        self.access.check(&self.known, &verb(method), targets).await.map(|_| ())
    }
}

tokio::task_local! {
    /// The user of the request that is handled.
    pub(super) static VISITOR: Option<Visitor>;
}

/// The user of this request, after [`admit`].
pub(super) fn of(request: &ServiceRequest) -> Option<Visitor> {
    request.extensions().get::<Visitor>().cloned()
}

/// Authenticates and authorizes a request for an endpoint, or for a path with this access.
pub(super) async fn admit(
    access: &Access,
    protocol: Protocol,
    (rule, endpoint): (AccessRule, Option<&Endpoint>),
    request: &ServiceRequest,
) -> Result<Shown, Refused> {
    access.logins().tidy();
    let admitted = match rule {
        AccessRule::Public => return Ok(Shown::All),
        AccessRule::Authenticated => {
            authenticate(access, protocol, request).await.map(|(_, known)| {
                let access = access.clone();
                request.extensions_mut().insert(Caller { access, known });
            })
        }
        AccessRule::Open | AccessRule::Guarded => {
            authorize(access, protocol, endpoint, request).await
        }
    };
    match admitted {
        Ok(()) => Ok(Shown::All),
        // A probe has no token.
        Err(_) if rule == AccessRule::Open => Ok(Shown::Outcome),
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
    let (credential, known) = authenticate(access, protocol, request).await?;
    if let Some(target) = access.check(&known, &verb, wanted(endpoint, request)).await? {
        let (Credential { token, session }, access) = (credential, access.clone());
        let standing = Standing { access, token, session, verb, target };
        let mut extensions = request.extensions_mut();
        if let Some(visitor) = extensions.get_mut::<Visitor>() {
            visitor.is_limited = standing.is_limited();
        }
        extensions.insert(standing);
    }
    Ok(())
}

/// The user of a request, whatever they may do.
async fn authenticate(
    access: &Access,
    protocol: Protocol,
    request: &ServiceRequest,
) -> Result<(Credential, Known), Refused> {
    let credential = Credential::of(access, protocol, request)?;
    let identified = access.identify(credential.token.expose_secret()).await;
    if let (Err(Refused::TokenInvalid), Some(session)) = (&identified, &credential.session) {
        session.end();
    }
    let known = identified?;
    let has_session = credential.session.is_some();
    let visitor = Visitor { user: Arc::clone(&known.user), has_session, is_limited: false };
    request.extensions_mut().insert(visitor);
    Ok((credential, known))
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
