//! What a new database has.

use super::*;

const BUDGET: Kind = Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets");
const AUTOSCALER: Kind =
    Kind("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers");
const NETWORK_POLICY: Kind = Kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies");

#[operetta_harness::test]
async fn a_new_database_becomes_ready_and_shows_how_to_connect() {
    let tenant = Tenant::start().await;
    let parent = tenant.create(standalone()).await;
    let (status, namespace) = (&parent["status"], &tenant.world.namespace);
    assert_eq!(status["endpoint"], format!("main.{namespace}.svc:5432"));
    assert_eq!(status["readEndpoint"], Value::Null);
    assert_eq!((&status["replicas"], &status["readyReplicas"]), (&json!(1), &json!(1)));
    assert_eq!(status["secretName"], "main-credentials");
    let secret = tenant.world.get(SECRET, "main-credentials").await;
    assert!(secret["data"]["password"].is_string() && secret["data"]["uri"].is_string());
    assert_eq!(tenant.names(POD).await, ["main-0"]);
    assert_eq!(tenant.names(SERVICE).await, ["main", "main-pods"]);
    assert_eq!(tenant.names(NETWORK_POLICY).await, ["main"]);
    assert!(tenant.names(BUDGET).await.is_empty(), "one replica has nothing to protect");
    tenant.operators.stop().await;
}

#[operetta_harness::test]
async fn three_replicas_have_a_service_for_reading_and_a_budget() {
    let tenant = Tenant::start().await;
    let parent = tenant.create(highly_available()).await;
    assert_eq!(parent["status"]["readyReplicas"], 3);
    assert!(parent["status"]["readEndpoint"].as_str().unwrap().starts_with("main-read."));
    assert_eq!(tenant.names(POD).await, ["main-0", "main-1", "main-2"]);
    assert_eq!(tenant.names(CLAIM).await, ["data-main-0", "data-main-1", "data-main-2"]);
    assert_eq!(tenant.names(SERVICE).await, ["main", "main-pods", "main-read"]);
    assert_eq!(tenant.names(BUDGET).await, ["main"]);
    tenant.operators.stop().await;
}

#[operetta_harness::test]
async fn copies_for_reading_come_and_go_and_their_number_is_that_of_the_autoscaler() {
    let tenant = Tenant::start().await;
    let copies = json!({"min": 1, "max": 4});
    tenant.create(with(standalone(), "readReplicas", copies)).await;
    assert_eq!(tenant.names(STATEFUL_SET).await, ["main", "main-copy"]);
    assert_eq!(tenant.names(AUTOSCALER).await, ["main-copy"]);
    // As an autoscaler does it.
    let scaled = json!({"spec": {"replicas": 2}});
    tenant.world.patch(STATEFUL_SET, "main-copy", scaled).await;
    tenant.world.until(POD, "main-copy-1", "another copy", Value::is_object).await;
    let parent = tenant.change(json!({"version": "17.7"})).await;
    let set = tenant.world.get(STATEFUL_SET, "main-copy").await;
    assert_eq!(set["spec"]["replicas"], 2, "nobody took it back");
    assert!(parent["status"]["readEndpoint"].is_string());
    tenant.change(json!({"readReplicas": null})).await;
    for (kind, name) in [(STATEFUL_SET, "main-copy"), (POD, "main-copy-0"), (SERVICE, "main-read")]
    {
        tenant.world.until(kind, name, "its end", Value::is_null).await;
    }
    tenant.operators.stop().await;
}

#[operetta_harness::test]
async fn the_password_is_never_written_again() {
    let tenant = Tenant::start().await;
    tenant.create(standalone()).await;
    let before = tenant.world.get(SECRET, "main-credentials").await;
    tenant.change(json!({"version": "17.7"})).await;
    let mine = json!({"data": {"password": "bWluZQ=="}});
    tenant.world.patch(SECRET, "main-credentials", mine).await;
    tenant.change(json!({"version": "17.6"})).await;
    let after = tenant.world.get(SECRET, "main-credentials").await;
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(after["data"]["password"], "bWluZQ==", "somebody's own password stays");
    assert_eq!(after["data"]["uri"], before["data"]["uri"]);
    tenant.operators.stop().await;
}
