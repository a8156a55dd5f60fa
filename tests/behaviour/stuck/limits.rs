//! Limits of a namespace: quotas, limit ranges, and classes of priority.

use futures::FutureExt;
use kube::api::PostParams;
use serde_json::{Value, json};

use super::{
    cause::{Cause, commanded, edited},
    pods,
    refused::secret,
    rig::Place,
};
use crate::{
    needs::Chosen,
    world::{Kind, NAMESPACE, POD, World, eventually, object},
};

const QUOTA: Kind = Kind("v1", "ResourceQuota", "resourcequotas");
const LIMITS: Kind = Kind("v1", "LimitRange", "limitranges");
const PRIORITY: Kind = Kind("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses");
const URGENT: &str = "stuck-urgent";

/// Removes what has no namespace.
pub(super) async fn clear(world: &World) {
    let _ = world.api_in(PRIORITY, None).delete(URGENT, &<_>::default()).await;
}

/// A quota that is counted.
async fn quota(place: &Place<'_>, what: &str, hard: &str) {
    let spec = json!({"hard": {what: hard}});
    place.create(QUOTA, json!({"metadata": {"name": "small"}, "spec": spec})).await;
    let is_counted = |quota: &Value| quota["status"]["used"][what] == "0";
    place.until(QUOTA, "small", "a counted quota", is_counted).await;
}

/// A limit range of containers.
async fn limited(place: &Place<'_>, mut limit: Value) {
    limit["type"] = json!("Container");
    let limits = json!({"metadata": {"name": "cpu"}, "spec": {"limits": [limit]}});
    place.create(LIMITS, limits).await;
}

/// Only the real control plane has Pod security.
fn pod_security() -> Option<Cause> {
    let cause = edited(
        "A Pod with more rights than its namespace allows",
        &["Pod", "/p", "security level baseline"],
        "s/privileged: true/privileged: false/",
        |place| {
            async {
                let label = json!({"pod-security.kubernetes.io/enforce": "baseline"});
                let label = json!({"metadata": {"labels": label}});
                place.patch(NAMESPACE, &place.namespace, label).await;
                let mut pod = pods::pod(json!({}));
                let container = &mut pod["spec"]["containers"][0];
                container["securityContext"] = json!({"privileged": true});
                until_refused(place, &pod).await;
                place.parent(&[pod]).await;
            }
            .boxed_local()
        },
    );
    (Chosen::from_environment() != Chosen::Embedded).then(|| cause.then_running())
}

/// The admission plugin has seen the label of the namespace.
async fn until_refused(place: &Place<'_>, pod: &Value) {
    let params = PostParams { dry_run: true, ..<_>::default() };
    let probe =
        || async { place.api(POD).create(&params, &object(POD, pod.clone())).await.is_err() };
    eventually("a Pod that is refused", probe, |is_refused| *is_refused).await;
}

pub(super) fn all() -> Vec<Cause> {
    let mut causes = of_any_server();
    causes.extend(pod_security());
    causes
}

fn of_any_server() -> Vec<Cause> {
    vec![
        commanded("An exhausted quota", &["Secret", "/s", "ResourceQuota small"], |place| {
            async {
                quota(place, "count/secrets", "0").await;
                place.parent(&[secret(json!({"a": "b"}))]).await;
            }
            .boxed_local()
        }),
        edited(
            "A limit range",
            &["Pod", "/p", "LimitRange"],
            "s/cpu: \"?1\"?$/cpu: \"4\"/",
            |place| {
                async {
                    limited(place, json!({"max": {"cpu": "1"}})).await;
                    place.parent(&[pods::pod(json!({"limits": {"cpu": "2"}}))]).await;
                }
                .boxed_local()
            },
        )
        .then_running(),
        edited(
            "A minimum of a limit range",
            &["Pod", "/p", "LimitRange"],
            "s/cpu: 100m/cpu: 5m/",
            |place| {
                async {
                    limited(place, json!({"min": {"cpu": "100m"}})).await;
                    place.parent(&[pods::pod(json!({"requests": {"cpu": "10m"}}))]).await;
                }
                .boxed_local()
            },
        )
        .then_running(),
        commanded("An exhausted quota of memory", &["Pod", "/p", "ResourceQuota small"], |place| {
            async {
                quota(place, "limits.memory", "1Gi").await;
                place.parent(&[pods::pod(json!({"limits": {"memory": "2Gi"}}))]).await;
            }
            .boxed_local()
        })
        .then_running(),
        edited(
            "A quota of what a container does not ask for",
            &["Pod", "/p", "limits.memory", "ResourceQuota small"],
            "s/resources: \\{\\}/resources: {limits: {memory: 1Gi}}/",
            |place| {
                async {
                    quota(place, "limits.memory", "4Gi").await;
                    place.parent(&[pods::pod(json!({}))]).await;
                }
                .boxed_local()
            },
        )
        .then_running(),
        commanded(
            "A missing class of priority",
            &["Pod", "/p", "PriorityClass", URGENT],
            |place| {
                async {
                    let spec = json!({"priorityClassName": URGENT});
                    place.parent(&[pods::pod_with(spec)]).await;
                }
                .boxed_local()
            },
        )
        .then_running(),
    ]
}
