//! The processes of a group, each behind a relay, and what their Leases say.

use std::{
    fs,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use futures::future::try_join_all;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde_json::Value;
use tokio::process::Command;

use super::relay::Relay;
use crate::{
    cluster::Cluster,
    helper_process::Helper,
    operators::DEADLINE,
    parents,
    process::{Rest, cpu_of, rest_of},
    workload::{NAMESPACE, Workload},
};

pub(crate) const GROUP: &str = "bench";

const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// A process with the operators, alone or in the group.
pub(super) struct Member {
    /// The name of its Lease, if it is in the group.
    lease: String,
    helper: Helper,
    relay: Relay,
}

/// What a process has used since its start.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cost {
    received: u64,
    resident_kib: usize,
    anonymous_kib: usize,
    cpu: Duration,
}

impl Cost {
    #[expect(clippy::cast_precision_loss, reason = "bytes of a process fit")]
    pub(super) fn received_mib(&self) -> f64 {
        self.received as f64 / 1024.0 / 1024.0
    }

    pub(super) fn resident_mib(&self) -> f64 {
        mib(self.resident_kib)
    }

    /// Without the pages of the program, which are there once for all processes of a machine.
    pub(super) fn anonymous_mib(&self) -> f64 {
        mib(self.anonymous_kib)
    }

    pub(super) fn seconds(&self) -> f64 {
        self.cpu.as_secs_f64()
    }
}

impl Member {
    /// Some of the group, which start at once.
    pub(super) async fn of_group(
        cluster: &Cluster,
        workload: Workload,
        identities: &[String],
    ) -> Result<Vec<Self>> {
        let start = |identity| Self::start(cluster, workload, Some(identity));
        try_join_all(identities.iter().map(|identity| start(identity))).await
    }

    /// One that works for all parents.
    pub(super) async fn alone(cluster: &Cluster, workload: Workload) -> Result<Self> {
        Self::start(cluster, workload, None).await
    }

    async fn start(cluster: &Cluster, workload: Workload, identity: Option<&str>) -> Result<Self> {
        let name = identity.unwrap_or("alone");
        let (relay, kubeconfig) = Relay::start(cluster, name).await?;
        let workload = workload.to_possible_value().context("every workload has a name")?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--workload", workload.get_name()]).arg("--operators-of").arg(&kubeconfig);
        command.args(identity.map(|it| format!("--sharded-as={it}")));
        let helper = Helper::start(&mut command).await;
        fs::remove_file(kubeconfig)?;
        Ok(Self { lease: format!("{GROUP}-{name}"), helper: helper?, relay })
    }

    /// Waits until it has synced so many parents, and returns what it has used since its start.
    pub(super) async fn cost_with(&mut self, parents: usize) -> Result<Cost> {
        let Rest { resident_kib, anonymous_kib, .. } = rest_of(&mut self.helper, parents).await?;
        let (received, cpu) = (self.relay.received(), cpu_of(self.helper.id()?)?);
        Ok(Cost { received, resident_kib, anonymous_kib, cpu })
    }

    /// Lets it stop as on a signal.
    pub(super) async fn stop(self) -> Result<()> {
        self.helper.stop().await
    }

    pub(super) async fn kill(self) -> Result<()> {
        self.helper.kill().await
    }

    /// The name of its Lease.
    pub(super) fn lease(&self) -> &str {
        &self.lease
    }
}

#[expect(clippy::cast_precision_loss, reason = "kibibytes of a process fit")]
fn mib(kib: usize) -> f64 {
    kib as f64 / 1024.0
}

/// The buckets that a Lease says, and when it expires.
pub(super) async fn said(users: &Client, lease: &str) -> Result<(u64, Instant)> {
    let path = format!("/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{lease}");
    let lease = parents::get(users, &path).await?;
    Ok((holds(&lease)?, expiry(&lease)?))
}

/// Waits until these processes hold all buckets, each its share; returns what each holds.
pub(super) async fn until_shared(users: &Client, members: &[Member]) -> Result<Vec<u64>> {
    let (begun, share) = (Instant::now(), 64_u32.div_ceil(u32::try_from(members.len())?));
    loop {
        // A Lease may not exist yet.
        let all = try_join_all(members.iter().map(|member| said(users, &member.lease))).await;
        let held: Vec<u64> = all.unwrap_or_default().into_iter().map(|(holds, _)| holds).collect();
        let all = held.iter().fold(0, |all, holds| all | holds);
        if all == u64::MAX && held.iter().all(|holds| holds.count_ones() <= share) {
            return Ok(held);
        }
        if begun.elapsed() > DEADLINE {
            bail!("the buckets are not shared after {DEADLINE:?}: {held:x?}");
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}

fn holds(lease: &Value) -> Result<u64> {
    let said = lease["metadata"]["annotations"]["operetta.dev/shard"].as_str();
    let said: Value = serde_json::from_str(said.context("the Lease says what it holds")?)?;
    let ranges = said["holds"].as_str().context("it is a text")?;
    let mut all = 0;
    for range in ranges.split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        for bucket in first.parse::<u32>()?..=last.parse()? {
            all |= 1 << bucket;
        }
    }
    Ok(all)
}

/// Both clocks are those of this machine.
fn expiry(lease: &Value) -> Result<Instant> {
    let renewed: Timestamp = lease["spec"]["renewTime"].as_str().context("renewed")?.parse()?;
    let seconds = lease["spec"]["leaseDurationSeconds"].as_u64().context("it has a duration")?;
    let ago = SystemTime::now().duration_since(renewed.into()).unwrap_or_default();
    let expiry = Instant::now() + Duration::from_secs(seconds);
    expiry.checked_sub(ago).context("it was renewed since the start of the machine")
}

/// The top six bits of FNV-1a, which choose the bucket of a uid.
pub(super) fn bucket(uid: &str) -> u8 {
    let hash = uid.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    u8::try_from(hash >> 58).unwrap_or_default()
}
