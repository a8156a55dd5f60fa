//! Which Jobs of a series to keep: those that run, and the newest of those that have finished.
//!
//! Decides by the Jobs that are there. A child that is not returned is deleted by the framework.

use std::cmp::Reverse;

use k8s_openapi::{api::batch::v1::Job, apimachinery::pkg::apis::meta::v1::Time};

/// How many Jobs that have finished are kept; as the fields of a `CronJob`, and with its defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobHistory {
    /// How many that succeeded. Default 3.
    pub successful: usize,
    /// How many that failed. Default 1.
    pub failed: usize,
}

impl Default for JobHistory {
    fn default() -> Self {
        Self { successful: 3, failed: 1 }
    }
}

/// Where a Job is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Unfinished,
    Succeeded,
    Failed,
}

impl JobHistory {
    /// The Jobs to keep, in their order: all that have not finished, and of the others the newest. The age of a Job
    /// is that of its creation; of Jobs of the same second the one with the later name is newer.
    ///
    /// Jobs that have a `ttlSecondsAfterFinished` are removed by Kubernetes, which needs no pruning.
    ///
    /// ```
    /// use k8s_openapi::api::batch::v1::Job;
    /// use operetta::{prelude::*, recipes::{JobHistory, ObjectCopy}};
    ///
    /// fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    ///     let jobs = request.children::<Job>().iter().collect::<Result<Vec<_>, _>>()?;
    ///     let kept = JobHistory { successful: 5, failed: 2 }.kept(jobs);
    ///     // They stay as they are; the others are deleted.
    ///     let kept = kept.into_iter().map(ObjectCopy::of).collect::<Result<Vec<_>, _>>()?;
    ///     Ok(kept.into_iter().fold(SyncResponse::new(), SyncResponse::ensure))
    /// }
    /// # let ty = K8sType::namespaced("example.dev/v1", "Backup", "backups");
    /// # let request = SyncRequest::example(&ty, serde_json::json!({"metadata": {"name": "a"}}))?;
    /// # sync(&request.with_child::<Job>(serde_json::json!({"metadata": {"name": "a-1"}}))?)?;
    /// # Ok::<(), operetta::anyhow::Error>(())
    /// ```
    pub fn kept<'a>(self, jobs: impl IntoIterator<Item = &'a Job>) -> Vec<&'a Job> {
        let mut jobs: Vec<_> = jobs.into_iter().map(|job| (job, true)).collect();
        prune(&mut jobs, Phase::Succeeded, self.successful);
        prune(&mut jobs, Phase::Failed, self.failed);
        jobs.into_iter().filter(|(_, is_kept)| *is_kept).map(|(job, _)| job).collect()
    }
}

fn prune(jobs: &mut [(&Job, bool)], phase: Phase, kept: usize) {
    let mut finished: Vec<_> = jobs.iter_mut().filter(|(job, _)| phase_of(job) == phase).collect();
    finished.sort_by_key(|(job, _)| Reverse(age_of(job)));
    finished.into_iter().skip(kept).for_each(|(_, is_kept)| *is_kept = false);
}

/// By its conditions: the counts of Pods do not show whether others follow.
fn phase_of(job: &Job) -> Phase {
    let conditions = job.status.as_ref().and_then(|status| status.conditions.as_ref());
    let has = |ty: &str| {
        conditions
            .into_iter()
            .flatten()
            .any(|condition| condition.type_ == ty && condition.status == "True")
    };
    if has("Complete") {
        Phase::Succeeded
    } else if has("Failed") {
        Phase::Failed
    } else {
        Phase::Unfinished
    }
}

/// Greater is newer. What has no time is not created yet.
fn age_of(job: &Job) -> (bool, Option<&Time>, Option<&str>) {
    let created = job.metadata.creation_timestamp.as_ref();
    (created.is_none(), created, job.metadata.name.as_deref())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(name: &str, minute: u32, condition: Option<&str>) -> Job {
        let conditions: Vec<_> =
            condition.iter().map(|ty| json!({"type": ty, "status": "True"})).collect();
        serde_json::from_value(json!({
            "metadata": {"name": name, "creationTimestamp": format!("2026-01-01T00:{minute:02}:00Z")},
            "status": {"conditions": conditions},
        }))
        .unwrap()
    }

    fn kept(history: JobHistory, jobs: &[Job]) -> Vec<&str> {
        history.kept(jobs).iter().map(|job| job.metadata.name.as_deref().unwrap()).collect()
    }

    #[test]
    fn the_newest_that_finished_and_all_that_run_are_kept() {
        let (complete, failed) = (Some("Complete"), Some("Failed"));
        let jobs = vec![
            job("old-running", 0, None),
            job("c1", 1, complete),
            job("f2", 2, failed),
            job("c5", 5, complete),
            job("c3", 3, complete),
            job("f4", 4, failed),
            job("suspended", 6, Some("Suspended")),
            job("c2", 2, complete),
        ];
        let expected = ["old-running", "c5", "c3", "f4", "suspended", "c2"];
        assert_eq!(kept(JobHistory::default(), &jobs), expected);
        let none = JobHistory { successful: 0, failed: 0 };
        assert_eq!(kept(none, &jobs), ["old-running", "suspended"]);
        let two = JobHistory { successful: 1, failed: 9 };
        assert_eq!(kept(two, &jobs), ["old-running", "f2", "c5", "f4", "suspended"]);
    }

    #[test]
    fn of_the_same_second_the_later_name_is_newer() {
        let jobs = [job("a-2", 1, Some("Complete")), job("a-1", 1, Some("Complete"))];
        assert_eq!(kept(JobHistory { successful: 1, failed: 0 }, &jobs), ["a-2"]);
    }
}
