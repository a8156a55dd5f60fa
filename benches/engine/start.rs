//! A start over many parents that are up to date, in a process of its own: how long it takes, its CPU and its memory. Its
//! floor is a process that lists and counts the same objects with a kube client.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::{
    cluster::Cluster,
    counting::{self, Counted},
    operators, parents,
    process::{AFTERWARDS, OperatorProcess, Rest},
    requests::Requests,
    seeding,
    settings::Settings,
    table::{Row, mean},
};

/// One start.
struct Start {
    took: Duration,
    cpu: Duration,
    rest: Rest,
    requests: Requests,
}

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let (count, workload) = (settings.resting(), settings.workload);
    let cluster = Cluster::start(settings.cluster.reachable()).await?;
    let users = cluster.direct_client().await?;
    parents::install(&users, workload, 1).await?;
    let seeding = Instant::now();
    seeding::seed(&users, workload, count).await?;
    println!("start: seeded {count} parents in {:.1} s", seeding.elapsed().as_secs_f64());
    let (mut starts, mut counts) = (Vec::new(), Vec::new());
    for number in 1..=settings.rounds() {
        counts.push(counting::count(&cluster, workload).await?);
        starts.push(start(&cluster, settings, count).await?);
        if let (Some(start), Some(counted)) = (starts.last(), counts.last()) {
            print_round(number, start, counted);
        }
    }
    let objects = count * (workload.children().len() + 1);
    // The server has a few of its own.
    ensure!(counts.iter().all(|it| it.objects >= objects), "{counts:?}: fewer than {objects}");
    Ok(rows(count, &starts, &counts))
}

async fn start(cluster: &Cluster, settings: &Settings, count: usize) -> Result<Start> {
    let (before, started) = (cluster.mark()?, Instant::now());
    let mut process = OperatorProcess::start(cluster, settings.workload, 1).await?;
    let rest = process.at_rest_with(count).await?;
    let took = started.elapsed().saturating_sub(AFTERWARDS);
    let (cpu, requests) = (process.cpu()?, cluster.requests(before, operators::USER_AGENT).await?);
    process.stop().await?;
    Ok(Start { took, cpu, rest, requests })
}

fn print_round(number: usize, start: &Start, counted: &Counted) {
    let Start { took, cpu, rest, requests } = start;
    println!(
        "start, round {number}: {took:.2?}, CPU {cpu:.2?}, {} KiB, at most {} KiB ({requests}); counted by kube in \
         {:.2?}, CPU {:.2?}",
        rest.resident_kib, rest.peak_kib, counted.took, counted.cpu
    );
}

fn rows(count: usize, starts: &[Start], counts: &[Counted]) -> Vec<Row> {
    let of = |what: fn(&Start) -> Duration| starts.iter().map(what).collect::<Vec<_>>();
    let counted = |what: fn(&Counted) -> Duration| counts.iter().map(what).collect::<Vec<_>>();
    let most = |what: fn(&Rest) -> usize| starts.iter().map(|it| what(&it.rest)).max().unwrap_or(0);
    let (settled, peak) = (most(|rest| rest.resident_kib), most(|rest| rest.peak_kib));
    let json = most(|rest| rest.cached_bytes / 1024);
    let writes = starts.iter().map(|it| it.requests.writes()).max().unwrap_or(0).to_string();
    let time = Row::times(
        format!("start over {count} parents (floor: counted by kube)"),
        mean(&of(|it| it.took)),
        mean(&counted(|it| it.took)),
    );
    let cpu = Row::times("  its CPU", mean(&of(|it| it.cpu)), mean(&counted(|it| it.cpu)));
    vec![
        time.target("at most 1.30"),
        cpu.target("at most 1.30"),
        Row::new("  resident memory (floor: JSON cached)", mib(settled))
            .floor(mib(json))
            .ratio(ratio(settled, json)),
        Row::new("  its peak (floor: settled)", mib(peak))
            .floor(mib(settled))
            .ratio(ratio(peak, settled))
            .target("at most 1.30"),
        Row::new("  writes", writes).floor("0").target("0"),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "kibibytes of a process fit")]
fn mib(kib: usize) -> String {
    format!("{:.1} MiB", kib as f64 / 1024.0)
}

#[expect(clippy::cast_precision_loss, reason = "kibibytes of a process fit")]
fn ratio(one: usize, other: usize) -> String {
    format!("{:.2}", one as f64 / other as f64)
}
