//! A process that runs the operators and nothing else, so that its memory and CPU are theirs: both
//! its sides.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, Result};
use clap::ValueEnum;
use kube::config::Kubeconfig;
use operetta::{election::Sharding, supervisor::Supervisor};
use tokio::process::Command;

use crate::{
    cluster::{self, Cluster},
    helper_process::Helper,
    operators::Operators,
    shards,
    workload::{NAMESPACE, Workload},
};

/// By then the last requests and idle threads have ended, and the allocator has given free pages back.
pub(crate) const AFTERWARDS: Duration = Duration::from_secs(8);
/// The clock ticks of `/proc`, on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// A process that runs operators.
pub(crate) struct OperatorProcess(Helper);

/// The reading of a process at rest.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rest {
    /// Resident memory.
    pub(crate) resident_kib: usize,
    /// Without the pages of the program and its libraries.
    pub(crate) anonymous_kib: usize,
    /// The most that was resident since the start.
    pub(crate) peak_kib: usize,
    /// The JSON that it caches.
    pub(crate) cached_bytes: usize,
}

impl OperatorProcess {
    /// Starts it on a cluster that it can reach.
    pub(crate) async fn start(cluster: &Cluster, workload: Workload, types: usize) -> Result<Self> {
        let kubeconfig = cluster.kubeconfig()?;
        let workload = workload.to_possible_value().context("every workload has a name")?;
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["--workload", workload.get_name(), "--types", &types.to_string()])
            .arg("--operators-of")
            .arg(&kubeconfig);
        let helper = Helper::start(&mut command).await?;
        cluster.remove(&kubeconfig)?;
        Ok(Self(helper))
    }

    /// Waits until it has synced so many parents.
    pub(crate) async fn at_rest_with(&mut self, parents: usize) -> Result<Rest> {
        rest_of(&mut self.0, parents).await
    }

    /// The CPU time that it has used.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        cpu_of(self.0.id()?)
    }

    pub(crate) async fn stop(self) -> Result<()> {
        self.0.stop().await
    }
}

/// Waits until such a process has synced so many parents.
pub(crate) async fn rest_of(process: &mut Helper, parents: usize) -> Result<Rest> {
    process.send(&parents.to_string()).await?;
    let response = process.response().await?;
    let numbers: Vec<usize> = response.split(' ').map(str::parse).collect::<Result<_, _>>()?;
    let [resident_kib, anonymous_kib, peak_kib, cached_bytes] =
        numbers.try_into().ok().context("the response has four numbers")?;
    Ok(Rest { resident_kib, anonymous_kib, peak_kib, cached_bytes })
}

/// The CPU time that a process has used.
pub(crate) fn cpu_of(id: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
    // The name in parentheses may contain spaces.
    let (_, fields) = stat.rsplit_once(')').context("/proc/<pid>/stat has a name")?;
    let times = fields.split_whitespace().skip(11).take(2);
    let ticks: u32 = times.map(str::parse::<u32>).sum::<Result<u32, _>>()?;
    Ok(TICK * ticks)
}

/// The other side: runs the operators until its input ends; a number in the input is answered once
/// so many parents are synced.
pub(crate) async fn run_operators(
    kubeconfig: &Path,
    (workload, types): (Workload, usize),
    sharded_as: Option<&str>,
) -> Result<()> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let mut builder = Supervisor::builder().connect(move || cluster::config(kubeconfig));
    if let Some(identity) = sharded_as {
        let sharding = Sharding::new(shards::GROUP).as_identity(identity);
        builder = builder.sharded(sharding.in_namespace(NAMESPACE));
    }
    let operators = Operators::started(builder, workload, types).await?;
    println!("running");
    let order = || std::io::stdin().lines().next().transpose();
    while let Some(parents) = tokio::task::spawn_blocking(order).await?? {
        operators.until_synced(parents.parse()?).await?;
        tokio::time::sleep(AFTERWARDS).await;
        let [anonymous, peak] =
            ["RssAnon:", "VmHWM:"].map(|name| memory_of(std::process::id(), name));
        println!("{} {} {} {}", resident()?, anonymous?, peak?, operators.cached_bytes());
    }
    operators.stop().await
}

/// This process's resident memory in KiB.
pub(crate) fn resident() -> Result<usize> {
    resident_of(std::process::id())
}

/// A process's resident memory in KiB.
pub(crate) fn resident_of(id: u32) -> Result<usize> {
    memory_of(id, "VmRSS:")
}

fn memory_of(id: u32, name: &str) -> Result<usize> {
    let path = format!("/proc/{id}/status");
    let status = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(number.with_context(|| format!("/proc/<pid>/status has {name} in kB"))?.parse()?)
}
