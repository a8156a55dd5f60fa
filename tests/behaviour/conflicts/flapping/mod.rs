//! Repeated writes, because another manager reverts them or because the handler is nondeterministic. Both
//! are reported, slowed down, and no longer reported once they have ended.

mod other_children;

use std::time::Duration;

use futures::StreamExt;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, WatchEvent, WatchParams},
};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    started::counts,
    world::{CONFIG_MAP, EVENT, Kind, Operators, World, condition, eventually, is_ready},
};

const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// What a rival does after each write of the operator.
#[derive(Debug, Clone, Copy)]
enum Habit {
    ChangesData,
    ChangesStatus,
    Deletes,
    /// Changes the image of a pod.
    ChangesImage,
    /// Changes the managed-by label, as package managers do.
    Claims,
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
            Self::ChangesImage if object.data["spec"]["containers"][0]["image"] != "rival:1" => {
                let mut containers = object.data["spec"]["containers"].clone();
                containers[0]["image"] = json!("rival:1");
                let patch = merge(json!({"spec": {"containers": containers}}));
                drop(api.patch(name, &params, &patch).await);
            }
            Self::Deletes => drop(api.delete(name, &DeleteParams::background()).await),
            Self::Claims if object.labels().get(MANAGED_BY).is_none_or(|by| by != "Helm") => {
                let patch = merge(json!({"metadata": {"labels": {MANAGED_BY: "Helm"}}}));
                drop(api.patch(name, &params, &patch).await);
            }
            Self::ChangesData | Self::ChangesStatus | Self::ChangesImage | Self::Claims => {}
        }
    }
}

/// An operator with a short backoff, for which flapping has ended after two seconds.
async fn started() -> (World, Operators) {
    let world = World::new().await;
    let operators = start(&world, [50, 1000]).await;
    (world, operators)
}

async fn start(world: &World, backoff: [u64; 2]) -> Operators {
    let [least, most] = backoff.map(Duration::from_millis);
    let config = recipe::config("cook").with_error_backoff(least, most);
    world.start(|builder| builder.register(config, recipe::handler())).await
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

/// Waits until the next wake of the parent is for this reason.
async fn until_waiting(world: &World, operators: &Operators, why: &str) -> Value {
    let waits = |parent: &Value| parent["nextWake"]["why"] == why;
    eventually(why, || shown(world, operators), waits).await
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

#[operetta_harness::test]
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

#[operetta_harness::test]
async fn flapping_delays_repairs_of_a_parent_but_not_changes_of_its_spec() {
    let world = World::new().await;
    let operators = start(&world, [3_600_000, 3_600_000]).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    world.until_ready(RECIPE, "r").await;
    let _rival = Rival::start(&world, CONFIG_MAP, "c", Habit::ChangesData);
    until_flapping(&world, &operators, "FightingOverFields").await;
    let is_explained =
        |parent: &Value| parent["why"].to_string().contains("flapping writes are delayed");
    assert!(is_explained(&until_waiting(&world, &operators, "Slowed").await));
    let is_salted = |child: &Value| child["data"]["salt"] == "secret-salt";
    world.until(CONFIG_MAP, "c", "the rival", is_salted).await;
    let reconciles = operators.reconciles("cook", &world.namespace, "r");
    // Another parent is not slowed down; its repair shows that the rival's event has come too.
    world.apply(RECIPE, recipe("other", &[config_map("e", json!({"salt": "much"}))])).await;
    world.until_ready(RECIPE, "other").await;
    world.patch(CONFIG_MAP, "e", json!({"data": {"salt": "none"}})).await;
    let is_repaired = |child: &Value| child["data"]["salt"] == "much";
    world.until(CONFIG_MAP, "e", "the repair", is_repaired).await;
    assert_eq!(operators.reconciles("cook", &world.namespace, "r"), reconciles, "it waits");
    assert!(!is_ready(&world.get(RECIPE, "r").await), "and is not ready");
    let more = [config_map("c", json!({"salt": "much"})), config_map("d", json!({}))];
    world.apply(RECIPE, recipe("r", &more)).await;
    world.until(CONFIG_MAP, "d", "the change taken up", Value::is_object).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn repeated_deletions_of_a_child_are_reported_and_it_is_created_again() {
    let (world, operators) = started().await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    let rival = Rival::start(&world, CONFIG_MAP, "c", Habit::Deletes);
    let message = until_flapping(&world, &operators, "FightingOverFields").await;
    assert!(message.ends_with("/c: another client deletes it repeatedly"), "{message}");
    drop(rival);
    world.until(CONFIG_MAP, "c", "the child", Value::is_object).await;
    until_calm(&world).await;
    operators.stop().await;
}

/// As with a Pod, the watch shows it with a deletionTimestamp first.
#[operetta_harness::test]
async fn repeated_deletions_of_a_slowly_terminating_child_are_reported() {
    let world = World::new().await;
    let operators = start(&world, [50, 5_000]).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    for _ in 0..3 {
        world.until_ready(RECIPE, "r").await;
        let held = json!({"metadata": {"finalizers": ["test.operetta.dev/held"]}});
        world.patch(CONFIG_MAP, "c", held).await;
        world.delete(CONFIG_MAP, "c").await;
        let waits = |parent: &Value| condition(parent, "Ready")["reason"] == "Waiting";
        world.until(RECIPE, "r", "that it waits", waits).await;
        world.patch(CONFIG_MAP, "c", json!({"metadata": {"finalizers": null}})).await;
        let is_new = |child: &Value| child["metadata"]["deletionTimestamp"].is_null();
        world
            .until(CONFIG_MAP, "c", "a new child", |child| child.is_object() && is_new(child))
            .await;
    }
    let message = until_flapping(&world, &operators, "FightingOverFields").await;
    assert!(message.ends_with("/c: another client deletes it repeatedly"), "{message}");
    operators.stop().await;
}

/// The watch selects by the label, so that the child seems to be deleted each time.
#[operetta_harness::test]
async fn repeated_changes_of_the_managed_by_label_are_reported_and_slowed_down() {
    let (world, operators) = started().await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    let rival = Rival::start(&world, CONFIG_MAP, "c", Habit::Claims);
    let message = until_flapping(&world, &operators, "FightingOverFields").await;
    assert!(message.contains("managed-by"), "{message}");
    drop(rival);
    until_calm(&world).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_nondeterministic_handler_is_reported_until_it_is_deterministic() {
    let (world, operators) = started().await;
    world.apply(RECIPE, acting("r", "dice")).await;
    let message = until_flapping(&world, &operators, "UnstableHandler").await;
    let expected = "the handler returns different values for the same request at .data.throw";
    assert!(message.contains("/dice: ") && message.ends_with(expected), "{message}");
    world.apply(RECIPE, recipe("r", &[config_map("dice", json!({"throw": "six"}))])).await;
    until_calm(&world).await;
    assert_eq!(world.get(CONFIG_MAP, "dice").await["data"]["throw"], "six");
    operators.stop().await;
}

/// It is stalled, so that no later reconcile would find that nothing is written any more.
#[operetta_harness::test]
async fn a_handler_with_a_permanent_error_is_no_longer_reported_as_unstable() {
    let world = World::new().await;
    let operators = start(&world, [50, 3_600_000]).await;
    world.apply(RECIPE, acting("r", "dice")).await;
    until_flapping(&world, &operators, "UnstableHandler").await;
    world.apply(RECIPE, acting("r", "permanent")).await;
    let rests = |parent: &Value| {
        condition(parent, "Stalled")["reason"] == "HandlerFailed"
            && condition(parent, "Flapping").is_null()
    };
    world.until(RECIPE, "r", "nothing but that it is stalled", rests).await;
    let is_calm = |parent: &Value| {
        parent["phase"] == "stalled" && !parent["why"].to_string().contains("flapping")
    };
    eventually("the same over HTTP", || shown(&world, &operators), is_calm).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_handler_that_returns_a_new_child_name_each_time_is_reported_until_it_stops() {
    let (world, operators) = started().await;
    world.apply(RECIPE, acting("r", "names")).await;
    let message = until_flapping(&world, &operators, "UnstableHandler").await;
    let expected =
        "the handler returns a child of the type ConfigMap.v1 with another name each time";
    assert!(message.starts_with(expected), "{message}");
    world.apply(RECIPE, recipe("r", &[config_map("dish", json!({}))])).await;
    until_calm(&world).await;
    operators.stop().await;
}

#[operetta_harness::test]
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
