//! Claims without a volume. No test has a provisioner of volumes, so its part is played.

use futures::FutureExt;
use kube::{
    ResourceExt,
    api::{ListParams, PostParams},
};
use serde_json::{Value, json};

use super::{
    cause::{Cause, Step, edited},
    rig::Place,
};
use crate::{
    cluster::Cluster,
    world::{CLAIM, VOLUME, World, object},
};

/// Removes the volumes, which have no namespace.
pub(super) async fn clear(world: &World) {
    let volumes = world.api_in(VOLUME, None);
    for volume in volumes.list(&ListParams::default()).await.into_iter().flatten() {
        if volume.name_any().starts_with(&world.namespace) {
            let _ = volumes.delete(&volume.name_any(), &<_>::default()).await;
        }
    }
}

fn claim(spec: Value) -> Value {
    let mut claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "v"},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        },
    });
    for (field, value) in spec.as_object().into_iter().flatten() {
        claim["spec"][field] = value.clone();
    }
    claim
}

/// Makes a volume for a claim.
async fn volume(place: &Place<'_>, name: &str, of: &str, class: &Value) {
    let body = json!({
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
            "storageClassName": class, "hostPath": {"path": "/nowhere"},
            "claimRef": {"namespace": place.namespace, "name": of},
        },
    });
    let volumes = place.rig.world.api_in(VOLUME, None);
    volumes.create(&PostParams::default(), &object(VOLUME, body)).await.unwrap();
}

/// Provides the claim `v` with a volume, once it is right.
async fn provide(place: &Place<'_>, is_right: impl Fn(&Value) -> bool) {
    let is_there = |claim: &Value| {
        let is_deleted = claim["metadata"]["deletionTimestamp"].is_string();
        claim.is_object() && !is_deleted && is_right(&claim["spec"])
    };
    let claim = place.until(CLAIM, "v", "a corrected claim", is_there).await;
    let name = format!("{}-v", place.namespace);
    volume(place, &name, "v", &claim["spec"]["storageClassName"]).await;
    place.patch(CLAIM, "v", json!({"spec": {"volumeName": name}})).await;
    // The embedded server has no controller of volumes.
    if matches!(place.rig.world.cluster, Cluster::Embedded(..)) {
        place.patch_status(CLAIM, "v", json!({"phase": "Bound"})).await;
    }
}

fn provided(
    name: &'static str,
    names: &'static [&'static str],
    edit: &'static str,
    plant: Step,
    then: Step,
) -> Cause {
    edited(name, names, edit, plant).then(then)
}

fn is_growing(spec: &Value) -> bool {
    spec["storageClassName"] == "growing"
}

pub(super) fn all() -> Vec<Cause> {
    vec![
        provided(
            "A class of storage that does not exist",
            &["PersistentVolumeClaim", "/v", "class fast"],
            "s/storageClassName: fast/storageClassName: growing/",
            |place| {
                async {
                    place.parent(&[claim(json!({"storageClassName": "fast"}))]).await;
                    place.until(CLAIM, "v", "a claim", Value::is_object).await;
                }
                .boxed_local()
            },
            |place| provide(place, is_growing).boxed_local(),
        ),
        provided(
            "No class of storage",
            &["PersistentVolumeClaim", "/v", "no class"],
            "s/^( *)accessModes:/\\1storageClassName: growing\\n\\1accessModes:/",
            |place| {
                async {
                    place.parent(&[claim(json!({}))]).await;
                    place.until(CLAIM, "v", "a claim", Value::is_object).await;
                }
                .boxed_local()
            },
            |place| provide(place, is_growing).boxed_local(),
        ),
        provided(
            "A volume of another claim",
            &["PersistentVolumeClaim", "/v", "-taken", "another claim"],
            "/volumeName:/d",
            |place| {
                async {
                    let name = format!("{}-taken", place.namespace);
                    volume(place, &name, "other", &json!("")).await;
                    let spec = json!({"storageClassName": "", "volumeName": name});
                    place.parent(&[claim(spec)]).await;
                    place.until(CLAIM, "v", "a claim", Value::is_object).await;
                }
                .boxed_local()
            },
            |place| provide(place, |spec| spec["volumeName"].is_null()).boxed_local(),
        ),
    ]
}
