//! One parent with many children.

use std::time::Duration;

use operetta::prelude::*;
use operetta_apiserver::faults::{Fault, FaultPlan, Rule};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, World},
};

const CHILDREN: usize = 1_000;

/// Far longer than so many sequential writes take.
const DEADLINE: Duration = Duration::from_mins(5);

/// The parent `large` has many children, each other parent one.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let name = request.parent.name();
    let count = if name == "large" { CHILDREN } else { 1 };
    let child = |number| config_map(&format!("{name}-{number}"), json!({"of": name}));
    Ok(SyncResponse::status(json!({})).children((0..count).map(child).collect::<Vec<_>>()))
}

/// How many writes of children and of statuses were sent.
fn writes(plan: &FaultPlan) -> (usize, usize) {
    let decisions = plan.decisions();
    let of = |resource: &str| {
        let is_write = |verb: &str| !["get", "list", "watch"].contains(&verb);
        let about = decisions.iter().map(|decision| &decision.target);
        about.filter(|about| about.resource == resource && is_write(&about.verb)).count()
    };
    (of("configmaps"), of("recipes/status"))
}

#[operetta_harness::test]
async fn a_parent_with_very_many_children_is_held_up_by_none_and_holds_up_nobody() {
    let world = World::new().await;
    let plan = FaultPlan::new();
    let config = recipe::config("cook");
    let connector = world.cluster.connector_through(&plan);
    let operators = world.start_over(connector, |all| all.register(config, sync)).await;
    let last = format!("large-{}", CHILDREN - 1);
    let rule = Rule::new(Fault::HoldRequest).verb("patch").resource("configmaps").name(&last);
    let held = plan.add(rule.namespace(&world.namespace));
    world.create(RECIPE, recipe("large", &[])).await;
    tokio::time::timeout(DEADLINE, held.until_hits(1)).await.expect("the last child in time");
    // Its reconcile is still in progress.
    world.create(RECIPE, recipe("other", &[])).await;
    world.until_ready(RECIPE, "other").await;
    assert!(world.get(RECIPE, "large").await["status"].is_null());
    held.end();
    world.until_ready(RECIPE, "large").await;
    operators.until_all_synced(2).await;
    operators.settled().await;
    assert_eq!(
        world.list(CONFIG_MAP).await.iter().filter(|it| is_of(it, "large")).count(),
        CHILDREN
    );
    assert_eq!(writes(&plan), (CHILDREN + 1, 2), "one for each child, and one for each status");

    world.patch(CONFIG_MAP, "large-7", json!({"data": {"of": "somebody"}})).await;
    world.until(CONFIG_MAP, "large-7", "repaired", |it| is_of(it, "large")).await;
    world.delete(CONFIG_MAP, "large-8").await;
    world.until(CONFIG_MAP, "large-8", "back", |it| is_of(it, "large")).await;
    operators.until_all_synced(2).await;
    operators.settled().await;
    assert_eq!(writes(&plan), (CHILDREN + 3, 2), "one for each child that changed");
    operators.stop().await;
}

fn is_of(child: &Value, parent: &str) -> bool {
    child["data"]["of"] == parent
}
