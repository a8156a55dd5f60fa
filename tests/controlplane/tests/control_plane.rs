//! The rig against itself: what tests of the framework and of the embedded server rely on.
//!
//! Without built programs and without Go these tests are ignored; with `CI` set they fail.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use std::borrow::Borrow;
use std::fmt::Debug;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use operetta_controlplane::{Binaries, ControlPlane, Error, Options, User, Version};
use operetta_harness::ignore_outside_ci;
use serde_json::json;

const WITHIN: Duration = Duration::from_mins(1);

/// The version that `OPERETTA_TEST_CLUSTER` chooses, such as `controlplane:1.33`.
fn version() -> Version {
    let cluster = std::env::var("OPERETTA_TEST_CLUSTER").unwrap_or_default();
    Version::chosen(&cluster).map_or(Version::REFERENCE, |chosen| chosen.expect("a version"))
}

fn options() -> Options {
    Options::default().version(version())
}

/// One control plane for the tests that only read and write. It ends with this process.
fn shared() -> &'static ControlPlane {
    static SHARED: OnceLock<Result<ControlPlane, Error>> = OnceLock::new();
    or_ignore(SHARED.get_or_init(|| ControlPlane::start_with(&options())).as_ref())
}

fn started(options: &Options) -> ControlPlane {
    or_ignore(ControlPlane::start_with(options))
}

fn or_ignore<T, E: Borrow<Error> + Debug>(started: Result<T, E>) -> T {
    if let Err(Error::Unavailable { reason }) = started.as_ref().map_err(Borrow::borrow) {
        ignore_outside_ci(reason);
    }
    started.expect("a control plane")
}

/// Asks until the answer is yes, or fails.
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < WITHIN, "not within {WITHIN:?}: {what}");
        std::thread::yield_now();
    }
}

fn config_map(name: &str, value: &str) -> ConfigMap {
    serde_json::from_value(json!({ "metadata": { "name": name }, "data": { "key": value } }))
        .expect("a ConfigMap")
}

#[operetta_harness::test]
async fn a_config_map_comes_back_as_it_was_written() {
    let control_plane = shared();
    let api: Api<ConfigMap> = Api::default_namespaced(control_plane.client().expect("a client"));
    let created = api.create(&PostParams::default(), &config_map("round-trip", "1")).await;
    let version = created.expect("created").metadata.resource_version;
    let read = api.get("round-trip").await.expect("read");
    assert_eq!(read.metadata.resource_version, version);
    assert_eq!(read.data.expect("data")["key"], "1");
    let deleted = api.delete("round-trip", &DeleteParams::default()).await.expect("deleted");
    assert!(deleted.is_right(), "a final delete answers a Status");
}

#[operetta_harness::test]
async fn the_server_has_the_version_that_was_chosen() {
    let control_plane = shared();
    let client = control_plane.client().expect("a client");
    let version = client.apiserver_version().await.expect("a version");
    assert_eq!(version.git_version, version().name());
}

#[operetta_harness::test]
fn kubectl_of_the_same_version_reaches_the_server() {
    let control_plane = shared();
    let answer = control_plane
        .kubectl_command()
        .args(["version", "--output=json"])
        .output()
        .expect("kubectl runs");
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let versions: serde_json::Value = serde_json::from_slice(&answer.stdout).expect("JSON");
    for side in ["clientVersion", "serverVersion"] {
        assert_eq!(versions[side]["gitVersion"], version().name());
    }
}

#[operetta_harness::test]
fn a_second_start_reuses_the_programs() {
    let control_plane = shared();
    let written = |path: &Path| path.metadata().and_then(|file| file.modified()).expect("a time");
    let before = written(&control_plane.kubectl());
    let again = Binaries::find_of(version()).expect("they are there");
    assert_eq!(control_plane.kubectl(), again.folder().join("kubectl"));
    assert_eq!(written(&control_plane.kubectl()), before);
}

#[operetta_harness::test]
fn keys_and_kubeconfigs_are_for_their_owner_only() {
    let control_plane = shared();
    let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(control_plane.folder()), 0o700);
    assert_eq!(mode(control_plane.kubeconfig_path()), 0o600);
    assert_eq!(mode(control_plane.kubeconfig_for("restricted").expect("a user")), 0o600);
    for key in ["server.key", "admin.key", "service-account.key", "tokens.csv"] {
        assert_eq!(mode(&control_plane.folder().join(key)), 0o600, "{key}");
    }
}

#[operetta_harness::test]
async fn a_restricted_user_may_do_only_what_a_role_allows() {
    let control_plane = shared();
    let client = control_plane.client_for("restricted").expect("a client");
    let api: Api<ConfigMap> = Api::default_namespaced(client);
    let refused = api.get("anything").await.expect_err("no role is bound");
    let kube::Error::Api(status) = refused else { panic!("{refused}") };
    assert_eq!((status.code, status.reason.as_str()), (403, "Forbidden"));
    assert!(status.message.contains("User \"restricted\" cannot get resource \"configmaps\""));
}

#[operetta_harness::test]
fn a_user_that_was_not_asked_for_is_unknown() {
    let control_plane = shared();
    assert!(matches!(control_plane.user_token("unknown"), Err(Error::UnknownUser(_))));
}

#[operetta_harness::test]
async fn the_audit_log_names_client_verb_object_and_answer() {
    let control_plane = shared();
    let mut config = control_plane.kube_config();
    config.headers.push((http::header::USER_AGENT, "audited/1".parse().expect("a header")));
    let client = kube::Client::try_from(config).expect("a client");
    let api: Api<ConfigMap> = Api::default_namespaced(client);
    api.create(&PostParams::default(), &config_map("audited", "1")).await.expect("created");
    api.create(&PostParams::default(), &config_map("audited", "1")).await.expect_err("it exists");
    let expected = [("create", "configmaps", 201), ("create", "configmaps", 409)];
    let events = control_plane.audit_events().expect("a log");
    let mine = events.iter().filter(|event| event.user_agent == "audited/1");
    let mine: Vec<_> = mine.map(|it| (it.verb.as_str(), it.resource.as_str(), it.code)).collect();
    assert_eq!(mine, expected);
}

#[operetta_harness::test]
async fn a_namespace_ends_because_the_controller_manager_runs() {
    let control_plane = shared();
    let api: Api<Namespace> = Api::all(control_plane.client().expect("a client"));
    let namespace = json!({ "metadata": { "name": "ends" } });
    let namespace = serde_json::from_value(namespace).expect("a Namespace");
    let created = api.create(&PostParams::default(), &namespace).await.expect("created");
    let version = created.metadata.resource_version.expect("a version");
    let only = WatchParams::default().fields("metadata.name=ends");
    let mut changes = std::pin::pin!(api.watch(&only, &version).await.expect("a watch"));
    api.delete("ends", &DeleteParams::default()).await.expect("accepted");
    let ended = async {
        while let Some(change) = changes.next().await {
            if matches!(change, Ok(WatchEvent::Deleted(_))) {
                return true;
            }
        }
        false
    };
    assert!(tokio::time::timeout(WITHIN, ended).await.expect("in time"), "the watch ended first");
}

#[operetta_harness::test]
async fn a_restart_cuts_watches_and_makes_old_versions_expire() {
    let control_plane = started(&options().controller_manager(false));
    let api: Api<ConfigMap> = Api::default_namespaced(control_plane.client().expect("a client"));
    let object = api.create(&PostParams::default(), &config_map("old", "1")).await;
    let version = object.expect("created").metadata.resource_version.expect("a version");
    let watch = api.watch(&WatchParams::default(), &version).await.expect("a watch");
    api.patch("old", &PatchParams::default(), &Patch::Merge(json!({ "data": { "key": "2" } })))
        .await
        .expect("changed");
    assert!(control_plane.compact().expect("compacted") > 0);
    control_plane.restart_apiserver().expect("ready again");
    let seen: Vec<_> = watch.collect().await;
    assert!(matches!(seen.first(), Some(Ok(WatchEvent::Modified(_)))), "{seen:?}");

    let again = api.watch(&WatchParams::default(), &version).await.expect("a watch");
    let first = std::pin::pin!(again).next().await.expect("a frame").expect("readable");
    let WatchEvent::Error(status) = first else { panic!("not an error: {first:?}") };
    assert_eq!((status.code, status.reason.as_str()), (410, "Expired"));
    let now = api.get("old").await.expect("what was written is still there");
    assert_eq!(now.data.expect("data")["key"], "2");
}

#[operetta_harness::test]
async fn flags_feature_gates_and_users_reach_the_server() {
    let options = options()
        .api_server_flag("--anonymous-auth=false")
        .feature_gate("WatchList", false)
        .controller_manager(false)
        .audit(false)
        .user(User::new("root").group("system:masters"));
    let control_plane = started(&options);
    assert!(matches!(control_plane.audit_events(), Err(Error::NoAuditLog)));
    let client = control_plane.client_for("root").expect("a client");
    let request = http::Request::get("/metrics").body(Vec::new()).expect("a request");
    let metrics = client.request_text(request).await.expect("the group may read everything");
    assert!(metrics.contains("kubernetes_feature_enabled{name=\"WatchList\",stage=\"BETA\"} 0"));
    let mut anonymous = control_plane.kube_config();
    anonymous.auth_info = kube::config::AuthInfo::default();
    let anonymous = kube::Client::try_from(anonymous).expect("a client");
    let refused = anonymous.apiserver_version().await.expect_err("anonymous is off");
    assert!(matches!(refused, kube::Error::Api(status) if status.code == 401));
}

#[operetta_harness::test]
fn nothing_is_left_after_drop() {
    let mut control_plane = started(&options());
    control_plane.check().expect("all three run");
    let (folder, ids) = (control_plane.folder().to_owned(), control_plane.process_ids());
    assert_eq!(ids.len(), 3);
    let address = control_plane.server_url().trim_start_matches("https://").to_owned();
    drop(control_plane);
    for id in ids {
        assert!(!Path::new(&format!("/proc/{id}")).exists(), "process {id} is still there");
    }
    assert!(TcpStream::connect(address).is_err());
    assert!(!folder.exists());
}

#[operetta_harness::test]
fn nothing_is_left_after_the_owner_was_killed() {
    shared();
    let mut owner = Command::new(env!("CARGO_BIN_EXE_operetta-controlplane"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut line = String::new();
    let output = owner.stdout.as_mut().expect("its output");
    BufReader::new(output).read_line(&mut line).expect("a line when it is ready");
    let kubeconfig = line.trim().trim_start_matches("export KUBECONFIG=").to_owned();
    let content = std::fs::read_to_string(&kubeconfig).expect("a kubeconfig");
    let content: serde_json::Value = serde_json::from_str(&content).expect("JSON");
    let server = content["clusters"][0]["cluster"]["server"].as_str().expect("a server");
    let address = server.trim_start_matches("https://").to_owned();
    let mut connection = TcpStream::connect(&address).expect("the API server listens");
    connection.set_read_timeout(Some(WITHIN)).expect("a timeout");
    owner.kill().expect("killed");
    owner.wait().expect("gone");
    let closed = connection.read(&mut [0]);
    assert!(!matches!(&closed, Err(late) if late.kind() == ErrorKind::WouldBlock), "still open");
    eventually("the port is closed", || TcpStream::connect(&address).is_err());
    eventually("the folder is removed", || !Path::new(&kubeconfig).exists());
}

#[operetta_harness::test]
async fn what_came_after_a_backup_is_gone_once_it_is_restored() {
    let control_plane = started(&options().controller_manager(false));
    let api: Api<ConfigMap> = Api::default_namespaced(control_plane.client().expect("a client"));
    let create = async |name: &str| {
        let created = api.create(&PostParams::default(), &config_map(name, "1")).await;
        created.expect("created").metadata.resource_version
    };
    let kept = create("before").await;
    let backup = control_plane.backup().expect("a backup");
    create("after").await;
    control_plane.restore(&backup).expect("ready again");
    let before = api.get("before").await.expect("what was there then");
    assert_eq!(before.metadata.resource_version, kept);
    assert!(api.get_opt("after").await.expect("an answer").is_none());
}

#[operetta_harness::test]
fn without_programs_and_without_go_it_says_what_is_missing() {
    let answer = Command::new(env!("CARGO_BIN_EXE_operetta-controlplane"))
        .arg("build")
        .env("PATH", "")
        .env("OPERETTA_CACHE", "/nonexistent")
        .output()
        .expect("the program starts");
    assert!(!answer.status.success());
    let message = String::from_utf8_lossy(&answer.stderr);
    assert!(message.contains("no control plane on this machine"), "{message}");
    assert!(message.contains("no Go toolchain"), "{message}");
}

fn main() -> ExitCode {
    operetta_harness::main()
}
