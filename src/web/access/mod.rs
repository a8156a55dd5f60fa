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

mod cache;
mod memo;

use std::{
    borrow::Cow,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use ring::digest::{self, SHA256};
use tokio::runtime::Handle;

use self::{
    cache::Key,
    memo::{Memo, Outcome, Unavailable},
};
use super::status::Refused;
use crate::cluster::{AccessVerdict, ApiError, Cluster, TokenVerdict, User};

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
    is_down: AtomicBool,
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
        let (users, rights, is_down) = (Memo::new(), Memo::new(), AtomicBool::new(false));
        Some(Self(Arc::new(Reviews { cluster, runtime, audiences, users, rights, is_down })))
    }

    /// The user whose token this is, if they may do `verb` with `path`.
    pub(super) async fn admit(
        &self,
        token: Option<&str>,
        verb: &str,
        path: &str,
    ) -> Result<Arc<User>, Refused> {
        let token = token.ok_or(Refused::TokenMissing)?;
        let key = hash(&[token.as_bytes()]);
        let user = self.user(key, token).await.map_err(|Unavailable| Refused::ReviewsDown)?;
        let user = user.map_err(|()| Refused::TokenInvalid)?;
        let path = reviewed(path);
        let key = hash(&[&key, verb.as_bytes(), path.as_bytes()]);
        let right = self.right(key, &user, verb, &path).await;
        match right.map_err(|Unavailable| Refused::ReviewsDown)? {
            Ok(()) => Ok(user),
            Err(reason) => Err(Refused::NotAllowed {
                user: user.username.clone(),
                verb: verb.to_owned(),
                path: path.into_owned(),
                reason: reason.to_string(),
            }),
        }
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
    fn note<T>(&self, verdict: Result<T, ApiError>) -> Result<T, Unavailable> {
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
                Err(Unavailable)
            }
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

/// Of several parts, each with its length, so that no two lists of parts are alike.
fn hash(parts: &[&[u8]]) -> Key {
    let mut context = digest::Context::new(&SHA256);
    for part in parts {
        context.update(&part.len().to_le_bytes());
        context.update(part);
    }
    let mut key = Key::default();
    key.copy_from_slice(context.finish().as_ref());
    key
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("audiences", &self.0.audiences).finish_non_exhaustive()
    }
}
