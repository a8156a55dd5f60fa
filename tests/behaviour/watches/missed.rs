//! Changes while the watch is cut are noticed afterwards.

use serde_json::{Value, json};

use crate::{
    link::Link,
    recipe::{self, RECIPE, config_map, recipe},
    started::counts,
    world::{CONFIG_MAP, ECHO, Kind, Operators, POD, SERVICE, World, eventually},
};

async fn start_over(link: &Link, world: &World) -> Operators {
    let register = |builder| {
        let builder = operators::register_all(builder, operators::all());
        builder.register(recipe::config("cook"), recipe::handler())
    };
    world.start_over(link.connector(), register).await
}

async fn until_another(world: &World, kind: Kind, name: &str, old: &Value) {
    let uid = &old["metadata"]["uid"];
    let is_another = |now: &Value| now.is_object() && now["metadata"]["uid"] != *uid;
    world.until(kind, name, "the child created again", is_another).await;
}

#[operetta_harness::test(server)]
async fn a_child_deleted_while_the_watch_is_cut_and_its_event_compacted_away_comes_back() {
    let world = World::that_can_forget().await;
    let link = Link::to(&world.cluster).await;
    let operators = start_over(&link, &world).await;
    let children = [config_map("lost", json!({"salt": "much"})), config_map("kept", json!({}))];
    world.apply(RECIPE, recipe("r", &children)).await;
    world.apply(ECHO, json!({"metadata": {"name": "a"}, "spec": {"serviceName": "x"}})).await;
    world.until_ready(RECIPE, "r").await;
    world.until_synced(ECHO, "a").await;
    let lost = world.get(CONFIG_MAP, "lost").await;
    let kept = world.get(CONFIG_MAP, "kept").await;
    let (pod, service) = (world.get(POD, "a").await, world.get(SERVICE, "a").await);

    link.cut();
    for (kind, name) in [(CONFIG_MAP, "lost"), (POD, "a"), (SERVICE, "a")] {
        world.delete(kind, name).await;
        world.until(kind, name, "the child gone", Value::is_null).await;
    }
    world.cluster.forget_history().await;
    link.restore();

    until_another(&world, CONFIG_MAP, "lost", &lost).await;
    until_another(&world, POD, "a", &pod).await;
    until_another(&world, SERVICE, "a", &service).await;
    world.until_ready(RECIPE, "r").await;
    world.until_synced(ECHO, "a").await;
    assert_eq!(world.get(CONFIG_MAP, "kept").await, kept, "what was right is not written");
    let (_, metrics) = operators.http("/metrics").await;
    for ty in ["configmaps", "pods", "services"] {
        let expired = format!("watch_restarts_total{{reason=\"expired\",type=\"{ty}\"}}");
        assert!(counts(&metrics, &expired), "it was not listed again: {ty}\n{metrics}");
    }
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn parents_that_come_and_go_while_the_watch_is_cut_are_noticed() {
    let world = World::that_can_forget().await;
    let link = Link::to(&world.cluster).await;
    let operators = start_over(&link, &world).await;
    world.apply(RECIPE, recipe("goes", &[config_map("goes", json!({}))])).await;
    world.apply(RECIPE, recipe("changes", &[config_map("changes", json!({}))])).await;
    for name in ["goes", "changes"] {
        world.until_ready(RECIPE, name).await;
    }

    link.cut();
    world.delete(RECIPE, "goes").await;
    world.until(CONFIG_MAP, "goes", "its child collected", Value::is_null).await;
    let changed = recipe("changes", &[config_map("changes", json!({"salt": "much"}))]);
    world.apply(RECIPE, changed).await;
    world.apply(RECIPE, recipe("comes", &[config_map("comes", json!({}))])).await;
    world.cluster.forget_history().await;
    link.restore();

    for name in ["changes", "comes"] {
        world.until_ready(RECIPE, name).await;
    }
    assert_eq!(world.get(CONFIG_MAP, "changes").await["data"]["salt"], "much");
    assert!(world.get(CONFIG_MAP, "comes").await.is_object());
    let path = format!("/api/v1/operators/cook/parents/{}/goes", world.namespace);
    let is_forgotten = |(code, _): &(u16, String)| *code == 404;
    eventually("the parent forgotten", || operators.http(&path), is_forgotten).await;
    assert!(world.get(CONFIG_MAP, "goes").await.is_null(), "nothing is created for it again");
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_watch_that_is_only_cut_goes_on_from_where_it_was() {
    let world = World::new().await;
    let link = Link::to(&world.cluster).await;
    let operators = start_over(&link, &world).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    link.cut();
    world.delete(CONFIG_MAP, "c").await;
    link.restore();
    until_another(&world, CONFIG_MAP, "c", &child).await;
    world.until_ready(RECIPE, "r").await;
    let (_, metrics) = operators.http("/metrics").await;
    assert!(!counts(&metrics, "reason=\"expired\""), "it was listed again: {metrics}");
    operators.stop().await;
}
