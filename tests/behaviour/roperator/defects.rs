//! Defects of roperator whose absence no other test shows.

use futures::{StreamExt, stream};
use serde_json::{Value, json};

use crate::{
    cluster::Request,
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, Operators, SECRET, World},
};

async fn started() -> (World, Operators) {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    (world, operators)
}

fn secret(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
        "stringData": {"recipe": "of grandmother"},
    })
}

/// Its queue held 1024 messages, and two of its tasks then waited for each other.
#[operetta_harness::test]
async fn more_than_a_thousand_parents_at_once_are_all_worked_off() {
    const PARENTS: usize = 1100;
    let world = World::new().await;
    let create = |number: usize| world.create(RECIPE, recipe(&format!("r{number}"), &[]));
    let created = stream::iter(0..PARENTS).map(create).buffer_unordered(32);
    assert_eq!(created.count().await, PARENTS);
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    operators.until_all_synced(PARENTS).await;
    operators.stop().await;
}

/// It kept the keys of what is desired without their kinds.
#[operetta_harness::test(server)]
async fn a_child_goes_although_one_of_another_kind_and_its_name_stays() {
    let (world, operators) = started().await;
    let both = [config_map("same", json!({})), secret("same")];
    world.apply(RECIPE, recipe("r", &both)).await;
    world.until_ready(RECIPE, "r").await;
    let kept = world.get(CONFIG_MAP, "same").await;
    world.apply(RECIPE, recipe("r", &both[..1])).await;
    world.until(SECRET, "same", "no secret", Value::is_null).await;
    world.until_ready(RECIPE, "r").await;
    assert_eq!(world.get(CONFIG_MAP, "same").await, kept, "it is not written again");
    operators.stop().await;
}

/// It kept a stale entry in its index, and ended when the child was deleted later.
#[operetta_harness::test(server)]
async fn a_child_whose_label_names_another_parent_is_repaired_and_comes_back_when_deleted() {
    let (world, operators) = started().await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    let parent = world.until_ready(RECIPE, "r").await;
    let label = json!({"metadata": {"labels": {"operetta.dev/parent-uid": "another"}}});
    let old = world.patch(CONFIG_MAP, "c", label).await;
    let uid = &parent["metadata"]["uid"];
    let is_repaired =
        |child: &Value| child["metadata"]["labels"]["operetta.dev/parent-uid"] == *uid;
    world.until(CONFIG_MAP, "c", "the label again", is_repaired).await;
    world.delete(CONFIG_MAP, "c").await;
    let is_back =
        |child: &Value| child.is_object() && child["metadata"]["uid"] != old["metadata"]["uid"];
    world.until(CONFIG_MAP, "c", "a new child", is_back).await;
    operators.stop().await;
}

/// It compared text with text, and wrote or recreated such children for ever.
#[operetta_harness::test(server)]
async fn other_spellings_of_the_same_are_written_once() {
    let world = World::that_logs_requests().await;
    let child_writes = async || {
        let requests = world.our_requests().await.into_iter().filter(Request::is_write);
        requests.filter(|request| request.resource != "recipes").count()
    };
    let before = child_writes().await;
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p", "labels": null, "annotations": {}},
        "spec": {
            "nodeSelector": null, "securityContext": {},
            "volumes": [{"name": "v", "emptyDir": {}}],
            "containers": [{
                "name": "c", "image": "example.dev/c:1", "env": [],
                "resources": {"requests": {"cpu": "1000m", "memory": "1024Mi"}},
            }],
        },
    });
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    world.apply(RECIPE, recipe("r", &[pod, secret("s")])).await;
    world.until_synced(RECIPE, "r").await;
    operators.settled().await;
    assert_eq!(child_writes().await - before, 2, "one write each");
    operators.stop().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    operators.until_all_synced(1).await;
    operators.settled().await;
    assert_eq!(child_writes().await - before, 2, "and none after a restart");
    operators.stop().await;
}
