//! The process is killed after each write in the life of a decorated parent: the next process brings it to the
//! same end.

use operetta_apiserver::faults::{Fault, FaultPlan, Rule};

use super::*;
use crate::cluster::Request;

/// A write: verb, type, and how many of these were before it.
type Write = (String, String, usize);

/// The states of a life, each with what is asked for and whether it is reached.
async fn live(world: &World, step: usize) {
    match step {
        0 => drop(deployment(world, "d", Some(everything())).await),
        1 => {
            let wanted = json!({"labels": {LABEL: "green"}, "children": ["extra", "more"]});
            decorate(world, "d", wanted).await;
        }
        _ => decorate(world, "d", Value::Null).await,
    }
}

async fn until_reached(world: &World, step: usize) {
    match step {
        0 => drop(until_decorated(world, "d").await),
        1 => {
            let is_it = |it: &Value| {
                has_label("green")(it) && it["metadata"]["annotations"].get(NOTE).is_none()
            };
            world.until(DEPLOYMENT, "d", "the change", is_it).await;
            world.until(CONFIG_MAP, "more", "the second child", Value::is_object).await;
        }
        _ => {
            world.until(DEPLOYMENT, "d", "nothing left", is_bare).await;
            for name in ["extra", "more"] {
                world.until(CONFIG_MAP, name, "the child deleted", Value::is_null).await;
            }
        }
    }
}

const STEPS: usize = 3;

fn is_of_decorator(request: &Request) -> bool {
    request.is_write() && ["deployments", "configmaps"].contains(&request.resource.as_str())
}

/// The writes of each step of an undisturbed life.
async fn undisturbed() -> Vec<(usize, Write)> {
    let world = World::that_logs_requests().await;
    let operators = start(&world).await;
    let (mut all, mut seen) = (Vec::new(), 0);
    for step in 0..STEPS {
        live(&world, step).await;
        until_reached(&world, step).await;
        let is_here = |it: &Request| it.namespace() == Some(world.namespace.as_str());
        let requests = world.our_requests().into_iter();
        let requests: Vec<_> = requests.filter(|it| is_of_decorator(it) && is_here(it)).collect();
        let mut counted = std::collections::BTreeMap::new();
        for request in &requests[seen..] {
            let kind = (request.verb.clone(), request.resource.clone());
            let nth = counted.entry(kind).and_modify(|count| *count += 1).or_insert(1);
            all.push((step, (request.verb.clone(), request.resource.clone(), *nth)));
        }
        seen = requests.len();
    }
    operators.stop().await;
    all
}

/// The write takes effect, its reply is not read, and no further request reaches the server.
async fn killed_at(world: &World, (verb, resource, nth): &Write, act: impl AsyncFnOnce()) {
    let plan = FaultPlan::new();
    let operators = world.start_over(world.cluster.connector_through(&plan), register(world)).await;
    let rule = Rule::new(Fault::HoldReply).verb(verb).resource(resource);
    let held = plan.add(rule.namespace(&world.namespace).from_nth(*nth).times(1));
    act().await;
    let reached = tokio::time::timeout(Duration::from_mins(1), held.until_hits(1)).await;
    reached.unwrap_or_else(|_| panic!("{verb} {resource} {nth} was not sent"));
    for verb in ["get", "list", "patch", "delete", "create"] {
        plan.add(Rule::new(Fault::refuse(503)).verb(verb));
    }
    held.end();
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_crash_after_any_write_of_a_decorator_does_not_change_the_result() {
    let writes = undisturbed().await;
    assert!(writes.len() >= 6, "{writes:?}");
    for (step, write) in writes {
        let world = World::new().await;
        let operators = start(&world).await;
        for earlier in 0..step {
            live(&world, earlier).await;
            until_reached(&world, earlier).await;
        }
        if step > 0 {
            operators.until_synced("decorator", &world.namespace, "d").await;
        }
        operators.stop().await;
        killed_at(&world, &write, async || live(&world, step).await).await;
        let operators = start(&world).await;
        until_reached(&world, step).await;
        for later in step + 1..STEPS {
            live(&world, later).await;
            until_reached(&world, later).await;
        }
        operators.stop().await;
    }
}
