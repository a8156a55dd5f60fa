//! Causes beneath a child: what a scheduler, a kubelet and a provisioner of volumes report. No test has them, so their
//! part is played.

use futures::FutureExt;
use serde_json::{Value, json};

use super::{
    Cause, Place,
    causes::{commanded, edited},
};
use crate::world::{Kind, POD, SECRET};

const NODE: Kind = Kind("v1", "Node", "nodes");

pub(super) fn pod(resources: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "example.com/wrong", "resources": resources}]},
    })
}

/// Runs the Pod as a kubelet does, as soon as it exists and is not being deleted.
pub(super) async fn run(place: &Place<'_>, name: &str) {
    let exists = |pod: &Value| pod.is_object() && pod["metadata"]["deletionTimestamp"].is_null();
    place.until(POD, name, "a Pod to run", exists).await;
    let status = json!({
        "phase": "Running", "containerStatuses": null,
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

/// A parent with a Pod of which this is reported.
async fn reported(place: &Place<'_>, status: Value) {
    place.parent(&[pod(json!({}))]).await;
    place.until(POD, "p", "a Pod", Value::is_object).await;
    place.patch_status(POD, "p", status).await;
}

fn waiting(reason: &str, message: &str) -> Value {
    let state = json!({"waiting": {"reason": reason, "message": message}});
    container(state, json!({}))
}

fn container(state: Value, last: Value) -> Value {
    json!({"phase": "Pending", "containerStatuses": [{
        "name": "c", "image": "example.com/wrong", "imageID": "", "ready": false, "restartCount": 4,
        "state": state, "lastState": last,
    }]})
}

fn unscheduled(message: &str) -> Value {
    json!({"phase": "Pending", "conditions": [{
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
    }]})
}

const IMAGE: &str = "s#example.com/wrong#example.com/right#";

fn of_image(
    name: &'static str,
    names: &'static [&'static str],
    plant: for<'a> fn(&'a Place<'a>) -> futures::future::BoxFuture<'a, ()>,
) -> Cause {
    Cause { then: Some(|place| run_corrected(place).boxed()), ..edited(name, names, IMAGE, plant) }
}

pub(super) fn all() -> Vec<Cause> {
    vec![
        of_image(
            "An image that cannot be pulled",
            &["Pod", "/p", "example.com/wrong", "container c"],
            |place| reported(place, waiting("ErrImagePull", "no such image")).boxed(),
        ),
        of_image(
            "A container that ends again and again",
            &["Pod", "/p", "c with exit code 3"],
            |place| {
                let last = json!({"terminated": {"exitCode": 3, "reason": "Error"}});
                let state =
                    json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}});
                reported(place, container(state, last)).boxed()
            },
        ),
        of_image("Too little memory", &["Pod", "/p", "memory", "container c"], |place| {
            let last = json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}});
            let state = json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}});
            reported(place, container(state, last)).boxed()
        }),
        of_image("A probe that fails", &["Pod", "/p", "container c"], |place| {
            let mut status = container(json!({"running": {}}), json!({}));
            status["phase"] = json!("Running");
            reported(place, status).boxed()
        }),
        Cause {
            then: Some(|place| {
                async {
                    place.until(SECRET, "key", "the Secret", Value::is_object).await;
                    run(place, "p").await;
                }
                .boxed()
            }),
            ..commanded(
                "A Secret that a container reads is missing",
                &["Pod", "/p", "secret \"key\""],
                |place| {
                    reported(
                        place,
                        waiting("CreateContainerConfigError", "secret \"key\" not found"),
                    )
                    .boxed()
                },
            )
        },
        Cause {
            then: Some(|place| {
                async {
                    let is_open =
                        |node: &Value| node["spec"]["unschedulable"].as_bool() != Some(true);
                    place.until(NODE, "closed", "an open node", is_open).await;
                    place.world.api_in(NODE, None).delete("closed", &<_>::default()).await.unwrap();
                    run(place, "p").await;
                }
                .boxed()
            }),
            ..commanded(
                "Nodes that take no Pods",
                &["Pod", "/p", "not scheduled", "unschedulable"],
                |place| {
                    async {
                    let node = json!({"metadata": {"name": "closed"}, "spec": {"unschedulable": true}});
                    let node = crate::world::object(NODE, node);
                    place.world.api_in(NODE, None).create(&<_>::default(), &node).await.unwrap();
                    let why = "0/1 nodes are available: 1 node(s) were unschedulable.";
                    reported(place, unscheduled(why)).await;
                }
                .boxed()
                },
            )
        },
        of_image(
            "No node with enough memory",
            &["Pod", "/p", "not scheduled", "Insufficient memory"],
            |place| {
                reported(place, unscheduled("0/3 nodes are available: 3 Insufficient memory."))
                    .boxed()
            },
        ),
    ]
}
