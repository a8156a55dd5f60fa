//! Namespaces that are not there.

use futures::FutureExt;
use serde_json::json;

use super::{
    cause::{Cause, commanded},
    handler::{GUEST, guest},
    rig::Place,
};
use crate::{
    recipe::config_map,
    world::{CONFIG_MAP, NAMESPACE, TEMP, object},
};

/// The namespace of the child.
fn other(place: &Place<'_>) -> String {
    format!("{}-other", place.namespace)
}

/// A namespace that is being deleted and waits for one of its objects.
async fn ending(place: &Place<'_>) {
    let name = other(place);
    place.create(NAMESPACE, json!({"metadata": {"name": name}})).await;
    let mut kept = config_map("kept", json!({}));
    kept["metadata"]["finalizers"] = json!(["example.dev/keep"]);
    let config_maps = place.rig.world.api_in(CONFIG_MAP, Some(&name));
    config_maps.create(&<_>::default(), &object(CONFIG_MAP, kept)).await.unwrap();
    place.delete(NAMESPACE, &name).await;
}

/// What the namespace waits for ends.
async fn release(place: &Place<'_>) {
    let config_maps = place.rig.world.api_in(CONFIG_MAP, Some(&other(place)));
    let free = kube::api::Patch::Merge(json!({"metadata": {"finalizers": null}}));
    config_maps.patch("kept", &<_>::default(), &free).await.unwrap();
}

pub(super) fn all() -> Vec<Cause> {
    vec![
        commanded(
            "A namespace that does not exist",
            &["ConfigMap", "/c", "namespace", "-other does not exist"],
            |place| {
                async {
                    place.create(TEMP, guest(&place.namespace, &other(place))).await;
                }
                .boxed_local()
            },
        )
        .of(GUEST),
        Cause {
            meanwhile: Some(|place| release(place).boxed_local()),
            ..commanded(
                "A namespace that is being deleted",
                &["ConfigMap", "/c", "namespace", "-other is being deleted"],
                |place| {
                    async {
                        ending(place).await;
                        place.create(TEMP, guest(&place.namespace, &other(place))).await;
                    }
                    .boxed_local()
                },
            )
            .of(GUEST)
        },
    ]
}
