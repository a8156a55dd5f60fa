//! The watches follow the operators that come and go, and the other operators do not notice.

use k8s_openapi::api::core::v1::{ConfigMap, Pod, ServiceAccount};
use operetta::supervisor::{OnRemoval, SupervisorBuilder};

use super::*;
use crate::world::{POD, eventually};

/// An operator that shares its child types with others, and has no parents.
fn account(name: &str) -> OperatorConfig {
    OperatorConfig::of::<ServiceAccount>(name)
        .with_parent_selector("test.operetta.dev/registration=yes")
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Pod>(ChildConfig::recreate())
}

#[operetta_harness::test]
async fn a_later_operator_opens_each_new_watch_once_and_replaces_a_shared_one_once() {
    let world = World::that_logs_requests().await;
    let before = world.our_requests().await.len();
    let operators = with_echo_server(&world).await;
    let reconciles = operators.reconciles("echo-server", &world.namespace, "a");
    register_cook(&operators).await;
    cooked(&world, "r").await;
    let registrar = operators.running().registrar();
    registrar.register(account("account"), recipe::handler()).await.unwrap();
    operators.running().settled().await;
    let requests = world.our_requests().await.split_off(before);
    for resource in ["echoservers", "recipes", "configmaps", "secrets", "serviceaccounts"] {
        assert_eq!(watches(&requests, resource), 1, "{resource}");
    }
    for resource in ["pods", "services"] {
        assert_eq!(watches(&requests, resource), 2, "{resource}");
    }
    let of_pods = requests.iter().filter(|it| it.resource == "pods" && it.verb == "watch");
    let selectors: Vec<_> = of_pods.map(Request::selector).collect();
    let managed_by = "app.kubernetes.io/managed-by in (echo-server)".to_owned();
    assert_eq!(selectors, [Some(managed_by), Some("operetta.dev/parent-uid".to_owned())]);
    assert_eq!(operators.reconciles("echo-server", &world.namespace, "a"), reconciles);

    // A watch that was replaced shows the children of all.
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"},
        "spec": {"containers": [{"name": "c", "image": "example.dev/none:1"}]},
    });
    world.apply(RECIPE, recipe("r", &[pod])).await;
    world.until_synced(RECIPE, "r").await;
    for name in ["a", "b"] {
        let pod = world.get(POD, name).await;
        world.delete_now(POD, name).await;
        let is_another =
            |now: &Value| now.is_object() && now["metadata"]["uid"] != pod["metadata"]["uid"];
        world.until(POD, name, "the pod created again", is_another).await;
    }
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_supervisor_that_expects_registrations_starts_without_operators_and_replaces_no_watch() {
    let world = World::that_logs_requests().await;
    let before = world.our_requests().await.len();
    let operators = world.start(SupervisorBuilder::expect_registrations).await;
    assert_eq!(operators.http("/readyz").await.0, 200);
    let registrar = operators.running().registrar();
    let (config, handler) = echo_server();
    registrar.register(config, handler).await.unwrap();
    world.apply(ECHO, json!({"metadata": {"name": "a"}, "spec": {"serviceName": "x"}})).await;
    world.until_synced(ECHO, "a").await;
    register_cook(&operators).await;
    cooked(&world, "r").await;
    operators.settled().await;
    let requests = world.our_requests().await.split_off(before);
    for resource in ["echoservers", "recipes", "configmaps", "pods", "services"] {
        assert_eq!(watches(&requests, resource), 1, "{resource}");
        assert_eq!(asked(&requests, resource, "list"), 1, "{resource}");
    }
    operators.stop().await;
}

#[operetta_harness::test]
async fn watches_that_nobody_needs_are_dropped_and_those_of_others_are_not_touched() {
    let world = World::that_logs_requests().await;
    let before = world.our_requests().await.len();
    let operators = with_echo_server(&world).await;
    register_cook(&operators).await;
    cooked(&world, "r").await;
    operators.running().settled().await;
    let reconciles = operators.reconciles("echo-server", &world.namespace, "a");
    let registrar = operators.running().registrar();
    registrar.deregister("cook", OnRemoval::Leave).await.unwrap();
    let (_, caches) = operators.http("/api/v1/cache").await;
    for resource in ["recipes", "configmaps", "secrets", "endpointslices"] {
        assert!(!caches.contains(resource), "{resource}: {caches}");
    }
    let (_, beats) = operators.http("/livez?verbose").await;
    assert!(!beats.contains("recipes") && !beats.contains("cook"), "{beats}");
    assert!(beats.contains("reflector/pods"), "{beats}");
    // The watch of pods is still the echo server's.
    world.delete_now(POD, "a").await;
    let count = || async { operators.reconciles("echo-server", &world.namespace, "a") };
    eventually("the deletion seen", count, |count| *count > reconciles).await;
    operators.running().settled().await;
    let requests = world.our_requests().await.split_off(before);
    assert_eq!((watches(&requests, "pods"), watches(&requests, "recipes")), (2, 1));
    operators.stop().await;
}
