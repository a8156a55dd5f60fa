//! Containers that do not run. No test has a kubelet, so its part is played.

use futures::FutureExt;
use serde_json::{Value, json};

use super::{
    cause::{Cause, Step, edited},
    rig::Place,
};
use crate::world::POD;

pub(super) fn pod(resources: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "example.com/wrong", "resources": resources}]},
    })
}

/// A Pod with further fields in its spec.
pub(super) fn pod_with(spec: Value) -> Value {
    let mut pod = pod(json!({}));
    for (field, value) in spec.as_object().into_iter().flatten() {
        pod["spec"][field] = value.clone();
    }
    pod
}

/// Runs the Pod as a kubelet does, as soon as it exists and is not being deleted.
pub(super) async fn run(place: &Place<'_>, name: &str) {
    let exists = |pod: &Value| pod.is_object() && pod["metadata"]["deletionTimestamp"].is_null();
    place.until(POD, name, "a Pod to run", exists).await;
    let status = json!({
        "phase": "Running", "containerStatuses": null, "initContainerStatuses": null,
        "conditions": [{"type": "Ready", "status": "True"}],
    });
    place.patch_status(POD, name, status).await;
}

/// The same when the Pod has been made again with another image.
async fn run_corrected(place: &Place<'_>) {
    let is_right = |pod: &Value| pod["spec"]["containers"][0]["image"] == "example.com/right";
    place.until(POD, "p", "another image", is_right).await;
    run(place, "p").await;
}

impl Cause {
    /// Somebody runs the Pod `p` then.
    pub(super) fn then_running(self) -> Self {
        self.then(|place| run(place, "p").boxed_local())
    }
}

/// A parent with a Pod of which this is reported.
pub(super) async fn reported(place: &Place<'_>, status: Value) {
    reported_of(place, pod(json!({})), status).await;
}

/// The same of a Pod of the cause's choice.
pub(super) async fn reported_of(place: &Place<'_>, pod: Value, status: Value) {
    place.parent(&[pod]).await;
    report(place, status).await;
}

/// This is reported of the Pod `p`.
pub(super) async fn report(place: &Place<'_>, status: Value) {
    place.until(POD, "p", "a Pod", Value::is_object).await;
    place.patch_status(POD, "p", status).await;
}

pub(super) fn waiting(reason: &str, message: &str) -> Value {
    let state = json!({"waiting": {"reason": reason, "message": message}});
    container(state, json!({}))
}

fn container(state: Value, last: Value) -> Value {
    json!({"phase": "Pending", "containerStatuses": [{
        "name": "c", "image": "example.com/wrong", "imageID": "", "ready": false, "restartCount": 4,
        "state": state, "lastState": last,
    }]})
}

const IMAGE: &str = "s#example.com/wrong#example.com/right#";

/// A cause that another image cures.
pub(super) fn of_image(name: &'static str, names: &'static [&'static str], plant: Step) -> Cause {
    edited(name, names, IMAGE, plant).then(|place| run_corrected(place).boxed_local())
}

pub(super) fn all() -> Vec<Cause> {
    vec![
        of_image(
            "An image that cannot be pulled",
            &["Pod", "/p", "example.com/wrong", "container c"],
            |place| reported(place, waiting("ErrImagePull", "no such image")).boxed_local(),
        ),
        of_image(
            "A container that ends again and again",
            &["Pod", "/p", "c with exit code 3"],
            |place| {
                let last = json!({"terminated": {"exitCode": 3, "reason": "Error"}});
                let state =
                    json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}});
                reported(place, container(state, last)).boxed_local()
            },
        ),
        of_image("Too little memory", &["Pod", "/p", "memory", "container c"], |place| {
            let last = json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}});
            let state = json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}});
            reported(place, container(state, last)).boxed_local()
        }),
        of_image("A probe that fails", &["Pod", "/p", "container c"], |place| {
            let mut status = container(json!({"running": {}}), json!({}));
            status["phase"] = json!("Running");
            reported(place, status).boxed_local()
        }),
        of_image(
            "A container for the start that ends",
            &["Pod", "/p", "prepare with exit code 7"],
            |place| {
                let last = json!({"terminated": {"exitCode": 7, "reason": "Error"}});
                let state =
                    json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}});
                let mut status = container(state, last);
                status["containerStatuses"][0]["name"] = json!("prepare");
                status["initContainerStatuses"] = status["containerStatuses"].take();
                let prepare = json!([{"name": "prepare", "image": "example.com/wrong"}]);
                let pod = pod_with(json!({"initContainers": prepare}));
                async move { reported_of(place, pod, status).await }.boxed_local()
            },
        ),
    ]
}
