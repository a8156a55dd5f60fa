//! A Lease that cannot be used: nobody leads, and this is shown.

use operetta::testkit::TestCluster;
use operetta_apiserver::faults::{Fault, FaultPlan, Rule};

use super::*;
use crate::{
    recipe::{RECIPE, recipe},
    world::eventually,
};

const MINUTE: Duration = Duration::from_mins(1);

#[operetta_harness::test]
async fn a_process_that_cannot_use_the_lease_for_two_minutes_is_degraded_until_it_can() {
    let cluster = TestCluster::start();
    let world = World::of(cluster.server()).await;
    let plan = FaultPlan::new();
    let refused = plan.add(Rule::new(Fault::refuse(403)).resource("leases"));
    let connector = world.cluster.connector_through(&plan);
    let set_up = |builder: SupervisorBuilder| {
        let builder = builder.connect(connector).serve("127.0.0.1:0");
        let elected = builder.leader_election(election(&world).as_identity("first"));
        elected.register(recipe::config("cook"), recipe::handler())
    };
    let (running, clock) = cluster.run_with_clock(set_up).await.unwrap();
    let operators = Operators::new(running);
    refused.until_hits(2).await;
    let ready = || operators.http("/readyz/cook?verbose");
    let is_good = |(code, body): &(u16, String)| *code == 200 && body.contains("[+]operator/cook");
    eventually("a short trouble", ready, is_good).await;
    clock.advance(3 * MINUTE).await;
    let why = format!("the Lease {}/cooks cannot be used", world.namespace);
    let is_bad = |(code, body): &(u16, String)| {
        *code == 503 && body.contains("[-]operator/cook degraded") && body.contains(&why)
    };
    eventually("degraded", ready, is_bad).await;
    let up = |is_up: u8| format!("operetta_operator_up{{operator=\"cook\"}} {is_up}\n");
    let metrics = || operators.http("/metrics");
    eventually("the metric", metrics, |(_, body)| body.contains(&up(0))).await;
    refused.end();
    clock.advance(MINUTE).await;
    world.apply(RECIPE, recipe("r", &[])).await;
    world.until_ready(RECIPE, "r").await;
    eventually("all well", ready, is_good).await;
    eventually("the metric", metrics, |(_, body)| body.contains(&up(1))).await;
    operators.stop().await;
}
