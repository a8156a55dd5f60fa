//! Registration with a leader election, and with related objects.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use operetta::{
    election::LeaderElection,
    object::Object,
    operator::{Related, with_related},
    supervisor::OnRemoval,
};

use super::*;
use crate::world::{LEASE, eventually};

#[operetta_harness::test(server)]
async fn a_later_operator_has_its_own_lease_and_gives_it_back() {
    let world = World::new().await;
    let election = || LeaderElection::new("kitchen").in_namespace(&world.namespace).per_operator();
    let start = |builder: operetta::supervisor::SupervisorBuilder| {
        builder.leader_election(election()).expect_registrations()
    };
    let operators = world.start(start).await;
    register_cook(&operators).await;
    cooked(&world, "r").await;
    assert!(operators.http("/metrics").await.1.contains("kitchen-cook"));
    operators.running().registrar().deregister("cook", OnRemoval::Leave).await.unwrap();
    let lease = || world.get(LEASE, "kitchen-cook");
    let is_free = |lease: &Value| lease["spec"]["holderIdentity"].as_str().unwrap_or("").is_empty();
    eventually("the Lease given back", lease, is_free).await;
    assert!(!operators.http("/metrics").await.1.contains("kitchen-cook"));
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_later_operator_works_while_its_process_leads() {
    let world = World::new().await;
    let election = LeaderElection::new("kitchen").in_namespace(&world.namespace);
    let operators =
        world.start(|builder| builder.leader_election(election).expect_registrations()).await;
    register_cook(&operators).await;
    cooked(&world, "r").await;
    assert!(operators.http("/api/v1/operators/cook").await.1.contains("kitchen"));
    operators.running().registrar().deregister("cook", OnRemoval::Leave).await.unwrap();
    register_cook(&operators).await;
    cooked(&world, "q").await;
    operators.stop().await;
}

/// Reads the Secret of its parent's name.
fn reading() -> OperatorConfig {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new("reader", parent)
        .child::<ConfigMap>(ChildConfig::apply())
        .related::<Secret>()
}

#[operetta_harness::test]
async fn the_watches_of_related_objects_come_and_go_with_their_readers() {
    let world = World::new().await;
    let operators = with_echo_server(&world).await;
    let related = |parent: &Object| Related::new().named::<Secret>(&*parent.key().name);
    let handler = with_related(recipe::sync, related);
    let registrar = operators.running().registrar();
    registrar.register(reading(), handler).await.unwrap();
    cooked(&world, "r").await;
    assert!(operators.http("/metrics").await.1.contains("of=\"secrets\""));
    registrar.deregister("reader", OnRemoval::Leave).await.unwrap();
    let metrics = operators.http("/metrics").await.1;
    assert!(!metrics.contains("secrets"), "{metrics}");
    assert!(!operators.http("/livez?verbose").await.1.contains("secrets"));
    operators.stop().await;
}
