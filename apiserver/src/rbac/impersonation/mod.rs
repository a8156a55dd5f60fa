//! Requests that a user sends as another one, with `Impersonate-` headers.
//!
//! ```text
//!  headers ─> the wanted user ─ for each way that fits ─ question ─> that user, or the first refusal
//! ```
//!
//! There are several ways to be allowed to: for nodes, for service accounts, for other users, each only for certain
//! requests, and the old way, `impersonate`, for all of them.
//!
//! **Invariants.** The way that worked last for a user is tried first, then the others in their order.

mod headers;
mod question;
mod way;

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use http::HeaderMap;

use self::{
    headers::wanted,
    question::Question,
    way::{WAYS, Way},
};
use super::{attributes::Attributes, authorizer::Authorizer};
use crate::{log::Log, status::StatusError, users::User};

/// How many users are remembered.
const REMEMBERED: usize = 10_000;

/// Which way worked last, by the name of the user.
#[derive(Debug, Default)]
pub(crate) struct Impersonation(Mutex<HashMap<String, Way>>);

impl Impersonation {
    /// The user that a request is to be of: another one if its headers name one, and if that is allowed.
    pub(crate) fn user(
        &self,
        (authorizer, log): (&Authorizer, &Log),
        requestor: User,
        attributes: &Attributes,
        headers: &HeaderMap,
    ) -> Result<User, StatusError> {
        let Some(wanted) = wanted(headers)? else { return Ok(requestor) };
        let question = Question { authorizer, log, requestor: &requestor, attributes };
        let last = self.lock().get(&requestor.name).copied();
        let ways = last.into_iter().chain(WAYS.into_iter().filter(|way| Some(*way) != last));
        let mut refusal = None;
        for way in ways.filter(|way| way.fits(&wanted, &requestor)) {
            match question.permit(way, &wanted) {
                Ok(user) => {
                    self.remember(&requestor, way);
                    return Ok(user);
                }
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        Err(refusal.unwrap_or_else(|| StatusError::internal("all impersonation modes failed")))
    }

    fn remember(&self, requestor: &User, way: Way) {
        let mut known = self.lock();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(requestor.name.clone(), way);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Way>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
