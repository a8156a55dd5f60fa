//! Authentication and authorization, delegated to the API server.
//!
//! The API server reviews the bearer token of a request (`TokenReview`), and then whether its user may
//! `get`, `post` or `put` the path (`SubjectAccessReview`). Both answers are cached briefly. Without an
//! answer, access is denied.
//!
//! For the parents of one namespace the permission for these suffices, which a `RoleBinding` can grant ([`Target`]).
//!
//! The path is reviewed with the prefix `/operetta`, because every cluster lets every account read
//! `/api/*` of the API server (the role `system:discovery`). Only `/metrics` has no prefix, as in the
//! usual roles for scraping.

mod cache;
mod memo;
mod target;

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::runtime::Handle;

use self::memo::{GOOD_FOR, Memo, Outcome, Unanswered};
pub(super) use self::target::Target;
use super::{key::Key, logins::Logins, status::Refused};
use crate::{
    cluster::{AccessVerdict, Cluster, TokenVerdict, User},
    object::OneLine,
    reply::ApiError,
};

/// How the web endpoint authorizes its users.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Auth {
    /// Everybody who reaches it has access.
    #[default]
    None,
    /// The API server reviews the bearer token of each request, and whether its user may access the
    /// path. RBAC grants this by `nonResourceURLs`: `/metrics`, and all other paths with the prefix
    /// `/operetta`.
    Delegated {
        /// The accepted audiences of a token; empty for that of the API server.
        audiences: Vec<String>,
    },
}

/// Reviews access with the API server, and caches the answers. Cheap to clone.
#[derive(Clone)]
pub struct Access(Arc<Reviews>);

/// The connection of reviews, once it is there. Without it all access is denied.
pub(crate) type Reviewing = Arc<OnceLock<Cluster>>;

struct Reviews {
    cluster: Reviewing,
    runtime: Handle,
    audiences: Vec<String>,
    users: Memo<Arc<User>, ()>,
    rights: Memo<(), Arc<str>>,
    logins: Logins,
    is_down: AtomicBool,
}

/// A user whose token was reviewed.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) user: Arc<User>,
    /// The hash of the user with all groups: after a change of the groups, permissions are reviewed again.
    key: Key,
}

impl Auth {
    /// Delegated to the API server, for tokens with its audience.
    pub fn delegated() -> Self {
        Self::Delegated { audiences: Vec::new() }
    }
}

impl Access {
    /// Reviews over this connection, which belongs to this runtime; `None` without reviews.
    pub(crate) fn new(auth: Auth, cluster: Reviewing, runtime: Handle) -> Option<Self> {
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
            logins: Logins::new(),
            is_down: AtomicBool::new(false),
        })))
    }

    pub(super) fn audiences(&self) -> &[String] {
        &self.0.audiences
    }

    pub(super) async fn identify(&self, token: &str) -> Result<Known, Refused> {
        self.identify_within(token, GOOD_FOR).await
    }

    /// Which of these a user may access, the first; or why none.
    pub(super) async fn check(
        &self,
        who: &Known,
        verb: &str,
        targets: Vec<Target>,
    ) -> Result<Option<Target>, Refused> {
        let mut refused: Option<Refused> = None;
        for target in targets {
            match self.check_within(who, verb, &target, GOOD_FOR).await {
                Ok(()) => return Ok(Some(target)),
                Err(why) => {
                    refused = Some(match refused {
                        Some(first) => first.nor(why),
                        None => why,
                    });
                }
            }
        }
        refused.map_or(Ok(None), Err)
    }

    /// Both, by reviews that are younger than `age`.
    pub(super) async fn check_again(
        &self,
        token: &str,
        verb: &str,
        target: &Target,
        age: Duration,
    ) -> Result<(), Refused> {
        let who = self.identify_within(token, age).await?;
        self.check_within(&who, verb, target, age).await
    }

    async fn identify_within(&self, token: &str, age: Duration) -> Result<Known, Refused> {
        let user = self.user(token, age).await?;
        let user = user.map_err(|()| Refused::TokenInvalid)?;
        let key = key_of(&user);
        Ok(Known { user, key })
    }

    async fn check_within(
        &self,
        who: &Known,
        verb: &str,
        target: &Target,
        age: Duration,
    ) -> Result<(), Refused> {
        let right = self.right(who, verb, target, age).await;
        right?.map_err(|reason| Refused::NotAllowed {
            user: who.user.username.clone(),
            what: target.described(verb),
            reason: reason.to_string(),
        })
    }

    pub(super) fn logins(&self) -> &Logins {
        &self.0.logins
    }

    /// The command that creates a token with the audience of this server.
    pub(super) fn token_command(&self) -> String {
        command(&self.0.audiences)
    }

    /// Lets the next request review its token again.
    #[cfg(test)]
    pub(super) fn forget_users(&self) {
        self.0.users.forget();
    }

    async fn user(&self, token: &str, age: Duration) -> Outcome<Arc<User>, ()> {
        let key = Key::of(&[token.as_bytes()]);
        let (reviews, token) = (Arc::clone(&self.0), token.to_owned());
        let ask = async move {
            let cluster = reviews.cluster.get().ok_or(Unanswered::Down)?;
            let verdict = cluster.review_token(&token, &reviews.audiences).await;
            reviews.note(verdict).map(|verdict| match verdict {
                TokenVerdict::User(user) => Ok(Arc::new(user)),
                TokenVerdict::Refused => Err(()),
            })
        };
        self.0.users.get(key, age, &self.0.runtime, ask).await
    }

    async fn right(
        &self,
        who: &Known,
        verb: &str,
        target: &Target,
        age: Duration,
    ) -> Outcome<(), Arc<str>> {
        let attributes = target.attributes(verb);
        let key = Key::of(&[who.key.as_bytes(), attributes.to_string().as_bytes()]);
        let (reviews, user) = (Arc::clone(&self.0), Arc::clone(&who.user));
        let ask = async move {
            let cluster = reviews.cluster.get().ok_or(Unanswered::Down)?;
            let verdict = cluster.review_access(&user, attributes).await;
            reviews.note(verdict).map(|verdict| match verdict {
                AccessVerdict::Allowed => Ok(()),
                AccessVerdict::Denied { reason } => Err(reason.into()),
            })
        };
        self.0.rights.get(key, age, &self.0.runtime, ask).await
    }
}

impl Reviews {
    /// Logs when reviews start to fail and when they recover, not for each request.
    fn note<T>(&self, verdict: Result<T, ApiError>) -> Result<T, Unanswered> {
        let was_down = self.is_down.swap(verdict.is_err(), Ordering::Relaxed);
        match &verdict {
            Ok(_) if was_down => {
                tracing::info!("the API server reviews access to the web endpoint again");
            }
            Err(error) if !was_down => tracing::warn!(
                error = %OneLine(error),
                "the API server cannot review access to the web endpoint: all access is denied"
            ),
            Ok(_) | Err(_) => {}
        }
        verdict.map_err(|_| Unanswered::Down)
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

fn command(audiences: &[String]) -> String {
    let audience = audiences.first().map(|audience| format!(" --audience {audience}"));
    format!("kubectl create token NAME --namespace NAMESPACE{}", audience.unwrap_or_default())
}

fn key_of(user: &User) -> Key {
    // As the review of its permissions names it, with everything that they can depend on.
    Key::of(&[serde_json::to_string(user).unwrap_or_default().as_bytes()])
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("audiences", &self.0.audiences).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_creates_a_token_with_the_audience_of_this_server() {
        assert_eq!(command(&[]), "kubectl create token NAME --namespace NAMESPACE");
        let audiences = ["operetta".to_owned(), "other".to_owned()];
        assert!(command(&audiences).ends_with(" --audience operetta"));
    }
}
