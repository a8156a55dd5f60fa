//! The next child is changed when the last one is ready, whatever happens meanwhile.

use super::*;

#[operetta_harness::test]
async fn the_next_child_is_changed_when_the_last_one_is_ready() {
    let world = World::new().await;
    let operators = started(&world, applied()).await;
    want(&world, "2").await;
    for (at, name) in NAMES.into_iter().enumerate() {
        until_at(&world, name, "2").await;
        if name != "c" {
            until_waiting(&world, &format!("/{name}: its value is not noted")).await;
        }
        let expected: Vec<_> = (0..3).map(|nth| json!(if nth > at { "1" } else { "2" })).collect();
        assert_eq!(values(&world).await, expected);
        note(&world, name, "2").await;
    }
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(condition(&parent, "Updated")["status"], "True", "{parent}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn children_are_recreated_one_by_one() {
    let world = World::new().await;
    let recreated = ChildConfig::recreate().rolling(Rolling::max_unavailable(1));
    let operators = started(&world, recreated).await;
    want(&world, "2").await;
    for (at, name) in NAMES.into_iter().enumerate() {
        until_at(&world, name, "2").await;
        let expected: Vec<_> = (0..3).map(|nth| json!(if nth > at { "1" } else { "2" })).collect();
        assert_eq!(values(&world).await, expected);
        note(&world, name, "2").await;
    }
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_new_spec_in_the_middle_of_a_rollout_takes_over() {
    let world = World::new().await;
    let operators = started(&world, applied()).await;
    want(&world, "2").await;
    until_at(&world, "a", "2").await;
    want(&world, "3").await;
    until_at(&world, "a", "3").await;
    until_waiting(&world, "/a: its value is not noted").await;
    assert_eq!(values(&world).await, ["3", "1", "1"]);
    roll_out(&world, &NAMES, "3").await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_child_that_somebody_deletes_in_the_middle_is_created_and_counts() {
    let world = World::new().await;
    let operators = started(&world, applied()).await;
    want(&world, "2").await;
    until_at(&world, "a", "2").await;
    until_waiting(&world, "/a: its value is not noted").await;
    world.delete(CONFIG_MAP, "c").await;
    until_at(&world, "c", "2").await;
    note(&world, "a", "2").await;
    until_waiting(&world, "/c: its value is not noted").await;
    assert_eq!(values(&world).await, ["2", "1", "2"]);
    note(&world, "c", "2").await;
    roll_out(&world, &["b"], "2").await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

/// Each change takes effect, and its reply is not read.
#[operetta_harness::test]
async fn a_process_that_is_killed_at_any_change_is_continued_by_the_next() {
    let world = World::new().await;
    started(&world, applied()).await.stop().await;
    want(&world, "2").await;
    for (at, name) in NAMES.into_iter().enumerate() {
        killed_at_patch(&world, (CONFIG_MAP.2, name), register(applied())).await;
        until_at(&world, name, "2").await;
        let operators = world.start(register(applied())).await;
        let waits = format!("/{name}: its value is not noted");
        if name != "c" {
            until_waiting(&world, &waits).await;
        }
        let expected: Vec<_> = (0..3).map(|nth| json!(if nth > at { "1" } else { "2" })).collect();
        assert_eq!(values(&world).await, expected);
        operators.stop().await;
        note(&world, name, "2").await;
    }
    let operators = world.start(register(applied())).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}
