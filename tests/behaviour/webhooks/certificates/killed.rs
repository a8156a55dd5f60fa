//! A process that is killed between two of its writes: others complete what it began.

use operetta_apiserver::faults::{Fault, FaultPlan, Rule};

use super::*;

/// An authority that is renewed while a test waits.
const SHORT: [Duration; 3] =
    [Duration::from_secs(24), Duration::from_secs(15), Duration::from_secs(4)];
/// How long it is until the last of its writes.
const DEADLINE: Duration = Duration::from_mins(1);

/// Starts a process and kills it right after its n-th write of this kind to the Secret, before it writes anything else.
async fn killed_at(world: &World, program: &str, (verb, nth): (&str, usize)) {
    let plan = FaultPlan::new();
    let rule = Rule::new(Fault::HoldReply).verb(verb).resource("secrets");
    let held = plan.add(rule.from_nth(nth).times(1));
    let builder = Supervisor::builder().connect(world.cluster.connector_through(&plan));
    let starting = tokio::spawn(replica(program, SHORT)(builder).start());
    let reached = tokio::time::timeout(DEADLINE, held.until_hits(1)).await;
    reached.expect("the Secret is written");
    for verb in ["get", "list", "watch", "patch", "update", "create"] {
        plan.add(Rule::new(Fault::refuse(503)).verb(verb));
    }
    held.end();
    // The first write belongs to the start, which then fails.
    if let Ok(running) = starting.await.unwrap() {
        running.stop().await.unwrap();
    }
}

/// Others begin with the Secret as it was left.
async fn completed(world: World, program: String) {
    let left = secret_of(&world, &program).await["data"].clone();
    assert!(left.is_object());
    let start = || world.start(replica(&program, LONG));
    let (first, second) = tokio::join!(start(), start());
    let sharing = Sharing { world, replicas: [first, second], program };
    sharing.configure().await;
    sharing.until_trusted().await;
    let load = Load::start(&sharing);
    let is_settled =
        |secret: &Value| authorities(secret) == 1 && secret["data"]["tls.crt"] != left["tls.crt"];
    eventually("one authority and what it signed", || sharing.secret(), is_settled).await;
    load.end().await;
    sharing.stop().await;
}

#[operetta_harness::test(server)]
async fn a_process_that_is_killed_before_its_authority_is_trusted_is_replaced_by_others() {
    let world = World::new().await;
    let program = format!("killed-{}", world.namespace);
    killed_at(&world, &program, ("create", 1)).await;
    let left = secret_of(&world, &program).await["data"].clone();
    let start = || world.start(replica(&program, LONG));
    let (first, second) = tokio::join!(start(), start());
    let sharing = Sharing { world, replicas: [first, second], program };
    sharing.configure().await;
    sharing.until_trusted().await;
    assert_eq!(sharing.secret().await["data"], left, "it is used as it is");
    sharing.stop().await;
}

/// The writes: a serving certificate, another authority, and what that signs.
#[operetta_harness::test]
async fn a_renewal_is_completed_when_the_process_is_killed_with_two_authorities() {
    let world = World::new().await;
    let program = format!("renewing-{}", world.namespace);
    killed_at(&world, &program, ("update", 2)).await;
    assert_eq!(authorities(&secret_of(&world, &program).await), 2);
    completed(world, program).await;
}

#[operetta_harness::test]
async fn a_renewal_is_completed_when_the_process_is_killed_with_what_another_authority_signed() {
    let world = World::new().await;
    let program = format!("signing-{}", world.namespace);
    killed_at(&world, &program, ("update", 3)).await;
    assert_eq!(authorities(&secret_of(&world, &program).await), 2);
    completed(world, program).await;
}
