//! `programs/queue_worker.rs`: a pair of functions with a Pod and a Service.

use std::fs;

use kube::config::Kubeconfig;
use serde_json::{Value, json};

use crate::{cluster::Temporary, program::Program, world::World};

const PROGRAM: &str = env!("CARGO_BIN_EXE_queue-worker");
const CORE: &str = "/api/v1/namespaces";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

/// The paths of a worker and of its children.
struct Paths {
    workers: String,
    worker: String,
    pod: String,
    service: String,
}

impl Paths {
    fn in_namespace(namespace: &str) -> Self {
        let workers = format!("/apis/programs.operetta.dev/v1/namespaces/{namespace}/workers");
        Self {
            worker: format!("{workers}/orders"),
            workers,
            pod: format!("{CORE}/{namespace}/pods/orders"),
            service: format!("{CORE}/{namespace}/services/orders"),
        }
    }
}

fn worker() -> Value {
    json!({
        "apiVersion": "programs.operetta.dev/v1", "kind": "Worker",
        "metadata": {"name": "orders"}, "spec": {"queue": "incoming", "atOnce": 4},
    })
}

fn uid(object: &Value) -> &Value {
    &object["metadata"]["uid"]
}

fn arguments(pod: &Value) -> &Value {
    &pod["spec"]["containers"][0]["args"]
}

#[operetta_harness::test]
async fn a_pair_of_functions_keeps_what_it_returns_and_what_it_says() {
    let world = World::new().await;
    let namespace = world.namespace("worker").await;
    let paths = Paths::in_namespace(&namespace);
    let program = Program::start(PROGRAM);
    let worker = world.create(&paths.workers, worker()).await;

    let pod = world.until(&paths.pod, "made", Value::is_object).await;
    let service = world.until(&paths.service, "made", Value::is_object).await;
    assert_eq!(arguments(&pod), &json!(["--queue=incoming", "--at-once=4"]));
    for child in [&pod, &service] {
        let labels = &child["metadata"]["labels"];
        assert_eq!(labels["app.kubernetes.io/instance"], *uid(&worker));
        assert_eq!(labels["app.kubernetes.io/managed-by"], "queue-workers");
        assert_eq!(child["metadata"]["ownerReferences"][0]["uid"], *uid(&worker));
    }
    let worker = until_stage(&world, &paths, "Working").await;
    assert!(worker["metadata"]["finalizers"].is_null(), "functions have none: {worker}");

    world.patch_status(&paths.pod, json!({"reason": "Preempted"})).await;
    until_stage(&world, &paths, "Stopped: Preempted").await;
    is_restored(&world, &paths, &pod).await;
    an_error_is_said_and_harms_nothing(&world, &paths).await;
    program.assert_serves_health_and_metrics();

    assert_eq!(program.terminate().code(), Some(1), "as its `main` says");
    works_with_a_token(&world, &namespace, &paths).await;
    world.delete(&format!("{CORE}/{namespace}")).await;
}

async fn until_stage(world: &World, paths: &Paths, stage: &str) -> Value {
    world.until(&paths.worker, stage, |worker| worker["status"]["stage"] == stage).await
}

/// A Service that was changed is changed back, a Pod that has gone is made again, and what is new in the spec needs
/// another Pod.
async fn is_restored(world: &World, paths: &Paths, first: &Value) {
    world.patch(&paths.service, json!({"spec": {"selector": {"worker": "nobody"}}})).await;
    let is_repaired = |service: &Value| service["spec"]["selector"]["worker"] == "orders";
    world.until(&paths.service, "with its selector", is_repaired).await;

    world.delete(&paths.pod).await;
    let is_second = |pod: &Value| pod.is_object() && uid(pod) != uid(first);
    let second = world.until(&paths.pod, "made again", is_second).await;

    world.patch(&paths.worker, json!({"spec": {"atOnce": null}})).await;
    let is_third = |pod: &Value| arguments(pod)[1] == "--at-once=1" && uid(pod) != uid(&second);
    world.until(&paths.pod, "another with other arguments", is_third).await;
}

/// With roperator the children would go.
async fn an_error_is_said_and_harms_nothing(world: &World, paths: &Paths) {
    let before = [world.get(&paths.pod).await, world.get(&paths.service).await];
    world.patch(&paths.worker, json!({"spec": {"atOnce": "many"}})).await;
    let worker = until_stage(world, paths, "Broken").await;
    let why = worker["status"]["why"].as_str().unwrap();
    assert!(why.contains("\"many\"") && why.contains("u8"), "{why}");
    for (path, before) in [&paths.pod, &paths.service].into_iter().zip(&before) {
        let now = world.get(path).await;
        assert_eq!(uid(&now), uid(before), "{path} is another");
        assert!(now["metadata"]["deletionTimestamp"].is_null(), "{path} is being deleted");
    }
}

/// Where the kubeconfig has no user. The program that is started knows nothing of the one before.
async fn works_with_a_token(world: &World, namespace: &str, paths: &Paths) {
    let token = administrator(world, namespace).await;
    let kubeconfig = Temporary::new("nobody", &without_users());
    let environment = [("WORKER_TOKEN", token.as_ref()), ("KUBECONFIG", kubeconfig.0.as_os_str())];
    let program = Program::start_with(PROGRAM, environment);

    world.patch(&paths.worker, json!({"spec": {"atOnce": 2}})).await;
    let is_changed = |pod: &Value| arguments(pod)[1] == "--at-once=2";
    world.until(&paths.pod, "another with other arguments", is_changed).await;

    world.delete(&paths.worker).await;
    for path in [&paths.worker, &paths.pod, &paths.service] {
        world.until_gone(path).await;
    }
    drop(program);
    world.delete(&format!("{BINDINGS}/{namespace}")).await;
}

/// The token of a service account that may do everything.
async fn administrator(world: &World, namespace: &str) -> String {
    let accounts = format!("{CORE}/{namespace}/serviceaccounts");
    let account =
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "boss"}});
    world.create(&accounts, account).await;
    let role = json!({
        "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin",
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": namespace}, "roleRef": role,
        "subjects": [{"kind": "ServiceAccount", "name": "boss", "namespace": namespace}],
    });
    world.create(BINDINGS, binding).await;
    let request =
        json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let granted = world.create(&format!("{accounts}/boss/token"), request).await;
    granted["status"]["token"].as_str().unwrap().to_owned()
}

/// The kubeconfig of the tests: its cluster alone.
fn without_users() -> String {
    let file = std::env::var("KUBECONFIG").unwrap();
    let whole = Kubeconfig::from_yaml(&fs::read_to_string(file).unwrap()).unwrap();
    let rest = Kubeconfig { auth_infos: Vec::new(), ..whole };
    serde_json::to_string(&rest).unwrap()
}
