//! Repeated writes, because another manager reverts them: they are reported, slowed down, and no longer reported once
//! they have ended.

use std::time::Duration;

use futures::StreamExt;
use kube::{
    Api,
    api::{DynamicObject, Patch, PatchParams, WatchEvent, WatchParams},
};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    started::counts,
    world::{CONFIG_MAP, EVENT, Kind, Operators, World, condition, eventually, is_ready},
};

/// What a rival does after each write of the operator.
#[derive(Debug, Clone, Copy)]
enum Habit {
    ChangesData,
    ChangesStatus,
}

/// Watches one object and reverts it after each change, until it is dropped.
struct Rival(tokio::task::JoinHandle<()>);

impl Rival {
    fn start(world: &World, kind: Kind, name: &str, habit: Habit) -> Self {
        let (api, name) = (world.api(kind), name.to_owned());
        Self(tokio::spawn(async move {
            loop {
                let params = WatchParams::default().fields(&format!("metadata.name={name}"));
                let Ok(events) = api.watch(&params, "0").await else { continue };
                let mut events = events.boxed();
                while let Some(Ok(event)) = events.next().await {
                    if let WatchEvent::Added(object) | WatchEvent::Modified(object) = event {
                        habit.act(&api, &name, &object).await;
                    }
                }
            }
        }))
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Habit {
    async fn act(self, api: &Api<DynamicObject>, name: &str, object: &DynamicObject) {
        let params = PatchParams { field_manager: Some("rival".to_owned()), ..<_>::default() };
        let merge = |patch: Value| Patch::Merge(patch);
        // It may fail because the object changes or is deleted.
        match self {
            Self::ChangesData if object.data["data"]["salt"] != "secret-salt" => {
                let patch = merge(json!({"data": {"salt": "secret-salt"}}));
                drop(api.patch(name, &params, &patch).await);
            }
            Self::ChangesStatus if object.data["status"]["taste"] != "odd" => {
                let patch = merge(json!({"status": {"taste": "odd"}}));
                drop(api.patch_status(name, &params, &patch).await);
            }
            Self::ChangesData | Self::ChangesStatus => {}
        }
    }
}

/// An operator with a short backoff, for which flapping has ended after two seconds.
async fn started() -> (World, Operators) {
    let world = World::new().await;
    let config = recipe::config("cook")
        .with_error_backoff(Duration::from_millis(50), Duration::from_secs(1));
    let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
    (world, operators)
}

/// Waits until flapping is reported in all places; returns the message.
async fn until_flapping(world: &World, operators: &Operators, reason: &str) -> String {
    let is_reported = |parent: &Value| {
        let flapping = condition(parent, "Flapping");
        flapping["status"] == "True" && flapping["reason"] == reason
    };
    let parent = world.until(RECIPE, "r", "the condition Flapping", is_reported).await;
    let message = condition(&parent, "Flapping")["message"].as_str().unwrap().to_owned();
    let of_fight = |event: &&Value| event["reason"] == reason && event["type"] == "Warning";
    eventually(
        "a Warning",
        || world.list(EVENT),
        |events| events.iter().filter(of_fight).count() == 1,
    )
    .await;
    let labels = format!("operator=\"cook\",reason=\"{reason}\"");
    shows(operators, &format!("operetta_flapping_total{{{labels}}}")).await;
    let is_shown = |parent: &Value| {
        let conditions = parent["conditions"].as_array().into_iter().flatten();
        conditions.into_iter().any(|shown| {
            (shown["type"] == "Flapping" && shown["status"] == "True")
                && (shown["reason"] == reason && shown["message"] == *message)
        })
    };
    eventually(&format!("{reason} over HTTP"), || shown(world, operators), is_shown).await;
    message
}

/// What the web endpoint shows of the parent.
async fn shown(world: &World, operators: &Operators) -> Value {
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    serde_json::from_str(&operators.http(&path).await.1).unwrap()
}

/// Waits until the parent is ready and flapping is no longer reported.
async fn until_calm(world: &World) {
    let is_calm = |parent: &Value| is_ready(parent) && condition(parent, "Flapping").is_null();
    world.until(RECIPE, "r", "the condition Flapping gone", is_calm).await;
}

async fn shows(operators: &Operators, series: &str) {
    let metrics = || operators.http("/metrics");
    eventually(series, metrics, |(_, text)| counts(text, series)).await;
}

#[operetta_harness::test(server)]
async fn a_manager_that_reverts_a_field_is_named_until_it_stops() {
    let (world, operators) = started().await;
    let child = config_map("c", json!({"salt": "much", "pepper": "little"}));
    world.apply(RECIPE, recipe("r", &[child])).await;
    world.until_ready(RECIPE, "r").await;
    let rival = Rival::start(&world, CONFIG_MAP, "c", Habit::ChangesData);
    let message = until_flapping(&world, &operators, "FightingOverFields").await;
    assert!(message.contains("`rival` reverts .data.salt"), "{message}");
    assert!(!message.contains("secret-salt") && !message.contains("pepper"), "{message}");
    let labels = r#"manager="rival",operator="cook",type="configmaps""#;
    shows(&operators, &format!("operetta_drift_repaired_total{{{labels}}}")).await;
    drop(rival);
    let is_repaired = |child: &Value| child["data"]["salt"] == "much";
    world.until(CONFIG_MAP, "c", "the repair", is_repaired).await;
    until_calm(&world).await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_manager_that_reverts_the_status_of_the_parent_is_named() {
    let (world, operators) = started().await;
    let mut parent = recipe("r", &[]);
    parent["spec"]["status"] = json!({"taste": "fine"});
    world.apply(RECIPE, parent).await;
    world.until_ready(RECIPE, "r").await;
    let rival = Rival::start(&world, RECIPE, "r", Habit::ChangesStatus);
    let message = until_flapping(&world, &operators, "FightingOverStatus").await;
    assert_eq!(message, "the status: `rival` reverts .status.taste repeatedly");
    drop(rival);
    world.until(RECIPE, "r", "our status", |parent| parent["status"]["taste"] == "fine").await;
    until_calm(&world).await;
    operators.stop().await;
}
