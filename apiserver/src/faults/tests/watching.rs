//! Faults of watches, on the bytes that a client sees.

use bytes::Bytes;
use futures::StreamExt;
use http::Request;
use http_body_util::BodyExt;
use kube::client::Body as ClientBody;
use tower::{Service, ServiceExt};

use super::*;

/// The body of a watch, read chunk by chunk.
struct Lines(futures::stream::BoxStream<'static, Result<Bytes, tower::BoxError>>);

impl Lines {
    async fn next(&mut self) -> Option<String> {
        let chunk = self.0.next().await?.unwrap();
        Some(String::from_utf8_lossy(&chunk).into_owned())
    }
}

async fn watch(plan: &FaultPlan, server: &Server, query: &str) -> Lines {
    let mut service = FaultLayer::new(plan).layer(server.service_as("faulty"));
    let uri = format!("/api/v1/namespaces/default/configmaps?watch=1&{query}");
    let request = Request::get(uri).body(ClientBody::empty()).unwrap();
    let response = service.ready().await.unwrap().call(request).await.unwrap();
    Lines(response.into_body().into_data_stream().boxed())
}

async fn create(server: &Server, name: &str) {
    let api: Api<ConfigMap> = Api::default_namespaced(server.client());
    api.create(&PostParams::default(), &config_map(name)).await.unwrap();
}

#[tokio::test]
async fn a_watch_ends_or_breaks_at_the_selected_frame() {
    for (fault, last) in [
        (Fault::CloseWatch, None),
        (Fault::CutFrame, Some("{\"type\":\"ADDED\"")),
        (Fault::ExpireWatch, Some("{\"type\":\"ERROR\"")),
    ] {
        let (plan, server) = (FaultPlan::new(), Server::start());
        plan.add(Rule::new(fault.clone()).resource("configmaps").name("b"));
        let mut lines = watch(&plan, &server, "resourceVersion=1").await;
        for name in ["a", "b", "c"] {
            create(&server, name).await;
        }
        let is_of_a = |line: &str| line.contains("\"name\":\"a\"") && line.ends_with('\n');
        assert!(is_of_a(&lines.next().await.unwrap()));
        if let Some(last) = last {
            let line = lines.next().await.unwrap();
            assert!(line.replace(": ", ":").starts_with(last), "{fault:?}: {line}");
        }
        assert_eq!(lines.next().await, None, "{fault:?}");
    }
}

#[tokio::test]
async fn held_frames_come_in_order_after_the_release() {
    let (plan, server) = (FaultPlan::new(), Server::start());
    let held = plan.add(Rule::new(Fault::HoldFrames).name("a"));
    let mut lines = watch(&plan, &server, "resourceVersion=1").await;
    create(&server, "a").await;
    create(&server, "b").await;
    tokio::select! {
        biased;
        line = lines.next() => panic!("{line:?}"),
        () = held.until_hits(1) => {}
    }
    held.end();
    for name in ["a", "b"] {
        let line = lines.next().await.unwrap();
        assert!(line.contains(&format!("\"name\":\"{name}\"")), "{line}");
    }
}

#[tokio::test]
async fn a_stale_streamed_list_continues_from_its_own_version() {
    let (plan, server) = (FaultPlan::new(), Server::start());
    plan.remember_lists();
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1";
    create(&server, "a").await;
    let mut lines = watch(&plan, &server, query).await;
    assert!(lines.next().await.unwrap().contains("\"name\":\"a\""));
    assert!(lines.next().await.unwrap().contains("initial-events-end"));
    create(&server, "b").await;
    plan.add(Rule::new(Fault::StaleList).verb("watch").times(1));
    let mut lines = watch(&plan, &server, query).await;
    for part in ["\"name\":\"a\"", "initial-events-end", "\"name\":\"b\""] {
        let line = lines.next().await.unwrap();
        assert!(line.contains(part), "{part}: {line}");
    }
}
