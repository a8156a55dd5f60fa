//! The generated permissions are those that the operators need: with them nothing is denied, and each of them is
//! used. A request names its verb and its resource, so it would be denied without them: that is tried with one of
//! each verb.
//!
//! ```text
//!   grant    one verb on one resource; which of them a request needs
//!   answers  what the API server answered to the operators
//!   account  the ServiceAccount of the operators, with its roles or less
//!   life     what the operators do meanwhile
//!   users    the roles of users of the web endpoint
//! ```
//!
//! For each removed permission the embedded server starts again. The real control plane gets another namespace.

mod account;
mod answers;
mod grant;
mod life;
mod users;

use std::{collections::BTreeSet, slice, time::Duration};

use futures::{StreamExt, stream};
use operetta::{election::LeaderElection, prelude::*, supervisor::SupervisorBuilder, web::Auth};

use self::{answers::Answers, grant::Grant, life::Life};
use crate::{needs::Chosen, world::World};

/// How many embedded servers run at once.
const SERVERS: usize = 3;

/// As the Deployment of two replicas runs them, with a shorter time between renewals, a Lease of its own and no Pod to
/// label.
fn deployed(builder: SupervisorBuilder, lease: &str) -> SupervisorBuilder {
    let election = LeaderElection::new(lease).with_retry_period(Duration::from_millis(500));
    let builder = builder.leader_election(election).auth(Auth::delegated());
    operators::register_all(builder, operators::all())
}

/// A life of the operators with less than what is generated.
async fn live_without(world: &World, removed: &[Grant], answers: &Answers) {
    account::grant_without(world, removed).await;
    let token = account::user(world, "visitor", "operetta-commander").await;
    let connector = account::connector(world, answers).await;
    let deployed = |builder| deployed(builder, &world.namespace);
    let operators = world.launch_over(connector, deployed).await;
    Box::pin(Life { world, operators: &operators, token: &token }.live()).await;
    operators.stop().await;
}

/// Whether something is denied in a life without this permission.
async fn is_denied_without(removed: Grant) -> bool {
    let (world, answers) = (World::with_roles().await, Answers::new());
    tokio::select! {
        // Who notices that something is denied does not live on.
        biased;
        () = answers.until_denied() => true,
        () = live_without(&world, slice::from_ref(&removed), &answers) => !answers.denied().is_empty(),
    }
}

/// What is removed, one after the other: one of each verb on objects, and on each subresource.
fn removals() -> Vec<Grant> {
    let is_enforced =
        |it: &Grant| Chosen::from_environment() != Chosen::Embedded || !it.is_of_owner_references();
    let mut kinds = BTreeSet::new();
    let all = grant::rules().concat().into_iter().filter(is_enforced);
    all.filter(|grant| kinds.insert(grant.kind())).collect()
}

#[operetta_harness::test(server)]
async fn with_the_generated_permissions_nothing_is_denied_and_each_of_them_is_used() {
    let world = World::with_roles().await;
    let answers = Answers::new();
    live_without(&world, &[], &answers).await;
    assert!(answers.denied().is_empty(), "{:#?}", answers.denied());
    let granted: BTreeSet<Grant> = grant::rules().concat().into_iter().collect();
    let used = answers.used();
    let unused = granted.difference(&used).filter(|it| !it.is_of_owner_references());
    let unused: Vec<_> = unused.map(ToString::to_string).collect();
    assert!(unused.is_empty(), "{unused:#?}");
}

#[operetta_harness::test]
async fn without_one_of_any_kind_something_is_denied() {
    let needed = stream::iter(removals()).map(|removed| async move {
        // In a task of its own, so that what does not end well is named.
        let denied = tokio::spawn(is_denied_without(removed.clone())).await;
        (removed, denied.map_err(|error| error.to_string()))
    });
    let needed: Vec<_> = needed.buffer_unordered(SERVERS).collect().await;
    let is_unneeded = |(removed, denied): (Grant, Result<bool, String>)| {
        (denied != Ok(true)).then(|| format!("{removed}: {denied:?}"))
    };
    assert!(needed.len() > 6, "{needed:#?}");
    let unneeded: Vec<_> = needed.into_iter().filter_map(is_unneeded).collect();
    assert!(unneeded.is_empty(), "nothing was denied without {unneeded:#?}");
}

#[operetta_harness::test]
fn no_permission_is_generated_twice() {
    let all = grant::rules().concat();
    let different: BTreeSet<_> = all.iter().collect();
    assert_eq!(all.len(), different.len(), "{all:#?}");
}
