//! The server over TLS: its credentials, and connections that end.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use kube::{
    Client, Config,
    api::WatchParams,
    config::{KubeConfigOptions, Kubeconfig},
};
use operetta_apiserver::{Running, Server};

use crate::common::{config_map, config_maps, create, refusal};

/// A client with the kubeconfig.
async fn client_of(running: &Running, token: Option<&str>) -> Client {
    let mut kubeconfig = Kubeconfig::from_yaml(running.kubeconfig()).expect("it is a kubeconfig");
    if let (Some(token), Some(user)) = (token, &mut kubeconfig.auth_infos[0].auth_info) {
        user.token = Some(token.to_owned().into());
        // It counts before a token.
        (user.client_certificate_data, user.client_key_data) = (None, None);
    }
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    Client::try_from(config.expect("it is complete")).expect("it is usable")
}

fn listening(server: &Server) -> Running {
    server.serve("127.0.0.1:0".parse().expect("an address")).expect("a free port")
}

#[operetta_harness::test]
async fn a_client_with_the_kubeconfig_is_accepted_and_one_with_another_token_is_refused() {
    let server = Server::start();
    let running = listening(&server);
    let client = client_of(&running, None).await;
    create(&config_maps(&client), config_map("a", "1")).await;
    let stranger = client_of(&running, Some("guessed")).await;
    let (code, reason, _) = refusal(config_maps(&stranger).get("a").await);
    assert_eq!((code, reason.as_str()), (401, "Unauthorized"));
    assert!(!format!("{:?}", server.requests().await).contains("token"));
    running.stop().await;
}

#[operetta_harness::test]
async fn a_watch_is_closed_when_its_client_disconnects() {
    let server = Server::start();
    let running = listening(&server);
    let client = client_of(&running, None).await;
    let api = config_maps(&client);
    let mut events = api.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    create(&api, config_map("a", "1")).await;
    events.try_next().await.unwrap().unwrap();
    assert_eq!(server.open_watches().len(), 1);
    drop((events, api, client));
    let closed = async {
        while !server.open_watches().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), closed).await.expect("it is closed");
    running.stop().await;
}

#[operetta_harness::test]
async fn stopping_ends_open_watches() {
    let server = Server::start();
    let running = listening(&server);
    let client = client_of(&running, None).await;
    let api = config_maps(&client);
    let mut events = api.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    create(&api, config_map("a", "1")).await;
    events.try_next().await.unwrap().unwrap();
    running.stop().await;
    let end = async { while let Ok(Some(_)) = events.try_next().await {} };
    tokio::time::timeout(Duration::from_secs(10), end).await.expect("it ends");
}

#[operetta_harness::test]
async fn other_machines_cannot_be_served() {
    let refused = Server::start().serve("0.0.0.0:0".parse().unwrap()).unwrap_err();
    assert!(refused.to_string().contains("loopback"), "{refused}");
}
