//! Of two processes with the same operators, one works.

mod handing_over;
mod label;
mod lease;
mod lost;
mod standby;

use std::time::Duration;

use operetta::{election::LeaderElection, supervisor::SupervisorBuilder};
use serde_json::Value;

use crate::{
    recipe,
    world::{LEASE, Operators, World},
};

/// A process of two, which answers to this name.
async fn process(world: &World, identity: &str) -> Operators {
    with(world, election(world).as_identity(identity)).await
}

async fn with(world: &World, election: LeaderElection) -> Operators {
    world
        .start(|builder| {
            builder.leader_election(election).register(recipe::config("cook"), recipe::handler())
        })
        .await
}

/// With shorter times than the defaults, so that a test does not wait for long.
fn election(world: &World) -> LeaderElection {
    let seconds = Duration::from_secs;
    LeaderElection::new("cooks")
        .in_namespace(&world.namespace)
        .with_lease_duration(seconds(4))
        .with_renew_deadline(seconds(3))
        .with_retry_period(Duration::from_millis(500))
}

/// Waits until this process leads.
async fn until_led_by(world: &World, identity: &str) -> Value {
    let is_holder = |lease: &Value| lease["spec"]["holderIdentity"] == identity;
    world.until(LEASE, "cooks", "the holder of the Lease", is_holder).await
}
