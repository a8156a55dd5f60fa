//! A request that failed, and what follows for the schedule.

use std::{borrow::Cow, fmt, time::Duration};

use super::is_made_of;
use crate::{
    object::{Quoted, Redactor, WITHHELD},
    plan::ChildId,
    reply::{ApiError, ErrorClass, Refusal},
    schedule::Finished,
};

/// The longest wait after a refusal that others may end at any time: by a permission, or by room in a quota.
const OTHERS_RECHECK: Duration = Duration::from_mins(1);

/// A request about one object failed. `Debug` equals `Display`.
#[derive(Clone, thiserror::Error)]
#[error("{what}: {message}{hint}{}", other_writes(*.held_back))]
pub(crate) struct RequestFailure {
    /// The child; `None` for a step of the parent itself.
    pub(crate) about: Option<ChildId>,
    /// Whether the name of the child is made from that of its parent.
    pub(crate) is_named_after_parent: bool,
    pub(crate) what: String,
    /// The error. Its message may contain a secret.
    #[source]
    pub(crate) error: ApiError,
    pub(crate) message: Quoted,
    pub(crate) hint: Cow<'static, str>,
    /// How many other writes were not tried because of it.
    pub(crate) held_back: usize,
}

/// The result of failed requests for the schedule. `longest` is the longest backoff.
pub(crate) fn api_finished(failures: &[RequestFailure], longest: Duration) -> Finished {
    if let Some(after) = failures.iter().filter_map(RequestFailure::asked).max() {
        return Finished::Throttled { after };
    }
    if failures.iter().all(RequestFailure::is_permanent) {
        // Retried: the cause may be fixed without a change of the parent.
        return Finished::FailedUntil { after: longest };
    }
    if failures.iter().all(RequestFailure::is_for_others) {
        return Finished::FailedUntilGone {
            is_passing: true,
            at_most: OTHERS_RECHECK.min(longest),
        };
    }
    Finished::Failed
}

impl RequestFailure {
    pub(crate) fn new(what: String, error: ApiError) -> Self {
        let (message, hint) = (Quoted::new(error.said()), of_permission(&error).into());
        let (about, is_named_after_parent) = (None, false);
        Self { about, is_named_after_parent, what, error, message, hint, held_back: 0 }
    }

    /// The same in a reconcile of the parent with this name.
    pub(crate) fn of_parent(&mut self, name: &str) {
        let child = self.about.as_ref();
        self.is_named_after_parent = child.is_some_and(|it| is_made_of(&it.key.name, name));
    }

    /// Whether all that is refused is the name of a child, which is made from that of the parent.
    pub(crate) fn is_misnamed(&self) -> bool {
        let is_of_name = |refusal: &Refusal| refusal.names_only("metadata.name");
        self.is_named_after_parent && self.error.refusal().is_some_and(is_of_name)
    }

    /// The same after redaction of the server's text.
    #[must_use]
    pub(crate) fn shown(&self, redactor: &Redactor) -> Self {
        let message = match &self.error {
            ApiError::Refused { refusal, .. } if redactor.hides_everything() => {
                Quoted::new(format!("{}: {WITHHELD}", refusal.name()))
            }
            error => Quoted::new(error.said()),
        };
        let message = if redactor.hides_everything() {
            Redactor::Nothing.shown(&message)
        } else {
            redactor.shown(&message)
        };
        Self { message, ..self.clone() }
    }

    /// Whether the server is throttling requests, so that others should wait.
    pub(crate) fn is_throttled(&self) -> bool {
        self.error.is_throttling()
    }

    /// Whether the request can never succeed unchanged.
    pub(crate) fn is_permanent(&self) -> bool {
        self.error.class() == ErrorClass::Permanent
    }

    /// Whether somebody else can make it succeed: who grants a permission, or raises a quota.
    fn is_for_others(&self) -> bool {
        self.error.class() == ErrorClass::Forbidden
    }

    /// Whether the server decided against the request: it had no effect, and a retry soon has none.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self.error.class(), ErrorClass::Permanent | ErrorClass::Forbidden)
            && !self.error.may_have_taken_effect()
    }

    /// The wait that the server asked for.
    fn asked(&self) -> Option<Duration> {
        match self.error.class() {
            ErrorClass::Wait(delay) => Some(delay),
            ErrorClass::Retry
            | ErrorClass::Conflict
            | ErrorClass::Missing
            | ErrorClass::NotServed
            | ErrorClass::Forbidden
            | ErrorClass::Permanent => None,
        }
    }
}

impl fmt::Debug for RequestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestFailure({self})")
    }
}

/// The permission that the admission plugin `OwnerReferencesPermissionEnforcement` checks and does not name.
fn of_permission(error: &ApiError) -> &'static str {
    let is_it =
        |refusal: &Refusal| refusal.code == 403 && refusal.message.contains("blockOwnerDeletion");
    if error.refusal().is_some_and(is_it) {
        "; missing permission: update on the `/finalizers` of the parents"
    } else {
        ""
    }
}

fn other_writes(held_back: usize) -> String {
    match held_back {
        0 => String::new(),
        1 => "; 1 other write waits".to_owned(),
        count => format!("; {count} other writes wait"),
    }
}
