//! Pods that no node takes, in the words of the scheduler, whose part is played.

use futures::FutureExt;
use serde_json::{Value, json};

use super::{
    cause::{Cause, Step, commanded, edited},
    pods,
    rig::Place,
};
use crate::world::{Kind, POD, object};

const NODE: Kind = Kind("v1", "Node", "nodes");

fn unscheduled(message: &str) -> Value {
    json!({"phase": "Pending", "conditions": [{
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
    }]})
}

/// The Pod `p` runs once its spec is right.
async fn run_once(place: &Place<'_>, is_right: impl Fn(&Value) -> bool) {
    place.until(POD, "p", "a Pod that fits", |pod| is_right(&pod["spec"])).await;
    pods::run(place, "p").await;
}

/// A correction of the Pod lets a node take it.
fn placed(
    name: &'static str,
    names: &'static [&'static str],
    edit: &'static str,
    plant: Step,
    then: Step,
) -> Cause {
    edited(name, names, edit, plant).then(then)
}

pub(super) fn all() -> Vec<Cause> {
    vec![
        commanded(
            "Nodes that take no Pods",
            &["Pod", "/p", "not scheduled", "unschedulable"],
            |place| {
                async {
                    let node =
                        json!({"metadata": {"name": "closed"}, "spec": {"unschedulable": true}});
                    let nodes = place.rig.world.api_in(NODE, None);
                    nodes.create(&<_>::default(), &object(NODE, node)).await.unwrap();
                    let why = "0/1 nodes are available: 1 node(s) were unschedulable.";
                    pods::reported(place, unscheduled(why)).await;
                }
                .boxed_local()
            },
        )
        .then(|place| {
            async {
                let nodes = place.rig.world.api_in(NODE, None);
                let node = nodes.get("closed").await.unwrap();
                assert_ne!(node.data["spec"]["unschedulable"], true, "the node is open");
                nodes.delete("closed", &<_>::default()).await.unwrap();
                pods::run(place, "p").await;
            }
            .boxed_local()
        }),
        pods::of_image(
            "No node with enough memory",
            &["Pod", "/p", "not scheduled", "Insufficient memory"],
            |place| {
                let why = "0/3 nodes are available: 3 Insufficient memory.";
                async move { pods::reported(place, unscheduled(why)).await }.boxed_local()
            },
        ),
        placed(
            "A taint that the Pod does not tolerate",
            &["Pod", "/p", "not scheduled", "taint {gpu"],
            "s/key: none/key: gpu/",
            |place| {
                async {
                    let tolerations = json!([{"key": "none", "operator": "Exists"}]);
                    let pod = pods::pod_with(json!({"tolerations": tolerations}));
                    let why =
                        "0/1 nodes are available: 1 node(s) had untolerated taint {gpu: true}.";
                    pods::reported_of(place, pod, unscheduled(why)).await;
                }
                .boxed_local()
            },
            |place| run_once(place, |spec| spec["tolerations"][0]["key"] == "gpu").boxed_local(),
        ),
        placed(
            "A selector of nodes that fits none",
            &["Pod", "/p", "not scheduled", "node affinity/selector"],
            "s/disk: fast/disk: slow/",
            |place| {
                async {
                    let pod = pods::pod_with(json!({"nodeSelector": {"disk": "fast"}}));
                    let why = "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.";
                    pods::reported_of(place, pod, unscheduled(why)).await;
                }
                .boxed_local()
            },
            |place| run_once(place, |spec| spec["nodeSelector"]["disk"] == "slow").boxed_local(),
        ),
    ]
}
