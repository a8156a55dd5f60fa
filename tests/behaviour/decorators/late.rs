//! A decorator that is registered when another operator has cached its parents already: what it put there in an earlier
//! process is known.

use super::*;

/// The operator that caches the Deployments first: the server does not know its selector, so that it sees all.
fn first(world: &World) -> DecoratorConfig {
    OperatorConfig::decorates::<Deployment>("first")
        .with_parent_annotations("test.operetta.dev/first")
        .within_namespace(&world.namespace)
        .child::<ConfigMap>(ChildConfig::apply())
}

/// Decorates `d`, stops, and starts again with another operator only, which caches `d` as it is after a change.
async fn after_an_earlier_process(world: &World, changed: Option<Value>) -> Operators {
    deployment(world, "d", Some(everything())).await;
    let operators = start(world).await;
    until_decorated(world, "d").await;
    operators.stop().await;
    if let Some(wanted) = changed {
        decorate(world, "d", wanted).await;
    }
    let first = first(world);
    let operators = world.start(|builder| builder.register(first, sync)).await;
    operators.settled().await;
    operators
}

async fn register_late(world: &World, operators: &Operators) {
    let registrar = operators.running().registrar();
    registrar.register(config("decorator", &world.namespace), sync).await.unwrap();
}

#[operetta_harness::test(server)]
async fn what_it_put_on_a_parent_that_is_deselected_now_is_removed() {
    let world = World::new().await;
    let operators = after_an_earlier_process(&world, Some(Value::Null)).await;
    register_late(&world, &operators).await;
    world.until(DEPLOYMENT, "d", "the decoration removed", is_bare).await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn what_it_no_longer_puts_there_is_removed() {
    let world = World::new().await;
    let operators = after_an_earlier_process(&world, Some(json!({}))).await;
    register_late(&world, &operators).await;
    world.until(DEPLOYMENT, "d", "the decoration removed", is_bare).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_parent_that_is_up_to_date_is_not_written() {
    let world = World::that_logs_requests().await;
    let operators = after_an_earlier_process(&world, None).await;
    let before = world.our_requests().await.len();
    register_late(&world, &operators).await;
    operators.until_synced("decorator", &world.namespace, "d").await;
    operators.settled().await;
    let writes = world.our_requests().await.split_off(before);
    let is_it = |it: &&Request| it.is_write() && it.resource == "deployments";
    let writes: Vec<_> = writes.iter().filter(is_it).collect();
    assert!(writes.is_empty(), "{writes:?}");
    operators.stop().await;
}
