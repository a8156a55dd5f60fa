//! Logins of browsers: a browser sends a token once, and then the id of its session as a cookie.
//!
//! The token of the session is reviewed for each request, so a session grants exactly what its token
//! grants. Without the feature `dashboard`, `no_logins.rs` takes the place of this module.

mod attempts;
mod cookie;
mod sessions;

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use actix_web::{dev::RequestHead, http::header::HeaderMap};
use secrecy::SecretString;

use self::{attempts::Attempts, sessions::Sessions};
use super::{origin::Protocol, session_limits::LIMITS};

pub(super) use self::{
    cookie::{forgotten, kept, may_use_cookie},
    sessions::NoSession,
};

/// The sessions and the failed logins. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Logins(Arc<OpenLogins>);

#[derive(Debug)]
struct OpenLogins {
    sessions: Sessions,
    attempts: Mutex<Attempts>,
}

/// The session of a browser.
#[derive(Clone)]
pub(super) struct Session {
    /// A secret of the browser.
    id: String,
    logins: Logins,
}

/// Whether browsers can log in.
pub(super) const ARE_POSSIBLE: bool = true;

/// The name of the cookie.
#[expect(clippy::unnecessary_wraps, reason = "`no_logins` has none")]
pub(super) fn cookie_name(protocol: Protocol) -> Option<&'static str> {
    Some(cookie::name(protocol))
}

impl Logins {
    pub(super) fn new() -> Self {
        let state = OpenLogins { sessions: Sessions::new(LIMITS), attempts: Mutex::default() };
        Self(Arc::new(state))
    }

    /// The session that a request may use, with its token.
    pub(super) fn session(
        &self,
        request: &RequestHead,
        protocol: Protocol,
    ) -> Option<(Session, SecretString)> {
        if !may_use_cookie(&request.method, &request.headers) {
            return None;
        }
        let id = cookie::session(&request.headers, protocol)?;
        let token = self.0.sessions.token(id, Instant::now())?;
        Some((Session { id: id.to_owned(), logins: self.clone() }, token))
    }

    /// Opens a session and returns its id.
    pub(super) fn begin(&self, user: &str, token: SecretString) -> Result<String, NoSession> {
        self.0.sessions.begin(user, token, Instant::now())
    }

    /// Ends the session that a browser sends, if there is one.
    pub(super) fn end_of(&self, headers: &HeaderMap, protocol: Protocol) {
        if let Some(id) = cookie::session(headers, protocol) {
            self.0.sessions.end(id);
        }
    }

    /// Ends the sessions that are too old.
    pub(super) fn tidy(&self) {
        self.0.sessions.tidy(Instant::now());
    }

    pub(super) fn may_try(&self, from: IpAddr) -> bool {
        self.attempts().may_try(from, Instant::now())
    }

    pub(super) fn note_failure(&self, from: IpAddr) {
        self.attempts().note_failure(from, Instant::now());
    }

    fn attempts(&self) -> MutexGuard<'_, Attempts> {
        self.0.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    pub(super) fn end(&self) {
        self.logins.0.sessions.end(&self.id);
    }

    /// Resolves when the session has ended.
    pub(super) async fn ended(&self) {
        self.logins.0.sessions.ended(&self.id).await;
    }
}
