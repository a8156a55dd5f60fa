//! Which children of one parent are written concurrently.

use super::*;
use crate::{
    recipe::{config_map, recipe},
    world::SECRET,
};

fn secret() -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "after"}})
}

#[operetta_harness::test]
async fn children_of_one_type_are_written_together_and_those_of_another_after_them() {
    let faults = Faults::start().await;
    let rule = Rule::new(Fault::HoldRequest).verb("patch").resource("configmaps").from_nth(2);
    let held = faults.add(rule);
    let mut children: Vec<_> =
        (0..15).map(|number| config_map(&format!("c{number}"), json!({}))).collect();
    children.push(secret());
    faults.world.apply(RECIPE, recipe("r", &children)).await;
    until_hits(&held, 2).await;
    assert_eq!(faults.writes("configmaps", "c0"), 1, "the first one is written alone");
    assert!(faults.world.get(SECRET, "after").await.is_null(), "the next type waits");
    held.end();
    let parent = faults.until_settled("r").await;
    assert!(faults.world.get(SECRET, "after").await.is_object(), "{parent}");
    let written = (0..15).map(|number| faults.writes("configmaps", &format!("c{number}")));
    assert_eq!(written.sum::<usize>() + held.hits(), 15, "each child once");
    faults.end().await;
}
