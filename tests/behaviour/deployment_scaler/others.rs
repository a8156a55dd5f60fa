//! Somebody else scales the Deployment, or has a budget for its Pods.

use super::*;

#[operetta_harness::test(server)]
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
