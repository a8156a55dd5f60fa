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

/// It is deleted for each repair, and never missing while the next one waits.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_is_recreated_again_and_again_is_there_while_its_parent_waits() {
    let Some((world, operators)) = slow_kitchen().await else { return };
    world.apply(RECIPE, recipe("r", &[pod("p", "soup:1")])).await;
    world.until_ready(RECIPE, "r").await;
    let rival = Rival::start(&world, POD, "p", Habit::Repaints);
    let message = until_flapping(&world, &operators, "FightingOverFields").await;
    assert!(message.contains("`rival` changes .spec.containers"), "{message}");
    until_waiting(&world, &operators, "Slowed").await;
    assert!(world.get(POD, "p").await.is_object(), "or it is away for an hour");
    let is_lost = |pod: &Value| *image(pod) == "rival:1";
    let lost = world.until(POD, "p", "the pod of the rival", is_lost).await;
    // The repair of another shows that the rival's event has come too.
    world.apply(RECIPE, recipe("other", &[pod("q", "soup:1")])).await;
    world.until_ready(RECIPE, "other").await;
    Habit::Repaints.act(&world.api(POD), "q", &object(POD, pod("q", "soup:1"))).await;
    world.until(POD, "q", "another image", is_lost).await;
    let is_repaired = |pod: &Value| *image(pod) == "soup:1";
    world.until(POD, "q", "the repair", is_repaired).await;
    let still = world.get(POD, "p").await;
    assert_eq!(still["metadata"]["uid"], lost["metadata"]["uid"], "the next repair waits");
    drop(rival);
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
