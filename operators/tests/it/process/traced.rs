//! The traces that the binary sends.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, api::PostParams};
use operators::echo_server::{EchoServer, EchoServerSpec};
use operetta::{
    operator::{ChildConfig, OperatorConfig, SyncRequest, SyncResponse},
    supervisor::Supervisor,
    testkit::internals::Traces,
};
use operetta_apiserver::Server;
use serde_json::json;
use tracing_subscriber::layer::SubscriberExt;

use super::{
    all,
    collector::{Collector, Received},
    create_one, is_ready,
};
use crate::{
    cluster::{client_of, new_folder},
    program::Program,
};

const HELLO: &str = "EchoServer.example.operetta.dev/v1alpha1 default/hello";

#[operetta_harness::test]
async fn a_reconcile_is_a_trace_of_its_steps_and_requests() {
    let collector = Collector::start();
    let folder = new_folder();
    let mut operators = Program::start_in(
        &folder,
        &["--only", "echo-server", "--otlp-endpoint", &collector.endpoint],
    );
    operators.ready().await;
    let parents =
        Api::default_namespaced(client_of(&folder.join("target/operetta/kubeconfig")).await);
    create_one(&parents, "hello".to_owned()).await;
    all(&parents, is_ready).await;
    assert_eq!(operators.stop("TERM").await, Some(0));

    let is_end = |span: &Received| span.name == "reconcile" && span.attribute("outcome") == "ready";
    let spans = tokio::task::spawn_blocking(move || collector.until(is_end)).await.unwrap();
    assert!(spans.iter().all(|span| span.service == "operetta"), "{spans:#?}");
    let below = |span: &Received| -> Vec<Received> {
        spans.iter().filter(|other| other.parent == span.id).cloned().collect()
    };
    let mut reconciles: Vec<_> = spans.iter().filter(|span| span.name == "reconcile").collect();
    reconciles.sort_by_key(|span| span.nanoseconds);
    let first = reconciles.first().expect("a reconcile");
    assert_eq!((first.attribute("operator"), first.attribute("parent")), ("echo-server", HELLO));
    assert!(first.parent.is_empty() && first.links.is_empty(), "{first:#?}");
    let steps = below(first);
    let names: Vec<&str> = steps.iter().map(|step| &*step.name).collect();
    assert!(["snapshot", "sync", "plan", "apply"].iter().all(|it| names.contains(it)), "{names:?}");
    let apply = steps.iter().find(|step| step.name == "apply").expect("a step");
    let written: BTreeSet<String> = below(apply)
        .iter()
        .map(|request| format!("{} {}", request.name, request.attribute("object")))
        .collect();
    let expected = ["apply Pod.v1 default/hello", "apply Service.v1 default/hello"];
    assert_eq!(written, expected.map(str::to_owned).into());
    assert!(below(apply).iter().all(|request| !request.is_error), "{spans:#?}");
    let status = spans.iter().find(|span| span.name == "status").expect("a step");
    assert!(!below(status).is_empty(), "{spans:#?}");

    // Each later one is a trace of its own, and its links lead to what caused it.
    for later in &reconciles[1..] {
        assert!(later.parent.is_empty() && later.trace != first.trace, "{later:#?}");
    }
    let ids: BTreeSet<&Vec<u8>> = spans.iter().map(|span| &span.id).collect();
    let linked = reconciles[1..].iter().filter(|span| !span.links.is_empty());
    let mut links = linked.flat_map(|span| &span.links);
    assert!(links.clone().count() > 0 && links.all(|link| ids.contains(link)), "{reconciles:#?}");
    let text = format!("{spans:?}");
    assert!(!text.contains("serviceName"), "objects are named, not quoted: {text}");
}

#[operetta_harness::test]
async fn a_collector_that_is_gone_is_logged_once_and_delays_nothing() {
    let folder = new_folder();
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = format!("http://{gone}");
    let secret = format!("http://me:s3cret@{gone}");
    let mut operators = Program::start_in(&folder, &["--otlp-endpoint", &secret]);
    operators.ready().await;
    let parents =
        Api::default_namespaced(client_of(&folder.join("target/operetta/kubeconfig")).await);
    create_one(&parents, "hello".to_owned()).await;
    all(&parents, is_ready).await;
    assert_eq!(operators.stop("TERM").await, Some(0));
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    assert_eq!(log.matches("traces cannot be sent, and are dropped").count(), 1, "{log}");
    assert!(log.contains(&endpoint) && !log.contains("s3cret"), "{log}");
}

#[expect(clippy::unnecessary_wraps, reason = "the form of a handler")]
fn outer(request: &SyncRequest<EchoServer>) -> anyhow::Result<SyncResponse> {
    let name = request.object().name();
    let made = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    Ok(SyncResponse::new().child(made))
}

#[expect(clippy::unnecessary_wraps, reason = "the form of a handler")]
fn inner(request: &SyncRequest<ConfigMap>) -> anyhow::Result<SyncResponse> {
    let name = request.object().name();
    let made = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}});
    Ok(SyncResponse::new().child(made))
}

#[operetta_harness::test]
async fn the_trace_of_a_child_continues_where_it_is_a_parent() {
    let collector = Collector::start();
    let traces = Traces::to(&collector.endpoint.parse().unwrap()).unwrap();
    // For the threads of the supervisor; no other test of this program sets it.
    let subscriber = tracing_subscriber::registry().with(traces.layer());
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let server = Server::start();
    let client = server.client();
    let supervisor = Supervisor::builder()
        .install_crds()
        .connect(async move || Ok(client))
        .register(
            OperatorConfig::custom::<EchoServer>("outer").child::<ConfigMap>(ChildConfig::apply()),
            outer,
        )
        .register(
            OperatorConfig::decorates::<ConfigMap>("inner").child::<Secret>(ChildConfig::apply()),
            inner,
        );
    let running = supervisor.start().await.unwrap();
    running.ready().await;
    let parents: Api<EchoServer> = Api::default_namespaced(server.client());
    let hello = EchoServer::new("hello", EchoServerSpec { service_name: "hello".to_owned() });
    parents.create(&PostParams::default(), &hello).await.unwrap();

    let is_inner = |span: &Received| {
        span.attribute("operator") == "inner"
            && span.attribute("parent") == "ConfigMap.v1 default/hello"
    };
    let spans = tokio::task::spawn_blocking(move || collector.until(is_inner)).await.unwrap();
    running.stop().await.unwrap();
    let inner = spans.iter().find(|span| is_inner(span)).unwrap();
    let request = spans.iter().find(|span| span.id == inner.parent).expect("its parent");
    assert_eq!(
        (&*request.name, request.attribute("object")),
        ("apply", "ConfigMap.v1 default/hello")
    );
    let outer = spans.iter().find(|span| span.attribute("operator") == "outer").unwrap();
    assert_eq!((&outer.trace, &request.trace), (&inner.trace, &inner.trace));
    assert!(outer.parent.is_empty() && outer.links.is_empty() && !outer.is_error, "{outer:#?}");
    assert!(outer.service == "operetta" && outer.nanoseconds < inner.nanoseconds, "{outer:#?}");
}
