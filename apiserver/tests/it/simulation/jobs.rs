//! Jobs and cron jobs.

use std::time::Duration;

use operetta_apiserver::WorkloadTiming;
use serde_json::{Value, json};

use super::world::{World, condition, is_true};

fn job(name: &str, annotations: Value, spec: Value) -> Value {
    let mut job = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": name, "namespace": "default" },
        "spec": { "template": {
            "metadata": { "annotations": annotations },
            "spec": {
                "restartPolicy": "Never",
                "containers": [{ "name": "main", "image": "image:1" }],
            },
        } },
    });
    for (field, value) in spec.as_object().unwrap() {
        job["spec"][field] = value.clone();
    }
    job
}

#[operetta_harness::test]
async fn a_job_completes_when_its_pods_have_succeeded() {
    let world = World::immediate();
    world.create(job("a", json!({}), json!({ "completions": 3, "parallelism": 2 }))).await;
    let job = world.until("Job", "a", |job| is_true(job, "Complete")).await;
    let status = &job["status"];
    assert_eq!((&status["succeeded"], &status["failed"]), (&json!(3), &Value::Null));
    assert_eq!((&status["active"], &status["ready"]), (&Value::Null, &json!(0)));
    assert_eq!(status["uncountedTerminatedPods"], json!({}));
    assert!(status["completionTime"].is_string() && status["startTime"].is_string());
    assert_eq!(condition(&job, "Complete")["reason"], "CompletionsReached");
    assert!(is_true(&job, "SuccessCriteriaMet"));
    let pods = world.list("Pod").await;
    assert_eq!(pods.len(), 3);
    assert!(pods.iter().all(|pod| pod["status"]["phase"] == "Succeeded"));
}

#[operetta_harness::test]
async fn an_indexed_job_runs_each_index() {
    let world = World::immediate();
    let spec = json!({ "completions": 3, "parallelism": 3, "completionMode": "Indexed" });
    world.create(job("a", json!({}), spec)).await;
    let job = world.until("Job", "a", |job| is_true(job, "Complete")).await;
    assert_eq!(job["status"]["completedIndexes"], "0-2");
    assert_eq!(job["status"]["succeeded"], 3);
}

#[operetta_harness::test(paused)]
async fn a_job_fails_at_its_limit() {
    let world = World::paused(WorkloadTiming::immediate());
    let fails = json!({ "simulation.operetta.dev/exit-code": "1" });
    world.create(job("a", fails, json!({ "backoffLimit": 2 }))).await;
    let job = world.until("Job", "a", |job| is_true(job, "Failed")).await;
    assert_eq!(condition(&job, "Failed")["reason"], "BackoffLimitExceeded");
    assert_eq!(job["status"]["failed"], 3);
}

/// The policy of a Job whose Pods end with exit code 42.
fn on_42(action: &str) -> Value {
    let codes = json!({ "operator": "In", "values": [42] });
    let rules = json!([{ "action": action, "onExitCodes": codes }]);
    json!({ "backoffLimit": 1, "podFailurePolicy": { "rules": rules } })
}

#[operetta_harness::test(paused)]
async fn the_policy_of_a_job_fails_it_at_once_or_ignores_what_failed() {
    let world = World::paused(WorkloadTiming::immediate());
    let fails = json!({ "simulation.operetta.dev/exit-code": "42" });
    world.create(job("a", fails.clone(), on_42("FailJob"))).await;
    let failed = world.until("Job", "a", |job| is_true(job, "Failed")).await;
    let condition = condition(&failed, "Failed");
    assert_eq!(
        (&condition["reason"], &failed["status"]["failed"]),
        (&json!("PodFailurePolicy"), &json!(1))
    );
    let message = condition["message"].as_str().unwrap();
    assert!(
        message.ends_with("failed with exit code 42 matching FailJob rule at index 0"),
        "{message}"
    );

    world.create(job("b", fails, on_42("Ignore"))).await;
    let pods_of_b = async || {
        let pods = world.list("Pod").await.into_iter();
        pods.filter(|pod| pod["metadata"]["labels"]["batch.kubernetes.io/job-name"] == "b").count()
    };
    let mut seconds = 0;
    while pods_of_b().await < 4 {
        assert!(seconds < 600, "it is replaced, after a while");
        tokio::time::sleep(Duration::from_secs(1)).await;
        seconds += 1;
    }
    let job = world.until("Job", "b", |_| true).await;
    assert!(job["status"]["failed"].is_null() && !is_true(&job, "Failed"), "{job}");
}

#[operetta_harness::test(paused)]
async fn a_job_fails_at_its_deadline() {
    let world = World::paused(WorkloadTiming::immediate());
    let slow = json!({ "simulation.operetta.dev/end-after": "100" });
    world.create(job("a", slow, json!({ "activeDeadlineSeconds": 10 }))).await;
    let job = world.until("Job", "a", |job| is_true(job, "Failed")).await;
    assert_eq!(condition(&job, "Failed")["reason"], "DeadlineExceeded");
    assert_eq!(job["status"]["failed"], 1);
}

#[operetta_harness::test]
async fn a_suspended_job_has_no_pods_until_it_is_resumed() {
    let world = World::immediate();
    world.create(job("a", json!({}), json!({ "suspend": true }))).await;
    let job = world.until("Job", "a", |job| is_true(job, "Suspended")).await;
    assert!(job["status"]["startTime"].is_null());
    assert!(world.names("Pod").await.is_empty());
    world.patch("Job", "a", json!({ "spec": { "suspend": false } })).await;
    let job = world.until("Job", "a", |job| is_true(job, "Complete")).await;
    assert_eq!(condition(&job, "Suspended")["reason"], "JobResumed");
}

#[operetta_harness::test(paused)]
async fn a_finished_job_is_deleted_after_its_time_to_live() {
    let world = World::paused(WorkloadTiming::immediate());
    world.create(job("a", json!({}), json!({ "ttlSecondsAfterFinished": 20 }))).await;
    world.until("Job", "a", |job| is_true(job, "Complete")).await;
    world.gone("Job", "a").await;
}

#[operetta_harness::test]
async fn the_pods_of_a_deleted_job_go() {
    let world =
        World::with(WorkloadTiming { run: Duration::from_mins(15), ..WorkloadTiming::immediate() });
    world.create(job("a", json!({}), json!({}))).await;
    let pod = world.any("Pod", |pod| is_true(pod, "Ready")).await;
    let background = kube::api::DeleteParams::background();
    world.api("Job").delete("a", &background).await.unwrap();
    world.gone("Pod", pod["metadata"]["name"].as_str().unwrap()).await;
}

#[operetta_harness::test(paused)]
async fn a_cron_job_creates_jobs_and_keeps_the_last_ones() {
    let world = World::paused(WorkloadTiming::immediate());
    world
        .create(json!({
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": { "name": "c", "namespace": "default" },
            "spec": {
                "schedule": "*/5 * * * *",
                "timeZone": "Europe/Berlin",
                "successfulJobsHistoryLimit": 2,
                "jobTemplate": { "spec": job("", json!({}), json!({}))["spec"] },
            },
        }))
        .await;
    for _ in 0..4 {
        let known = world.names("Job").await;
        world
            .any("Job", |job| {
                let name = job["metadata"]["name"].as_str().unwrap();
                is_true(job, "Complete") && !known.iter().any(|known| known == name)
            })
            .await;
    }
    let cron = world.until("CronJob", "c", |cron| cron["status"]["active"].is_null()).await;
    assert!(cron["status"]["lastScheduleTime"].is_string());
    assert!(cron["status"]["lastSuccessfulTime"].is_string());
    assert!(world.list("Job").await.len() <= 3);
}
