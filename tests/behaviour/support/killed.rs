//! A process of operators that is killed right after one of its writes.

use std::time::Duration;

use operetta::supervisor::SupervisorBuilder;
use operetta_apiserver::faults::{Fault, FaultPlan, Rule};

use crate::world::World;

/// How long a test waits for the write.
const DEADLINE: Duration = Duration::from_mins(1);

/// Starts operators and kills them at the first patch of this object: it takes effect, its reply is not read, and
/// no further request reaches the server.
pub(crate) async fn killed_at_patch(
    world: &World,
    (resource, name): (&str, &str),
    register: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
) {
    let plan = FaultPlan::new();
    let rule = Rule::new(Fault::HoldReply).verb("patch").resource(resource).name(name);
    let held = plan.add(rule.namespace(&world.namespace).times(1));
    let operators = world.start_over(world.cluster.connector_through(&plan), register).await;
    let reached = tokio::time::timeout(DEADLINE, held.until_hits(1)).await;
    reached.unwrap_or_else(|_| panic!("{resource}/{name} was not written"));
    for verb in ["get", "list", "patch", "delete", "create"] {
        plan.add(Rule::new(Fault::refuse(503)).verb(verb));
    }
    held.end();
    operators.stop().await;
}
