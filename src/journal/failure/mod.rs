//! Why a reconcile failed, and what follows for the schedule.

mod naming;
mod parent_conflict;
mod request;
mod unready;

use std::time::Duration;

pub(crate) use naming::is_made_of;
pub(crate) use parent_conflict::ParentConflict;
pub(crate) use request::{RequestFailure, api_finished};
pub(crate) use unready::{RolloutStopped, StageTimeout};

use crate::{
    history::FailureKind,
    object::{Quoted, Redactor},
    operator::RelatedError,
    plan::{self, ForeignChild},
    schedule::Finished,
};

/// The longest wait before a foreign object is read again.
const LOOK_AGAIN: Duration = Duration::from_secs(10);
/// The longest wait for children that become ready.
const SLOW_RECHECK: Duration = Duration::from_mins(1);

#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Failure {
    /// Children of a declared type cannot be listed; the handler was not called.
    #[error("children cannot be listed, so the handler is not called: {0}")]
    Unavailable(String),
    /// Related objects cannot be read; the handler was not called.
    #[error("related objects cannot be read, so the handler is not called: {0}")]
    RelatedUnavailable(String),
    /// The handler named related objects that cannot be read, whatever happens to them.
    #[error(transparent)]
    InvalidRelated(RelatedError),
    /// The handler returned an error.
    #[error("{message}")]
    Handler {
        /// The error with its causes.
        message: Quoted,
        /// Whether only a change of the parent can fix it.
        permanent: bool,
        /// When the handler wants to be called again.
        retry_after: Option<Duration>,
    },
    #[error("the handler panicked: {0}")]
    Panicked(Quoted),
    /// The handler did not return in time; the parent is blocked until it does.
    #[error("the handler has not returned within {} s", .after.as_secs_f64())]
    HandlerTimeout {
        after: Duration,
        /// Whether it was reported while the handler had not returned. An asynchronous one is dropped at its deadline.
        hangs: bool,
    },
    /// The handler returned children that cannot be written; none was written or deleted.
    #[error("{}", listed(.0))]
    Refused(Vec<plan::Refusal>),
    /// A foreign object has the name of a child; it was not modified.
    #[error("{}", foreign(.0))]
    Foreign(Vec<ForeignChild>),
    #[error("{}", listed(.0))]
    Api(Vec<RequestFailure>),
    /// Others own fields of the parent with other values.
    #[error("{0}")]
    ParentConflict(ParentConflict),
    /// Children wait for a stage longer than the handler allows.
    #[error("{0}")]
    StageTimeout(Box<StageTimeout>),
    /// Too many children of a rollout have failed.
    #[error("{0}")]
    RolloutStopped(Box<RolloutStopped>),
    /// The reconcile panicked outside of the handler. Its message may contain a secret.
    #[error(
        "internal error: the reconcile panicked, which is a bug in Operetta; see the output of the process"
    )]
    InternalError,
    /// An event came at a stage of the reconcile that does not wait for it.
    #[error(
        "internal error: {event} came at the stage {stage} of the reconcile, which is a bug in Operetta; nothing \
         more was written, and the reconcile is retried"
    )]
    ImpossibleStep { stage: String, event: String },
}

impl Failure {
    /// The response of the handler is not valid JSON; retrying does not help.
    pub(crate) fn unserializable(why: &str) -> Self {
        Self::Handler { message: Quoted::new(why), permanent: true, retry_after: None }
    }

    /// The same after redaction of handler and server texts.
    #[must_use]
    pub(crate) fn shown(&self, redactor: &Redactor) -> Self {
        match self {
            Self::Handler { message, permanent, retry_after } => Self::Handler {
                message: redactor.shown(message),
                permanent: *permanent,
                retry_after: *retry_after,
            },
            Self::Panicked(message) => Self::Panicked(redactor.shown(message)),
            Self::Api(failures) => {
                Self::Api(failures.iter().map(|failure| failure.shown(redactor)).collect())
            }
            Self::StageTimeout(late) => {
                let why = redactor.shown(&late.why);
                Self::StageTimeout(Box::new(StageTimeout { why, ..(**late).clone() }))
            }
            Self::RolloutStopped(stopped) => {
                let why = redactor.shown(&stopped.why);
                Self::RolloutStopped(Box::new(RolloutStopped { why, ..(**stopped).clone() }))
            }
            Self::Unavailable(_)
            | Self::RelatedUnavailable(_)
            | Self::InvalidRelated(_)
            | Self::HandlerTimeout { .. }
            | Self::Refused(_)
            | Self::Foreign(_)
            | Self::ParentConflict(_)
            | Self::InternalError
            | Self::ImpossibleStep { .. } => self.clone(),
        }
    }

    /// Whether it contains text of a handler or a server.
    pub(crate) fn quotes_others(&self) -> bool {
        matches!(
            self,
            Self::Handler { .. }
                | Self::Panicked(_)
                | Self::Api(_)
                | Self::StageTimeout(_)
                | Self::RolloutStopped(_)
        )
    }

    /// The same as a transient failure.
    #[must_use]
    pub(crate) fn into_passing(self) -> Self {
        match self {
            Self::Handler { message, permanent: _, retry_after } => {
                Self::Handler { message, permanent: false, retry_after }
            }
            other => other,
        }
    }

    pub(crate) fn kind(&self) -> FailureKind {
        match self {
            Self::Unavailable(_) => FailureKind::ChildTypeUnavailable,
            Self::RelatedUnavailable(_) => FailureKind::RelatedUnavailable,
            Self::InvalidRelated(_) => FailureKind::InvalidRelated,
            Self::Handler { .. } => FailureKind::HandlerFailed,
            Self::Panicked(_) => FailureKind::HandlerPanicked,
            Self::HandlerTimeout { .. } => FailureKind::HandlerTimeout,
            Self::Refused(_) => FailureKind::InvalidChildren,
            Self::Foreign(_) | Self::ParentConflict(_) => FailureKind::Conflict,
            Self::Api(_) => FailureKind::WriteFailed,
            Self::StageTimeout(_) => FailureKind::StageTimeout,
            Self::RolloutStopped(_) => FailureKind::RolloutStopped,
            Self::InternalError | Self::ImpossibleStep { .. } => FailureKind::InternalError,
        }
    }

    /// The reason of the condition and the Event: one `CamelCase` word.
    pub(crate) fn reason(&self) -> &'static str {
        self.kind().name()
    }

    /// Whether it needs manual intervention: a change of the parent, of a child type or of a foreign object.
    pub(crate) fn is_stalled(&self) -> bool {
        match self {
            Self::Handler { permanent, .. } => *permanent,
            Self::Unavailable(_)
            | Self::RelatedUnavailable(_)
            | Self::InvalidRelated(_)
            | Self::Refused(_)
            | Self::Foreign(_)
            | Self::ParentConflict(_)
            | Self::StageTimeout(_)
            | Self::RolloutStopped(_) => true,
            Self::Panicked(_)
            | Self::HandlerTimeout { .. }
            | Self::InternalError
            | Self::ImpossibleStep { .. } => false,
            Self::Api(failures) => failures.iter().all(RequestFailure::is_permanent),
        }
    }

    /// Whether it is not retried until the parent changes.
    pub(crate) fn is_for_good(&self) -> bool {
        match self {
            Self::Handler { permanent, .. } => *permanent,
            Self::Refused(_) | Self::InvalidRelated(_) => true,
            // Only a parent with another name has children with other names.
            Self::Api(failures) => {
                !failures.is_empty() && failures.iter().all(RequestFailure::is_misnamed)
            }
            Self::Unavailable(_)
            | Self::RelatedUnavailable(_)
            | Self::Panicked(_)
            | Self::HandlerTimeout { .. }
            | Self::Foreign(_)
            | Self::ParentConflict(_)
            | Self::StageTimeout(_)
            | Self::RolloutStopped(_)
            | Self::InternalError
            | Self::ImpossibleStep { .. } => false,
        }
    }

    /// The prefix of the Event: whether a stalled reconcile is retried.
    pub(crate) fn outlook(&self) -> &'static str {
        match self {
            _ if self.is_for_good() => "stalled, not retried until the parent changes: ",
            _ if self.is_stalled() => "stalled, still retrying: ",
            _ => "",
        }
    }

    /// The result for the schedule. `longest` is the longest backoff.
    pub(crate) fn finished(&self, longest: Duration) -> Finished {
        match self {
            _ if self.is_for_good() => Finished::FailedForGood,
            Self::Handler { retry_after: Some(after), .. } => {
                Finished::FailedUntil { after: *after }
            }
            Self::Api(failures) => api_finished(failures, longest),
            // No watch may cover the object, so it is read again.
            Self::Foreign(_) => Finished::FailedUntilGone { is_passing: true, at_most: LOOK_AGAIN },
            // The fix makes the operator start, which ends the wait.
            Self::Unavailable(_) | Self::RelatedUnavailable(_) => {
                Finished::FailedUntil { after: longest }
            }
            // The children that are waited for wake the parent: no backoff keeps the next stage waiting. Others
            // may give up fields of the parent.
            Self::StageTimeout(_) | Self::RolloutStopped(_) | Self::ParentConflict(_) => {
                Finished::Recheck { after: SLOW_RECHECK }
            }
            Self::Handler { .. }
            | Self::InvalidRelated(_)
            | Self::Refused(_)
            | Self::Panicked(_)
            | Self::HandlerTimeout { .. }
            | Self::InternalError
            | Self::ImpossibleStep { .. } => Finished::Failed,
        }
    }
}

fn foreign(children: &[ForeignChild]) -> String {
    let named = |child: &ForeignChild| format!("{} {}", child.id, foreign_message(child));
    children.iter().map(named).collect::<Vec<_>>().join("; ")
}

pub(crate) fn foreign_message(child: &ForeignChild) -> String {
    let owner = &child.owner;
    if child.is_claimed {
        return format!("already exists: {owner}; it was not modified");
    }
    format!("already exists and is not owned by this parent ({owner}); it was not modified")
}

fn listed<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
