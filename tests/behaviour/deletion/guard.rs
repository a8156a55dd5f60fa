//! Deletions of too many children by a reconcile, or by an operator within a minute, require a
//! confirmation by the user.

use operetta::operator::{Allowance, DeletionLimit};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, EVENT, Operators, World, condition, eventually},
};

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
    let shown = eventually("the parent is stalled", shown, |it| it["phase"] == "stalled").await;
    assert!(shown["message"].as_str().unwrap().contains(&message), "{shown}");
    let annotations = json!({"operetta.dev/allow-deletion": code(&message)});
    world.patch(RECIPE, "r", json!({"metadata": {"annotations": annotations}})).await;
    for number in 2..=6 {
        let name = format!("a-{number}");
        world.until(CONFIG_MAP, &name, "its deletion", Value::is_null).await;
    }
    world.until_ready(RECIPE, "r").await;
    let is_over = |(_, body): &(u16, String)| body.contains(&children_held(0));
    eventually("no child is held", gauge, is_over).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn held_deletions_are_allowed_over_http_by_their_code_and_by_no_other() {
    let world = World::new().await;
    let operators = start(&world, half_of_a_parent()).await;
    world.apply(RECIPE, recipe("r", &six("a", "little"))).await;
    world.until_ready(RECIPE, "r").await;
    world.apply(RECIPE, recipe("r", &some("a", 1, "little"))).await;
    let message = until_held(&world, "r").await;
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    let shown = || async {
        serde_json::from_str::<Value>(&operators.http(&path).await.1).unwrap_or_default()
    };
    let is_shown = |parent: &Value| parent["approval"] == code(&message);
    eventually("the parent shows the code", shown, is_shown).await;
    let allow = format!("{path}/allow-deletions");
    let (refused, _) = operators.post_json(&allow, &json!({"code": "00000000"})).await;
    assert_eq!(refused, 409);
    assert_eq!(names(&world, "a-").await.len(), 6);
    let body = json!({"code": code(&message)});
    let (done, answer) = operators.post_json(&allow, &body).await;
    assert_eq!(done, 200, "{answer}");
    for number in 2..=6 {
        let name = format!("a-{number}");
        world.until(CONFIG_MAP, &name, "its deletion", Value::is_null).await;
    }
    world.until_ready(RECIPE, "r").await;
    let (_, activity) = operators.http("/api/v1/activity?kind=allowed").await;
    let activity: Value = serde_json::from_str(&activity).unwrap();
    assert_eq!(activity["items"].as_array().unwrap().len(), 1, "{activity}");
    operators.stop().await;
}
