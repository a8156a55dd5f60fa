//! What a new database has.

use super::*;

const BUDGET: Kind = Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets");
const AUTOSCALER: Kind =
    Kind("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers");
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
    let parent = tenant.change(json!({"version": {"major": 17, "minor": 7}})).await;
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
