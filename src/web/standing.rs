//! The access of an answer that does not end by itself: it ends with the session, with the token and with the
//! permission.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio::{select, time::sleep};

use super::{
    access::{Access, Target},
    logins::Session,
};

/// How often access is reviewed again. No answer outlives it for longer than twice this time.
const EVERY: Duration = Duration::from_secs(14);

/// With what a request was admitted.
#[derive(Clone)]
pub(super) struct Standing {
    pub(super) access: Access,
    pub(super) token: SecretString,
    pub(super) session: Option<Session>,
    pub(super) verb: String,
    /// That for which the user has the permission.
    pub(super) target: Target,
}

impl Standing {
    /// Whether the user may see one namespace only, or one parent.
    pub(super) fn is_limited(&self) -> bool {
        match self.target {
            Target::Path(_) => false,
            Target::Parents { .. } => true,
        }
    }

    /// Resolves when the request would no longer be admitted.
    pub(super) async fn lost(self) {
        select! {
            () = self.session_ended() => {}
            () = self.refused() => {}
        }
    }

    async fn session_ended(&self) {
        match &self.session {
            Some(session) => session.ended().await,
            None => std::future::pending().await,
        }
    }

    async fn refused(&self) {
        let Self { access, token, verb, target, .. } = self;
        loop {
            sleep(EVERY).await;
            // Sessions end by their age only when somebody looks.
            access.logins().tidy();
            if access.check_again(token.expose_secret(), verb, target, EVERY).await.is_err() {
                return;
            }
        }
    }
}
