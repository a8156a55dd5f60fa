//! A process of a group: both its sides. The program of the tests starts itself.
//!
//! It ends with its input, and so with the test. A process that is stopped then is in a process group without a parent, to
//! which the system sends a hang-up and a continuation.

use std::{
    env,
    fs::File,
    io::{self, BufRead},
    process::{self, ExitCode, Stdio},
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::config::{KubeConfigOptions, Kubeconfig};
use operetta::{election::Sharding, prelude::*};
use operetta_harness::Folder;
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    signal::unix::{SignalKind, signal},
    time::timeout,
};

use crate::{
    cluster::connector_to,
    recipe::{self, RECIPE},
};

/// Set for a process that is a replica.
const VARIABLE: &str = "OPERETTA_TEST_REPLICA";

/// How long its start or its end may take.
const DEADLINE: Duration = Duration::from_mins(1);

/// How long its Lease is valid.
pub(super) const LEASE: Duration = Duration::from_secs(4);

/// How many lines of the log a failed test prints: the last ones.
const SHOWN: usize = 40;

/// What it reads first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Orders {
    pub(super) kubeconfig: String,
    pub(super) namespace: String,
    pub(super) identity: String,
}

/// A running replica. It is killed when it is dropped.
pub(super) struct Replica {
    identity: String,
    child: Child,
    _input: ChildStdin,
    _output: Lines<BufReader<ChildStdout>>,
    folder: Folder,
}

impl Replica {
    /// Starts it, and returns when it is ready.
    pub(super) async fn start(orders: &Orders) -> Self {
        let folder = Folder::new();
        let mut child = Command::new(env::current_exe().unwrap())
            .env(VARIABLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.join("log")).unwrap())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let line = serde_json::to_string(orders).unwrap() + "\n";
        input.write_all(line.as_bytes()).await.unwrap();
        let mut output = BufReader::new(output).lines();
        let ready = timeout(DEADLINE, output.next_line()).await.expect("ready in time").unwrap();
        let identity = orders.identity.clone();
        let replica = Self { identity, child, _input: input, _output: output, folder };
        assert!(ready.is_some(), "{} ended before it was ready", replica.identity);
        replica
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill_process(self.id(), signal).unwrap();
    }

    pub(super) fn id(&self) -> Pid {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        Pid::from_raw(id.expect("it runs")).unwrap()
    }

    /// Sends a signal that ends it, and waits for that.
    pub(super) async fn end(mut self, by: Signal) {
        self.signal(by);
        let ended = timeout(DEADLINE, self.child.wait()).await.expect("an end in time").unwrap();
        assert!(by == Signal::KILL || ended.success(), "{} ended with {ended}", self.identity);
    }
}

/// Prints the end of the log of a failed test.
impl Drop for Replica {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            let hidden = log.lines().count().saturating_sub(SHOWN);
            log.lines().skip(hidden).for_each(|line| eprintln!("{}: {line}", self.identity));
        }
    }
}

/// Runs as a replica, if this process is to be one.
pub(crate) fn run_if_asked() -> Option<ExitCode> {
    env::var_os(VARIABLE)?;
    let filter = tracing_subscriber::EnvFilter::new("info");
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).unwrap();
    let orders = serde_json::from_str(&line).unwrap();
    std::thread::spawn(end_with_input);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run(orders));
    Some(ExitCode::SUCCESS)
}

fn end_with_input() {
    // It ends, or fails.
    let _ = io::stdin().lock().read_line(&mut String::new());
    process::exit(1);
}

/// Runs the operator until it is asked to stop.
async fn run(orders: Orders) {
    let mut asked = signal(SignalKind::terminate()).unwrap();
    let kubeconfig = Kubeconfig::from_yaml(&orders.kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    let running = Supervisor::builder()
        .connect(connector_to(config))
        .program(&orders.identity, "1")
        .sharded(sharding(&orders))
        .register(config_of_operator(), with_finalizer(recipe::sync, finalize))
        .start()
        .await
        .unwrap();
    running.ready().await;
    println!("ready");
    asked.recv().await;
    running.stop().await.unwrap();
}

fn sharding(orders: &Orders) -> Sharding {
    Sharding::new(super::GROUP)
        .as_identity(&orders.identity)
        .in_namespace(&orders.namespace)
        .with_lease_duration(LEASE)
        .with_renew_deadline(Duration::from_secs(3))
        .with_retry_period(Duration::from_millis(500))
}

/// Nobody but the operator deletes children.
fn config_of_operator() -> OperatorConfig {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new(super::GROUP, parent)
        .child::<ConfigMap>(ChildConfig::apply().orphan_on_delete())
        .with_error_backoff(Duration::from_millis(100), Duration::from_secs(2))
}

#[allow(clippy::unnecessary_wraps, reason = "as a handler has to be")]
fn finalize(_: &SyncRequest) -> Result<FinalizeResponse> {
    Ok(FinalizeResponse::done().deleting_orphans())
}
