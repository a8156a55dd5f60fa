//! Operators that are registered one after another on a running process, and deregistered again: watches, the latency
//! of the parents of another operator meanwhile, and the memory afterwards.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use operetta::supervisor::{OnRemoval, Registrar, Supervisor};
use serde_json::json;

use crate::{
    bare::BareProgram,
    cluster::Cluster,
    operators::{self, Operators},
    parents::{self, FIRST_MARK},
    process::resident,
    settings::Settings,
    sightings::Sightings,
    table::{Row, percentile},
    workload::Workload,
};

const LATER: usize = 50;
/// Between two samples, so that the effects of the last one are over.
const PAUSE: Duration = Duration::from_millis(5);
/// One after the other: each is listed before the next comes.
const BETWEEN: Duration = Duration::from_millis(100);

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let workload = settings.workload;
    let cluster = Cluster::start(settings.cluster).await?;
    let users = cluster.client().await?;
    parents::install(&users, workload, 2 * LATER + 1).await?;
    let builder = Supervisor::builder().connect(cluster.connector()).expect_registrations();
    let ours = Operators::started(builder, workload, 1).await?;
    let (ty, spec) = (workload.parent(0), workload.spec(FIRST_MARK));
    parents::create_all(&users, &ty, "own", settings.burst(), &spec).await?;
    ours.until_synced(settings.burst()).await?;
    let objects = settings.burst() * (1 + workload.children().len());
    let mut change =
        Change { users, workload, number: 0, sightings: sightings(&cluster, workload).await? };
    change.latencies(settings.samples(), || false).await?;
    let mark = cluster.mark()?;
    let before = change.latencies(settings.samples(), || false).await?;
    let memory = resident()?;
    let registering = tokio::spawn(register_all(ours.registrar(), workload));
    let meanwhile = change.latencies(usize::MAX, || registering.is_finished()).await?;
    registering.await??;
    let full = resident()?;
    deregister_all(&ours.registrar(), workload, 1..=LATER).await?;
    let after = resident()?;
    println!(
        "register: {objects} objects; {memory} KiB, {full} KiB with {LATER} more, {after} KiB after them"
    );
    // The log of a real server is large: it is read when the memory was measured.
    let requests = cluster.requests(mark, operators::USER_AGENT).await?;
    let bare = beside_bare_watches(&cluster, &mut change).await?;
    deregister_all(&ours.registrar(), workload, 0..=0).await?;
    let (types, actors) = (ours.board().types().len(), ours.board().operators().len());
    ours.stop().await?;
    let figure = |what| format!("register {LATER} operators beside {objects} objects: {what}");
    let [calm, bare, busy] = [&before, &bare, &meanwhile].map(|all| percentile(all, 99));
    let meanwhile =
        format!("  p99 of another operator meanwhile (floor: before), {} samples", meanwhile.len());
    Ok(vec![
        Row::new(figure("watches opened"), requests.watches().to_string()).floor(LATER.to_string()),
        Row::times(meanwhile, busy, calm).target("at most 1.10"),
        Row::times(
            format!("  the same (floor: while a bare client lists and watches {LATER})"),
            busy,
            bare,
        ),
        memory_row(memory, after),
        Row::new("  watched types, operators after all went", format!("{types}, {actors}"))
            .target("0, 0"),
    ])
}

/// The latencies while a bare client lists and watches as many other types at the same pace: what the server itself
/// needs for them.
async fn beside_bare_watches(cluster: &Cluster, change: &mut Change) -> Result<Vec<Duration>> {
    let (mut program, workload) = (BareProgram::start(cluster.connector()).await?, change.workload);
    let opening = tokio::spawn(async move {
        for number in LATER + 1..=2 * LATER {
            program
                .watch(&[format!("{}?watch=true", workload.parent(number).collection())])
                .await?;
            tokio::time::sleep(BETWEEN).await;
        }
        anyhow::Ok(program)
    });
    let latencies = change.latencies(usize::MAX, || opening.is_finished()).await?;
    opening.await??.check_watches()?;
    Ok(latencies)
}

#[expect(clippy::cast_precision_loss, reason = "kibibytes of a process fit")]
fn memory_row(before: usize, after: usize) -> Row {
    let [before, after] = [before, after].map(|kib| kib as f64 / 1024.0);
    let row = Row::new("  memory after they went (floor: before)", format!("{after:.1} MiB"));
    row.floor(format!("{before:.1} MiB"))
        .ratio(format!("{:.2}", after / before))
        .target("at most 1.05")
}

async fn sightings(cluster: &Cluster, workload: Workload) -> Result<Sightings> {
    Sightings::begin(cluster.client().await?, workload).await
}

async fn register_all(registrar: Registrar, workload: Workload) -> Result<()> {
    for number in 1..=LATER {
        registrar.register(workload.config(&workload.parent(number)), workload.handler()).await?;
        tokio::time::sleep(BETWEEN).await;
    }
    Ok(())
}

async fn deregister_all(
    registrar: &Registrar,
    workload: Workload,
    numbers: impl Iterator<Item = usize>,
) -> Result<()> {
    for number in numbers {
        let config = workload.config(&workload.parent(number));
        registrar.deregister(config.name(), OnRemoval::Leave).await?;
    }
    Ok(())
}

/// Changes one parent again and again.
struct Change {
    users: kube::Client,
    workload: Workload,
    number: usize,
    sightings: Sightings,
}

impl Change {
    /// From each change to its child's.
    async fn latencies(
        &mut self,
        most: usize,
        is_over: impl Fn() -> bool,
    ) -> Result<Vec<Duration>> {
        let mut latencies = Vec::new();
        while latencies.len() < most && !is_over() {
            self.number += 1;
            let (mark, path) = (
                format!("mark-{}", self.number),
                format!("{}/own-0", self.workload.parent(0).collection()),
            );
            let started = Instant::now();
            let spec = json!({"spec": self.workload.spec(&mark)});
            parents::patch(&self.users, &path, &spec).await?;
            latencies.push(self.sightings.until("own-0", &mark).await? - started);
            tokio::time::sleep(PAUSE).await;
        }
        ensure!(!latencies.is_empty(), "nothing was measured");
        Ok(latencies)
    }
}
