//! What others hold: objects, fields, finalizers and pauses.

use futures::{FutureExt, StreamExt};
use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams, WatchEvent, WatchParams},
};
use serde_json::{Value, json};

use super::{
    cause::{Cause, End, by_others, commanded},
    handler, pods,
    refused::secret,
};
use crate::{
    recipe::{RECIPE, config_map, recipe},
    world::{CONFIG_MAP, ECHO, POD, SECRET},
};

pub(super) fn all() -> Vec<Cause> {
    [objects(), parts(), parents()].into_iter().flatten().collect()
}

fn objects() -> Vec<Cause> {
    vec![
        commanded("A foreign object", &["ConfigMap", "/c", "somebody else"], |place| {
            async {
                place.create(CONFIG_MAP, config_map("c", json!({}))).await;
                place.parent(&[config_map("c", json!({"a": "b"}))]).await;
            }
            .boxed_local()
        }),
        commanded(
            "An object that another one controls",
            &["ConfigMap", "/c", "somebody else"],
            |place| {
                async {
                let owner = place.create(CONFIG_MAP, config_map("owner", json!({}))).await;
                let mut child = config_map("c", json!({}));
                child["metadata"]["ownerReferences"] = json!([{
                    "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "controller": true,
                    "uid": owner.metadata.uid,
                }]);
                place.create(CONFIG_MAP, child).await;
                place.parent(&[config_map("c", json!({"a": "b"}))]).await;
            }
            .boxed_local()
            },
        ),
        commanded("Many foreign objects", &["ConfigMap", "/c", "2 more"], |place| {
            async {
                let names = ["c", "d", "e"];
                for name in names {
                    place.create(CONFIG_MAP, config_map(name, json!({}))).await;
                }
                place.parent(&names.map(|name| config_map(name, json!({"a": "b"})))).await;
            }
            .boxed_local()
        }),
    ]
}

fn parts() -> Vec<Cause> {
    vec![
        commanded("A field of another manager", &["Secret", "/s", ".data.a"], |place| {
            async {
                place.parent(&[secret(json!({"a": "b"}))]).await;
                place.until_ready("r").await;
                place.patch(SECRET, "s", json!({"data": {"a": "eA=="}})).await;
            }
            .boxed_local()
        }),
        commanded(
            "A finalizer of others on a child",
            &["Pod", "/p", "example.dev/keep"],
            |place| {
                async {
                    place.parent(&[pods::pod(json!({}))]).await;
                    pods::run(place, "p").await;
                    place.until_ready("r").await;
                    let finalizers = json!({"metadata": {"finalizers": ["example.dev/keep"]}});
                    place.patch(POD, "p", finalizers).await;
                    let changed = pods::pod(json!({"limits": {"cpu": "1"}}));
                    place.patch(RECIPE, "r", json!({"spec": {"children": [changed]}})).await;
                }
                .boxed_local()
            },
        )
        .then_running(),
        commanded("Deletions that are held", &["Recipe", "/r", "deletions"], |place| {
            async {
                let many: Vec<Value> =
                    (0..30).map(|number| config_map(&format!("c{number}"), json!({}))).collect();
                place.parent(&many).await;
                place.until_ready("r").await;
                place.patch(RECIPE, "r", json!({"spec": {"children": many[..1]}})).await;
            }
            .boxed_local()
        }),
        commanded("A pause", &["Recipe", "/r", "paused"], |place| {
            async {
                let mut parent = recipe("r", &[config_map("c", json!({}))]);
                parent["metadata"]["annotations"] = json!({"operetta.dev/paused": "true"});
                place.create(RECIPE, parent).await;
            }
            .boxed_local()
        }),
    ]
}

fn parents() -> Vec<Cause> {
    vec![
        Cause {
            end: End::Gone,
            ..commanded(
                "A finalizer of others on the parent",
                &["Recipe", "/r", "example.dev/keep"],
                |place| {
                    async {
                        let mut parent = recipe("r", &[config_map("c", json!({}))]);
                        parent["metadata"]["finalizers"] = json!(["example.dev/keep"]);
                        place.create(RECIPE, parent).await;
                        place.until_ready("r").await;
                        place.delete(RECIPE, "r").await;
                    }
                    .boxed_local()
                },
            )
        },
        by_others(
            "A pause of the operator",
            &["Recipe", "/r", "paused", "operator"],
            |place| {
                async {
                    place.command("operators/cook/pause").await;
                    place.parent(&[config_map("c", json!({}))]).await;
                }
                .boxed_local()
            },
            |place| place.command("operators/cook/resume").boxed_local(),
        ),
        by_others(
            "A fight with another controller",
            &["EchoServer", "/e", "again and again", "data.salt"],
            |place| {
                async {
                    place.create(ECHO, handler::waiting("flap")).await;
                    place.others(revert(place.api(CONFIG_MAP)));
                }
                .boxed_local()
            },
            |place| async { place.stop_others() }.boxed_local(),
        )
        .of(handler::E),
    ]
}

/// Reverts what the operator writes.
async fn revert(config_maps: Api<DynamicObject>) {
    let patch = Patch::Merge(json!({"data": {"salt": "hot"}}));
    let params = PatchParams { field_manager: Some("rival".to_owned()), ..<_>::default() };
    loop {
        let watch = WatchParams::default().fields("metadata.name=c");
        let Ok(events) = config_maps.watch(&watch, "0").await else { continue };
        let mut events = events.boxed();
        while let Some(Ok(event)) = events.next().await {
            if let WatchEvent::Added(object) | WatchEvent::Modified(object) = event
                && object.data["data"]["salt"] == "mild"
            {
                // It may have changed meanwhile.
                let _ = config_maps.patch("c", &params, &patch).await;
            }
        }
    }
}
