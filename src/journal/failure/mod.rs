//! Why a reconcile failed, and what that means for the next one.

use std::{borrow::Cow, fmt, time::Duration};

use crate::{
    history::FailureKind,
    object::{Quoted, Redactor, WITHHELD},
    plan::{self, ForeignChild},
    reply::{ApiError, ErrorClass, Refusal},
    schedule::Finished,
};

/// An object in the way of a child is looked at again after this time at the latest.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// Why a reconcile failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Failure {
    /// Children of a type that the operator needs cannot be listed; the handler was not called.
    #[error("no handler is called, as children cannot be listed: {0}")]
    Unavailable(String),
    /// The handler returned an error.
    #[error("{message}")]
    Handler {
        /// The error with its causes.
        message: Quoted,
        /// Whether only a change of the parent can mend it.
        permanent: bool,
        /// When the handler wants to be called again.
        retry_after: Option<Duration>,
    },
    /// The handler panicked.
    #[error("the handler panicked: {0}")]
    Panicked(Quoted),
    /// The handler did not return in time; the parent is busy until it does.
    #[error("the handler has not returned within {} s", .0.as_secs_f64())]
    Overdue(Duration),
    /// The handler returned children that cannot be written; none was written or deleted.
    #[error("{}", listed(.0))]
    Refused(Vec<plan::Refusal>),
    /// An object of somebody else has the name of a child; it was not touched.
    #[error("{}", foreign(.0))]
    Foreign(Vec<ForeignChild>),
    /// Writing failed.
    #[error("{}", listed(.0))]
    Api(Vec<RequestFailure>),
    /// The reconcile panicked, outside of the handler. What it said may quote a secret.
    #[error(
        "the reconcile died of a defect of the framework: what it said is in the program's output"
    )]
    Died,
}

/// A request about one object failed. `Debug` says what `Display` does.
#[derive(Clone, thiserror::Error)]
#[error("{what}: {said}{hint}{}", kept_waiting(*.held_back))]
pub struct RequestFailure {
    /// The object.
    pub what: String,
    /// Why. What it says may quote a secret.
    #[source]
    pub error: ApiError,
    /// What may be told of that.
    pub said: Quoted,
    /// What the operator could be told to do about it, if anything.
    pub hint: Cow<'static, str>,
    /// How many other writes were not tried because of it.
    pub held_back: usize,
}

impl Failure {
    /// What the handler returned is no JSON, and will be none when it is asked again.
    pub fn unserializable(why: &str) -> Self {
        Self::Handler { message: Quoted::new(why), permanent: true, retry_after: None }
    }

    /// The same with what a redactor shows of the words of others.
    #[must_use]
    pub fn shown(&self, redactor: &Redactor) -> Self {
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
            Self::Unavailable(_)
            | Self::Overdue(_)
            | Self::Refused(_)
            | Self::Foreign(_)
            | Self::Died => self.clone(),
        }
    }

    /// Whether it quotes a handler or a server.
    pub fn quotes_others(&self) -> bool {
        matches!(self, Self::Handler { .. } | Self::Panicked(_) | Self::Api(_))
    }

    /// The same as one that passes.
    #[must_use]
    pub fn into_passing(self) -> Self {
        match self {
            Self::Handler { message, permanent: _, retry_after } => {
                Self::Handler { message, permanent: false, retry_after }
            }
            other => other,
        }
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Unavailable(_) => FailureKind::ChildTypeUnavailable,
            Self::Handler { .. } => FailureKind::HandlerFailed,
            Self::Panicked(_) => FailureKind::HandlerPanicked,
            Self::Overdue(_) => FailureKind::HandlerTimeout,
            Self::Refused(_) => FailureKind::InvalidChildren,
            Self::Foreign(_) => FailureKind::Conflict,
            Self::Api(_) => FailureKind::WriteFailed,
            Self::Died => FailureKind::InternalError,
        }
    }

    /// The reason of the condition and the Event: one `CamelCase` word.
    pub fn reason(&self) -> &'static str {
        self.kind().name()
    }

    /// Whether only a change of the parent, or of what is in the way, can mend it.
    pub fn is_stalled(&self) -> bool {
        match self {
            Self::Handler { permanent, .. } => *permanent,
            Self::Unavailable(_) | Self::Refused(_) | Self::Foreign(_) => true,
            Self::Panicked(_) | Self::Overdue(_) | Self::Died => false,
            Self::Api(failures) => failures.iter().all(RequestFailure::is_permanent),
        }
    }

    /// Whether nothing is tried again before the parent changes.
    pub fn is_for_good(&self) -> bool {
        matches!(self, Self::Handler { permanent: true, .. } | Self::Refused(_))
    }

    /// How a stalled run is told of: what rests, and what is tried again although that may be in vain.
    pub fn outlook(&self) -> &'static str {
        match self {
            _ if self.is_for_good() => "stalled until something changes: ",
            _ if self.is_stalled() => "stalled, though it is tried again: ",
            _ => "",
        }
    }

    /// What the failure means for the schedule. `longest` is the longest backoff.
    pub fn finished(&self, longest: Duration) -> Finished {
        match self {
            _ if self.is_for_good() => Finished::FailedForGood,
            Self::Handler { retry_after: Some(after), .. } => {
                Finished::FailedUntil { after: *after }
            }
            Self::Api(failures) => api_finished(failures, longest),
            // No watch may cover the object: what becomes of it is looked at live.
            Self::Foreign(_) => Finished::FailedUntilGone { is_passing: true, at_most: LOOK_AGAIN },
            // Whoever mends it makes the operator start, which ends every wait.
            Self::Unavailable(_) => Finished::FailedUntil { after: longest },
            Self::Handler { .. }
            | Self::Refused(_)
            | Self::Panicked(_)
            | Self::Overdue(_)
            | Self::Died => Finished::Failed,
        }
    }
}

/// What failed requests mean for the schedule. `longest` is the longest backoff.
pub fn api_finished(failures: &[RequestFailure], longest: Duration) -> Finished {
    if let Some(after) = failures.iter().filter_map(RequestFailure::asked).max() {
        return Finished::Throttled { after };
    }
    if failures.iter().all(RequestFailure::is_permanent) {
        // Not for good: what is in the way may be taken away without a change of the parent.
        return Finished::FailedUntil { after: longest };
    }
    Finished::Failed
}

impl RequestFailure {
    /// A request about something failed.
    pub fn new(what: String, error: ApiError) -> Self {
        let (said, hint) = (Quoted::new(error.to_string()), of_permission(&error).into());
        Self { what, error, said, hint, held_back: 0 }
    }

    /// The same with what a redactor shows of the server's words: only one that was reached can quote
    /// anything.
    #[must_use]
    pub fn shown(&self, redactor: &Redactor) -> Self {
        let said = match &self.error {
            ApiError::Refused { request, refusal } if redactor.hides_everything() => {
                Quoted::new(format!("{request}: {}: {WITHHELD}", refusal.name()))
            }
            error => Quoted::new(error.to_string()),
        };
        let said = if redactor.hides_everything() {
            Redactor::Nothing.shown(&said)
        } else {
            redactor.shown(&said)
        };
        Self { said, ..self.clone() }
    }

    /// Whether the server has more to do than it can, so that whatever else there is should wait.
    pub fn is_throttled(&self) -> bool {
        self.error.is_throttling()
    }

    /// Whether it can never work as it is.
    pub fn is_permanent(&self) -> bool {
        self.error.class() == ErrorClass::Permanent
    }

    /// How long the server asked us to wait.
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

/// What the admission plugin `OwnerReferencesPermissionEnforcement` asks for and does not name.
fn of_permission(error: &ApiError) -> &'static str {
    let is_it =
        |refusal: &Refusal| refusal.code == 403 && refusal.message.contains("blockOwnerDeletion");
    if error.refusal().is_some_and(is_it) {
        "; missing permission: update on the `/finalizers` of the parents"
    } else {
        ""
    }
}

fn kept_waiting(held_back: usize) -> String {
    match held_back {
        0 => String::new(),
        1 => "; 1 other write waits".to_owned(),
        count => format!("; {count} other writes wait"),
    }
}

fn foreign(children: &[ForeignChild]) -> String {
    let named = |child: &ForeignChild| format!("{} {}", child.id, in_the_way(child));
    children.iter().map(named).collect::<Vec<_>>().join("; ")
}

/// What somebody else's object does to a child.
pub fn in_the_way(child: &ForeignChild) -> String {
    let instead = if child.has_controller() {
        "give the child another name, or delete that object"
    } else if child.is_adoptable {
        "give the child another name, delete that object, or adopt it \
         (`ChildConfig::apply().adopting()`)"
    } else {
        // It may be the child of another parent.
        "give the child another name, or delete that object if nobody needs it"
    };
    format!("exists and is not ours ({}); it is left alone: {instead}", child.owner)
}

fn listed<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
