//! In place of `logins` without the feature `dashboard`: no browser logs in, so no request has a session.

use actix_web::dev::RequestHead;
use secrecy::SecretString;

use super::origin::Protocol;

#[derive(Debug, Clone)]
pub(super) struct Logins;

/// There is none.
#[derive(Clone)]
pub(super) enum Session {}

pub(super) const ARE_POSSIBLE: bool = false;

pub(super) fn cookie_name(_: Protocol) -> Option<&'static str> {
    None
}

impl Logins {
    pub(super) fn new() -> Self {
        Self
    }

    #[allow(clippy::unused_self, reason = "as in `logins`")]
    pub(super) fn session(&self, _: &RequestHead, _: Protocol) -> Option<(Session, SecretString)> {
        None
    }

    #[allow(clippy::unused_self, reason = "as in `logins`")]
    pub(super) fn tidy(&self) {}
}

impl Session {
    pub(super) fn end(&self) {
        match *self {}
    }

    #[allow(clippy::unused_async, reason = "as in `logins`")]
    pub(super) async fn ended(&self) {
        match *self {}
    }
}
