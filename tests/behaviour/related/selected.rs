//! Related objects by labels, and of their metadata alone.

use super::*;

fn labelled(name: &str, tier: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"tier": tier}}, "data": {"k": "v"}})
}

#[operetta_harness::test]
async fn objects_enter_and_leave_a_selection() {
    let world = World::new().await;
    let operators = world.start(register).await;
    world.apply(CONFIG_MAP, labelled("a", "gold")).await;
    world.apply(CONFIG_MAP, labelled("b", "tin")).await;
    world.apply(RECIPE, reading("r", json!({"labels": ["tier=gold"]}))).await;
    until_seen(&world, "r", "a=k").await;
    world.apply(CONFIG_MAP, labelled("b", "gold")).await;
    until_seen(&world, "r", "a=k b=k").await;
    world.apply(CONFIG_MAP, labelled("a", "tin")).await;
    until_seen(&world, "r", "b=k").await;
    world.apply(RECIPE, reading("r", json!({"labels": ["tier=tin"], "maps": ["b"]}))).await;
    until_seen(&world, "r", "a=k b=k").await;
    until_cached(&operators, "configmaps", 2).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn many_selections_share_one_watch_that_keeps_only_what_they_select() {
    let world = World::new().await;
    let operators = world.start(register).await;
    world.apply(CONFIG_MAP, labelled("other", "nobody")).await;
    for number in 0..25 {
        let name = format!("r{number}");
        world.apply(CONFIG_MAP, labelled(&format!("m{number}"), &name)).await;
        world.apply(RECIPE, reading(&name, json!({"labels": [format!("tier={name}")]}))).await;
    }
    for number in 0..25 {
        until_seen(&world, &format!("r{number}"), &format!("m{number}=k")).await;
    }
    until_cached(&operators, "configmaps", 25).await;
    world.apply(CONFIG_MAP, labelled("m7", "r8")).await;
    until_seen(&world, "r7", "").await;
    until_seen(&world, "r8", "m7=k m8=k").await;
    world.apply(CONFIG_MAP, labelled("other", "r9")).await;
    until_seen(&world, "r9", "m9=k other=k").await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn of_metadata_only_nothing_else_is_cached() {
    let world = World::new().await;
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new(READER, parent)
        .child::<ConfigMap>(ChildConfig::apply())
        .related_metadata::<Secret>()
        .related::<ConfigMap>();
    let operators = world.start(|builder| builder.register(config, handler())).await;
    world.apply(SECRET, secret("ca", &["a"])).await;
    world.apply(RECIPE, reading("r", json!({"secrets": ["ca"]}))).await;
    until_seen(&world, "r", "ca=").await;
    world.delete(SECRET, "ca").await;
    until_seen(&world, "r", "").await;
    operators.stop().await;
}
