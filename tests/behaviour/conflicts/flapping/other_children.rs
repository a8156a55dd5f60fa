//! Flapping of one child beside other work of the parent: it is still slowed down, and no child is missing
//! because of it.

use std::time::SystemTime;

use operetta::{object::ObjectKey, testkit::internals::history::Outcome};

use super::*;
use crate::world::{POD, object};

/// An operator that delays flapping parents for an hour.
async fn started_slowly() -> (World, Operators) {
    let world = World::new().await;
    // A new namespace of a real cluster refuses pods until it has a service account, and a refused write
    // would be retried after an hour.
    let first = || world.try_create(POD, pod("first", "soup:1"));
    eventually("a namespace that takes pods", first, Result::is_ok).await.unwrap();
    let operators = start(&world, [3_600_000, 3_600_000]).await;
    (world, operators)
}

fn pod(name: &str, image: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "main", "image": image}]}})
}

fn image(pod: &Value) -> &Value {
    &pod["spec"]["containers"][0]["image"]
}

/// Changes the image of the pod as a rival would, and waits until it is repaired.
async fn change_image(world: &World) {
    let before = world.get(POD, "p").await;
    Habit::ChangesImage.act(&world.api(POD), "p", &object(POD, before.clone())).await;
    let is_repaired = |pod: &Value| {
        *image(pod) == "soup:1" && pod["metadata"]["uid"] != before["metadata"]["uid"]
    };
    world.until(POD, "p", "the repair", is_repaired).await;
}

/// Triggers a reconcile, and waits until one has found everything up to date.
async fn until_at_rest(world: &World, operators: &Operators) {
    let (now, key) = (SystemTime::now(), ObjectKey::namespaced(&world.namespace, "r"));
    let look = json!({"metadata": {"annotations": {"look": format!("{now:?}")}}});
    world.patch(RECIPE, "r", look).await;
    let last = || async {
        let parent = operators.running().board().parent("cook", &key)?;
        parent.history.last().map(|reconcile| (reconcile.started, reconcile.outcome.clone()))
    };
    let is_at_rest = |last: &Option<(SystemTime, Outcome)>| {
        let is_synced = |what: &Outcome| matches!(what, Outcome::Ready | Outcome::Synced);
        last.as_ref().is_some_and(|(started, what)| *started >= now && is_synced(what))
    };
    eventually("a reconcile that finds nothing to do", last, is_at_rest).await;
}

/// Each repair deletes it, but it is never missing while the parent waits.
#[operetta_harness::test]
async fn a_child_that_is_recreated_repeatedly_exists_while_its_parent_is_slowed() {
    let (world, operators) = started_slowly().await;
    world.apply(RECIPE, recipe("r", &[pod("p", "soup:1")])).await;
    world.until_synced(RECIPE, "r").await;
    for _ in 0..3 {
        until_at_rest(&world, &operators).await;
        change_image(&world).await;
    }
    let message = until_flapping(&world, &operators, "FightingOverFields").await;
    assert!(message.contains("`rival` reverts .spec.containers"), "{message}");
    until_waiting(&world, &operators, "Slowed").await;
    let pod = world.get(POD, "p").await;
    assert_eq!(*image(&pod), "soup:1", "{pod}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn flapping_of_one_child_does_not_delay_the_recreation_of_another() {
    let (world, operators) = started_slowly().await;
    let salted = config_map("c", json!({"salt": "much"}));
    world.apply(RECIPE, recipe("r", &[salted.clone(), pod("p", "soup:1")])).await;
    world.until_synced(RECIPE, "r").await;
    let _rival = Rival::start(&world, CONFIG_MAP, "c", Habit::ChangesData);
    until_flapping(&world, &operators, "FightingOverFields").await;
    until_waiting(&world, &operators, "Slowed").await;
    world.apply(RECIPE, recipe("r", &[salted, pod("p", "soup:2")])).await;
    world.until(POD, "p", "the new pod", |pod| *image(pod) == "soup:2").await;
    until_waiting(&world, &operators, "Slowed").await;
    operators.stop().await;
}

/// A deleted child triggers the retry of a refused write, but not each time while the child is flapping.
#[operetta_harness::test]
async fn flapping_is_slowed_although_another_child_is_refused() {
    let (world, operators) = started_slowly().await;
    let children = [config_map("c", json!({})), config_map("Not_A_Name", json!({}))];
    world.apply(RECIPE, recipe("r", &children)).await;
    world.until(CONFIG_MAP, "c", "the child", Value::is_object).await;
    let _rival = Rival::start(&world, CONFIG_MAP, "c", Habit::Deletes);
    let message = until_flapping(&world, &operators, "FightingOverFields").await;
    assert!(message.ends_with("/c: another client deletes it repeatedly"), "{message}");
    world.until(CONFIG_MAP, "c", "that the rival has won", Value::is_null).await;
    let parent = until_waiting(&world, &operators, "Retry").await;
    let reconciles = operators.reconciles("cook", &world.namespace, "r");
    // Its repair shows that the rival's event has come too.
    world.apply(RECIPE, recipe("other", &[config_map("e", json!({"salt": "much"}))])).await;
    world.until_ready(RECIPE, "other").await;
    world.delete(CONFIG_MAP, "e").await;
    world.until(CONFIG_MAP, "e", "the repair", Value::is_object).await;
    assert_eq!(
        operators.reconciles("cook", &world.namespace, "r"),
        reconciles,
        "it waits: {parent}"
    );
    operators.stop().await;
}
