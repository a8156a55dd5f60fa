//! Who may use the endpoint: whoever may do the same with its paths as the API server sees it.
//!
//! As with the metrics of other controllers: the bearer token of a request is reviewed by the API
//! server (`TokenReview`), and then whether its user may `get`, `post` or `put` the path
//! (`SubjectAccessReview`). Both answers are remembered briefly. When neither can be had nobody is
//! let in.
//!
//! The path is reviewed as `/operetta` and what follows the host: every cluster lets every account
//! read `/api/*`, which means the API server's own (the role `system:discovery`). Only `/metrics`
//! is reviewed as it is, since the roles of those who scrape say so.
//!
//! A browser sends a token once, to log in, and then the id of a session; behind it is the token,
//! which is reviewed as if it had been sent along. So a session is worth as much as its token.

mod attempts;
mod cache;
mod cookie;
mod key;
mod memo;
mod sessions;

use std::{
    borrow::Cow,
    fmt,
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use secrecy::{ExposeSecret, SecretString};
use tokio::runtime::Handle;

use self::{
    attempts::Attempts,
    key::Key,
    memo::{Memo, Outcome, Unanswered},
    sessions::Sessions,
};
use super::status::Refused;
use crate::{
    cluster::{AccessVerdict, Cluster, TokenVerdict, User},
    reply::ApiError,
};

pub(super) use self::{
    attempts::FAILURES,
    cookie::{forgotten, kept, name as cookie_name, session},
    sessions::LIMITS as SESSION_LIMITS,
};

/// Who may use the web endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Auth {
    /// Whoever reaches it.
    #[default]
    None,
    /// Whom the API server lets: it reviews the bearer token of each request, and whether its user
    /// may do this with the path, as RBAC says it by `nonResourceURLs`: `/metrics`, and for all
    /// other paths `/operetta` before them.
    Delegated {
        /// Whom a token must be meant for, one of these; empty for the API server itself.
        audiences: Vec<String>,
    },
}

/// Asks the API server whom to let in, and remembers the answers. Cheap to clone.
#[derive(Clone)]
pub struct Access(Arc<Reviews>);

struct Reviews {
    cluster: Cluster,
    runtime: Handle,
    audiences: Vec<String>,
    users: Memo<Arc<User>, ()>,
    rights: Memo<(), Arc<str>>,
    sessions: Sessions,
    attempts: Mutex<Attempts>,
    is_down: AtomicBool,
}

/// Somebody whom the API server knows.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) user: Arc<User>,
    /// Of the token.
    key: Key,
}

impl Auth {
    /// Delegated to the API server, for tokens that are meant for it.
    pub fn delegated() -> Self {
        Self::Delegated { audiences: Vec::new() }
    }
}

impl Access {
    /// Asks over this connection, which belongs to this runtime; `None` where nobody is asked.
    pub fn new(auth: Auth, cluster: Cluster, runtime: Handle) -> Option<Self> {
        let audiences = match auth {
            Auth::None => return None,
            Auth::Delegated { audiences } => audiences,
        };
        Some(Self(Arc::new(Reviews {
            cluster,
            runtime,
            audiences,
            users: Memo::new(),
            rights: Memo::new(),
            sessions: Sessions::new(SESSION_LIMITS),
            attempts: Mutex::default(),
            is_down: AtomicBool::new(false),
        })))
    }

    /// Whom a token must be meant for, one of these; empty for the API server itself.
    pub(super) fn audiences(&self) -> &[String] {
        &self.0.audiences
    }

    /// Whose token this is.
    pub(super) async fn identify(&self, token: &str) -> Result<Known, Refused> {
        let key = Key::of(&[token.as_bytes()]);
        let user = self.user(key, token).await?;
        let user = user.map_err(|()| Refused::TokenInvalid)?;
        Ok(Known { user, key })
    }

    /// Whether they may do `verb` with `path`.
    pub(super) async fn check(&self, who: &Known, verb: &str, path: &str) -> Result<(), Refused> {
        let path = reviewed(path);
        let key = Key::of(&[who.key.as_bytes(), verb.as_bytes(), path.as_bytes()]);
        let right = self.right(key, &who.user, verb, &path).await;
        right?.map_err(|reason| Refused::NotAllowed {
            user: who.user.username.clone(),
            verb: verb.to_owned(),
            path: path.into_owned(),
            reason: reason.to_string(),
        })
    }

    /// Opens a session for whoever has this token, and says who that is; its id is for the browser
    /// alone.
    pub(super) async fn log_in(
        &self,
        token: SecretString,
        from: IpAddr,
    ) -> Result<(String, Arc<User>), Refused> {
        if !self.attempts().may_try(from, Instant::now()) {
            return Err(Refused::TooManyLogins);
        }
        let known = self.identify(token.expose_secret()).await.inspect_err(|refused| {
            if matches!(refused, Refused::TokenInvalid) {
                self.attempts().note_failure(from, Instant::now());
            }
        })?;
        let begun = self.0.sessions.begin(&known.user.username, token, Instant::now());
        let id = begun.map_err(|_| Refused::Internal("there are no random numbers".to_owned()))?;
        Ok((id, known.user))
    }

    /// Ends a session, if there is such a one.
    pub(super) fn log_out(&self, session: &str) {
        self.0.sessions.end(session);
    }

    /// The token behind a session.
    pub(super) fn token_of(&self, session: &str) -> Option<SecretString> {
        self.0.sessions.token(session, Instant::now())
    }

    /// Forgets sessions that are over.
    pub(super) fn tidy(&self) {
        self.0.sessions.tidy(Instant::now());
    }

    /// As if all that is known of tokens and rights were over.
    #[cfg(test)]
    pub(super) fn forget(&self) {
        self.0.users.forget();
        self.0.rights.forget();
    }

    fn attempts(&self) -> MutexGuard<'_, Attempts> {
        self.0.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn user(&self, key: Key, token: &str) -> Outcome<Arc<User>, ()> {
        let (reviews, token) = (Arc::clone(&self.0), token.to_owned());
        let ask = async move {
            let verdict = reviews.cluster.review_token(&token, &reviews.audiences).await;
            reviews.note(verdict).map(|verdict| match verdict {
                TokenVerdict::User(user) => Ok(Arc::new(user)),
                TokenVerdict::Refused => Err(()),
            })
        };
        self.0.users.get(key, &self.0.runtime, ask).await
    }

    async fn right(
        &self,
        key: Key,
        user: &Arc<User>,
        verb: &str,
        path: &str,
    ) -> Outcome<(), Arc<str>> {
        let (reviews, user) = (Arc::clone(&self.0), Arc::clone(user));
        let (verb, path) = (verb.to_owned(), path.to_owned());
        let ask = async move {
            let verdict = reviews.cluster.review_access(&user, &verb, &path).await;
            reviews.note(verdict).map(|verdict| match verdict {
                AccessVerdict::Allowed => Ok(()),
                AccessVerdict::Denied { reason } => Err(reason.into()),
            })
        };
        self.0.rights.get(key, &self.0.runtime, ask).await
    }
}

impl Reviews {
    /// Says in the log when reviews begin to fail and when they are back, not for each request.
    fn note<T>(&self, verdict: Result<T, ApiError>) -> Result<T, Unanswered> {
        let was_down = self.is_down.swap(verdict.is_err(), Ordering::Relaxed);
        match verdict {
            Ok(verdict) => {
                if was_down {
                    tracing::info!("the API server reviews access to the web endpoint again");
                }
                Ok(verdict)
            }
            Err(error) => {
                if !was_down {
                    tracing::warn!(
                        %error,
                        "access to the web endpoint cannot be reviewed: nobody is let in"
                    );
                }
                Err(Unanswered::Down)
            }
        }
    }
}

impl From<Unanswered> for Refused {
    fn from(why: Unanswered) -> Self {
        match why {
            Unanswered::Down => Self::ReviewsDown,
            Unanswered::Busy => Self::ReviewsBusy,
        }
    }
}

/// What the API server is asked about.
fn reviewed(path: &str) -> Cow<'_, str> {
    match path {
        "/metrics" => path.into(),
        path => format!("/operetta{path}").into(),
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("audiences", &self.0.audiences).finish_non_exhaustive()
    }
}
