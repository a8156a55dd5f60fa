//! Objects are written again, by the process that leads, at its pace.

use std::num::NonZeroU32;

use kube::api::ListParams;
use operetta::supervisor::Migration;
use operetta_apiserver::faults::{Fault, FaultPlan, Rule};

use super::*;

#[operetta_harness::test(server)]
async fn all_objects_are_written_again_and_the_old_version_leaves_the_crd() {
    let shop = Shop::with(&[("a", "1"), ("b", "2"), ("c", "3")]).await;
    let process = shop.world.start(shop.process()).await;
    assert_eq!(migration(&process).await, Value::Null, "there is nothing to do");
    shop.store("v1").await;
    until_shown(&process, "the begin", |shown| shown["state"] == "running").await;
    let (_, page) = process.http("/ui/operators/shelves").await;
    assert!(page.contains("migrating from v1alpha1 to v1: 0 done"), "{page}");
    shop.until_migrated().await;
    let shown = until_shown(&process, "the end", |shown| shown["state"] == "complete").await;
    assert_eq!(
        (&shown["done"], &shown["remaining"], &shown["message"]),
        (&json!(3), &json!(0), &json!("migrated from v1alpha1 to v1: 3 objects"))
    );
    until_counted(&process, "written", 3).await;
    process.stop().await;
    shop.until_the_old_version_is_gone(&[1, 2, 3]).await;
    shop.end().await;
}

#[operetta_harness::test]
async fn a_standby_writes_nothing_and_takes_over_in_the_middle() {
    let shop = Shop::with(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]).await;
    shop.store("v1").await;
    let plan = FaultPlan::new();
    let held =
        plan.add(Rule::new(Fault::HoldRequest).verb("update").resource("shelves").from_nth(3));
    let connector = shop.world.cluster.connector_through(&plan);
    let first = shop.world.start_over(connector, shop.elected("first")).await;
    let second = shop.world.start(shop.elected("second")).await;
    eventually("the writes that are held", || async { held.hits() }, |hits| *hits == 2).await;
    until_counted(&first, "written", 2).await;
    let versions = async || {
        let list = shop.api::<v1::Shelf>().list(&ListParams::default()).await.unwrap();
        list.into_iter().map(|it| it.metadata.resource_version.unwrap()).collect::<Vec<_>>()
    };
    let before = versions().await;
    until_counted(&second, "written", 0).await;
    assert_eq!(migration(&second).await, Value::Null, "the leader knows it");
    assert_eq!(shop.stored_versions().await, json!(["v1alpha1", "v1"]));
    first.stop().await;
    shop.until_migrated().await;
    until_counted(&second, "written", 4).await;
    let after = versions().await;
    let same = before.iter().filter(|version| after.contains(version)).count();
    assert_eq!(same, 2, "what was written before stays as it is: {before:?}, {after:?}");
    second.stop().await;
    shop.until_the_old_version_is_gone(&[1, 2, 3, 4]).await;
    shop.end().await;
}

#[operetta_harness::test]
async fn in_plan_mode_nothing_is_migrated() {
    let shop = Shop::with(&[("a", "1")]).await;
    shop.store("v1").await;
    let plan = FaultPlan::new();
    let connector = shop.world.cluster.connector_through(&plan);
    let process = shop.process();
    let planning = shop.world.start_over(connector, |builder| process(builder.plan_only())).await;
    // Another process has the time of a migration.
    let migrating = shop.world.start(shop.process()).await;
    shop.until_migrated().await;
    let decisions = plan.decisions();
    let writes: Vec<_> = decisions.iter().filter(|it| it.target.verb == "update").collect();
    assert!(writes.is_empty(), "{writes:?}");
    assert_eq!(migration(&planning).await, Value::Null);
    planning.stop().await;
    migrating.stop().await;
    shop.end().await;
}

#[operetta_harness::test]
async fn a_bounded_pace_and_by_hand_are_what_the_program_says() {
    let shop = Shop::with(&[("a", "1"), ("b", "2"), ("c", "3")]).await;
    let idle = shop.process();
    let by_hand =
        shop.world.start(|builder| idle(builder).migration(Migration::per_second(0))).await;
    shop.store("v1").await;
    let slow = Migration::Automatic { per_second: NonZeroU32::new(1).unwrap() };
    let process = shop.process();
    let process = shop.world.start(|builder| process(builder).migration(slow)).await;
    let half = |shown: &Value| shown["done"].as_u64().is_some_and(|done| (1..3).contains(&done));
    let shown = until_shown(&process, "the middle", half).await;
    let (done, remaining) = (shown["done"].as_u64().unwrap(), shown["remaining"].as_u64().unwrap());
    assert_eq!(done + remaining, 3, "{shown}");
    shop.until_migrated().await;
    assert_eq!(migration(&by_hand).await, Value::Null);
    by_hand.stop().await;
    process.stop().await;
    shop.end().await;
}
