//! Plans of operators that write nothing.

mod against;

use anyhow::Error;
use operetta::{prelude::*, supervisor::SupervisorBuilder, web::PlanFilter};
use serde_json::{Value, json};

use crate::{
    cleaner::Cleaner,
    cluster::Request,
    recipe::{self, RECIPE, config_map, recipe},
    related,
    world::{CONFIG_MAP, Operators, World},
};

async fn working(world: &World) -> Operators {
    world.start(|builder| builder.register(recipe::config("cook"), recipe::handler())).await
}

async fn planning(world: &World) -> Operators {
    let register = |builder: SupervisorBuilder| {
        builder.plan_only().register(recipe::config("cook"), recipe::handler())
    };
    world.start(register).await
}

/// The plans of the parents in the namespace of the test.
async fn plans(world: &World, operators: &Operators) -> (Value, String, bool) {
    let filter =
        PlanFilter { operator: Some("cook".to_owned()), namespace: Some(world.namespace.clone()) };
    let plans = operators.running().plans(&filter).await.unwrap();
    (serde_json::to_value(&plans).unwrap(), plans.to_string(), plans.has_changes())
}

#[operetta_harness::test]
async fn exactly_the_parents_that_differ_are_planned_and_nothing_is_written() {
    let world = World::that_logs_requests().await;
    let operators = working(&world).await;
    for number in 0..10 {
        let child = config_map(&format!("made-{number}"), json!({"salt": "little"}));
        world.apply(RECIPE, recipe(&format!("r-{number}"), &[child])).await;
    }
    for number in 0..10 {
        world.until_ready(RECIPE, &format!("r-{number}")).await;
    }
    operators.settled().await;
    operators.stop().await;
    // One changes, one is new, one loses its child, and one child is changed by hand.
    let salted = config_map("made-1", json!({"salt": "much"}));
    world.apply(RECIPE, recipe("r-1", &[salted])).await;
    world.apply(RECIPE, recipe("r-2", &[])).await;
    world.apply(RECIPE, recipe("new", &[config_map("made-new", json!({"salt": "new"}))])).await;
    world.patch(CONFIG_MAP, "made-3", json!({"data": {"salt": "none"}})).await;
    let before = world.our_requests().await.len();
    let operators = planning(&world).await;
    let (plans, text, has_changes) = plans(&world, &operators).await;
    assert!(has_changes && plans["lookedAt"] == 11, "{plans}");
    let planned = |plan: &Value| {
        let change = &plan["changes"][0];
        let texts = [&plan["name"], &change["action"], &change["name"]];
        texts.map(|text| text.as_str().unwrap_or_default().to_owned()).join(" ")
    };
    let all: Vec<String> = plans["parents"].as_array().unwrap().iter().map(planned).collect();
    let expected =
        ["new Create made-new", "r-1 Update made-1", "r-2 Delete made-2", "r-3 Update made-3"];
    assert_eq!(all, expected);
    for part in ["@@ .data.salt @@\n-little\n+much\n", "-none\n+little\n", "4 of 11 parents"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    operators.stop().await;
    let requests = world.our_requests().await;
    let writes: Vec<&Request> = requests[before..].iter().filter(|it| it.is_write()).collect();
    assert!(writes.is_empty(), "{writes:?}");
}

#[operetta_harness::test]
async fn related_objects_are_read_for_a_plan() {
    let world = World::new().await;
    world.create(CONFIG_MAP, config_map("spice", json!({"heat": "much"}))).await;
    let reads = json!({"metadata": {"name": "r"}, "spec": {"maps": ["spice"], "status": {}}});
    world.apply(RECIPE, reads).await;
    let register = |builder: SupervisorBuilder| related::register(builder.plan_only());
    let operators = world.start(register).await;
    let filter = PlanFilter { operator: None, namespace: Some(world.namespace.clone()) };
    let text = operators.running().plans(&filter).await.unwrap().to_string();
    assert!(text.contains("spice=heat"), "{text}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_handler_that_fails_is_a_problem_of_its_parent() {
    let world = World::new().await;
    let fails = |_: &SyncRequest| -> Result<SyncResponse> { Err(Error::msg("the oven is cold")) };
    world.apply(RECIPE, recipe("r", &[])).await;
    let config = recipe::config("cook");
    let operators = world.start(|builder| builder.plan_only().register(config, fails)).await;
    let (plans, text, has_changes) = plans(&world, &operators).await;
    assert!(!has_changes && text.contains("# no plan: "), "{plans}");
    assert!(text.contains("the oven is cold"), "{text}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn the_status_of_the_handler_and_the_finalizer_are_part_of_a_plan() {
    let world = World::new().await;
    let finalizes =
        |builder: SupervisorBuilder| builder.register(recipe::config("cook"), Cleaner::default());
    let mut parent = recipe("r", &[]);
    parent["spec"]["status"] = json!({"taste": "salty"});
    world.apply(RECIPE, parent).await;
    let operators = world.start(|builder| finalizes(builder.plan_only())).await;
    let (_, text, has_changes) = plans(&world, &operators).await;
    assert!(has_changes, "{text}");
    for part in
        ["@@ .metadata.finalizers @@\n+- operetta.dev/cook\n", "@@ .status @@\n+taste: salty\n"]
    {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    operators.stop().await;
    let operators = world.start(finalizes).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
    let operators = world.start(|builder| finalizes(builder.plan_only())).await;
    let (_, text, has_changes) = plans(&world, &operators).await;
    assert!(!has_changes, "{text}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn the_plans_are_served_over_http_in_plan_mode_only() {
    let world = World::new().await;
    world.apply(RECIPE, recipe("r", &[config_map("made", json!({"salt": "much"}))])).await;
    let operators = planning(&world).await;
    let (code, body) = operators.http("/readyz?verbose").await;
    assert!(code == 200 && body.contains("plan mode: nothing is written"), "{body}");
    let path = format!("/api/v1/plans?namespace={}", world.namespace);
    let (code, body) = operators.http(&path).await;
    let served: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((code, &served["parents"][0]["changes"][0]["action"]), (200, &json!("Create")));
    let (code, body) = operators.http(&format!("{path}&output=diff")).await;
    assert!(code == 200 && body.ends_with("# 1 of 1 parents would be changed\n"), "{body}");
    let (code, body) = operators.http("/api/v1/plans?operator=baker").await;
    assert!(code == 404 && body.contains("`baker` does not exist"), "{body}");
    assert_eq!(operators.http("/api/v1/plans?output=table").await.0, 400);
    operators.stop().await;
    let operators = working(&world).await;
    let (code, body) = operators.http(&path).await;
    assert!(code == 409 && body.contains("only a process in plan mode"), "{body}");
    operators.stop().await;
}
