//! What happened, over all operators: many changes as one entry, and who paused.

use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, eventually},
};

const PARENTS: usize = 8;

async fn started() -> (World, Operators) {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler())).await;
    (world, operators)
}

/// The entries of these kinds in the namespace of the test, the newest first.
async fn entries(world: &World, operators: &Operators, kinds: &str) -> Vec<Value> {
    let namespace = &world.namespace;
    let path = format!("/api/v1/activity?operator=cook&namespace={namespace}&kind={kinds}");
    let (code, body) = operators.http(&path).await;
    assert_eq!(code, 200, "{body}");
    let list: Value = serde_json::from_str(&body).unwrap();
    list["items"].as_array().unwrap().clone()
}

#[operetta_harness::test(server)]
async fn children_of_many_parents_that_others_delete_are_one_entry() {
    let (world, operators) = started().await;
    for number in 0..PARENTS {
        let children = ["a", "b"].map(|name| config_map(&format!("{name}{number}"), json!({})));
        world.apply(RECIPE, recipe(&format!("r{number}"), &children)).await;
    }
    operators.until_all_synced(PARENTS).await;
    operators.settled().await;
    for number in 0..PARENTS {
        world.delete(CONFIG_MAP, &format!("a{number}")).await;
        world.delete(CONFIG_MAP, &format!("b{number}")).await;
    }
    let repaired = || entries(&world, &operators, "repaired");
    let is_all = |entries: &Vec<Value>| {
        let count = |entry: &Value| entry["children"]["count"].as_u64().unwrap_or_default();
        entries.iter().map(count).sum::<u64>() == 2 * PARENTS as u64
    };
    let repaired = eventually("every repair", repaired, is_all).await;
    let messages: Vec<_> = repaired.iter().map(|entry| entry["message"].clone()).collect();
    let expected = "16 children of 8 parents were removed by others and created again";
    assert_eq!(messages, [expected]);
    for number in 0..PARENTS {
        assert!(!world.get(CONFIG_MAP, &format!("a{number}")).await.is_null(), "{number}");
    }
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_change_by_others_is_shown_with_its_manager_and_fields() {
    let (world, operators) = started().await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    world.until_ready(RECIPE, "r").await;
    operators.settled().await;
    world.patch(CONFIG_MAP, "c", json!({"data": {"salt": "none"}})).await;
    let repaired = || entries(&world, &operators, "repaired");
    let repaired = eventually("the repair", repaired, |entries| !entries.is_empty()).await;
    let expected = format!(
        "`ConfigMap.v1 {0}/c` of `{0}/r` was changed by `by-hand` at `.data.salt` and written again",
        world.namespace
    );
    assert_eq!(repaired[0]["message"], expected);
    let created = entries(&world, &operators, "created").await;
    assert_eq!(created[0]["children"]["count"], 1, "{created:?}");
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_pause_and_its_end_are_shown_once_whoever_commands_them() {
    let (world, operators) = started().await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    let phase = async || {
        let (_, body) = operators.http(&path).await;
        serde_json::from_str::<Value>(&body).unwrap()["phase"].clone()
    };
    assert_eq!(operators.post(&format!("{path}/pause")).await.0, 200);
    eventually("the pause", &phase, |phase| *phase == "paused").await;
    // As kubectl does it.
    let resumed = json!({"metadata": {"annotations": {"operetta.dev/paused": null}}});
    world.patch(RECIPE, "r", resumed).await;
    eventually("the end of the pause", &phase, |phase| *phase == "ready").await;
    operators.settled().await;
    let seen = entries(&world, &operators, "paused,resumed").await;
    let seen: Vec<_> = seen.iter().map(|entry| entry["message"].clone()).collect();
    let of = |what: &str| format!("`{}/r` was {what}", world.namespace);
    assert_eq!(seen, [of("resumed"), of("paused")]);
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_failure_and_its_end_are_shown() {
    let (world, operators) = started().await;
    let mut invalid = config_map("c", json!({}));
    invalid["metadata"]["name"] = json!("Not A Name");
    world.apply(RECIPE, recipe("r", &[invalid])).await;
    let failing = || entries(&world, &operators, "failing");
    let failing = eventually("the failure", failing, |entries| !entries.is_empty()).await;
    let message = failing[0]["message"].as_str().unwrap();
    assert!(message.starts_with(&format!("`{}/r` began to fail: ", world.namespace)), "{message}");
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    let recovered = || entries(&world, &operators, "recovered");
    eventually("its end", recovered, |entries| entries.len() == 1).await;
    operators.stop().await;
}
