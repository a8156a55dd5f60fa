//! A route of your own beside those of the framework: it answers from the operators' caches,
//! without requests to the API server.
//!
//! `cargo run --example own_routes` needs no cluster and ends by itself. It prints the response of
//! `/texts`: the texts of all `ConfigMaps` that the operator created.

use std::collections::BTreeMap;

use actix_web::{Responder, web};
use anyhow::Error;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, CustomResource, CustomResourceExt, api::PostParams};
use operetta::{
    prelude::*,
    testkit::{TestCluster, eventually},
    web::{Stores, StoresError},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Greeting", namespaced)]
struct GreetingSpec {
    text: String,
}

fn greet(request: &SyncRequest) -> Result<SyncResponse> {
    let greeting: Greeting = request.parent_as()?;
    Ok(SyncResponse::new().child(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": request.parent.name()},
        "data": {"text": greeting.spec.text},
    })))
}

/// A route of your own has to hide secrets itself.
async fn texts(stores: Stores) -> Result<impl Responder, StoresError> {
    let texts = stores
        .list::<ConfigMap>()?
        .into_iter()
        .filter_map(|made| Some((made.metadata.name?, made.data?.remove("text")?)));
    Ok(web::Json(texts.collect::<BTreeMap<_, _>>()))
}

#[tokio::main]
async fn main() -> Result<()> {
    let cluster = TestCluster::start();
    cluster.install(&[Greeting::crd()]).await?;
    let greeter =
        OperatorConfig::custom::<Greeting>("greeter").child::<ConfigMap>(ChildConfig::apply());
    let operators = cluster
        .run(|supervisor| {
            let with_route = supervisor.serve("127.0.0.1:0").routes(|config| {
                config.route("/texts", web::get().to(texts));
            });
            with_route.register(greeter, greet)
        })
        .await?;

    let greetings: Api<Greeting> = Api::default_namespaced(cluster.client());
    for (name, text) in [("loud", "HELLO"), ("soft", "hello")] {
        let greeting = Greeting::new(name, GreetingSpec { text: text.to_owned() });
        greetings.create(&PostParams::default(), &greeting).await?;
    }
    let made = || async { operators.stores().list::<ConfigMap>().map_or(0, |made| made.len()) };
    eventually("both ConfigMaps", made, |made| *made == 2).await;

    let address = operators.web().ok_or_else(|| Error::msg("nothing is served"))?;
    let mut connection = TcpStream::connect(address).await?;
    let request = format!("GET /texts HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).await?;
    let mut response = String::new();
    connection.read_to_string(&mut response).await?;
    println!("GET /texts\n{}", response.split("\r\n\r\n").nth(1).unwrap_or_default());
    Ok(())
}
