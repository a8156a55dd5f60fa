//! Traces across two operators, as a collector receives them.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, api::PostParams};
use operators::{
    crds::crds,
    echo_server::{EchoServer, EchoServerSpec},
    install::install,
};
use operetta::{
    operator::{ChildConfig, OperatorConfig, SyncRequest, SyncResponse},
    supervisor::Supervisor,
};
use operetta_apiserver::Server;
use serde_json::json;
use tracing_subscriber::layer::SubscriberExt;

use self::collector::{Collector, Received};
use super::*;

#[path = "../tests/it/process/collector.rs"]
mod collector;

#[test]
fn the_path_of_traces_is_added_to_an_address_alone() {
    let of = |endpoint: &str| traces_of(&endpoint.parse().unwrap());
    assert_eq!(of("http://127.0.0.1:4318"), "http://127.0.0.1:4318/v1/traces");
    assert_eq!(of("http://127.0.0.1:4318/"), "http://127.0.0.1:4318/v1/traces");
    assert_eq!(
        of("https://collector.example/otlp/v1/traces"),
        "https://collector.example/otlp/v1/traces"
    );
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

#[tokio::test(flavor = "multi_thread")]
async fn the_trace_of_a_child_continues_where_it_is_a_parent() {
    let collector = Collector::start();
    let traces = Traces::to(&collector.endpoint.parse().unwrap()).unwrap();
    // For the threads of the supervisor; no other test of this program sets it.
    let subscriber = tracing_subscriber::registry().with(traces.layer());
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let server = Server::start();
    install(&server.client(), &crds(&operators::all())).await.unwrap();
    let client = server.client();
    let supervisor = Supervisor::builder()
        .connect(async move || Ok(client))
        .register(
            OperatorConfig::of::<EchoServer>("outer").child::<ConfigMap>(ChildConfig::apply()),
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
