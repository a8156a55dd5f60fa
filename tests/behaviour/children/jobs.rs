//! Jobs that their TTL removes when they have finished.

use std::sync::{Mutex, mpsc};

use k8s_openapi::api::batch::v1::Job;
use kube::api::{DeleteParams, Patch, PatchParams};
use operetta::{
    operator::{AnyHandler, IntoHandler},
    prelude::*,
};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, recipe},
    world::{JOB, Operators, World, condition},
};

/// A Job that only this test runs.
fn job(image: &str) -> Value {
    let container = json!({"name": "c", "image": image});
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {
        "ttlSecondsAfterFinished": 0, "managedBy": "test.operetta.dev/kubelet",
        "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
    }})
}

/// Ensures what the parent specifies.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn ensuring(request: &SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    let children = spec["children"].as_array().cloned().unwrap_or_default();
    Ok(children.into_iter().fold(SyncResponse::status(json!({})), SyncResponse::ensure))
}

async fn start(world: &World, handler: AnyHandler) -> Operators {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let how = ChildConfig::apply().recreate_if_immutable();
    let config = OperatorConfig::new("cook", parent).child::<Job>(how);
    world.start(|builder| builder.register(config, handler)).await
}

/// Ends the Job, and removes it once that is recorded.
async fn finish(world: &World, conditions: [&str; 2]) {
    world.until(JOB, "j", "a Job", |job| !job.is_null()).await;
    end(world, conditions).await;
    world.until(RECIPE, "r", "the record", has_finished).await;
    remove(world).await;
}

async fn end(world: &World, conditions: [&str; 2]) {
    let now = "2026-01-01T00:00:00Z";
    let of = |ty: &&str| json!({"type": ty, "status": "True", "lastTransitionTime": now});
    let has_succeeded = conditions[1] == "Complete";
    let mut status = json!({
        "startTime": now, "conditions": conditions.iter().map(of).collect::<Vec<_>>(),
        "succeeded": i32::from(has_succeeded), "failed": i32::from(!has_succeeded),
    });
    if has_succeeded {
        status["completionTime"] = json!(now);
    }
    let patch = Patch::Merge(json!({"status": status}));
    world.api(JOB).patch_status("j", &PatchParams::default(), &patch).await.unwrap();
}

/// The controller removes a Job after its TTL on the real control plane, and this test on the embedded server, which
/// has none.
async fn remove(world: &World) {
    // The controller may have been faster.
    let _ = world.api(JOB).delete("j", &DeleteParams::background()).await;
    world.until(JOB, "j", "its end", Value::is_null).await;
}

fn has_finished(parent: &Value) -> bool {
    condition(parent, "JobsFinished")["status"] == "True"
}

#[operetta_harness::test(server)]
async fn a_finished_job_that_its_ttl_removed_runs_again_only_when_it_changes() {
    for handler in [recipe::handler(), ensuring.into_handler()] {
        let world = World::new().await;
        let operators = start(&world, handler.clone()).await;
        world.apply(RECIPE, recipe("r", &[job("example.dev/a")])).await;
        finish(&world, ["SuccessCriteriaMet", "Complete"]).await;
        let parent = world.until_ready(RECIPE, "r").await;
        operators.settled().await;
        assert_eq!(world.get(JOB, "j").await, Value::Null);
        assert!(condition(&parent, "Flapping").is_null(), "{parent}");
        operators.stop().await;
        // A new process reads it from the parent.
        let operators = start(&world, handler).await;
        operators.until_synced("cook", &world.namespace, "r").await;
        operators.settled().await;
        assert_eq!(world.get(JOB, "j").await, Value::Null);
        let shown = world.get(RECIPE, "r").await;
        assert_eq!(condition(&shown, "JobsFinished"), condition(&parent, "JobsFinished"));
        world.delete(RECIPE, "r").await;
        operators.stop().await;
    }
}

/// The plan after the Job began sees it run, and the next one sees that it is gone.
#[operetta_harness::test]
async fn a_job_that_finished_and_went_between_two_plans_does_not_run_again() {
    let world = World::new().await;
    let (calls, called) = mpsc::channel();
    let (resume, resumed) = mpsc::channel::<()>();
    let resumed = Mutex::new(resumed);
    let handler = move |request: &SyncRequest| {
        let is_held = request.parent.annotations().contains_key("test.operetta.dev/held");
        if is_held && calls.send(()).is_ok() {
            let _ = resumed.lock().unwrap().recv();
        }
        ensuring(request)
    };
    let operators = start(&world, handler.into_handler()).await;
    world.apply(RECIPE, recipe("r", &[job("example.dev/a")])).await;
    world.until(JOB, "j", "a Job", |job| !job.is_null()).await;
    operators.settled().await;
    let held = json!({"metadata": {"annotations": {"test.operetta.dev/held": ""}}});
    world.patch(RECIPE, "r", held).await;
    tokio::task::spawn_blocking(move || called.recv()).await.unwrap().unwrap();
    end(&world, ["SuccessCriteriaMet", "Complete"]).await;
    remove(&world).await;
    drop(resume);
    world.until(RECIPE, "r", "the record", has_finished).await;
    operators.settled().await;
    assert_eq!(world.get(JOB, "j").await, Value::Null);
    operators.stop().await;
}

#[operetta_harness::test]
async fn another_desired_job_is_created_after_one_that_is_done() {
    let world = World::new().await;
    let operators = start(&world, recipe::handler()).await;
    world.apply(RECIPE, recipe("r", &[job("example.dev/a")])).await;
    finish(&world, ["SuccessCriteriaMet", "Complete"]).await;
    world.apply(RECIPE, recipe("r", &[job("example.dev/b")])).await;
    world.until(JOB, "j", "a new Job", |job| !job.is_null()).await;
    let is_over = |parent: &Value| condition(parent, "JobsFinished").is_null();
    world.until(RECIPE, "r", "the end of the record", is_over).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_job_that_failed_and_is_gone_keeps_its_parent_from_being_ready() {
    let world = World::new().await;
    let operators = start(&world, recipe::handler()).await;
    world.apply(RECIPE, recipe("r", &[job("example.dev/a")])).await;
    finish(&world, ["FailureTarget", "Failed"]).await;
    let says_it = |parent: &Value| {
        let ready = condition(parent, "Ready");
        let message = ready["message"].as_str().unwrap_or_default();
        ready["status"] == "False" && message.contains("its TTL removed it")
    };
    world.until(RECIPE, "r", "why it is not ready", says_it).await;
    operators.settled().await;
    assert_eq!(world.get(JOB, "j").await, Value::Null);
    operators.stop().await;
}
