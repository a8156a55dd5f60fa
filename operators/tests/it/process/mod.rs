//! The binary as a user runs it: started, queried, killed, stopped.

use std::{
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::{Namespace, Pod, ResourceQuota, Service};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{DeleteParams, ListParams, PostParams, WatchEvent, WatchParams},
};
use operators::{
    crds,
    echo_server::{EchoServer, EchoServerSpec},
};
use operetta::supervisor::install_crds;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    cluster::{Cluster, client_of, new_folder},
    program::{Program, output},
};

mod asking;
mod collector;
mod hand_over;
mod inside;
mod logs;
mod migrate;
mod orphans;
mod plugin;
mod printed;
mod scraped;
mod traced;
mod webhooks;

/// How long a test waits.
const DEADLINE: Duration = Duration::from_secs(30);
const ECHO_SERVERS: usize = 50;

/// A namespace on a cluster with the CRDs.
struct Tenant {
    cluster: Cluster,
    echo_servers: Api<EchoServer>,
    pods: Api<Pod>,
    services: Api<Service>,
}

impl Tenant {
    async fn new(namespace: &str) -> Self {
        let cluster = Cluster::start().await;
        let client = cluster.client().await;
        install_crds(&client, &crds().unwrap()).await.unwrap();
        let mut object = Namespace::default();
        object.metadata.name = Some(namespace.to_owned());
        Api::all(client.clone()).create(&PostParams::default(), &object).await.unwrap();
        Self::at(cluster, &client, namespace)
    }

    fn at(cluster: Cluster, client: &Client, namespace: &str) -> Self {
        let echo_servers = Api::namespaced(client.clone(), namespace);
        let pods = Api::namespaced(client.clone(), namespace);
        let services = Api::namespaced(client.clone(), namespace);
        Self { cluster, echo_servers, pods, services }
    }

    /// The binary on this cluster.
    fn operators(&self) -> Program {
        let kubeconfig = self.cluster.kubeconfig().to_str().unwrap();
        Program::start(&["--cluster", "kubeconfig", "--kubeconfig", kubeconfig])
    }

    /// With limited concurrency: a server cannot accept a thousand connections at once.
    async fn create(&self, count: usize) {
        let create = |number| create_one(&self.echo_servers, format!("echo-{number}"));
        stream::iter(0..count).for_each_concurrent(16, create).await;
    }

    async fn until_all_synced(&self) -> Vec<EchoServer> {
        all_synced(&self.echo_servers).await
    }

    async fn children(&self) -> (Vec<Pod>, Vec<Service>) {
        let ours = ListParams::default().labels("app.kubernetes.io/managed-by=echo-server");
        let pods = self.pods.list(&ours).await.unwrap().items;
        (pods, self.services.list(&ours).await.unwrap().items)
    }

    fn quotas(&self) -> Api<ResourceQuota> {
        let namespace = self.pods.namespace().expect("the namespace of the test");
        Api::namespaced(self.pods.clone().into_client(), namespace)
    }

    /// Deletes the parents, so that the next test begins without work.
    async fn clear(&self) {
        for parent in self.echo_servers.list(&ListParams::default()).await.unwrap() {
            let name = parent.name_any();
            self.echo_servers.delete(&name, &DeleteParams::background()).await.unwrap();
        }
    }
}

async fn create_one(api: &Api<EchoServer>, name: String) {
    let spec = EchoServerSpec { service_name: "hello".to_owned() };
    api.create(&PostParams::default(), &EchoServer::new(&name, spec)).await.unwrap();
}

async fn all_synced(api: &Api<EchoServer>) -> Vec<EchoServer> {
    all(api, is_synced).await
}

/// Returns the parents once all of them are so.
async fn all(api: &Api<EchoServer>, are: fn(&EchoServer) -> bool) -> Vec<EchoServer> {
    let started = Instant::now();
    loop {
        let parents = api.list(&ListParams::default()).await.unwrap().items;
        if parents.iter().all(are) {
            return parents;
        }
        assert!(started.elapsed() < DEADLINE, "never all of them: {parents:#?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn is_synced(parent: &EchoServer) -> bool {
    has_condition(parent, "Synced")
}

fn is_ready(parent: &EchoServer) -> bool {
    has_condition(parent, "Ready")
}

fn has_condition(parent: &EchoServer, name: &str) -> bool {
    let conditions = parent.status.iter().flat_map(|status| &status.conditions);
    conditions.into_iter().any(|condition| condition.type_ == name && condition.status == "True")
}

/// Returns once so many Pods have been created after `version`.
async fn until_created(pods: &Api<Pod>, version: &str, count: usize) {
    let events = pods.watch(&WatchParams::default(), version).await.unwrap();
    let created = events.filter(|event| {
        std::future::ready(matches!(event.as_ref().unwrap(), WatchEvent::Added(_)))
    });
    let seen = tokio::time::timeout(DEADLINE, created.take(count).count()).await;
    assert_eq!(seen.expect("the pods in time"), count);
}

fn owners<K: Resource>(children: &[K]) -> Vec<String> {
    let owner = |child: &K| {
        let [owner] = child.owner_references() else { panic!("one owner") };
        owner.uid.clone()
    };
    let mut owners: Vec<_> = children.iter().map(owner).collect();
    owners.sort();
    owners
}

#[operetta_harness::test]
async fn after_a_kill_and_a_restart_there_are_no_duplicates_and_no_orphans() {
    let tenant = Tenant::new("killed").await;
    tenant.create(ECHO_SERVERS).await;
    // Otherwise a fast program has written everything before it is killed.
    let quota = json!({"metadata": {"name": "half"}, "spec": {"hard": {"pods": "20"}}});
    let quota = serde_json::from_value(quota).unwrap();
    tenant.quotas().create(&PostParams::default(), &quota).await.unwrap();
    let before = tenant.pods.list(&ListParams::default()).await.unwrap();
    let version = before.metadata.resource_version.unwrap();
    let operators = tenant.operators();
    until_created(&tenant.pods, &version, 10).await;
    operators.kill().await;
    tenant.quotas().delete("half", &DeleteParams::default()).await.unwrap();
    let (pods, services) = tenant.children().await;
    let written = pods.len() + services.len();
    assert!((10..2 * ECHO_SERVERS).contains(&written), "half written: {written}");

    let operators = tenant.operators();
    let parents = tenant.until_all_synced().await;
    let mut uids: Vec<_> = parents.iter().map(|parent| parent.uid().unwrap()).collect();
    uids.sort();
    assert_eq!(uids.len(), ECHO_SERVERS);
    let (pods, services) = tenant.children().await;
    assert_eq!(owners(&pods), uids, "each parent has exactly one pod");
    assert_eq!(owners(&services), uids, "each parent has exactly one service");
    let all = tenant.pods.list(&ListParams::default()).await.unwrap().items;
    assert_eq!(all.len(), ECHO_SERVERS, "and there is no other");
    tenant.clear().await;
    operators.stop("TERM").await;
}

#[operetta_harness::test]
async fn a_signal_stops_it_successfully_within_five_seconds() {
    let tenant = Tenant::new("stopped").await;
    for signal in ["TERM", "INT"] {
        let mut operators = tenant.operators();
        operators.ready().await;
        tenant.create(if signal == "TERM" { 10 } else { 0 }).await;
        let stopped = Instant::now();
        let code = operators.stop(signal).await;
        assert!(stopped.elapsed() < Duration::from_secs(5), "the documented limit of an exit");
        assert_eq!(code, Some(0), "SIG{signal}");
    }
    tenant.clear().await;
}

#[operetta_harness::test]
async fn a_thousand_queued_parents_do_not_delay_the_exit() {
    let tenant = Tenant::new("crowded").await;
    tenant.create(1000).await;
    let mut operators = tenant.operators();
    operators.ready().await;
    let stopped = Instant::now();
    let code = operators.stop("TERM").await;
    assert!(stopped.elapsed() < Duration::from_secs(5), "the documented limit of an exit");
    assert_eq!(code, Some(0));
    let parents = tenant.echo_servers.list(&ListParams::default()).await.unwrap().items;
    assert!(!parents.iter().all(is_synced), "it exited before its work was done");
    tenant.clear().await;
}

#[operetta_harness::test]
async fn on_the_cluster_of_a_kubeconfig_it_announces_itself_and_works() {
    let tenant = Tenant::new("works").await;
    let mut operators = tenant.operators();
    let announced = operators.ready().await;
    let all =
        "Operators: echo-server, temp-namespace, config-propagation, deployment-scaler, database.";
    assert!(announced.contains(all), "{announced}");
    assert!(!announced.contains("kubectl"), "no advice to change a real cluster: {announced}");
    tenant.create(1).await;
    let parents = tenant.until_all_synced().await;
    let (pods, services) = tenant.children().await;
    let uid = parents[0].uid().unwrap();
    assert_eq!((owners(&pods), owners(&services)), (vec![uid.clone()], vec![uid]));
    tenant.clear().await;
    assert_eq!(operators.stop("TERM").await, Some(0));
}

#[operetta_harness::test]
async fn without_flags_it_starts_an_api_server_and_prints_the_commands_to_copy() {
    let folder = new_folder();
    let mut operators = Program::start_in(&folder, &[]);
    let announced = operators.ready().await;
    let kubeconfig = folder.join("target/operetta/kubeconfig");
    for part in [
        &*format!("\n  export KUBECONFIG={}\n", kubeconfig.display()),
        "\n  kubectl apply -f examples/echo-server.yaml\n",
        "\nDashboard: http://127.0.0.1:",
    ] {
        assert!(announced.contains(part), "{part} is missing in {announced}");
    }
    assert_eq!(kubeconfig.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let echo_servers = Api::default_namespaced(client_of(&kubeconfig).await);
    create_one(&echo_servers, "hello".to_owned()).await;
    all_synced(&echo_servers).await;
    let stopped = Instant::now();
    assert_eq!(operators.stop("TERM").await, Some(0));
    assert!(stopped.elapsed() < Duration::from_secs(5), "the documented limit of an exit");
}

#[operetta_harness::test]
async fn the_log_filter_is_changed_while_it_runs() {
    let mut operators = Program::start(&[]);
    let announced = operators.ready().await;
    let address = announced.split("http://").nth(1).and_then(|rest| rest.split('/').next());
    let address = address.expect("an address").to_owned();
    let changed = put(&address, "/log-level", "warn").await;
    assert!(changed.ends_with(r#"{"filter":"warn"}"#), "{changed}");
    let refused = put(&address, "/log-level", "operetta=loud").await;
    assert!(
        refused.starts_with("HTTP/1.1 400") && refused.contains("`operetta=loud`"),
        "{refused}"
    );
    let log = operators.log();
    assert!(log.contains("log filter changed"), "whatever hides it: {log}");
    assert_eq!(operators.stop("TERM").await, Some(0));
}

async fn put(address: &str, path: &str, body: &str) -> String {
    let length = body.len();
    let request = format!(
        "PUT {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    connection.read_to_string(&mut response).await.unwrap();
    response
}

#[operetta_harness::test]
async fn a_port_in_use_is_an_error_with_the_port_and_the_flag() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    // The other port is free: the default may be in use by operators that run here.
    for (flag, other) in [("--listen", "--embedded-listen"), ("--embedded-listen", "--listen")] {
        let (code, _, stderr) = output(&[flag, &address, other, "127.0.0.1:0"]).await;
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains(flag) && stderr.contains(&address), "{stderr}");
    }
}

#[operetta_harness::test]
async fn invalid_flags_are_refused_with_an_alternative() {
    let missing = new_folder().join("no-such-file");
    let missing = missing.to_str().unwrap();
    for (flags, parts) in [
        (&["--listen", "0.0.0.0:0"][..], ["--listen 0.0.0.0:0", "--insecure-listen"]),
        (&["--kubeconfig", "f"], ["--kubeconfig", "--cluster kubeconfig"]),
        (
            &["--listen", "127.0.0.1:0", "--cluster", "kubeconfig", "--kubeconfig", missing],
            ["--cluster kubeconfig", missing],
        ),
    ] {
        let (code, _, stderr) = output(flags).await;
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.starts_with("error: ") || stderr.contains("\nerror: "), "{stderr}");
        for part in parts {
            assert!(stderr.contains(part), "{part} is missing in {stderr}");
        }
    }
}

#[operetta_harness::test]
async fn plan_prints_what_would_be_changed_and_its_exit_code_says_whether_something_is() {
    let tenant = Tenant::new("planned").await;
    tenant.create(1).await;
    let kubeconfig = tenant.cluster.kubeconfig().to_str().unwrap().to_owned();
    let plan = ["plan", "--kubeconfig", &kubeconfig, "--namespace", "planned"];
    let (code, printed, errors) = output(&plan).await;
    assert_eq!(code, Some(2), "{printed}{errors}");
    assert!(printed.contains("# Create v1/Pod/planned/echo-0\n--- live /dev/null\n"), "{printed}");
    assert!(printed.ends_with("# 1 of 1 parents would be changed\n"), "{printed}");
    let (code, printed, _) = output(&[&plan[..], &["--output", "json"]].concat()).await;
    let plans: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, &plans["parents"][0]["changes"][0]["kind"]), (Some(2), &"Pod".into()));
    assert!(tenant.children().await.0.is_empty(), "nothing was written");
    let mut operators = tenant.operators();
    operators.ready().await;
    tenant.until_all_synced().await;
    operators.stop("TERM").await;
    let (code, printed, errors) = output(&plan).await;
    assert_eq!(
        (code, printed.as_str()),
        (Some(0), "# 0 of 1 parents would be changed\n"),
        "{errors}"
    );
    let (code, _, errors) = output(&[&plan[..], &["--operator", "nobody"]].concat()).await;
    assert!(code == Some(1) && errors.contains("`nobody` does not exist"), "{errors}");
    let file = new_folder().join("parents.yaml");
    let new = "apiVersion: example.operetta.dev/v1alpha1\nkind: EchoServer\n\
               metadata: {name: new, namespace: planned}\nspec: {serviceName: hello}\n";
    std::fs::write(&file, format!("---\n{new}")).unwrap();
    let against = ["--against", file.to_str().unwrap()];
    let (code, printed, errors) = output(&[&plan[..], &against].concat()).await;
    assert!(printed.contains("# Create v1/Pod/planned/new\n"), "{printed}{errors}");
    assert!(
        code == Some(2) && printed.ends_with("# 1 of 1 parents would be changed\n"),
        "{printed}"
    );
    std::fs::write(&file, new.replace("EchoServer", "EchoClient")).unwrap();
    let (code, _, errors) = output(&[&plan[..], &against].concat()).await;
    assert!(code == Some(1) && errors.contains("no operator has parents of the type"), "{errors}");
    tenant.clear().await;
}
