//! Operators inside a program that has an HTTP server and a runtime of its own: the server creates
//! parents and reads the caches of the operators, and both end at Ctrl-C.
//!
//! `cargo run --example embedded_in_a_server` needs no cluster. It sends two requests to its server,
//! prints the answer of the second, and ends by itself.

use std::net::SocketAddr;

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::{get, put},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, CustomResource, CustomResourceExt, api::PostParams};
use operetta::{
    prelude::*,
    testkit::{TestCluster, eventually},
    web::Stores,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Greeting", namespaced)]
struct GreetingSpec {
    text: String,
}

fn greet(request: &SyncRequest) -> Result<SyncResponse> {
    let spec: GreetingSpec = request.spec_as()?;
    Ok(SyncResponse::new().child(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": request.parent.name()},
        "data": {"text": spec.text},
    })))
}

/// `PUT /greetings/{name}/{text}` creates a parent.
async fn create(
    State(greetings): State<Api<Greeting>>,
    Path((name, text)): Path<(String, String)>,
) -> Result<StatusCode, String> {
    let greeting = Greeting::new(&name, GreetingSpec { text });
    let created = greetings.create(&PostParams::default(), &greeting).await;
    created.map(|_| StatusCode::CREATED).map_err(|error| error.to_string())
}

/// `GET /texts` lists the texts of the children, without a request to the API server.
async fn texts(State(stores): State<Stores>) -> Json<Vec<String>> {
    let children = stores.list::<ConfigMap>().unwrap_or_default();
    Json(children.into_iter().filter_map(|child| child.data?.remove("text")).collect())
}

#[tokio::main]
async fn main() -> Result<()> {
    let cluster = TestCluster::start();
    cluster.install(&[Greeting::crd()]).await?;
    let greeter =
        OperatorConfig::custom::<Greeting>("greeter").child::<ConfigMap>(ChildConfig::apply());
    // On a real cluster: `Supervisor::builder().register(greeter, greet).start().await`.
    let operators = cluster.run(|supervisor| supervisor.register(greeter, greet)).await?;

    let greetings: Api<Greeting> = Api::default_namespaced(cluster.client());
    let routes = Router::new()
        .route("/greetings/{name}/{text}", put(create))
        .with_state(greetings)
        .merge(Router::new().route("/texts", get(texts)).with_state(operators.stores()));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let operators_ended = operators.stopped();
    let shutdown = async move {
        tokio::select! {
            // Only an error ends them before `stop`.
            () = operators_ended => {}
            _ = tokio::signal::ctrl_c() => {}
            // A program that is not an example has no visitor.
            () = visit(address) => {}
        }
    };
    axum::serve(listener, routes).with_graceful_shutdown(shutdown).await?;
    Ok(operators.stop().await?)
}

async fn visit(address: SocketAddr) {
    send(address, "PUT", "/greetings/first/hello").await;
    let look = || send(address, "GET", "/texts");
    let answer = eventually("the child", look, |answer| answer.contains("hello")).await;
    println!("GET /texts\n{}", answer.split("\r\n\r\n").nth(1).unwrap_or_default());
}

/// The whole answer; empty without one.
async fn send(address: SocketAddr, method: &str, path: &str) -> String {
    let request =
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    if let Ok(mut connection) = TcpStream::connect(address).await {
        let _ = connection.write_all(request.as_bytes()).await;
        let _ = connection.read_to_string(&mut answer).await;
    }
    answer
}
