//! What is written when, and what stays.

use super::*;

#[operetta_harness::test]
async fn a_stage_is_written_once_the_one_before_it_is_ready() {
    let world = World::new().await;
    let operators = start(&world).await;
    let stages: [&[Value]; 3] = [&[pod("d")], &[pod("e")], &[config_map("c", json!({}))]];
    world.apply(RECIPE, staged("r", &stages)).await;
    until_waiting(&world, "/d: it has not been scheduled yet").await;
    assert!(world.get(POD, "e").await.is_null());
    report(&world, "d", "True").await;
    until_waiting(&world, "/e: it has not been scheduled yet").await;
    assert!(world.get(CONFIG_MAP, "c").await.is_null());
    report(&world, "e", "True").await;
    world.until_ready(RECIPE, "r").await;
    assert!(world.get(CONFIG_MAP, "c").await.is_object());
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_child_waits_for_those_that_it_names() {
    let world = World::new().await;
    let operators = start(&world).await;
    let mut parent = staged("r", &[&[pod("e"), pod("d"), config_map("c", json!({}))]]);
    parent["spec"]["after"] = json!({"e": ["d"]});
    world.apply(RECIPE, parent).await;
    until_waiting(&world, "/d: it has not been scheduled yet").await;
    assert!(world.get(POD, "e").await.is_null());
    assert!(world.get(CONFIG_MAP, "c").await.is_object(), "it names none");
    report(&world, "d", "True").await;
    world.until(POD, "e", "that it is created", Value::is_object).await;
    report(&world, "e", "True").await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_child_of_the_first_stage_that_becomes_unready_holds_changes_and_deletes_nothing() {
    let world = World::new().await;
    let operators = start(&world).await;
    let of = |x: &str| [vec![pod("d")], vec![config_map("c", json!({"x": x}))]];
    let parent = |x| staged("r", &of(x).each_ref().map(|stage| &**stage));
    world.apply(RECIPE, parent("1")).await;
    world.until(POD, "d", "that it is created", Value::is_object).await;
    report(&world, "d", "True").await;
    world.until_ready(RECIPE, "r").await;
    let before = world.get(CONFIG_MAP, "c").await;
    report(&world, "d", "False").await;
    let is_unready = |parent: &Value| condition(parent, "Ready")["status"] == "False";
    let shown = world.until(RECIPE, "r", "that it is not ready", is_unready).await;
    assert_eq!(condition(&shown, "Synced")["status"], "True", "nothing waits: {shown}");
    assert_eq!(world.get(CONFIG_MAP, "c").await, before);
    world.apply(RECIPE, parent("2")).await;
    until_waiting(&world, "/d: ItIsTested").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, before);
    report(&world, "d", "True").await;
    world.until_ready(RECIPE, "r").await;
    let after = world.get(CONFIG_MAP, "c").await;
    assert_eq!(after["data"]["x"], "2");
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_handler_that_fails_while_a_stage_waits_changes_nothing() {
    let world = World::new().await;
    let operators = start(&world).await;
    let stages: [&[Value]; 2] = [&[pod("d")], &[pod("e"), config_map("c", json!({}))]];
    world.apply(RECIPE, staged("r", &stages)).await;
    world.until(POD, "d", "that it is created", Value::is_object).await;
    report(&world, "d", "True").await;
    world.until(POD, "e", "that it is created", Value::is_object).await;
    world.until(CONFIG_MAP, "c", "that it is created", Value::is_object).await;
    world.patch(RECIPE, "r", json!({"spec": {"act": "fail"}})).await;
    let has_failed = |parent: &Value| condition(parent, "Synced")["reason"] == "HandlerFailed";
    world.until(RECIPE, "r", "HandlerFailed", has_failed).await;
    for (kind, name) in [(POD, "d"), (POD, "e"), (CONFIG_MAP, "c")] {
        assert!(world.get(kind, name).await["metadata"]["deletionTimestamp"].is_null(), "{name}");
        assert!(world.get(kind, name).await.is_object(), "{name}");
    }
    report(&world, "e", "True").await;
    world.patch(RECIPE, "r", json!({"spec": {"act": null}})).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn children_that_are_not_returned_any_more_are_deleted_in_reverse_order() {
    let world = World::that_logs_requests().await;
    let operators = start(&world).await;
    let map = |name| config_map(name, json!({}));
    let stages: [&[Value]; 3] = [&[map("a")], &[map("b")], &[map("c")]];
    world.apply(RECIPE, staged("r", &stages)).await;
    world.until_ready(RECIPE, "r").await;
    world.apply(RECIPE, staged("r", &[])).await;
    for name in ["a", "b", "c"] {
        world.until(CONFIG_MAP, name, "its end", Value::is_null).await;
    }
    operators.settled().await;
    let requests = world.our_requests().await.into_iter();
    let deleted = requests.filter(|it| it.verb == "delete" && it.resource == "configmaps");
    let path = format!("/api/v1/namespaces/{}/configmaps/", world.namespace);
    let names = deleted.filter_map(|it| {
        let name = it.uri.strip_prefix(&path)?.split('?').next()?;
        Some(name.to_owned())
    });
    let names: Vec<_> = names.collect();
    assert_eq!(names, ["c", "b", "a"]);
    operators.stop().await;
}
