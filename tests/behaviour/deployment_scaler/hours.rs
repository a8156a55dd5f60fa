//! Business hours begin and end, cannot be read, and go.

use super::*;

#[operetta_harness::test(server)]
async fn a_deployment_closes_and_opens_with_what_it_had() {
    let world = World::that_logs_requests().await;
    deployment(&world, OPEN, 2).await;
    let operators = start(&world).await;
    let budget = world.until(BUDGET, "d", "the budget", Value::is_object).await;
    assert_eq!(budget["spec"]["maxUnavailable"], 1);
    until_stated(&world, "always open").await;

    set_hours(&world, json!(closed())).await;
    until_scaled(&world, 0, "held-2-at-0").await;
    world.until(BUDGET, "d", "no budget", Value::is_null).await;
    until_stated(&world, "scaled from 2 to 0").await;

    set_hours(&world, json!(OPEN)).await;
    until_scaled(&world, 2, "").await;
    world.until(BUDGET, "d", "the budget again", Value::is_object).await;
    let mut scales = world.our_requests().await;
    scales.retain(|it| it.uri.contains("/deployments/d/scale"));
    assert!(scales.len() >= 2, "it is scaled through the subresource: {scales:#?}");
    operators.stop().await;
}
