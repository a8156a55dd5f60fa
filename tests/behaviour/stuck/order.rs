//! Children that wait for others: stages and rollouts.

use futures::FutureExt;
use serde_json::json;

use super::{
    cause::{Cause, edited},
    handler, pods,
    rig::Place,
};
use crate::{
    recipe::{RECIPE, config_map},
    world::{CONFIG_MAP, ECHO, is_ready},
};

/// A parent with a Pod, and a `ConfigMap` in the stage after it.
async fn staged(place: &Place<'_>, within: Option<u64>) {
    let stages = json!([[pods::pod(json!({}))], [config_map("c", json!({}))]]);
    let spec = json!({"stages": stages, "within": within, "status": {}});
    place.create(RECIPE, json!({"metadata": {"name": "r"}, "spec": spec})).await;
    pods::report(place, pods::waiting("ErrImagePull", "no such image")).await;
}

/// A rollout that stops at the first of three.
async fn stopped(place: &Place<'_>) {
    let mut parent = handler::waiting("roll");
    parent["metadata"]["annotations"]["x"] = json!("old");
    place.create(ECHO, parent).await;
    place.until(ECHO, "e", "a parent that is ready", is_ready).await;
    let bad = json!({"metadata": {"annotations": {"x": "bad"}}});
    place.patch(ECHO, "e", bad).await;
    place.until(CONFIG_MAP, "a", "a change", |child| child["data"]["x"] == "bad").await;
}

pub(super) fn all() -> Vec<Cause> {
    vec![
        pods::of_image(
            "A stage that waits for the one before it",
            &["Pod", "/p", "example.com/wrong"],
            |place| staged(place, None).boxed_local(),
        ),
        pods::of_image(
            "A stage that is not ready in time",
            &["Pod", "/p", "example.com/wrong"],
            |place| staged(place, Some(1)).boxed_local(),
        ),
        edited(
            "A rollout that has stopped",
            &["ConfigMap", "/a", "it is broken"],
            "s/x: bad/x: good/",
            |place| stopped(place).boxed_local(),
        )
        .of(handler::E),
    ]
}
