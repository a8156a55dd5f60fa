//! Plays the kubelet and the provisioner of volumes where nobody does: on the real control plane, which has no
//! nodes. The embedded server simulates both.

use std::{collections::BTreeSet, time::Duration};

use kube::{
    Api, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{
    cluster::Cluster,
    world::{CLAIM, POD, STORAGE_CLASS, VOLUME, World, object},
};

/// A storage class whose volumes can grow.
pub(crate) const GROWING: &str = "growing";

/// The kubelet of the namespace of a test, until it is dropped.
pub(crate) struct Kubelet(Option<JoinHandle<()>>);

impl Kubelet {
    /// Starts to play it, and makes the storage class.
    pub(crate) async fn play(world: &World) -> Self {
        let class = json!({"metadata": {"name": GROWING}, "allowVolumeExpansion": true,
            "provisioner": "kubernetes.io/no-provisioner"});
        world.apply(STORAGE_CLASS, class).await;
        if matches!(world.cluster, Cluster::Embedded(..)) {
            return Self(None);
        }
        let (pods, claims) = (world.api(POD), world.api(CLAIM));
        let (volumes, namespace) = (world.api(VOLUME), world.namespace.clone());
        Self(Some(tokio::spawn(async move {
            loop {
                let mut without_volume = BTreeSet::new();
                for claim in claims.list(&ListParams::default()).await.into_iter().flatten() {
                    if !is_bound(&claim) {
                        without_volume.insert(claim.name_any());
                        provide(&volumes, &claims, &namespace, claim).await;
                    }
                }
                for pod in pods.list(&ListParams::default()).await.into_iter().flatten() {
                    run(&pods, pod, &without_volume).await;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })))
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.abort();
        }
    }
}

/// A Pod is ready as soon as it has its volumes; one of a Job has succeeded then. The next look repeats what was refused.
async fn run(pods: &Api<DynamicObject>, pod: DynamicObject, without_volume: &BTreeSet<String>) {
    let name = pod.name_any();
    let volumes = pod.data["spec"]["volumes"].as_array().into_iter().flatten();
    let mut claimed = volumes.filter_map(|it| it["persistentVolumeClaim"]["claimName"].as_str());
    if pod.metadata.deletion_timestamp.is_some() {
        let _ = pods.delete(&name, &DeleteParams::default().grace_period(0)).await;
    } else if pod.data["status"]["phase"] == "Pending"
        && !claimed.any(|claim| without_volume.contains(claim))
    {
        let is_of_job = pod.labels().contains_key("batch.kubernetes.io/job-name");
        let patch = Patch::Merge(json!({"status": status(is_of_job)}));
        let _ = pods.patch_status(&name, &PatchParams::default(), &patch).await;
    }
}

fn status(has_ended: bool) -> Value {
    let ready = if has_ended { "False" } else { "True" };
    json!({
        "phase": if has_ended { "Succeeded" } else { "Running" },
        "conditions": [{"type": "Ready", "status": ready}],
    })
}

fn is_bound(claim: &DynamicObject) -> bool {
    claim.data["spec"]["volumeName"].is_string()
}

/// A claim gets a volume of its own, which is larger than any test makes it.
async fn provide(
    volumes: &Api<DynamicObject>,
    claims: &Api<DynamicObject>,
    namespace: &str,
    claim: DynamicObject,
) {
    let name = claim.name_any();
    let of_volume = format!("{namespace}-{name}");
    let volume = json!({
        "metadata": {"name": of_volume},
        "spec": {
            "accessModes": claim.data["spec"]["accessModes"],
            "storageClassName": claim.data["spec"]["storageClassName"],
            "capacity": {"storage": "1Ti"},
            "claimRef": {"namespace": namespace, "name": name},
            "hostPath": {"path": "/nowhere"},
        },
    });
    let _ = volumes.create(&PostParams::default(), &object(VOLUME, volume)).await;
    // A new volume alone would be noticed with the next look of the controller, which is every 15 seconds.
    let bound = Patch::Merge(json!({"spec": {"volumeName": of_volume}}));
    let _ = claims.patch(&name, &PatchParams::default(), &bound).await;
}
