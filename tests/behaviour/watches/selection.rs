//! Operators with a parent selector, and deselected parents.

use kube::api::ListParams;
use operetta::{object::LabelSelector, prelude::*};
use serde_json::{Value, json};

use crate::{
    cleaner::{Answer, Cleaner},
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, condition, eventually, is_ready},
};

const GOLD: &str = "tier=gold,!legacy";

fn cook() -> OperatorConfig {
    recipe::config("cook").with_parent_selector(GOLD)
}

/// A parent of some tier with one child of its name.
fn of_tier(name: &str, tier: &str) -> Value {
    let mut parent = recipe(name, &[config_map(name, json!({"salt": "much"}))]);
    parent["metadata"]["labels"] = json!({"tier": tier});
    parent
}

async fn set_tier(world: &World, name: &str, tier: &str) {
    world.patch(RECIPE, name, json!({"metadata": {"labels": {"tier": tier}}})).await;
}

async fn until_forgotten(world: &World, operators: &Operators, name: &str) {
    let path = format!("/api/v1/operators/cook/parents/{}/{name}", world.namespace);
    let is_forgotten = |(code, _): &(u16, String)| *code == 404;
    eventually("the parent forgotten", || operators.http(&path), is_forgotten).await;
}

#[operetta_harness::test(server)]
async fn a_selector_is_on_the_watch_and_other_parents_are_not_modified() {
    let world = World::that_logs_requests().await;
    for (name, tier) in [("gold", "gold"), ("tin", "tin")] {
        world.create(RECIPE, of_tier(name, tier)).await;
    }
    let before = world.our_requests().await.len();
    let operators = world.start(|all| all.register(cook(), recipe::handler())).await;
    world.until_ready(RECIPE, "gold").await;
    operators.until_all_synced(1).await;
    operators.settled().await;
    let requests = world.our_requests().await.into_iter().skip(before);
    let of_recipes = requests.filter(|one| one.resource == "recipes" && !one.is_write());
    let asked: Vec<_> = of_recipes.map(|one| (one.verb.clone(), one.selector())).collect();
    let gold = |verb: &str| (verb.to_owned(), Some(GOLD.to_owned()));
    assert_eq!(asked, [gold("list"), gold("watch")]);
    assert!(world.get(RECIPE, "tin").await["status"].is_null());
    assert!(world.get(CONFIG_MAP, "tin").await.is_null());
    operators.stop().await;
}

/// Deselects and selects a parent, on a watch with the selector or on one without.
async fn deselect_and_select(is_shared: bool) {
    let world = World::new().await;
    let register = |all: operetta::supervisor::SupervisorBuilder| {
        let recipes = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
        let echo = operators::echo_server::config();
        let echo = if is_shared { echo.child_of_type(recipes, ChildConfig::apply()) } else { echo };
        let handler = operators::echo_server::handler();
        all.register(cook(), recipe::handler()).register(echo, handler)
    };
    let operators = world.start(register).await;
    world.create(RECIPE, of_tier("r", "gold")).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "r").await;
    set_tier(&world, "r", "tin").await;
    until_forgotten(&world, &operators, "r").await;
    // A change that would be written for a selected parent.
    let spec = json!({"spec": {"children": [config_map("r", json!({"salt": "none"}))]}});
    world.patch(RECIPE, "r", spec).await;
    operators.settled().await;
    assert_eq!(world.get(CONFIG_MAP, "r").await, child, "the child is not modified");
    assert!(!is_ready(&world.get(RECIPE, "r").await), "nor is the status");
    set_tier(&world, "r", "gold").await;
    world.until_ready(RECIPE, "r").await;
    assert_eq!(world.get(CONFIG_MAP, "r").await["data"]["salt"], "none");
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_deselected_parent_is_not_modified_until_it_is_selected_again() {
    deselect_and_select(false).await;
}

#[operetta_harness::test(server)]
async fn a_deselected_parent_is_finalized_and_its_children_stay() {
    let world = World::new().await;
    let cleaner = Cleaner::default();
    let handler = cleaner.clone();
    let operators = world.start(|all| all.register(cook(), handler)).await;
    world.create(RECIPE, of_tier("r", "gold")).await;
    world.create(RECIPE, of_tier("tin", "tin")).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(parent["metadata"]["finalizers"], json!(["operetta.dev/cook"]));
    let child = world.get(CONFIG_MAP, "r").await;

    cleaner.answers(Answer::Fails);
    set_tier(&world, "r", "tin").await;
    let reports_why = |parent: &Value| condition(parent, "Ready")["reason"] == "HandlerFailed";
    let parent = world.until(RECIPE, "r", "why it is still held", reports_why).await;
    assert_eq!(parent["metadata"]["finalizers"], json!(["operetta.dev/cook"]));
    cleaner.answers(Answer::Done);
    let is_free = |parent: &Value| parent["metadata"]["finalizers"].is_null();
    world.until(RECIPE, "r", "no finalizer", is_free).await;
    until_forgotten(&world, &operators, "r").await;
    assert_eq!(cleaner.finalized(&world, "r"), 1, "{cleaner:?}");
    assert_eq!(cleaner.children_seen(&world, "r"), 1, "children are visible");
    assert_eq!(world.get(CONFIG_MAP, "r").await, child, "the child is not modified");

    set_tier(&world, "r", "gold").await;
    world.until(RECIPE, "r", "our finalizer again", |parent| !is_free(parent)).await;
    world.until_ready(RECIPE, "r").await;
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    assert_eq!(cleaner.finalized(&world, "r"), 2, "{cleaner:?}");
    assert!(is_free(&world.get(RECIPE, "tin").await), "never selected, never modified");
    operators.stop().await;
}

/// Each reconcile ends at the same moment as the event that its parent is deselected.
#[operetta_harness::test]
async fn parents_that_are_deselected_and_selected_repeatedly_are_reconciled_each_time() {
    let world = World::new().await;
    let operators = world.start(|all| all.register(cook(), Cleaner::default())).await;
    let names: Vec<_> = (0..20).map(|number| format!("r{number}")).collect();
    for name in &names {
        world.create(RECIPE, of_tier(name, "gold")).await;
    }
    for round in 0..10 {
        for (tier, is_held) in [("gold", true), ("tin", false)] {
            for name in &names {
                set_tier(&world, name, tier).await;
            }
            let is_so = |parent: &Value| parent["metadata"]["finalizers"].is_array() == is_held;
            for name in &names {
                let what = format!("round {round}: the finalizer is there: {is_held}");
                world.until(RECIPE, name, &what, is_so).await;
            }
        }
    }
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_parent_that_was_deselected_before_the_start_is_finalized() {
    let world = World::new().await;
    let cleaner = Cleaner::default();
    let handler = cleaner.clone();
    let operators = world.start(|all| all.register(cook(), handler)).await;
    for name in ["leaves", "dies"] {
        world.create(RECIPE, of_tier(name, "gold")).await;
        world.until_ready(RECIPE, name).await;
    }
    operators.stop().await;
    for name in ["leaves", "dies"] {
        set_tier(&world, name, "tin").await;
    }
    world.delete(RECIPE, "dies").await;
    let handler = cleaner.clone();
    let operators = world.start(|all| all.register(cook(), handler)).await;
    let is_free = |parent: &Value| parent["metadata"]["finalizers"].is_null();
    world.until(RECIPE, "leaves", "no finalizer", is_free).await;
    world.until(RECIPE, "dies", "the parent gone", Value::is_null).await;
    for name in ["leaves", "dies"] {
        assert_eq!(cleaner.finalized(&world, name), 1, "{name}: {cleaner:?}");
    }
    assert!(world.get(CONFIG_MAP, "leaves").await.is_object());
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn labels_are_selected_as_the_server_selects_them() {
    let world = World::new().await;
    for (name, labels) in [
        ("none", json!({})),
        ("gold", json!({"tier": "gold"})),
        ("old-gold", json!({"tier": "gold", "legacy": ""})),
        ("tin", json!({"tier": "tin", "example.dev/zone": "a"})),
        ("empty", json!({"tier": ""})),
        ("nine", json!({"n": "9", "in": "in"})),
        ("ten", json!({"n": "10", "tier": "notin"})),
    ] {
        let mut object = config_map(name, json!({}));
        object["metadata"]["labels"] = labels;
        world.create(CONFIG_MAP, object).await;
    }
    let mut refused = 0;
    for text in [
        "",
        "tier",
        "!tier",
        "tier=gold",
        "tier==gold",
        "tier!=gold",
        "tier=",
        "tier in (gold,tin)",
        "tier in (,tin)",
        "tier notin (gold)",
        "tier=gold,!legacy",
        "example.dev/zone=a",
        "n>9",
        "n<10",
        "tier = gold , legacy",
        "tier=notin",
        "in=in",
        "n>x",
        "tier=gold,",
        "a b",
        "tier in gold",
        "tier in (gold",
        "=gold",
        "-a",
        "a/b/c",
        "Big.example/a",
        "tier=-",
        ",",
        "!",
    ] {
        let here = LabelSelector::parse(text);
        let params = ListParams::default().labels(text);
        match world.api(CONFIG_MAP).list(&params).await {
            Ok(list) => {
                let here = here.unwrap_or_else(|error| panic!("the server accepts it: {error}"));
                let there: Vec<_> = list.into_iter().filter_map(|one| one.metadata.name).collect();
                let selected = world.list(CONFIG_MAP).await.into_iter().filter(|object| {
                    let labels = object["metadata"]["labels"].clone();
                    here.matches(&serde_json::from_value(labels).unwrap_or_default())
                });
                let name = |object: Value| object["metadata"]["name"].as_str().unwrap().to_owned();
                assert_eq!(selected.map(name).collect::<Vec<_>>(), there, "{text}");
            }
            Err(error) => {
                assert!(here.is_err(), "{text}: the server refuses it: {error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 5, "the server refused too few");
}
