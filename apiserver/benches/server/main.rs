//! The embedded API server beside etcd with kube-apiserver, in one run:
//!
//! ```text
//! cargo bench -p operetta-apiserver --bench server                               # everything
//! cargo bench -p operetta-apiserver --bench server -- many --objects 400000      # only that many objects are held
//! ```
//!
//! Both are asked over TLS by the same clients, on the CPUs that they share. Without the programs of the real control
//! plane only the embedded one is measured.

#![allow(clippy::unwrap_used, reason = "a bench that cannot go on")]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

mod definitions;
mod fan_out;
mod floor;
mod many;

use std::{
    fs,
    time::{Duration, Instant},
};

use clap::{Parser, ValueEnum};
use futures::future::join_all;
use kube::{
    Api, Client,
    api::{DynamicObject, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
    core::{ApiResource, GroupVersionKind},
};
use operetta_apiserver::{Running, Server};
use operetta_controlplane::{ControlPlane, Options};
use serde_json::json;
use tikv_jemallocator::Jemalloc;

/// As the program `operators` has it.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

const CONNECTIONS: usize = 32;
const CREATES: usize = 6_400;
const KEPT: usize = 100_000;
const STARTED_WITH: usize = 10_000;

/// What to measure, and how large.
#[derive(Debug, Parser)]
#[command(name = "server", bin_name = "cargo bench -p operetta-apiserver --bench server --")]
struct Settings {
    /// What to measure; everything when none is named
    figures: Vec<Figure>,
    /// How many objects `many` makes in the embedded server
    #[arg(long, default_value_t = 40_000)]
    objects: usize,
    /// How many in the real one at most, which needs minutes for as many
    #[arg(long, default_value_t = 20_000)]
    real_objects: usize,
    /// What cargo adds
    #[arg(long, hide = true)]
    bench: bool,
}

/// One thing that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Figure {
    /// Starts, creates, watches, definitions and lists
    Requests,
    /// Memory and lists of many objects
    Many,
}

/// KiB of processes.
#[derive(Debug, Clone, Copy)]
struct Memory {
    resident: u64,
    /// The most so far.
    peak: u64,
}

/// A server under measurement.
struct Measured {
    config: kube::Config,
    processes: Vec<u32>,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run());
}

async fn run() {
    let settings = Settings::parse();
    let is_named = |it| settings.figures.is_empty() || settings.figures.contains(&it);
    if is_named(Figure::Requests) {
        print_starts().await;
    }
    let options = Options::default().audit(false).controller_manager(false);
    let start = move || ControlPlane::start_with(&options);
    let control_plane = tokio::task::spawn_blocking(start).await.unwrap();
    let real = control_plane
        .as_ref()
        .ok()
        .map(|it| Measured { config: it.kube_config(), processes: it.process_ids() });
    println!("{:<52}{:>14}{:>14}{:>10}  target", "figure", "embedded", "real", "ratio");
    if is_named(Figure::Requests) {
        print_requests(real.as_ref()).await;
    }
    if is_named(Figure::Many) {
        print_many(&settings, real.as_ref()).await;
    }
}

async fn print_starts() {
    let (in_process, over_tls) = starts().await;
    println!(
        "start to first object: in process {in_process:.1?} (target 10 ms), over TLS {over_tls:.1?} (target 60 ms)"
    );
}

async fn print_many(settings: &Settings, real: Option<&Measured>) {
    let server = Server::start();
    let (running, embedded) = served(&server).await;
    let real = real.map(|real| (real, settings.objects.min(settings.real_objects)));
    many::measure((&embedded, settings.objects), server.client(), real).await;
    running.stop().await;
}

async fn print_requests(real: Option<&Measured>) {
    let server = Server::start();
    let (running, embedded) = served(&server).await;
    let (ours, theirs) = both(&embedded, real, creates).await;
    print("creates per second, 32 connections", ours.0, theirs.map(|it| it.0), "at least 3");
    print("  p99 in ms", ours.1, theirs.map(|it| it.1), "below 1");
    let (persistent, start) = persistent().await;
    print("  with a data directory", persistent.0, theirs.map(|it| it.0), "at least 1");
    print("  p99 in ms", persistent.1, theirs.map(|it| it.1), "");
    print("ms of a start with 10,000 objects of 1 KB", start, None, "below 500");
    let (ours, theirs) = both(&embedded, real, fan_out::measure).await;
    print("events per second, 200 watchers x 2,000 creates", ours, theirs, "at least 3");
    let (ours, theirs) = both(&embedded, real, definitions::measure).await;
    print(
        "definitions of 20-500 KB applied per second",
        ours.0,
        theirs.map(|it| it.0),
        "at least 3",
    );
    print("  MB of memory for 128 of them", ours.1, theirs.map(|it| it.1), "below 150");
    print("  ms of /openapi/v2 with them", ours.2, theirs.map(|it| it.2), "");
    let (ours, theirs) = both(&embedded, real, memory).await;
    print("KB of memory per object of 1 KB", ours, theirs, "2.5 KB");
    let (ours, theirs) = both(&embedded, real, lists).await;
    print("MB per second of a list of 100,000 objects", ours, theirs, "at least 3");
    running.stop().await;
}

async fn served(server: &Server) -> (Running, Measured) {
    let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
    let config = config_of(&running).await;
    (running, Measured { config, processes: vec![std::process::id()] })
}

async fn config_of(running: &Running) -> kube::Config {
    let kubeconfig = Kubeconfig::from_yaml(running.kubeconfig()).unwrap();
    let options = KubeConfigOptions::default();
    kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap()
}

async fn both<T, F: Future<Output = T>>(
    embedded: &Measured,
    real: Option<&Measured>,
    measure: impl Fn(kube::Config, Vec<u32>) -> F,
) -> (T, Option<T>) {
    let of = |it: &Measured| measure(it.config.clone(), it.processes.clone());
    let ours = of(embedded).await;
    let theirs = match real {
        Some(real) => Some(of(real).await),
        None => None,
    };
    (ours, theirs)
}

fn print(name: &str, ours: f64, theirs: Option<f64>, target: &str) {
    let (real, ratio) = match theirs {
        Some(theirs) => (format!("{theirs:.2}"), format!("{:.2}", ours / theirs)),
        None => ("-".to_owned(), "-".to_owned()),
    };
    println!("{name:<52}{ours:>14.2}{real:>14}{ratio:>10}  {target}");
}

fn config_maps(client: Client, namespace: &str) -> Api<DynamicObject> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"));
    Api::namespaced_with(client, namespace, &resource)
}

/// About 1 KB of JSON.
fn config_map(name: &str) -> DynamicObject {
    let text = "x".repeat(700);
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
        "data": {"text": text}});
    serde_json::from_value(object).unwrap()
}

async fn namespace(client: &Client, name: &str) {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Namespace"));
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    api.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
}

/// The medians of ten starts.
async fn starts() -> (Duration, Duration) {
    let (mut in_process, mut over_tls) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        let begun = Instant::now();
        let server = Server::start();
        let api = config_maps(server.client(), "default");
        api.create(&PostParams::default(), &config_map("first")).await.unwrap();
        in_process.push(begun.elapsed());
        let begun = Instant::now();
        let server = Server::start();
        let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
        let client = Client::try_from(config_of(&running).await).unwrap();
        let api = config_maps(client, "default");
        api.create(&PostParams::default(), &config_map("first")).await.unwrap();
        over_tls.push(begun.elapsed());
        running.stop().await;
    }
    let median = |mut all: Vec<Duration>| {
        all.sort_unstable();
        all[all.len() / 2]
    };
    (median(in_process), median(over_tls))
}

/// Creates per second and the 99th percentile in milliseconds.
async fn creates(config: kube::Config, _: Vec<u32>) -> (f64, f64) {
    let client = Client::try_from(config.clone()).unwrap();
    namespace(&client, "creates").await;
    let connection = |number: usize| {
        let api = config_maps(Client::try_from(config.clone()).unwrap(), "creates");
        tokio::spawn(async move {
            let mut times = Vec::new();
            for at in 0..CREATES / CONNECTIONS {
                let begun = Instant::now();
                let object = config_map(&format!("c{number}-{at}"));
                api.create(&PostParams::default(), &object).await.unwrap();
                times.push(begun.elapsed());
            }
            times
        })
    };
    let begun = Instant::now();
    let times = join_all((0..CONNECTIONS).map(connection)).await;
    let seconds = begun.elapsed().as_secs_f64();
    let mut times: Vec<Duration> = times.into_iter().flat_map(Result::unwrap).collect();
    times.sort_unstable();
    let p99 = times[times.len() * 99 / 100].as_secs_f64() * 1000.0;
    (times.len() as f64 / seconds, p99)
}

/// The figures of [`creates`] with a data directory, and the milliseconds of a start with 10,000 objects.
async fn persistent() -> ((f64, f64), f64) {
    let directory = std::env::temp_dir().join(format!("bench-{}", std::process::id()));
    let start = || Server::builder().start_in(&directory).unwrap();
    let server = start();
    let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
    let figures = creates(config_of(&running).await, Vec::new()).await;
    running.stop().await;
    let api = config_maps(server.client(), "default");
    let object = |at: usize| {
        let api = api.clone();
        async move { api.create(&PostParams::default(), &config_map(&format!("s{at}"))).await }
    };
    for created in join_all((CREATES..STARTED_WITH).map(object)).await {
        created.unwrap();
    }
    server.close().await;
    let begun = Instant::now();
    let server = start();
    let time = begun.elapsed();
    server.close().await;
    fs::remove_dir_all(directory).unwrap();
    (figures, time.as_secs_f64() * 1000.0)
}

/// Creates so many objects, by eight writers.
async fn create_all(client: &Client, namespace: &str, count: usize) {
    let writers = (0..8).map(|number| {
        let api = config_maps(client.clone(), namespace);
        tokio::spawn(async move {
            for at in 0..count / 8 {
                let object = config_map(&format!("c{number}-{at}"));
                api.create(&PostParams::default(), &object).await.unwrap();
            }
        })
    });
    for writer in join_all(writers).await {
        writer.unwrap();
    }
}

/// KB that the processes grow by per object.
async fn memory(config: kube::Config, processes: Vec<u32>) -> f64 {
    let client = Client::try_from(config).unwrap();
    namespace(&client, "kept").await;
    let before = memory_of(&processes).resident;
    create_all(&client, "kept", KEPT).await;
    memory_of(&processes).resident.saturating_sub(before) as f64 / KEPT as f64
}

/// MB per second of lists of everything, without reading them.
async fn lists(config: kube::Config, _: Vec<u32>) -> f64 {
    let client = Client::try_from(config).unwrap();
    let begun = Instant::now();
    let mut length = 0;
    for _ in 0..3 {
        length += many::length_of(&client, "/api/v1/namespaces/kept/configmaps").await;
    }
    length as f64 / 1e6 / begun.elapsed().as_secs_f64()
}

fn memory_of(processes: &[u32]) -> Memory {
    let of = |field: &str| {
        let one = |process: &u32| {
            let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix(field).map(str::to_owned));
            line.and_then(|it| it.trim().trim_end_matches(" kB").parse::<u64>().ok())
                .unwrap_or_default()
        };
        processes.iter().map(one).sum()
    };
    Memory { resident: of("VmRSS:"), peak: of("VmHWM:") }
}
