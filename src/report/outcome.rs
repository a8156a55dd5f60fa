//! The outcome of a report, and its result for the schedule. Decides only.

use std::time::Duration;

use super::{Report, waiting::Only};
use crate::{
    history::Outcome,
    journal::{End, Failure, api_finished},
    operator::OperatorConfig,
    schedule::Finished,
};

/// The longest wait for a watch event.
const RECHECK: Duration = Duration::from_secs(10);

/// The longest wait for manual intervention that no watch may show, or for the deletion budget.
const SLOW_RECHECK: Duration = Duration::from_mins(1);

/// A server publishes the schema of a new CRD about a second after it serves the type.
const SCHEMA_RECHECK: Duration = Duration::from_secs(1);

impl Report {
    pub(crate) fn outcome(&self, config: &OperatorConfig) -> Outcome {
        match (self.end, self.failure()) {
            (End::Finalized, _) => Outcome::Finalized,
            (End::Gone, _) => Outcome::Gone,
            (End::Outdated | End::Finalizing, None) => Outcome::Waiting,
            (End::Alive | End::Outdated | End::Finalizing, Some(failure)) => {
                Outcome::Failed { reason: failure.kind(), message: failure.to_string().into() }
            }
            (End::Alive, None) if self.paused.is_some() => Outcome::Paused,
            (End::Alive, None) => match self.finished(config) {
                Finished::Wrote | Finished::Recreating => Outcome::Wrote,
                Finished::Slowed { .. } if !self.writes.is_empty() => Outcome::Wrote,
                Finished::Recheck { .. } => Outcome::Waiting,
                // The parent is not ready, whatever the reason for the next reconcile.
                _ if self.is_contested => Outcome::Waiting,
                Finished::Settled { .. }
                | Finished::Calming { .. }
                | Finished::Slowed { .. }
                | Finished::Failed
                | Finished::FailedSlowed { .. }
                | Finished::FailedUntilGone { .. }
                | Finished::FailedUntil { .. }
                | Finished::Throttled { .. }
                | Finished::FailedForGood => self.up_to_date(),
            },
        }
    }

    fn up_to_date(&self) -> Outcome {
        if self.not_ready.is_none() { Outcome::Ready } else { Outcome::Synced }
    }

    pub(crate) fn finished(&self, config: &OperatorConfig) -> Finished {
        let longest = config.max_error_backoff;
        match (self.failure(), self.slowed) {
            (Some(failure), Some(times)) => {
                self.failed_and_slowed(self.failed(failure, longest), times)
            }
            (Some(failure), None) => self.failed(failure, longest),
            (None, Some(times)) => Finished::Slowed { times, at_most: self.longest_wait() },
            (None, None) => self.went_well(),
        }
    }

    fn failed_and_slowed(&self, failed: Finished, times: u32) -> Finished {
        let at_least = match failed {
            Finished::Failed | Finished::FailedUntilGone { is_passing: true, .. } => Duration::ZERO,
            Finished::FailedUntil { after } => after,
            Finished::FailedUntilGone { at_most, .. } => at_most,
            // Throttled or stalled: nothing is written before that ends.
            other => return other,
        };
        Finished::FailedSlowed { times, at_least, at_most: self.longest_wait() }
    }

    /// The longest wait: short while a desired child is terminating, to recreate it soon.
    fn longest_wait(&self) -> Duration {
        if self.replacing.is_empty() { Duration::MAX } else { SLOW_RECHECK }
    }

    fn went_well(&self) -> Finished {
        let recheck = |after| Finished::Recheck { after };
        match self.end {
            _ if self.recreates_first => Finished::Recreating,
            _ if !self.writes.is_empty() => Finished::Wrote,
            End::Outdated => recheck(RECHECK),
            // The delay that the handler chose, however long. Without one a change of a child wakes it.
            End::Finalizing => recheck(self.resync.unwrap_or(SLOW_RECHECK)),
            _ if self.status_is_due => recheck(SCHEMA_RECHECK),
            // The end of the pause wakes the parent.
            _ if self.paused.is_some() => self.settled(),
            End::Alive | End::Finalized | End::Gone => match self.longest_recheck() {
                Some(longest) => {
                    let earliest = [self.resync, self.stage_due].into_iter().flatten().min();
                    recheck(earliest.map_or(longest, |earliest| earliest.min(longest)))
                }
                None => self.settled(),
            },
        }
    }

    /// How long a parent waits at most whose changes no watch may show.
    fn longest_recheck(&self) -> Option<Duration> {
        match self.waits.only() {
            // A child that is waited for wakes its parent, and so does an approval.
            Only::Deletions | Only::Readiness => Some(SLOW_RECHECK),
            Only::Writes | Only::Other => Some(RECHECK),
            Only::Nothing => (self.unwatched > 0).then_some(SLOW_RECHECK),
        }
    }

    fn settled(&self) -> Finished {
        match (self.calms_in, self.resync) {
            (Some(after), resync) if resync.is_none_or(|resync| after < resync) => {
                Finished::Calming { after }
            }
            (_, resync) => Finished::Settled { resync },
        }
    }

    /// A recreated child does not wait for the retry of another failure, unless the server is throttling
    /// requests.
    fn failed(&self, failure: &Failure, longest: Duration) -> Finished {
        match self.retried(failure, longest) {
            throttled @ Finished::Throttled { .. } => throttled,
            _ if self.recreates_first => Finished::Recreating,
            _ if self.recreated > 0 && self.slowed.is_none() => Finished::Wrote,
            finished if !self.replacing.is_empty() => Finished::FailedUntilGone {
                is_passing: finished == Finished::Failed,
                at_most: SLOW_RECHECK.min(longest),
            },
            // The user may delete the child that the server refuses to change, so that it can be recreated.
            Finished::FailedUntil { after } if matches!(failure, Failure::Api(_)) => {
                Finished::FailedUntilGone { is_passing: false, at_most: after }
            }
            finished => finished,
        }
    }

    /// A failure that the status does not show yet is retried, even a permanent one. Throttling by the server
    /// counts, also beside another failure.
    fn retried(&self, failure: &Failure, longest: Duration) -> Finished {
        let beside = api_finished(&self.beside, longest);
        match (failure.finished(longest), beside) {
            (Finished::FailedForGood, _) if !self.status_is_due => Finished::FailedForGood,
            (throttled @ Finished::Throttled { .. }, _)
            | (_, throttled @ Finished::Throttled { .. }) => throttled,
            (finished, _) if !self.status_is_due => finished,
            _ => Finished::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::SystemTime};

    use super::*;
    use crate::{
        journal::{Held, Pause, PausedBy, RequestFailure},
        object::{K8sType, Quoted, Uid},
        operator,
        reply::{ApiError, Refusal},
        report::waiting::Waiting,
    };

    #[test]
    fn finalize_is_called_again_after_the_delay_that_it_chose() {
        let config = OperatorConfig::new("op", K8sType::cluster_scoped("v1", "Thing", "things"));
        let after = Duration::from_hours(1);
        let mut report = Report {
            end: End::Finalizing,
            resync: Some(after),
            status_is_due: true,
            ..Report::default()
        };
        report.waits.push(Waiting::Parent("still finalizing".to_owned()));
        assert_eq!(report.finished(&config), Finished::Recheck { after });
        assert_eq!(report.outcome(&config), Outcome::Waiting);
    }

    /// The event may be lost.
    #[test]
    fn a_parent_that_waits_for_an_event_is_rechecked() {
        let config = OperatorConfig::new("op", K8sType::cluster_scoped("v1", "Thing", "things"));
        let (soon, late) = (Duration::from_secs(2), Duration::from_hours(1));
        let recheck = |after| Finished::Recheck { after };
        for (end, waits, resync, expected) in [
            (End::Alive, false, None, Finished::Settled { resync: None }),
            (End::Alive, false, Some(late), Finished::Settled { resync: Some(late) }),
            (End::Alive, true, None, recheck(RECHECK)),
            (End::Alive, true, Some(late), recheck(RECHECK)),
            (End::Alive, true, Some(soon), recheck(soon)),
            (End::Outdated, false, None, recheck(RECHECK)),
            (End::Outdated, false, Some(late), recheck(RECHECK)),
        ] {
            let mut report = Report::default();
            (report.end, report.resync) = (end, resync);
            if waits {
                report.waits.push(Waiting::Parent("a child is being deleted".to_owned()));
            }
            assert_eq!(report.finished(&config), expected, "{end:?} {waits} {resync:?}");
        }
    }

    fn refused(code: u16, retry_after: Option<Duration>) -> ApiError {
        let refusal = Refusal { retry_after, ..Refusal::answered(code) };
        ApiError::Refused { request: "patch /x".to_owned(), refusal: Box::new(refusal) }
    }

    fn a_child(error: ApiError) -> RequestFailure {
        RequestFailure::new("a child".to_owned(), error)
    }

    fn unable() -> Failure {
        let message = Quoted::new("no");
        Failure::Handler { message, permanent: false, retry_after: None }
    }

    #[test]
    fn flapping_is_slowed_whatever_else_fails_and_delays_no_recreation() {
        let config = OperatorConfig::new("op", K8sType::cluster_scoped("v1", "Thing", "things"));
        let (longest, ever) = (config.max_error_backoff, Duration::MAX);
        let slowed = |at_most| Finished::Slowed { times: 3, at_most };
        let failed = |at_least, at_most| Finished::FailedSlowed { times: 3, at_least, at_most };
        let (none, minute) = (Duration::ZERO, SLOW_RECHECK);
        for (code, recreated, is_replacing, expected) in [
            (None, 0, false, slowed(ever)),
            (None, 0, true, slowed(minute)),
            (Some(500), 0, false, failed(none, ever)),
            (Some(500), 0, true, failed(none, minute)),
            (Some(422), 0, false, failed(longest, ever)),
            (Some(422), 0, true, failed(minute, minute)),
            // Someone else created it meanwhile.
            (Some(422), 1, false, failed(longest, ever)),
        ] {
            let mut report = Report::default();
            (report.slowed, report.recreated) = (Some(3), recreated);
            report.replacing.extend(is_replacing.then(|| Uid::new("u")));
            if let Some(code) = code {
                report.failure = Some(Failure::Api(vec![a_child(refused(code, None))]));
            }
            assert_eq!(report.finished(&config), expected, "{code:?} {recreated} {is_replacing}");
        }
    }

    #[test]
    fn throttling_counts_also_beside_another_failure() {
        let config = OperatorConfig::new("op", K8sType::cluster_scoped("v1", "Thing", "things"));
        let after = Duration::from_secs(9);
        let mut report = Report::default();
        report.beside.push(a_child(refused(429, Some(after))));
        report.failure = Some(unable());
        assert_eq!(report.finished(&config), Finished::Throttled { after });
    }

    /// Nothing else removes the condition.
    #[test]
    fn a_paused_parent_is_rechecked_for_the_end_of_flapping() {
        let config = OperatorConfig::new("op", K8sType::cluster_scoped("v1", "Thing", "things"));
        let paused = Some(Pause { by: PausedBy::Annotation, held: Held::Writes(0) });
        let mut report = Report { paused, ..Report::default() };
        assert_eq!(report.finished(&config), Finished::Settled { resync: None });
        let after = Duration::from_mins(1);
        report.calms_in = Some(after);
        assert_eq!(report.finished(&config), Finished::Calming { after });
    }

    /// The end of a pause of the operator resumes all its parents.
    #[test]
    fn only_a_pause_of_the_parent_itself_ends_with_it() {
        let until = SystemTime::UNIX_EPOCH + Duration::from_mins(9);
        let pause = Some(Arc::new(operator::Pause { until: Some(until), ..<_>::default() }));
        let ends_in = |by, now| {
            let paused = Some(Pause { by, held: Held::Undecided });
            let failure = Some(unable());
            let report = Report { paused, pause: pause.clone(), failure, ..Report::default() };
            report.pause_ends_in(now)
        };
        let early = SystemTime::UNIX_EPOCH + Duration::from_mins(2);
        assert_eq!(ends_in(PausedBy::Annotation, early), Some(Duration::from_mins(7)));
        assert_eq!(
            ends_in(PausedBy::Annotation, until + Duration::from_secs(1)),
            Some(Duration::ZERO)
        );
        assert_eq!(ends_in(PausedBy::Operator, early), None);
    }
}
