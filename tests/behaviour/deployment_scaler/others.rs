//! Somebody else scales the Deployment, or has a budget for its Pods.

use super::*;

#[operetta_harness::test]
async fn replicas_that_a_user_sets_while_it_is_closed_stay_until_the_next_hours() {
    let world = World::new().await;
    deployment(&world, &closed(), 2).await;
    let operators = start(&world).await;
    until_scaled(&world, 0, "held-2-at-0").await;
    scale(&world, 5).await;
    until_scaled(&world, 5, "overridden-2-at-0").await;
    until_stated(&world, "scaled to 5 by somebody else, which stays until then").await;
    world.until(BUDGET, "d", "the budget", Value::is_object).await;
    scale(&world, 0).await;
    until_scaled(&world, 0, "held-2-at-0").await;
    scale(&world, 4).await;
    until_scaled(&world, 4, "overridden-2-at-0").await;

    set_hours(&world, json!(OPEN)).await;
    until_scaled(&world, 4, "").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_deployment_without_replicas_stays_so() {
    let world = World::new().await;
    deployment(&world, &closed(), 0).await;
    let operators = start(&world).await;
    until_scaled(&world, 0, "held-0-at-0").await;
    until_stated(&world, "it had no replicas").await;
    set_hours(&world, json!(OPEN)).await;
    until_scaled(&world, 0, "").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn no_budget_is_added_beside_one_of_somebody_else() {
    let world = World::new().await;
    let selector = json!({"matchLabels": {"app": "d"}});
    let body =
        json!({"metadata": {"name": "theirs"}, "spec": {"selector": selector, "minAvailable": 1}});
    world.create(BUDGET, body).await;
    deployment(&world, OPEN, 2).await;
    let operators = start(&world).await;
    until_stated(&world, "the PodDisruptionBudget theirs has these Pods, so none is added").await;
    operators.settled().await;
    assert!(world.get(BUDGET, "d").await.is_null());
    world.delete(BUDGET, "theirs").await;
    world.until(BUDGET, "d", "the budget", Value::is_object).await;
    until_stated(&world, "always open").await;
    operators.stop().await;
}
