//! Deletions of too many children by a reconcile, or by an operator within a minute, require a
//! confirmation by the user.

use operetta::{
    operator::{Allowance, DeletionLimit},
    prelude::*,
};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, EVENT, Operators, World, condition, eventually},
};

const NONE: Allowance = Allowance { percent: 0, at_least: 0 };
const ALL: Allowance = Allowance { percent: 100, at_least: 0 };

/// At most half of a parent's children in a reconcile, but two in any case.
fn half_of_a_parent() -> DeletionLimit {
    DeletionLimit { reconcile: Allowance { percent: 50, at_least: 2 }, minute: ALL }
}

/// Restricted to the test's namespace, because children of other tests count too.
async fn start(world: &World, limit: DeletionLimit) -> Operators {
    let config =
        recipe::config("cook").within_namespace(&world.namespace).with_deletion_limit(limit);
    world.start(|builder| builder.register(config, recipe::handler())).await
}

/// Six children, for example `a-1` to `a-6`.
fn six(prefix: &str, salt: &str) -> Vec<Value> {
    some(prefix, 6, salt)
}

fn some(prefix: &str, count: usize, salt: &str) -> Vec<Value> {
    let child = |number| config_map(&format!("{prefix}-{number}"), json!({"salt": salt}));
    (1..=count).map(child).collect()
}

/// The names of the existing children.
async fn names(world: &World, prefix: &str) -> Vec<String> {
    let all = world.list(CONFIG_MAP).await;
    let names = all.iter().filter_map(|object| object["metadata"]["name"].as_str());
    names.filter(|name| name.starts_with(prefix)).map(str::to_owned).collect()
}

/// Waits until a parent reports held deletions for its generation; returns the message.
async fn until_held(world: &World, name: &str) -> String {
    let is_reported = |parent: &Value| {
        let held = condition(parent, "DeletionsHeld");
        held["status"] == "True" && held["observedGeneration"] == parent["metadata"]["generation"]
    };
    let parent = world.until(RECIPE, name, "the condition DeletionsHeld", is_reported).await;
    let ready = condition(&parent, "Ready");
    assert_eq!((&ready["status"], &ready["reason"]), (&json!("False"), &json!("DeletionsHeld")));
    condition(&parent, "DeletionsHeld")["message"].as_str().unwrap().to_owned()
}

/// The metric of so many held children.
fn children_held(children: u8) -> String {
    format!("operetta_children_held{{operator=\"cook\"}} {children}\n")
}

fn code(message: &str) -> &str {
    message.rsplit_once("operetta.dev/allow-deletion=").expect("how to allow it").1
}

async fn allow(world: &World, name: &str, code: &str) {
    let annotations = json!({"operetta.dev/allow-deletion": code});
    world.patch(RECIPE, name, json!({"metadata": {"annotations": annotations}})).await;
}

/// Triggers another reconcile, and waits until nothing is left to do.
async fn reconcile_again(world: &World, operators: &Operators, name: &str) {
    // A new value each time, because an unchanged one would not trigger a reconcile.
    let version = world.get(RECIPE, name).await["metadata"]["resourceVersion"].take();
    let annotations = json!({"example.dev/again": version});
    world.patch(RECIPE, name, json!({"metadata": {"annotations": annotations}})).await;
    operators.settled().await;
}

#[operetta_harness::test]
async fn a_reconcile_over_the_deletion_limit_holds_deletions_and_writes_the_other_children() {
    let world = World::new().await;
    let operators = start(&world, half_of_a_parent()).await;
    world.apply(RECIPE, recipe("r", &six("a", "little"))).await;
    world.until_ready(RECIPE, "r").await;
    let few = [some("a", 1, "much"), some("new", 1, "")].concat();
    world.apply(RECIPE, recipe("r", &few)).await;
    let message = until_held(&world, "r").await;
    assert!(message.starts_with("5 of 7 children would be deleted"), "{message}");
    assert!(message.contains("a reconcile may delete 3"), "{message}");
    assert!(message.contains("/a-2, ") && message.contains("and 2 more"), "{message}");
    assert_eq!(names(&world, "a-").await.len(), 6);
    assert_eq!(world.get(CONFIG_MAP, "a-1").await["data"]["salt"], "much");
    assert_eq!(names(&world, "new").await, ["new-1"]);
    let events = || world.list(EVENT);
    let is_reported = |events: &Vec<Value>| {
        let is_held = |event: &&Value| {
            event["reason"] == "DeletionsHeld" && event["regarding"]["name"] == "r"
        };
        events.iter().find(is_held).is_some_and(|event| event["type"] == "Warning")
    };
    eventually("a Warning Event", events, is_reported).await;
    let (_, metrics) = operators.http("/metrics").await;
    let line = r#"operetta_deletions_held_total{operator="cook"} 5"#;
    assert!(metrics.contains(line), "{metrics}");
    let gauge = || operators.http("/metrics");
    let is_held = |(_, body): &(u16, String)| body.contains(&children_held(5));
    eventually("the held children are counted", gauge, is_held).await;
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    // The condition is written during the reconcile, which the page shows when it has ended.
    let shown = || async {
        serde_json::from_str::<Value>(&operators.http(&path).await.1).unwrap_or_default()
    };
    let shown = eventually("the parent waits", shown, |it| it["phase"] == "waiting").await;
    assert!(shown["message"].as_str().unwrap().contains(&message), "{shown}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn only_the_code_of_the_held_children_allows_their_deletion() {
    let world = World::new().await;
    let operators = start(&world, half_of_a_parent()).await;
    world.apply(RECIPE, recipe("r", &six("a", ""))).await;
    world.until_ready(RECIPE, "r").await;
    world.apply(RECIPE, recipe("r", &[])).await;
    let message = until_held(&world, "r").await;
    let generation = world.get(RECIPE, "r").await["metadata"]["generation"].to_string();
    for wrong in ["true", generation.as_str(), "6"] {
        allow(&world, "r", wrong).await;
        reconcile_again(&world, &operators, "r").await;
        assert_eq!(names(&world, "a-").await.len(), 6, "allowed by {wrong}");
        let is_answered = |parent: &Value| {
            let message = condition(parent, "DeletionsHeld")["message"].to_string();
            message.contains(&format!("is \\\"{wrong}\\\", which does not allow them"))
        };
        world.until(RECIPE, "r", &format!("that {wrong} allows nothing"), is_answered).await;
    }
    allow(&world, "r", code(&message)).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(names(&world, "a-").await.len(), 0);
    assert_eq!(condition(&parent, "DeletionsHeld"), Value::Null);
    let gauge = || operators.http("/metrics");
    let is_over = |(_, body): &(u16, String)| body.contains(&children_held(0));
    eventually("no child is held", gauge, is_over).await;
    // The annotation stays but allows no further deletions.
    world.apply(RECIPE, recipe("r", &six("a", ""))).await;
    world.until_ready(RECIPE, "r").await;
    world.apply(RECIPE, recipe("r", &[])).await;
    assert_ne!(code(&until_held(&world, "r").await), code(&message));
    operators.settled().await;
    assert_eq!(names(&world, "a-").await.len(), 6);
    // The children are desired again, so that nothing is held.
    world.apply(RECIPE, recipe("r", &six("a", ""))).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(condition(&parent, "DeletionsHeld"), Value::Null);
    operators.stop().await;
}

#[operetta_harness::test]
async fn replacing_all_children_holds_deletions_also_after_a_restart() {
    let world = World::new().await;
    let operators = start(&world, half_of_a_parent()).await;
    world.apply(RECIPE, recipe("r", &six("old", ""))).await;
    world.until_ready(RECIPE, "r").await;
    world.apply(RECIPE, recipe("r", &six("new", ""))).await;
    let message = until_held(&world, "r").await;
    assert!(message.starts_with("6 of 12 children"), "{message}");
    reconcile_again(&world, &operators, "r").await;
    operators.stop().await;
    let operators = start(&world, half_of_a_parent()).await;
    reconcile_again(&world, &operators, "r").await;
    assert_eq!(names(&world, "old").await.len(), 6);
    allow(&world, "r", code(&until_held(&world, "r").await)).await;
    world.until_ready(RECIPE, "r").await;
    assert_eq!((names(&world, "old").await.len(), names(&world, "new").await.len()), (0, 6));
    operators.stop().await;
}

/// The next process knows only from the condition that deletions are held.
#[operetta_harness::test]
async fn a_failure_before_a_restart_does_not_release_held_deletions() {
    let world = World::new().await;
    let operators = start(&world, half_of_a_parent()).await;
    world.apply(RECIPE, recipe("r", &six("old", ""))).await;
    world.until_ready(RECIPE, "r").await;
    world.apply(RECIPE, recipe("r", &six("new", ""))).await;
    until_held(&world, "r").await;
    world.apply(RECIPE, acting("r", "fail")).await;
    let fails = |parent: &Value| condition(parent, "Ready")["reason"] == "HandlerFailed";
    let parent = world.until(RECIPE, "r", "the failure", fails).await;
    assert_eq!(condition(&parent, "DeletionsHeld")["status"], "True");
    operators.stop().await;
    world.apply(RECIPE, recipe("r", &six("new", ""))).await;
    let operators = start(&world, half_of_a_parent()).await;
    until_held(&world, "r").await;
    operators.settled().await;
    assert_eq!(names(&world, "old").await.len(), 6);
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_operator_over_the_deletion_limit_per_minute_holds_deletions() {
    let world = World::new().await;
    let minute = Allowance { percent: 50, at_least: 1 };
    let operators = start(&world, DeletionLimit { reconcile: ALL, minute }).await;
    let parents = ["a", "b", "c", "d"];
    for name in parents {
        world.apply(RECIPE, recipe(name, &some(name, 3, ""))).await;
        world.until_ready(RECIPE, name).await;
    }
    for name in ["a", "b"] {
        world.apply(RECIPE, recipe(name, &[])).await;
        world.until_ready(RECIPE, name).await;
        assert_eq!(names(&world, name).await.len(), 0);
    }
    for name in ["c", "d"] {
        world.apply(RECIPE, recipe(name, &[])).await;
        let message = until_held(&world, name).await;
        assert!(message.contains("may delete 6 of its 12 within a minute"), "{message}");
        assert_eq!(names(&world, name).await.len(), 3);
    }
    allow(&world, "d", code(&until_held(&world, "d").await)).await;
    world.until_ready(RECIPE, "d").await;
    assert_eq!((names(&world, "c").await.len(), names(&world, "d").await.len()), (3, 0));
    // Of so many children the budget of another process would allow the held deletions.
    world.apply(RECIPE, recipe("e", &some("e", 9, ""))).await;
    world.until_ready(RECIPE, "e").await;
    operators.stop().await;
    let operators = start(&world, DeletionLimit { reconcile: ALL, minute }).await;
    operators.settled().await;
    let message = until_held(&world, "c").await;
    assert!(message.contains("may delete 6 of its 12 within a minute"), "{message}");
    assert_eq!(names(&world, "c").await.len(), 3);
    allow(&world, "c", code(&message)).await;
    world.until_ready(RECIPE, "c").await;
    assert_eq!(names(&world, "c").await.len(), 0);
    operators.stop().await;
}

#[operetta_harness::test]
async fn recreated_and_garbage_collected_children_do_not_count_as_deletions() {
    let world = World::new().await;
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent)
        .child_of_type(
            K8sType::namespaced(CONFIG_MAP.0, CONFIG_MAP.1, CONFIG_MAP.2),
            ChildConfig::recreate(),
        )
        .with_deletion_limit(DeletionLimit { reconcile: NONE, minute: NONE });
    let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
    world.apply(RECIPE, recipe("r", &six("a", "little"))).await;
    world.until_ready(RECIPE, "r").await;
    world.apply(RECIPE, recipe("r", &six("a", "much"))).await;
    world.until_ready(RECIPE, "r").await;
    for child in world.list(CONFIG_MAP).await {
        let is_child = child["metadata"]["name"].as_str().unwrap().starts_with("a-");
        assert!(!is_child || child["data"]["salt"] == "much", "{child}");
    }
    world.delete(RECIPE, "r").await;
    eventually("all collected", || names(&world, "a-"), Vec::is_empty).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn by_default_all_children_of_a_small_parent_may_be_deleted_and_without_a_limit_any_number() {
    let world = World::new().await;
    for (config, count) in
        [(recipe::config("cook"), 10), (recipe::config("cook").without_deletion_limit(), 60)]
    {
        let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
        world.apply(RECIPE, recipe("r", &some("a", count, ""))).await;
        world.until_ready(RECIPE, "r").await;
        world.apply(RECIPE, recipe("r", &[])).await;
        world.until_ready(RECIPE, "r").await;
        assert_eq!(names(&world, "a-").await.len(), 0);
        operators.stop().await;
    }
}

/// The number of children before the deletions is no longer known.
#[operetta_harness::test]
async fn a_limit_of_all_children_releases_deletions_held_by_an_earlier_process() {
    let world = World::new().await;
    let operators = start(&world, half_of_a_parent()).await;
    world.apply(RECIPE, recipe("r", &six("a", ""))).await;
    world.until_ready(RECIPE, "r").await;
    world.apply(RECIPE, recipe("r", &[])).await;
    until_held(&world, "r").await;
    operators.stop().await;
    let operators = start(&world, DeletionLimit { reconcile: ALL, minute: ALL }).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(condition(&parent, "DeletionsHeld"), Value::Null);
    assert_eq!(names(&world, "a-").await.len(), 0);
    operators.stop().await;
}
