//! A server that asks for patience, with 429 and `Retry-After`.

use std::sync::{Arc, Mutex};

use kube::{Client, client::Body};
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    cluster::{Cluster, Connector},
    recipe::{self, RECIPE, config_map, recipe},
    world::{World, eventually},
};

fn one_at_a_time() -> OperatorConfig {
    recipe::config("cook").with_max_concurrent_runs(1)
}

/// A way to the cluster on which writes of one object are answered 429 for as long as the test
/// likes, and counted.
#[derive(Clone, Default)]
struct Throttle(Arc<Mutex<Throttled>>);

#[derive(Default)]
struct Throttled {
    path: String,
    retry_after: u64,
    requests: usize,
}

impl Throttle {
    fn new(path: &str, retry_after: u64) -> Self {
        let path = path.to_owned();
        Self(Arc::new(Mutex::new(Throttled { path, retry_after, requests: 0 })))
    }

    fn requests(&self) -> usize {
        self.0.lock().unwrap().requests
    }

    fn connector(&self, cluster: &Cluster) -> Connector {
        let (throttle, config) = (self.clone(), cluster.kube_config());
        Box::new(move || {
            Box::pin(async move {
                let server = Client::try_from(config)?;
                let serve = move |request: http::Request<Body>| {
                    let (server, refused) = (server.clone(), throttle.refusal(&request));
                    async move {
                        match refused {
                            Some(refusal) => Ok(refusal),
                            None => server.send(request).await,
                        }
                    }
                };
                Ok(Client::new(tower::service_fn(serve), "default"))
            })
        })
    }

    fn refusal(&self, request: &http::Request<Body>) -> Option<http::Response<Body>> {
        let mut throttled = self.0.lock().unwrap();
        if !request.uri().path().ends_with(&throttled.path) {
            return None;
        }
        throttled.requests += 1;
        let body = json!({"kind": "Status", "code": 429, "reason": "TooManyRequests"});
        let response = http::Response::builder().status(429);
        let response = response.header("Retry-After", throttled.retry_after);
        Some(response.body(Body::from(body.to_string().into_bytes())).unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_one_parent_for_patience_is_obeyed_and_others_go_on() {
    let Some(world) = World::new().await else { return };
    let throttle = Throttle::new("/configmaps/slow", 300);
    let operators = world
        .start_over(throttle.connector(&world.cluster), |builder| {
            builder.register(one_at_a_time(), recipe::sync)
        })
        .await;
    world.apply(RECIPE, recipe("asked-to-wait", &[config_map("slow", json!({}))])).await;
    operators.until_runs("cook", &world.namespace, "asked-to-wait", 1).await;
    assert_eq!(throttle.requests(), 1);
    // There is one place: the parent that waits does not occupy it.
    world.apply(RECIPE, recipe("other", &[config_map("d", json!({}))])).await;
    world.until_ready(RECIPE, "other").await;
    // A change of its spec does not bother the server earlier. The other parent changes after it,
    // so that both changes have been seen when that one is ready.
    let changed = [config_map("slow", json!({"more": "salt"}))];
    world.apply(RECIPE, recipe("asked-to-wait", &changed)).await;
    world.apply(RECIPE, recipe("other", &[config_map("d", json!({"more": "salt"}))])).await;
    world.until_ready(RECIPE, "other").await;
    assert_eq!(throttle.requests(), 1);
    let path = format!("/api/v1/operators/cook/parents/{}/asked-to-wait", world.namespace);
    let (_, body) = operators.http(&path).await;
    let parent: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(parent["nextWake"]["why"], "Throttled", "{body}");
    operators.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_time_that_the_server_asked_for_is_over_the_work_goes_on() {
    let Some(world) = World::new().await else { return };
    let throttle = Throttle::new("/configmaps/slow", 1);
    let operators = world
        .start_over(throttle.connector(&world.cluster), |builder| {
            builder.register(one_at_a_time(), recipe::sync)
        })
        .await;
    world.apply(RECIPE, recipe("r", &[config_map("slow", json!({}))])).await;
    let requests = || async { throttle.requests() };
    eventually("a second try", requests, |requests| *requests >= 2).await;
    throttle.0.lock().unwrap().path = "/nothing".to_owned();
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}
