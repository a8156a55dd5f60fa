//! A server that was restored from a backup: its versions regress.

use operetta::supervisor::Timeouts;

use super::*;
use crate::{
    needs::{Need, needs},
    recipe::{config_map, recipe},
};

/// With a short silence timeout of watches.
fn with_short_silence(lists: Lists, builder: SupervisorBuilder) -> SupervisorBuilder {
    let timeouts = Timeouts { silence: Duration::from_millis(500), ..Timeouts::default() };
    lists.set_up(builder.with_timeouts(timeouts))
}

#[operetta_harness::test(server)]
async fn a_restored_backup_is_noticed_and_nothing_is_deleted_for_it() {
    needs(Need::Backup);
    for lists in Lists::offered().await {
        a_restored_backup(lists).await;
    }
}

async fn a_restored_backup(lists: Lists) {
    let set_up = |builder: SupervisorBuilder| with_short_silence(lists, builder);
    let faults = Faults::start_with(FaultPlan::new(), set_up).await;
    let world = &faults.world;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "old"}))])).await;
    faults.until_settled("r").await;
    let (backup, old) = (world.cluster.backup().await, world.get(CONFIG_MAP, "c").await);
    for salt in 0..10 {
        let children =
            [config_map("c", json!({"salt": salt.to_string()})), config_map("d", json!({}))];
        world.apply(RECIPE, recipe("r", &children)).await;
        faults.until_settled("r").await;
    }
    world.cluster.restore(backup).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, old);
    assert!(world.get(CONFIG_MAP, "d").await.is_null());
    // The restored parent is reconciled, but deletions are held for a while.
    world.apply(RECIPE, recipe("r", &[config_map("e", json!({}))])).await;
    world.until(CONFIG_MAP, "e", "the new child", Value::is_object).await;
    faults.until_not_ready("r", "its deletion waits").await;
    faults.until_warned("r", "deletion waits until all objects of ").await;
    for ty in ["configmaps", "recipes.test.operetta.dev"] {
        faults.until_regression_reported(ty).await;
    }
    assert_eq!(world.get(CONFIG_MAP, "c").await, old, "it is neither written nor deleted");
    assert!(world.get(CONFIG_MAP, "d").await.is_null(), "nothing is created from the cache");
    faults.end().await;
}
