//! Business hours begin and end, cannot be read, and go.

use super::*;

#[operetta_harness::test]
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

#[operetta_harness::test]
async fn a_restart_while_it_is_closed_writes_nothing_and_knows_what_it_had() {
    let world = World::new().await;
    deployment(&world, &closed(), 2).await;
    let operators = start(&world).await;
    until_scaled(&world, 0, "held-2-at-0").await;
    until_stated(&world, "scaled from 2 to 0").await;
    operators.settled().await;
    operators.stop().await;
    let before = world.get(DEPLOYMENT, "d").await;

    let operators = start(&world).await;
    operators.until_synced(NAME, &world.namespace, "d").await;
    operators.settled().await;
    assert_eq!(world.get(DEPLOYMENT, "d").await, before);
    set_hours(&world, json!(OPEN)).await;
    until_scaled(&world, 2, "").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn hours_that_cannot_be_read_are_reported_and_change_nothing() {
    let world = World::new().await;
    deployment(&world, &closed(), 2).await;
    let operators = start(&world).await;
    until_scaled(&world, 0, "held-2-at-0").await;
    set_hours(&world, json!("weekdays")).await;
    let is_reported = |events: &Vec<Value>| {
        let mut notes = events.iter().filter_map(|event| event["note"].as_str());
        notes.any(|note| {
            note.contains("business-hours is `weekdays`: it is not `DAYS BEGIN-END ZONE`")
        })
    };
    eventually("an Event", || world.list(EVENT), is_reported).await;
    operators.settled().await;
    until_scaled(&world, 0, "held-2-at-0").await;
    set_hours(&world, json!(OPEN)).await;
    until_scaled(&world, 2, "").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn without_the_annotation_a_closed_deployment_gets_back_what_it_had_and_keeps_nothing() {
    let world = World::new().await;
    deployment(&world, &closed(), 2).await;
    let operators = start(&world).await;
    until_scaled(&world, 0, "held-2-at-0").await;
    set_hours(&world, Value::Null).await;
    let left = until_scaled(&world, 2, "").await;
    assert!(left["metadata"]["annotations"].get(STATE).is_none(), "{left}");
    world.until(BUDGET, "d", "no budget", Value::is_null).await;
    operators.stop().await;
}
