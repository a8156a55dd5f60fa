//! What the handler does.

use futures::FutureExt;
use serde_json::{Value, json};

use super::{
    cause::{Cause, End, by_others, edited},
    handler,
};
use crate::{
    recipe::{RECIPE, acting, config_map},
    world::{ECHO, TEMP},
};

pub(super) fn all() -> Vec<Cause> {
    [errors(), responses(), others()].into_iter().flatten().collect()
}

fn errors() -> Vec<Cause> {
    vec![
        edited(
            "A permanent error of the handler",
            &["Recipe", "/r", "no such dish"],
            "s/act: permanent/act: none/",
            |place| {
                async { drop(place.create(RECIPE, acting("r", "permanent")).await) }.boxed_local()
            },
        ),
        edited(
            "An error of the handler",
            &["Recipe", "/r", "the oven is cold"],
            "s/act: fail/act: none/",
            |place| async { drop(place.create(RECIPE, acting("r", "fail")).await) }.boxed_local(),
        ),
        edited(
            "A panic of the handler",
            &["Recipe", "/r", "the kitchen burns", "recipe.rs:"],
            "s/act: panic/act: none/",
            |place| async { drop(place.create(RECIPE, acting("r", "panic")).await) }.boxed_local(),
        ),
        edited(
            "An asynchronous handler that does not return",
            &["Recipe", "/r", "waits for its handler"],
            "s/act: hang/act: none/",
            |place| async { drop(place.create(RECIPE, acting("r", "hang")).await) }.boxed_local(),
        ),
    ]
}

fn responses() -> Vec<Cause> {
    vec![
        edited(
            "A response that is no JSON",
            &["Recipe", "/r", "JSON"],
            "s/act: no-json/act: none/",
            |place| {
                async { drop(place.create(RECIPE, acting("r", "no-json")).await) }.boxed_local()
            },
        ),
        edited(
            "Too many children",
            &["Recipe", "/r", "10001 children"],
            "s/act: many/act: none/",
            |place| async { drop(place.create(RECIPE, acting("r", "many")).await) }.boxed_local(),
        ),
        edited(
            "A child of a type that is not declared",
            &["Recipe", "/r", "Node"],
            "s/kind: Node/kind: ConfigMap/",
            |place| {
                async {
                    let node =
                        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
                    place.parent(&[node]).await;
                }
                .boxed_local()
            },
        ),
        edited(
            "A child that was read from the server",
            &["Recipe", "/r", "metadata.uid", "metadata.resourceVersion"],
            "/(uid|resourceVersion): .?copied/d",
            |place| {
                async {
                    let mut copied = config_map("c", json!({"a": "b"}));
                    copied["metadata"]["uid"] = json!("copied");
                    copied["metadata"]["resourceVersion"] = json!("copied");
                    place.parent(&[copied]).await;
                }
                .boxed_local()
            },
        ),
        edited(
            "The same child twice",
            &["Recipe", "/r", "ConfigMap", "twice"],
            "0,/name: d/s/name: d/name: e/",
            |place| {
                async {
                    let second = config_map("d", json!({"second": "true"}));
                    let third = config_map("d", json!({}));
                    place.parent(&[second, config_map("c", json!({})), third]).await;
                }
                .boxed_local()
            },
        ),
    ]
}

fn others() -> Vec<Cause> {
    vec![
        by_others(
            "A blocking handler that waits for another system",
            &["TempNamespace", "waits for its handler"],
            |place| {
                async {
                    let mut parent = handler::guest(&place.namespace, &place.namespace);
                    parent["metadata"]["annotations"]["act"] = json!("ask");
                    place.create(TEMP, parent).await;
                }
                .boxed_local()
            },
            |_| async { handler::supplier_answers() }.boxed_local(),
        )
        .of(handler::GUEST),
        edited(
            "A parent that does not fit the type of the handler",
            &["Recipe", "/r", "spec.portions"],
            "s/portions: many/portions: 3/",
            |place| {
                async {
                    let mut parent = acting("r", "typed");
                    parent["spec"]["portions"] = json!("many");
                    place.create(RECIPE, parent).await;
                }
                .boxed_local()
            },
        ),
        Cause {
            end: End::Gone,
            ..edited(
                "An error of the handler in finalize",
                &["EchoServer", "/e", "the table is not cleared"],
                "s/act: keep/act: none/",
                |place| {
                    async {
                        place.create(ECHO, handler::waiting("keep")).await;
                        let has_ours = |it: &Value| it["metadata"]["finalizers"].is_array();
                        place.until(ECHO, "e", "a finalizer", has_ours).await;
                        place.delete(ECHO, "e").await;
                    }
                    .boxed_local()
                },
            )
            .of(handler::E)
        },
    ]
}
