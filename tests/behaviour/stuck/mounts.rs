//! What containers and volumes name and a kubelet does not find, and Pods that end for good.

use futures::FutureExt;
use serde_json::{Value, json};

use super::{
    cause::{Cause, Step, commanded, edited},
    pods,
    rig::Place,
};
use crate::{
    recipe::config_map,
    world::{CONFIG_MAP, CORE_EVENT, Kind, POD, SECRET},
};

/// The Pod `p` is run once there is this object.
async fn run_with(place: &Place<'_>, kind: Kind, name: &str) {
    place.until(kind, name, "what the Pod names", Value::is_object).await;
    pods::run(place, "p").await;
}

/// A kubelet warns of the Pod `p`.
async fn warn(place: &Place<'_>, reason: &str, message: &str) {
    let uid = place.get(POD, "p").await["metadata"]["uid"].clone();
    let object = json!({
        "apiVersion": "v1", "kind": "Pod", "namespace": place.namespace, "name": "p", "uid": uid,
    });
    let event = json!({
        "metadata": {"name": "p.1"}, "type": "Warning", "reason": reason, "message": message,
        "involvedObject": object, "count": 3, "source": {"component": "kubelet"},
        "lastTimestamp": "2026-01-01T00:00:00Z",
    });
    place.create(CORE_EVENT, event).await;
}

/// A command makes what the Pod names.
fn made(name: &'static str, names: &'static [&'static str], plant: Step, then: Step) -> Cause {
    commanded(name, names, plant).then(then)
}

pub(super) fn all() -> Vec<Cause> {
    vec![
        made(
            "A Secret that a container reads is missing",
            &["Pod", "/p", "secret \"key\""],
            |place| {
                let status =
                    pods::waiting("CreateContainerConfigError", "secret \"key\" not found");
                pods::reported(place, status).boxed_local()
            },
            |place| run_with(place, SECRET, "key").boxed_local(),
        ),
        edited(
            "A key that a container reads is missing",
            &["Pod", "/p", "key colour", "ConfigMap"],
            "s/^( *)size:/\\1colour: red\\n\\1size:/",
            |place| {
                async {
                    place.create(CONFIG_MAP, config_map("paint", json!({"size": "1"}))).await;
                    let why =
                        format!("couldn't find key colour in ConfigMap {}/paint", place.namespace);
                    pods::reported(place, pods::waiting("CreateContainerConfigError", &why)).await;
                }
                .boxed_local()
            },
        )
        .then(|place| {
            async {
                let has_it = |map: &Value| map["data"]["colour"] == "red";
                place.until(CONFIG_MAP, "paint", "the key", has_it).await;
                pods::run(place, "p").await;
            }
            .boxed_local()
        }),
        made(
            "A Secret of a registry is missing",
            &["Pod", "/p", "example.com/wrong", "Secret registry", "imagePullSecrets"],
            |place| {
                async {
                    let pod = pods::pod_with(json!({"imagePullSecrets": [{"name": "registry"}]}));
                    let why = "failed to authorize: 401 Unauthorized";
                    pods::reported_of(place, pod, pods::waiting("ErrImagePull", why)).await;
                    let warning = "Unable to retrieve some image pull secrets (registry); attempting to \
                                   pull the image may not succeed.";
                    warn(place, "FailedToRetrieveImagePullSecret", warning).await;
                }
                .boxed_local()
            },
            |place| run_with(place, SECRET, "registry").boxed_local(),
        ),
        made(
            "A volume that cannot be mounted",
            &["Pod", "/p", "volume settings", "configmap \"settings\""],
            |place| {
                async {
                    let volume = json!({"name": "settings", "configMap": {"name": "settings"}});
                    let pod = pods::pod_with(json!({"volumes": [volume]}));
                    pods::reported_of(place, pod, pods::waiting("ContainerCreating", "")).await;
                    let warning = "MountVolume.SetUp failed for volume \"settings\" : configmap \
                                   \"settings\" not found";
                    warn(place, "FailedMount", warning).await;
                }
                .boxed_local()
            },
            |place| run_with(place, CONFIG_MAP, "settings").boxed_local(),
        ),
        commanded("An evicted Pod", &["Pod", "/p", "Evicted", "ephemeral-storage"], |place| {
            let why = "The node was low on resource: ephemeral-storage.";
            let status = json!({"phase": "Failed", "reason": "Evicted", "message": why});
            async move { pods::reported(place, status).await }.boxed_local()
        })
        .then(|place| {
            async {
                let is_new = |pod: &Value| pod.is_object() && pod["status"]["phase"] != "Failed";
                place.until(POD, "p", "another Pod", is_new).await;
                pods::run(place, "p").await;
            }
            .boxed_local()
        }),
    ]
}
