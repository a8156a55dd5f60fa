//! A process of operators that is killed right after one of its writes: it takes effect, and no further request
//! reaches the server.

use std::time::Duration;

use operetta::supervisor::SupervisorBuilder;
use operetta_apiserver::faults::{Armed, Fault, FaultPlan, Rule};

use crate::world::{Operators, World};

/// How long a test waits for the write.
const DEADLINE: Duration = Duration::from_mins(1);

/// Starts operators and kills them at the first patch of this object.
pub(crate) async fn killed_at_patch(
    world: &World,
    (resource, name): (&str, &str),
    register: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
) {
    let plan = FaultPlan::new();
    let rule = Rule::new(Fault::HoldReply).verb("patch").resource(resource).name(name);
    let held = plan.add(rule.namespace(&world.namespace).times(1));
    let operators = world.start_over(world.cluster.connector_through(&plan), register).await;
    kill(operators, &plan, &held).await;
}

/// Starts operators and kills them at the n-th write of this kind that follows from a change.
pub(crate) async fn killed_at(
    world: &World,
    (verb, resource, nth): (&str, &str, usize),
    register: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
    change: impl AsyncFnOnce(),
) {
    let plan = FaultPlan::new();
    let operators = world.start_over(world.cluster.connector_through(&plan), register).await;
    operators.settled().await;
    let rule = Rule::new(Fault::HoldReply).verb(verb).resource(resource);
    let held = plan.add(rule.namespace(&world.namespace).from_nth(nth).times(1));
    change().await;
    kill(operators, &plan, &held).await;
}

async fn kill(operators: Operators, plan: &FaultPlan, held: &Armed) {
    let reached = tokio::time::timeout(DEADLINE, held.until_hits(1)).await;
    reached.unwrap_or_else(|_| panic!("{held:?} was not sent, but {}", writes(plan)));
    for verb in ["get", "list", "patch", "delete", "create"] {
        plan.add(Rule::new(Fault::refuse(503)).verb(verb));
    }
    held.end();
    operators.stop().await;
}

/// The writes so far, one after the other.
fn writes(plan: &FaultPlan) -> String {
    let targets = plan.decisions().into_iter().map(|decision| decision.target);
    let writes = targets.filter(|it| !["", "get", "list", "watch"].contains(&it.verb.as_str()));
    writes.map(|it| it.to_string()).collect::<Vec<_>>().join(", ")
}
