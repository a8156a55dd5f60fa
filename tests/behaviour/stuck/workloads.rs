//! Children with controllers of their own: Deployments, Jobs, load balancers. The real control plane has most of their
//! controllers, and the embedded server has none.

use futures::FutureExt;
use serde_json::{Value, json};

use super::{
    cause::{Cause, commanded, edited},
    rig::Place,
};
use crate::{
    cluster::Cluster,
    world::{DEPLOYMENT, JOB, POD},
};

pub(super) fn deployment(replicas: i32, app: &str) -> Value {
    let containers = json!([{"name": "c", "image": "example.com/wrong"}]);
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": app}},
            "template": {"metadata": {"labels": {"app": app}}, "spec": {"containers": containers}},
        },
    })
}

fn is_embedded(place: &Place<'_>) -> bool {
    matches!(place.rig.world.cluster, Cluster::Embedded(..))
}

/// The controller observes the Deployment of this app, which has no replicas.
pub(super) async fn observed(place: &Place<'_>, app: &str) {
    let is_it = |it: &Value| it["spec"]["selector"]["matchLabels"]["app"] == app;
    let deployment = place.until(DEPLOYMENT, "d", "the Deployment", is_it).await;
    if is_embedded(place) {
        let generation = &deployment["metadata"]["generation"];
        place.patch_status(DEPLOYMENT, "d", json!({"observedGeneration": generation})).await;
    }
}

/// The controller gives up on the first replica.
async fn late(place: &Place<'_>) {
    let mut child = deployment(1, "a");
    // The controller makes no Pods, and does not change what it has said of a deadline.
    child["spec"]["paused"] = json!(true);
    place.parent(&[child]).await;
    place.until(DEPLOYMENT, "d", "the Deployment", Value::is_object).await;
    let condition = json!({
        "type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
        "message": "ReplicaSet \"d-1\" has timed out progressing.",
    });
    let status = json!({"observedGeneration": 1, "conditions": [condition]});
    place.patch_status(DEPLOYMENT, "d", status).await;
}

/// The replicas of the corrected Deployment run.
async fn serve(place: &Place<'_>) {
    let image = |it: &Value| it["spec"]["template"]["spec"]["containers"][0]["image"].clone();
    let is_right = |it: &Value| image(it) == "example.com/right";
    let deployment = place.until(DEPLOYMENT, "d", "a correction", is_right).await;
    if is_embedded(place) {
        let status = json!({
            "observedGeneration": deployment["metadata"]["generation"], "replicas": 1,
            "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
            "unavailableReplicas": 0, "conditions": null,
        });
        return place.patch_status(DEPLOYMENT, "d", status).await;
    }
    let pods = || async {
        let all = place.api(POD).list(&<_>::default()).await.unwrap();
        let all = all.into_iter().map(|pod| serde_json::to_value(pod).unwrap());
        all.filter(|pod| pod["spec"]["containers"][0]["image"] == "example.com/right").collect()
    };
    let is_one = |pods: &Vec<Value>| !pods.is_empty();
    for pod in crate::world::eventually("a corrected Pod", pods, is_one).await {
        super::pods::run(place, pod["metadata"]["name"].as_str().unwrap()).await;
    }
}

/// A Job that only this test runs.
fn job() -> Value {
    let containers = json!([{"name": "c", "image": "example.com/c"}]);
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
        "spec": {
            "managedBy": "test.operetta.dev/kubelet",
            "template": {"spec": {"restartPolicy": "Never", "containers": containers}},
        },
    })
}

/// Ends the Job with these conditions.
async fn end(place: &Place<'_>, conditions: [&str; 2]) {
    let is_open = |job: &Value| {
        let is_deleted = job["metadata"]["deletionTimestamp"].is_string();
        job.is_object() && !is_deleted && job["status"]["conditions"].is_null()
    };
    place.until(JOB, "j", "a Job", is_open).await;
    let now = "2026-01-01T00:00:00Z";
    let why = "Job has reached the specified backoff limit";
    let of = |ty: &str| {
        json!({
            "type": ty, "status": "True", "lastTransitionTime": now,
            "reason": "BackoffLimitExceeded", "message": why,
        })
    };
    let has_succeeded = conditions[1] == "Complete";
    let mut status = json!({
        "startTime": now, "conditions": conditions.map(of),
        "succeeded": i32::from(has_succeeded), "failed": i32::from(!has_succeeded),
    });
    if has_succeeded {
        status["completionTime"] = json!(now);
    }
    place.patch_status(JOB, "j", status).await;
}

pub(super) fn all() -> Vec<Cause> {
    vec![
        edited(
            "A Deployment past its deadline",
            &["Deployment", "/d", "ProgressDeadlineExceeded"],
            "s#example.com/wrong#example.com/right#;s/paused: true/paused: false/",
            |place| late(place).boxed_local(),
        )
        .then(|place| serve(place).boxed_local()),
        commanded("A Job that has failed", &["Job", "/j", "BackoffLimitExceeded"], |place| {
            async {
                place.parent(&[job()]).await;
                end(place, ["FailureTarget", "Failed"]).await;
            }
            .boxed_local()
        })
        .then(|place| end(place, ["SuccessCriteriaMet", "Complete"]).boxed_local()),
        edited(
            "A load balancer without an address",
            &["Service", "/s", "spec.type"],
            "s/type: LoadBalancer/type: ClusterIP/",
            |place| {
                async {
                    let service = json!({
                        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
                        "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
                    });
                    place.parent(&[service]).await;
                }
                .boxed_local()
            },
        ),
    ]
}
