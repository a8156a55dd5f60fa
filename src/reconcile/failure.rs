//! Why a run failed, and what that means for the next one.

use std::time::Duration;

use crate::{
    cluster::{ApiError, ErrorClass},
    plan::{ForeignChild, Refusal},
    schedule::Finished,
};

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The handler returned an error.
    #[error("{message}")]
    Handler {
        /// The error with its causes.
        message: String,
        /// Whether only a change of the parent can mend it.
        permanent: bool,
        /// When the handler wants to be called again.
        retry_after: Option<Duration>,
    },
    /// The handler panicked.
    #[error("the handler panicked: {0}")]
    Panicked(String),
    /// The handler did not return in time; the parent is busy until it does.
    #[error("the handler has not returned within {} s", .0.as_secs_f64())]
    Overdue(Duration),
    /// The handler returned children that cannot be written; none was written or deleted.
    #[error("{}", listed(.0))]
    Refused(Vec<Refusal>),
    /// An object of somebody else has the name of a child; it was not touched.
    #[error("{}", foreign(.0))]
    Foreign(Vec<ForeignChild>),
    /// Writing failed.
    #[error("{}", listed(.0))]
    Api(Vec<ChildFailure>),
}

/// A request about one object failed.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {error}")]
pub struct ChildFailure {
    /// The object.
    pub what: String,
    /// Why.
    pub error: ApiError,
}

impl Failure {
    /// The reason of the condition and the Event: one `CamelCase` word.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Handler { .. } => "HandlerFailed",
            Self::Panicked(_) => "HandlerPanicked",
            Self::Overdue(_) => "HandlerOverdue",
            Self::Refused(_) => "InvalidChildren",
            Self::Foreign(_) => "Conflict",
            Self::Api(_) => "WriteFailed",
        }
    }

    /// What the failure means for the schedule. `longest` is the longest backoff.
    pub(super) fn finished(&self, longest: Duration) -> Finished {
        match self {
            Self::Handler { permanent: true, .. } | Self::Refused(_) => Finished::FailedForGood,
            Self::Handler { retry_after: Some(after), .. } => {
                Finished::FailedUntil { after: *after }
            }
            Self::Api(failures) => api_finished(failures, longest),
            Self::Handler { .. } | Self::Panicked(_) | Self::Overdue(_) | Self::Foreign(_) => {
                Finished::Failed
            }
        }
    }
}

fn api_finished(failures: &[ChildFailure], longest: Duration) -> Finished {
    let classes = || failures.iter().map(|failure| failure.error.class());
    if classes().all(|class| class == ErrorClass::Permanent) {
        // Not for good: what is in the way may be taken away without a change of the parent.
        return Finished::FailedUntil { after: longest };
    }
    let asked = classes().filter_map(|class| match class {
        ErrorClass::Wait(delay) => Some(delay),
        ErrorClass::Retry
        | ErrorClass::Conflict
        | ErrorClass::Missing
        | ErrorClass::Forbidden
        | ErrorClass::Permanent => None,
    });
    asked.max().map_or(Finished::Failed, |after| Finished::FailedUntil { after })
}

fn foreign(children: &[ForeignChild]) -> String {
    let in_the_way = |child: &ForeignChild| {
        format!(
            "{} exists and is not ours ({}); it is left alone: delete or rename it",
            child.id, child.owner
        )
    };
    children.iter().map(in_the_way).collect::<Vec<_>>().join("; ")
}

fn listed<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Refusal as ApiRefusal;

    fn api(codes: &[(u16, Option<u64>)]) -> Failure {
        let failure = |(code, after): &(u16, Option<u64>)| {
            let refusal = Box::new(ApiRefusal {
                code: *code,
                reason: String::new(),
                message: String::new(),
                retry_after: after.map(Duration::from_secs),
                fields: Vec::new(),
            });
            let request = "patch /x".to_owned();
            ChildFailure { what: "x".to_owned(), error: ApiError::Refused { request, refusal } }
        };
        Failure::Api(codes.iter().map(failure).collect())
    }

    #[test]
    fn the_schedule_follows_the_kind_of_failure() {
        let longest = Duration::from_mins(10);
        let until = |seconds| Finished::FailedUntil { after: Duration::from_secs(seconds) };
        for (failure, expected) in [
            (api(&[(500, None)]), Finished::Failed),
            (api(&[(422, None)]), until(600)),
            (api(&[(422, None), (500, None)]), Finished::Failed),
            (api(&[(429, Some(3)), (500, None)]), until(3)),
            (Failure::Refused(Vec::new()), Finished::FailedForGood),
            (Failure::Panicked(String::new()), Finished::Failed),
        ] {
            assert_eq!(failure.finished(longest), expected, "{failure:?}");
        }
    }
}
