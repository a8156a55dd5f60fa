//! Supervisors within the runtime of a program: of either kind, beside another server, one after another, and
//! with a connection that fails.

use std::{
    net::SocketAddr,
    sync::{
        Mutex,
        mpsc::{self, Receiver},
    },
};

use actix_web::{App, HttpServer, web};
use base64::{Engine, prelude::BASE64_STANDARD};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, api::PostParams};
use operetta::{
    prelude::*,
    supervisor::{Running, SupervisorBuilder},
    testkit::{TestCluster, eventually},
};
use operetta_apiserver::{Running as Listening, Server};
use operetta_harness::Folder;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::oneshot,
};

/// A `Secret` beside each `ConfigMap`.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let metadata = json!({"name": request.parent.name()});
    Ok(SyncResponse::new()
        .child(json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})))
}

fn config() -> OperatorConfig {
    OperatorConfig::of::<ConfigMap>("cook").child::<Secret>(ChildConfig::apply())
}

fn supervisor(cluster: &TestCluster) -> SupervisorBuilder {
    let client = cluster.client();
    Supervisor::builder().connect(|| async { Ok(client) })
}

async fn create(cluster: &TestCluster, name: &str) {
    let parent: ConfigMap = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
    let parents: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    parents.create(&PostParams::default(), &parent).await.unwrap();
}

async fn until_child(cluster: &TestCluster, name: &str) {
    let children: Api<Secret> = Api::default_namespaced(cluster.client());
    let look = || async { children.get_opt(name).await.unwrap().is_some() };
    eventually("the child", look, |is_there| *is_there).await;
}

/// Runs an operator from its start to its end.
async fn start_and_stop(cluster: &TestCluster, parent: &str) {
    let running = supervisor(cluster).register(config(), sync).start().await.unwrap();
    running.ready().await;
    create(cluster, parent).await;
    until_child(cluster, parent).await;
    let stopped = running.stopped();
    assert!(running.is_active());
    running.stop().await.unwrap();
    stopped.await;
}

#[tokio::test]
async fn supervisors_run_one_after_another_in_a_current_thread_runtime() {
    let cluster = TestCluster::start();
    start_and_stop(&cluster, "a").await;
    start_and_stop(&cluster, "b").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_supervisors_run_at_once_in_a_multi_thread_runtime() {
    let clusters = [TestCluster::start(), TestCluster::start()];
    tokio::join!(start_and_stop(&clusters[0], "a"), start_and_stop(&clusters[1], "a"));
}

/// Its only thread has to run what the start and the stop wait for.
#[tokio::test]
async fn starting_and_stopping_block_no_thread_of_the_runtime() {
    let cluster = TestCluster::start();
    let (connect, connected) = oneshot::channel();
    let (called, is_called) = oneshot::channel();
    let (release, released): (_, Receiver<()>) = mpsc::channel();
    let waiting = Mutex::new((Some(called), released));
    let wait = move |request: &SyncRequest| {
        let mut waiting = waiting.lock().unwrap();
        // Nobody waits for a later call.
        if let Some(called) = waiting.0.take() {
            called.send(()).unwrap();
        }
        let _ = waiting.1.recv();
        sync(request)
    };
    let starting = Supervisor::builder().connect(|| async { Ok(connected.await?) });
    let starting = starting.register(config(), wait).start();
    let (running, ()) = tokio::join!(starting, async {
        assert!(connect.send(cluster.client()).is_ok());
    });
    create(&cluster, "a").await;
    is_called.await.unwrap();
    let (stopped, ()) = tokio::join!(running.unwrap().stop(), async { drop(release) });
    stopped.unwrap();
    until_child(&cluster, "a").await;
}

#[tokio::test]
async fn dropping_the_handle_within_a_runtime_stops_the_supervisor() {
    let cluster = TestCluster::start();
    let running = cluster.run(|supervisor| supervisor.register(config(), sync)).await.unwrap();
    let stopped = running.stopped();
    drop(running);
    stopped.await;
}

/// `run` is a future as any other: it can be spawned, and ends what it runs when it is dropped.
#[tokio::test]
async fn dropping_the_future_of_a_run_stops_the_supervisor() {
    let cluster = TestCluster::start();
    let (announce, ready) = oneshot::channel();
    let supervisor = supervisor(&cluster).register(config(), sync).serve("127.0.0.1:0");
    let supervisor = supervisor.on_ready(|ready| announce.send(ready.web.unwrap()).unwrap());
    let run = tokio::spawn(supervisor.run());
    let address = ready.await.unwrap();
    assert!(get(address, "/livez").await.unwrap().starts_with("HTTP/1.1 200"));
    run.abort();
    let look = || async { TcpStream::connect(address).await.is_err() };
    eventually("the end of the endpoint", look, |is_gone| *is_gone).await;
}

#[actix_web::test]
async fn a_supervisor_runs_beside_a_server_of_actix_web() {
    let cluster = TestCluster::start();
    let running = cluster
        .run(|supervisor| supervisor.register(config(), sync).serve("127.0.0.1:0"))
        .await
        .unwrap();
    let server = || App::new().route("/own", web::get().to(|| async { "own" }));
    let server = HttpServer::new(server).workers(1).bind("127.0.0.1:0").unwrap();
    let own = server.addrs()[0];
    let server = server.run();
    let handle = server.handle();
    let served = actix_web::rt::spawn(server);
    assert!(get(own, "/own").await.unwrap().ends_with("own"));
    assert!(get(running.web().unwrap(), "/livez").await.unwrap().starts_with("HTTP/1.1 200"));
    running.stop().await.unwrap();
    assert!(get(own, "/own").await.unwrap().ends_with("own"), "it ended with the supervisor");
    handle.stop(true).await;
    served.await.unwrap().unwrap();
}

async fn get(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut connection = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await?;
    Ok(answer)
}

fn served() -> Listening {
    Server::start().serve("127.0.0.1:0".parse().unwrap()).unwrap()
}

/// The kubeconfig of a server, with a change to its cluster.
fn kubeconfig(server: &Listening, change: impl FnOnce(&mut Value)) -> Value {
    let mut kubeconfig = serde_yaml_ng::from_str(server.kubeconfig()).unwrap();
    change(&mut kubeconfig);
    kubeconfig
}

/// What the operator lacks with this kubeconfig.
async fn degraded_with(kubeconfig: &Value) -> String {
    let folder = Folder::new();
    let file = folder.write("kubeconfig", kubeconfig.to_string());
    let (announce, ready) = oneshot::channel();
    let supervisor = Supervisor::builder()
        .connect_to(Connect::kubeconfig_file(&file))
        .on_ready(|ready| announce.send(ready.degraded.join("\n")).unwrap());
    let running: Running = supervisor.register(config(), sync).start().await.unwrap();
    let reasons = ready.await.unwrap();
    running.stop().await.unwrap();
    reasons
}

/// A certificate authority of another name, as a kubeconfig has it.
fn stranger() -> Value {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::default().self_signed(&key).unwrap();
    json!(BASE64_STANDARD.encode(certificate.pem()))
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_named_as_the_cause() {
    const AUTHORITY: &str = "/clusters/0/cluster/certificate-authority-data";
    let server = served();
    let namesake = kubeconfig(&served(), |_| {}).pointer(AUTHORITY).unwrap().clone();
    for (authority, why) in [(stranger(), "UnknownIssuer"), (namesake, "BadSignature")] {
        let wrong = kubeconfig(&server, |it| *it.pointer_mut(AUTHORITY).unwrap() = authority);
        let reasons = degraded_with(&wrong).await;
        assert!(reasons.contains(&format!("not trusted ({why})")), "{reasons}");
        assert!(reasons.contains("certificate authority of the kubeconfig"), "{reasons}");
        assert!(reasons.contains("(list /api/v1/"), "{reasons}");
    }
}

#[tokio::test]
async fn a_certificate_for_another_name_is_named_as_the_cause() {
    let server = served();
    let wrong = kubeconfig(&server, |it| {
        it["clusters"][0]["cluster"]["tls-server-name"] = json!("api.example");
    });
    let reasons = degraded_with(&wrong).await;
    assert!(reasons.contains("for another name"), "{reasons}");
    assert!(reasons.contains("api.example") && reasons.contains("`tls-server-name`"), "{reasons}");
}

#[tokio::test]
async fn a_server_that_does_not_listen_is_named_as_the_cause() {
    let server = served();
    let kubeconfig = kubeconfig(&server, |_| {});
    server.stop().await;
    let reasons = degraded_with(&kubeconfig).await;
    assert!(reasons.contains("Connection refused"), "{reasons}");
}
