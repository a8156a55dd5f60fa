//! What a fight over one child means for what has to be done beside it: it is slowed all the same, and
//! keeps no child away.

use super::*;
use crate::world::{POD, object};

/// A parent that waits for an hour once it is slowed.
async fn slow_kitchen() -> Option<(World, Operators)> {
    let world = World::new().await?;
    let operators = start(&world, [3_600_000, 3_600_000]).await;
    Some((world, operators))
}

fn pod(name: &str, image: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "main", "image": image}]}})
}

fn image(pod: &Value) -> &Value {
    &pod["spec"]["containers"][0]["image"]
}

/// Changes the pod, as a rival would, and waits for what the operator does about it.
async fn repaint(world: &World, operators: &Operators, runs: u64) {
    let before = operators.runs("cook", &world.namespace, "r");
    let changed = object(POD, pod("p", "soup:1"));
    Habit::Repaints.act(&world.api(POD), "p", &changed).await;
    operators.until_runs("cook", &world.namespace, "r", before + runs).await;
}

/// It is deleted for each repair, and never missing while the next one waits.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_is_recreated_again_and_again_is_there_while_its_parent_waits() {
    let Some((world, operators)) = slow_kitchen().await else { return };
    world.apply(RECIPE, recipe("r", &[pod("p", "soup:1")])).await;
    world.until_ready(RECIPE, "r").await;
    for _ in 0..2 {
        // It is deleted, created, and found as desired.
        repaint(&world, &operators, 3).await;
        operators.until_synced("cook", &world.namespace, "r").await;
    }
    repaint(&world, &operators, 2).await;
    let message = until_flapping(&world, &operators, "FightingOverFields").await;
    assert!(message.contains("`rival` changes .spec.containers"), "{message}");
    until_waiting(&world, &operators, "Slowed").await;
    let pod = world.get(POD, "p").await;
    assert_eq!(*image(&pod), "soup:1", "or it is away for an hour: {pod}");
    operators.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_is_recreated_beside_a_fight_is_back_at_once() {
    let Some((world, operators)) = slow_kitchen().await else { return };
    let salted = config_map("c", json!({"salt": "much"}));
    world.apply(RECIPE, recipe("r", &[salted.clone(), pod("p", "soup:1")])).await;
    world.until_ready(RECIPE, "r").await;
    let _rival = Rival::start(&world, CONFIG_MAP, "c", Habit::Salts);
    until_flapping(&world, &operators, "FightingOverFields").await;
    until_waiting(&world, &operators, "Slowed").await;
    world.apply(RECIPE, recipe("r", &[salted, pod("p", "soup:2")])).await;
    world.until(POD, "p", "the new pod", |pod| *image(pod) == "soup:2").await;
    until_waiting(&world, &operators, "Slowed").await;
    operators.stop().await;
}

/// What is refused is tried again when a child has gone, but not whenever somebody deletes another.
#[tokio::test(flavor = "multi_thread")]
async fn a_fight_is_slowed_although_another_child_is_refused() {
    let Some((world, operators)) = slow_kitchen().await else { return };
    let children = [config_map("c", json!({})), config_map("Not_A_Name", json!({}))];
    world.apply(RECIPE, recipe("r", &children)).await;
    world.until(CONFIG_MAP, "c", "the child", Value::is_object).await;
    let _rival = Rival::start(&world, CONFIG_MAP, "c", Habit::Deletes);
    let message = until_flapping(&world, &operators, "FightingOverFields").await;
    assert!(message.ends_with("/c: somebody deletes it again and again"), "{message}");
    world.until(CONFIG_MAP, "c", "that the rival has won", Value::is_null).await;
    let parent = until_waiting(&world, &operators, "Retry").await;
    let runs = operators.runs("cook", &world.namespace, "r");
    // Its repair shows that the rival's event has come too.
    world.apply(RECIPE, recipe("other", &[config_map("e", json!({"salt": "much"}))])).await;
    world.until_ready(RECIPE, "other").await;
    world.delete(CONFIG_MAP, "e").await;
    world.until(CONFIG_MAP, "e", "the repair", Value::is_object).await;
    assert_eq!(operators.runs("cook", &world.namespace, "r"), runs, "it waits: {parent}");
    operators.stop().await;
}
