//! A server that was restored from a backup: its versions go back.

use operetta::{supervisor::Timeouts};

use super::*;
use crate::{
    needs::{Need, needs},
    recipe::{config_map, recipe},
};

/// Watches that notice soon that they hear nothing.
fn attentive(lists: Lists, builder: SupervisorBuilder) -> SupervisorBuilder {
    let timeouts = Timeouts { silence: Duration::from_millis(500), ..Timeouts::default() };
    lists.set_up(builder.with_timeouts(timeouts))
}

#[operetta_harness::test]
async fn a_restored_backup_is_noticed_and_nothing_is_deleted_for_it() {
    needs(Need::Backup);
    for lists in Lists::BOTH {
        a_restored_backup(lists).await;
    }
}

async fn a_restored_backup(lists: Lists) {
    let set_up = |builder: SupervisorBuilder| attentive(lists, builder);
    let faults = Faults::start_with(FaultPlan::new(), set_up).await;
    let world = &faults.world;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "old"}))])).await;
    faults.until_well("r").await;
    let (backup, old) = (world.cluster.backup().await, world.get(CONFIG_MAP, "c").await);
    for salt in 0..10 {
        let children =
            [config_map("c", json!({"salt": salt.to_string()})), config_map("d", json!({}))];
        world.apply(RECIPE, recipe("r", &children)).await;
        faults.until_well("r").await;
    }
    world.cluster.restore(backup).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, old);
    assert!(world.get(CONFIG_MAP, "d").await.is_null());
    // What is asked of the restored parent is done, but for deletions: they are held for a while.
    world.apply(RECIPE, recipe("r", &[config_map("e", json!({}))])).await;
    world.until(CONFIG_MAP, "e", "the new child", Value::is_object).await;
    faults.until_said("r", "its deletion waits").await;
    faults.until_warned("r", "deletion waits until all objects of ").await;
    for ty in ["configmaps", "recipes.test.operetta.dev"] {
        faults.until_said_to_go_back(ty).await;
    }
    assert_eq!(world.get(CONFIG_MAP, "c").await, old, "it is neither written nor deleted");
    assert!(world.get(CONFIG_MAP, "d").await.is_null(), "nothing comes back from the cache");
    faults.end().await;
}

#[operetta_harness::test]
async fn what_was_held_for_a_restored_backup_is_deleted_when_that_is_over() {
    needs(Need::Backup);
    for lists in Lists::BOTH {
        deletions_are_released(lists).await;
    }
}

async fn deletions_are_released(lists: Lists) {
    let held_for = Duration::from_millis(200);
    let set_up =
        |builder: SupervisorBuilder| attentive(lists, builder.with_deletions_held_for(held_for));
    let faults = Faults::start_with(FaultPlan::new(), set_up).await;
    let world = &faults.world;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    faults.until_well("r").await;
    let backup = world.cluster.backup().await;
    for salt in 0..10 {
        let child = config_map("d", json!({"salt": salt.to_string()}));
        world.apply(RECIPE, recipe("r", &[child])).await;
        faults.until_well("r").await;
    }
    world.cluster.restore(backup).await;
    assert!(world.get(CONFIG_MAP, "c").await.is_object());
    world.apply(RECIPE, recipe("r", &[config_map("e", json!({}))])).await;
    world.until(CONFIG_MAP, "e", "the new child", Value::is_object).await;
    for ty in ["configmaps", "recipes.test.operetta.dev"] {
        let counted = [("type", ty)];
        faults.until_counted("operetta_version_regressions_total", &counted).await;
        let cache = format!("/api/v1/cache/{ty}");
        let is_over = |(_, body): &(u16, String)| body.contains("\"deletionsHeld\":false");
        eventually("the hold over", || faults.operators.http(&cache), is_over).await;
    }
    world.until(CONFIG_MAP, "c", "the child that is not wanted gone", Value::is_null).await;
    faults.until_well("r").await;
    faults.end().await;
}
