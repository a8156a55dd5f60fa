//! Credentials and a CA that are replaced while the operators run, and an API server that restarts meanwhile.

use std::{fs, net::SocketAddr, path::Path, process::Command};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    api::{DynamicObject, PostParams},
};
use operetta::{prelude::*, testkit::until_ready};
use operetta_apiserver::Server;
use operetta_controlplane::{ControlPlane, Options};
use operetta_harness::{Folder, ignore};
use serde_json::{Value, json};

use crate::{
    needs::Chosen,
    recipe::{self, RECIPE, config_map, recipe},
    world::{Operators, eventually, object},
};

const LOOPBACK: &str = "127.0.0.1:0";

async fn create(client: &Client, name: &str) -> Api<DynamicObject> {
    let parents = Api::default_namespaced_with(client.clone(), &RECIPE.resource());
    let parent = recipe(name, &[config_map(&format!("made-{name}"), json!({}))]);
    parents.create(&PostParams::default(), &object(RECIPE, parent)).await.unwrap();
    parents
}

async fn writes(server: &Server) -> Vec<String> {
    let requests = server.requests().await.into_iter();
    let ours = requests.filter(|it| it.user_agent.starts_with("operetta/"));
    let writes = ours.filter(|it| !["get", "list", "watch"].contains(&it.verb.as_str()));
    writes.map(|it| format!("{} {} {}", it.verb, it.path, it.status)).collect()
}

#[operetta_harness::test]
async fn a_new_ca_and_a_new_token_are_used_without_a_restart_and_nothing_is_lost_or_repeated() {
    let folder = Folder::new();
    let file = folder.join("kubeconfig");
    let first = Server::start();
    let running = first.serve(LOOPBACK.parse().unwrap()).unwrap();
    let address: SocketAddr = running.address();
    running.write_kubeconfig(&file).unwrap();
    let crd = recipe::crd(Some(recipe::status()));
    operetta::supervisor::install_crds(&first.client(), std::slice::from_ref(&crd)).await.unwrap();
    let builder = Supervisor::builder().connect_to(Connect::kubeconfig_file(&file));
    let builder = builder.register(recipe::config("cook"), recipe::handler());
    let operators = Operators::new(builder.serve(LOOPBACK).start().await.unwrap());
    let parents = create(&first.client(), "before").await;
    until_ready(&parents, "before").await;
    operators.until_all_synced(1).await;
    // It restarts with another CA and another token, and a parent is created meanwhile.
    running.stop().await;
    let second = Server::start();
    // What is restored are the objects of types that it has.
    operetta::supervisor::install_crds(&second.client(), &[crd]).await.unwrap();
    create(&second.client(), "not-restored").await;
    let maps: Api<ConfigMap> = Api::default_namespaced(second.client());
    let map = serde_json::from_value(json!({"metadata": {"name": "not-restored"}})).unwrap();
    maps.create(&PostParams::default(), &map).await.unwrap();
    second.restore(&first.backup());
    let parents = create(&second.client(), "meanwhile").await;
    let running = second.serve(address).unwrap();
    let ready = || async { operators.http("/readyz?verbose").await.1 };
    eventually("the failure reported", ready, |body| body.contains("failed: ")).await;
    assert_eq!(writes(&second).await, Vec::<String>::new());
    running.write_kubeconfig(&file).unwrap();
    until_ready(&parents, "meanwhile").await;
    operators.until_all_synced(2).await;
    let parents = create(&second.client(), "after").await;
    until_ready(&parents, "after").await;
    operators.until_all_synced(3).await;
    eventually("the failure is over", ready, |body| !body.contains("failed: ")).await;
    operators.settled().await;
    operators.stop().await;
    let writes = writes(&second).await;
    let of = |name: &str| writes.iter().filter(|it| it.contains(name)).count();
    // A child and a status each.
    assert_eq!((of("before"), of("meanwhile"), of("after")), (0, 2, 2), "{writes:?}");
}

/// The kubeconfig of a running server with this user instead of its own.
fn with_user(file: &Path, user: impl FnOnce(&str) -> Value) {
    let text = fs::read_to_string(file).unwrap();
    let mut kubeconfig: Value = serde_yaml_ng::from_str(&text).unwrap();
    let token = kubeconfig["users"][0]["user"]["token"].as_str().unwrap().to_owned();
    kubeconfig["users"][0]["user"] = user(&token);
    let data = &mut kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"];
    let lines: Vec<_> = data.as_str().unwrap().as_bytes().chunks(64).collect();
    *data = json!(String::from_utf8(lines.join(&b'\n')).unwrap());
    fs::write(file, kubeconfig.to_string()).unwrap();
}

/// What `base64` and `echo` write has line breaks.
#[operetta_harness::test]
async fn a_token_file_with_a_line_break_and_a_plugin_are_used() {
    let server = Server::start();
    let running = server.serve(LOOPBACK.parse().unwrap()).unwrap();
    let crd = recipe::crd(Some(recipe::status()));
    operetta::supervisor::install_crds(&server.client(), &[crd]).await.unwrap();
    let folder = Folder::new();
    let (file, token_file) = (folder.join("kubeconfig"), folder.join("token"));
    for (name, is_plugin) in [("of-file", false), ("of-plugin", true)] {
        running.write_kubeconfig(&file).unwrap();
        with_user(&file, |token| {
            let api = "client.authentication.k8s.io/v1";
            let answer = json!({
                "kind": "ExecCredential", "apiVersion": api, "status": {"token": token},
            });
            let plugin = json!({
                "command": "echo", "args": [answer.to_string()], "apiVersion": api,
                "interactiveMode": "Never",
            });
            fs::write(&token_file, format!("{token}\n")).unwrap();
            if is_plugin { json!({"exec": plugin}) } else { json!({"tokenFile": token_file}) }
        });
        let builder = Supervisor::builder().connect_to(Connect::kubeconfig_file(&file));
        let builder = builder.register(recipe::config("cook"), recipe::handler());
        let operators = Operators::new(builder.serve(LOOPBACK).start().await.unwrap());
        let parents = create(&server.client(), name).await;
        until_ready(&parents, name).await;
        operators.stop().await;
    }
}

/// The kubeconfig of the administrator with the contents of all files.
fn flattened(control_plane: &ControlPlane, into: &Path) {
    let mut kubectl: Command = control_plane.kubectl_command();
    let output = kubectl.args(["config", "view", "--raw", "--flatten"]).output().unwrap();
    assert!(output.status.success());
    fs::write(into, output.stdout).unwrap();
}

fn written(control_plane: &ControlPlane, name: &str) -> usize {
    let events = tokio::task::block_in_place(|| control_plane.audit_events());
    let events = events.unwrap().into_iter();
    let ours = events.filter(|it| it.user_agent.starts_with("operetta/") && it.uri.contains(name));
    ours.filter(|it| !["get", "list", "watch"].contains(&it.verb.as_str())).count()
}

#[operetta_harness::test(server)]
async fn a_control_plane_whose_ca_and_certificates_are_renewed_is_used_without_a_restart() {
    let Chosen::ControlPlane(version) = Chosen::from_environment() else {
        ignore("the embedded server has a test of its own");
    };
    let start = move || ControlPlane::start_with(&Options::default().version(version));
    let started = tokio::task::spawn_blocking(start).await.unwrap();
    let mut control_plane = started.unwrap();
    let file = control_plane.folder().join("operators.kubeconfig");
    flattened(&control_plane, &file);
    let crd = recipe::crd(Some(recipe::status()));
    let client = control_plane.client().unwrap();
    operetta::supervisor::install_crds(&client, &[crd]).await.unwrap();
    let builder = Supervisor::builder().connect_to(Connect::kubeconfig_file(&file));
    let builder = builder.register(recipe::config("cook"), recipe::handler());
    let operators = Operators::new(builder.serve(LOOPBACK).start().await.unwrap());
    let parents = create(&client, "before").await;
    until_ready(&parents, "before").await;
    operators.until_all_synced(1).await;
    let renewed = move || control_plane.renew_credentials().map(|()| control_plane);
    let control_plane = tokio::task::spawn_blocking(renewed).await.unwrap().unwrap();
    let client = control_plane.client().unwrap();
    let parents = create(&client, "meanwhile").await;
    let ready = || async { operators.http("/readyz?verbose").await.1 };
    eventually("the failure reported", ready, |body| body.contains("failed: ")).await;
    flattened(&control_plane, &file);
    until_ready(&parents, "meanwhile").await;
    eventually("the failure is over", ready, |body| !body.contains("failed: ")).await;
    operators.until_all_synced(2).await;
    operators.settled().await;
    operators.stop().await;
    // A child and a status each.
    let of = |name: &str| written(&control_plane, name);
    let counted = (of("before"), of("meanwhile"));
    assert_eq!(counted, (2, 2));
    // Its processes end on a thread that may wait.
    tokio::task::spawn_blocking(move || drop(control_plane)).await.unwrap();
}
