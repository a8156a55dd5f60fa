//! The condition for Jobs that have finished and that their TTL removes. It is the record for later reconciles, and
//! for the next process.

use super::shown::shown;
use crate::{object::Object, operator::Condition, plan::FinishedJobs};

/// The type of the condition.
pub(super) const CONDITION: &str = "JobsFinished";

/// The reason of the condition, which identifies it as set by Operetta.
const REASON: &str = "RemovedByTTL";

pub(super) fn condition(jobs: &FinishedJobs) -> Option<Condition> {
    (!jobs.is_empty()).then(|| Condition::new(CONDITION, true, REASON, jobs.to_string()))
}

/// The finished Jobs that a parent shows.
pub(crate) fn shown_by(parent: &Object) -> FinishedJobs {
    let Some(shown) = shown(parent, CONDITION).filter(|it| it["reason"] == REASON) else {
        return FinishedJobs::default();
    };
    FinishedJobs::parse(shown["message"].as_str().unwrap_or_default())
}
