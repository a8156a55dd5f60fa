//! When operators have settled: what `settled` waits for, what it does not wait for, and what it reports.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::Error;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use operetta::{prelude::*, testkit::TestCluster};
use operetta_apiserver::faults::{Fault, FaultLayer, FaultPlan, Rule};
use serde_json::json;
use tokio::sync::Semaphore;
use tower::Layer;

use super::support::{config, config_map, secret, served, sync};

const LONG: Duration = Duration::from_secs(30);
/// Long enough to see why nothing settles, also on a busy machine.
const SECONDS: Duration = Duration::from_secs(2);

async fn create(cluster: &TestCluster, name: &str) {
    let parents: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    parents.create(&PostParams::default(), &config_map(name, "soup")).await.unwrap();
}

#[tokio::test]
async fn a_test_writes_and_asserts_without_polling() {
    let cluster = TestCluster::start();
    let operators = cluster.run(|builder| builder.register(config(), sync)).await.unwrap();
    let parents: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    let children: Api<Secret> = Api::default_namespaced(cluster.client());
    create(&cluster, "a").await;
    for number in 0..100 {
        let meal = format!("meal {number}");
        let patch = Patch::Merge(json!({"data": {"meal": meal}}));
        parents.patch("a", &PatchParams::default(), &patch).await.unwrap();
        operators.settled().await;
        assert_eq!(served(children.get_opt("a").await.unwrap()), meal);
        if number % 10 == 0 {
            children.delete("a", &DeleteParams::default()).await.unwrap();
            operators.settled().await;
            assert_eq!(served(children.get_opt("a").await.unwrap()), meal);
        }
    }
}

/// The third write in a row and the later ones are delayed.
#[tokio::test]
async fn the_reconciles_because_of_own_writes_are_waited_for() {
    const ALL: usize = 6;
    let one_by_one = |request: &SyncRequest| -> Result<SyncResponse> {
        let count = (request.children::<Secret>().len() + 1).min(ALL);
        Ok(SyncResponse::new().children((0..count).map(|it| secret(&format!("s-{it}"), "soup"))))
    };
    let cluster = TestCluster::start();
    let operators = cluster.run(|builder| builder.register(config(), one_by_one)).await.unwrap();
    create(&cluster, "a").await;
    operators.settled().await;
    let children: Api<Secret> = Api::default_namespaced(cluster.client());
    assert_eq!(children.list(&ListParams::default()).await.unwrap().items.len(), ALL);
}

#[tokio::test]
async fn changes_that_are_collected_are_waited_for() {
    let cluster = TestCluster::start();
    let config = config().with_debounce(Duration::from_millis(300));
    let operators = cluster.run(|builder| builder.register(config, sync)).await.unwrap();
    let children: Api<Secret> = Api::default_namespaced(cluster.client());
    create(&cluster, "a").await;
    operators.settled().await;
    children.delete("a", &DeleteParams::default()).await.unwrap();
    operators.settled().await;
    assert_eq!(served(children.get_opt("a").await.unwrap()), "soup");
}

#[tokio::test]
async fn a_reconcile_in_progress_and_one_that_waits_for_a_permit_are_reported() {
    let (began, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let (count, wait) = (began.clone(), gate.clone());
    let slow = move |_: SyncRequest| {
        let (count, wait) = (count.clone(), wait.clone());
        async move {
            count.fetch_add(1, Ordering::SeqCst);
            wait.acquire().await?.forget();
            Ok::<SyncResponse, Error>(SyncResponse::new())
        }
    };
    let cluster = TestCluster::start();
    let config = config().with_max_concurrent_reconciles(1);
    let operators = cluster.run(|builder| builder.register(config, slow)).await.unwrap();
    create(&cluster, "a").await;
    create(&cluster, "b").await;
    let unsettled = operators.settled_within(SECONDS).await.unwrap_err().to_string();
    for expected in [
        "the operators have not settled within 2 s:",
        "parent default/a of cook is being reconciled",
        "parent default/b of cook waits for a permit",
    ] {
        assert!(unsettled.contains(expected), "{unsettled}");
    }
    gate.add_permits(1000);
    operators.settled_within(LONG).await.unwrap();
    assert!(began.load(Ordering::SeqCst) >= 2);
}

#[tokio::test]
async fn a_parent_that_waits_for_a_retry_a_resync_or_a_user_has_settled() {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    let outcomes = move |request: &SyncRequest| -> Result<SyncResponse> {
        count.fetch_add(1, Ordering::SeqCst);
        match request.parent.name() {
            "fails" => Err(Error::msg("not now")),
            "stalls" => Err(Permanent("never".to_owned()).into()),
            _ => Ok(SyncResponse::new().resync_after(Duration::from_hours(1))),
        }
    };
    let cluster = TestCluster::start();
    let config = config().with_error_backoff(Duration::from_hours(1), Duration::from_hours(1));
    let operators = cluster.run(|builder| builder.register(config, outcomes)).await.unwrap();
    for name in ["fails", "stalls", "resyncs"] {
        create(&cluster, name).await;
    }
    operators.settled_within(LONG).await.unwrap();
    assert!(calls.load(Ordering::SeqCst) >= 3);
}

#[tokio::test]
async fn operators_whose_type_is_missing_are_degraded_and_have_settled() {
    let ty = K8sType::namespaced("example.dev/v1", "Missing", "missing");
    let nothing = |_: &SyncRequest| -> Result<SyncResponse> { Ok(SyncResponse::new()) };
    let cluster = TestCluster::start();
    let config = OperatorConfig::new("nobody", ty);
    let operators = cluster.run(|builder| builder.register(config, nothing)).await.unwrap();
    operators.settled_within(LONG).await.unwrap();
}

#[tokio::test]
async fn operators_that_react_to_each_other_settle_together() {
    let second = OperatorConfig::of::<Secret>("waiter").child::<ConfigMap>(ChildConfig::apply());
    let cluster = TestCluster::start();
    let _first = cluster.run(|builder| builder.register(config(), sync)).await.unwrap();
    let serve = |request: &SyncRequest<Secret>| -> Result<SyncResponse> {
        let meal = served(Some(request.parent.clone()));
        let name = format!("{}-served", request.object().name());
        let metadata = json!({"name": name});
        let child = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"meal": meal}});
        // The parents of the other operator are of this type.
        let is_served = request.object().name().ends_with("served");
        Ok(SyncResponse::new().children((!is_served).then_some(child)))
    };
    let _second = cluster.run(|builder| builder.register(second, serve)).await.unwrap();
    create(&cluster, "a").await;
    cluster.settled().await;
    let made: Api<Secret> = Api::default_namespaced(cluster.client());
    assert_eq!(served(made.get_opt("a-served").await.unwrap()), "soup");
}

/// The operators are idle meanwhile: nothing but the list of the server shows that they are behind.
#[tokio::test]
async fn what_the_caches_lack_is_waited_for_and_reported() {
    let (cluster, faults) = (TestCluster::start(), FaultPlan::new());
    let service = FaultLayer::new(&faults).layer(cluster.server().service_as("operators"));
    let client = Client::new(service, "default");
    let supervisor =
        Supervisor::builder().connect(|| async { Ok(client) }).register(config(), sync);
    let operators = supervisor.start().await.unwrap();
    operators.ready().await;
    create(&cluster, "a").await;
    operators.settled().await;

    let about = |resource: &str, name: &str| {
        Rule::new(Fault::HoldFrames).verb("watch").resource(resource).name(name)
    };
    let held = faults.add(about("configmaps", "b"));
    create(&cluster, "b").await;
    let unsettled = operators.settled_within(SECONDS).await.unwrap_err().to_string();
    assert!(unsettled.contains("\n- ConfigMap.v1 default/b is not cached as it is"), "{unsettled}");
    held.end();
    operators.settled().await;
    let children: Api<Secret> = Api::default_namespaced(cluster.client());
    assert_eq!(served(children.get_opt("b").await.unwrap()), "soup");

    let held = faults.add(about("secrets", "a"));
    children.delete("a", &DeleteParams::default()).await.unwrap();
    let unsettled = operators.settled_within(SECONDS).await.unwrap_err().to_string();
    assert!(unsettled.contains("\n- Secret.v1 default/a is gone, but cached"), "{unsettled}");
    held.end();
    operators.settled().await;
    assert_eq!(served(children.get_opt("a").await.unwrap()), "soup");
}

#[tokio::test]
async fn operators_that_have_been_stopped_are_not_waited_for() {
    let cluster = TestCluster::start();
    let operators = cluster.run(|builder| builder.register(config(), sync)).await.unwrap();
    operators.stop().await.unwrap();
    create(&cluster, "a").await;
    cluster.settled().await;
}
