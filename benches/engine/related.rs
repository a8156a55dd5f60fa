//! Parents that read objects that they do not own. What an event of such an object costs, and the memory of a
//! parent that reads one, by the number of parents; and a change of one object that all read, with the changes of
//! other parents meanwhile.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use http::Method;
use kube::Client;
use serde_json::json;

use crate::{
    cluster::Cluster,
    operators::{self, Operators},
    parents,
    process::{OperatorProcess, Rest},
    settings::Settings,
    sightings::Sightings,
    table::{Row, percentile, time},
    workload::{Workload, reader},
};

/// Enough for clocks that tick a hundred times a second.
const EVENTS: usize = 3000;
const WORKLOAD: Workload = Workload::Reader;
/// The parents of the changes that have nothing to do with the shared object.
const OTHERS: usize = 10;

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let mut rows = named(settings).await?;
    rows.extend(shared(settings).await?);
    Ok(rows)
}

// === one object for each parent ===

async fn named(settings: &Settings) -> Result<Vec<Row>> {
    let cluster = Cluster::start(settings.cluster.reachable()).await?;
    let users = cluster.client().await?;
    parents::install(&users, WORKLOAD, 1).await?;
    let mut process = OperatorProcess::start(&cluster, WORKLOAD, 1).await?;
    let (mut there, mut costs, mut rests) = (0, Vec::new(), Vec::new());
    for size in settings.related_sizes() {
        create_readers(&users, there..size).await?;
        rests.push((size, process.at_rest_with(size).await?));
        there = size;
        // The first round fills the caches per object.
        event_cost(&cluster, &users, &mut process, (size, "first")).await?;
        costs.push(event_cost(&cluster, &users, &mut process, (size, "second")).await?);
        println!("related: {} of CPU per event with {size} parents", time(costs[costs.len() - 1]));
    }
    process.stop().await?;
    let [few, many] = settings.related_sizes();
    let figure = format!("CPU per event of a related object, {many} parents (floor: {few})");
    let events = Row::times(figure, costs[1], costs[0]).target("O(1): about 1.00");
    Ok(vec![events, memory(rests[0], rests[1])])
}

async fn create_readers(users: &Client, numbers: std::ops::Range<usize>) -> Result<()> {
    let (users, ty, first) = (users.clone(), WORKLOAD.parent(0), numbers.start);
    parents::at_once(numbers.len(), move |number| {
        let (users, ty, name) = (users.clone(), ty.clone(), format!("own-{}", first + number));
        async move {
            let secret = json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
                "data": {"password": "cGFzc3dvcmQ="},
            });
            post(&users, &reader::secrets(), &secret.to_string()).await?;
            parents::create(&users, &ty, name, &WORKLOAD.spec("secret")).await.map(drop)
        }
    })
    .await
}

async fn post(users: &Client, path: &str, body: &str) -> Result<()> {
    let request =
        parents::request(Method::POST, path, "user", "application/json", body.to_owned())?;
    users.request_text(request).await?;
    Ok(())
}

/// The CPU time per event of a Secret, which causes one reconcile without writes.
async fn event_cost(
    cluster: &Cluster,
    users: &Client,
    process: &mut OperatorProcess,
    (parents, round): (usize, &'static str),
) -> Result<Duration> {
    let (before, used) = (cluster.mark()?, process.cpu()?);
    let (users, path) = (users.clone(), reader::secrets());
    parents::at_once(EVENTS, move |number| {
        let (users, path) = (users.clone(), format!("{path}/own-{}", number % parents));
        let touched = json!({"metadata": {"annotations": {round: number.to_string()}}});
        async move { parents::patch(&users, &path, &touched).await.map(drop) }
    })
    .await?;
    process.at_rest_with(parents).await?;
    let took = process.cpu()?.saturating_sub(used);
    let requests = cluster.requests(before, operators::USER_AGENT).await?;
    ensure!(requests.writes() == 0, "no write was expected: {requests}");
    Ok(took / u32::try_from(EVENTS)?)
}

#[expect(clippy::cast_precision_loss, reason = "kibibytes of a process fit")]
fn memory(few: (usize, Rest), many: (usize, Rest)) -> Row {
    let per_parent = |of: fn(&Rest) -> usize| {
        of(&many.1).saturating_sub(of(&few.1)) as f64 / many.0.saturating_sub(few.0) as f64
    };
    let slope = per_parent(|rest| rest.resident_kib);
    let floor = per_parent(|rest| rest.cached_bytes) / 1024.0;
    let figure = format!(
        "memory per parent with a child and a related Secret (floor: JSON cached), {} to {}",
        few.0, many.0
    );
    let row = Row::new(figure, format!("{slope:.2} KiB")).floor(format!("{floor:.2} KiB"));
    row.ratio(format!("{:.2}", slope / floor))
}

// === one object for all parents ===

async fn shared(settings: &Settings) -> Result<Vec<Row>> {
    let (count, samples) = (settings.sharing(), settings.samples());
    let cluster = Cluster::start(settings.cluster).await?;
    let users = cluster.client().await?;
    parents::install(&users, WORKLOAD, 1).await?;
    let operators = Operators::start(cluster.connector(), WORKLOAD, 1).await?;
    let body = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": reader::SHARED},
        "data": {"mark": "first"},
    });
    post(&users, &WORKLOAD.watched(), &body.to_string()).await?;
    let ty = WORKLOAD.parent(0);
    parents::create_all(&users, &ty, "sharing", count, &WORKLOAD.spec(reader::SHARED)).await?;
    parents::create_all(&users, &ty, "other", OTHERS, &WORKLOAD.spec("other")).await?;
    operators.until_synced(count + OTHERS).await?;
    let mut sightings = Sightings::begin(users.clone(), WORKLOAD).await?;
    let idle = others(&users, &mut sightings, &mut Sharing::none(), samples).await?;
    let (mut beside, mut took) = (Vec::new(), Duration::ZERO);
    for round in 0..settings.rounds() {
        let mut sharing = Sharing { mark: format!("round-{round}"), left: count, last: None };
        let began = Instant::now();
        let path = format!("{}/{}", WORKLOAD.watched(), reader::SHARED);
        parents::patch(&users, &path, &WORKLOAD.edit(&sharing.mark)).await?;
        while sharing.left > 0 {
            beside.extend(others(&users, &mut sightings, &mut sharing, 1).await?);
        }
        took = sharing.last.unwrap_or(began).duration_since(began);
        println!("related: {count} parents after a change of one object in {}", time(took));
    }
    operators.stop().await?;
    let figure = format!("a change of one object that {count} parents read: all written");
    let all = Row::new(figure, time(took));
    let (value, floor) = (percentile(&beside, 99), percentile(&idle, 99));
    let figure = format!("  other changes meanwhile, p99 of {} (floor: when idle)", beside.len());
    Ok(vec![all, Row::times(figure, value, floor).target("at most 2.00")])
}

/// The children that have not shown the mark of the shared object yet.
struct Sharing {
    mark: String,
    left: usize,
    last: Option<Instant>,
}

impl Sharing {
    fn none() -> Self {
        Self { mark: String::new(), left: 0, last: None }
    }
}

/// Changes other parents, one at a time; how long each takes until its child is written.
async fn others(
    users: &Client,
    sightings: &mut Sightings,
    sharing: &mut Sharing,
    samples: usize,
) -> Result<Vec<Duration>> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let mut latencies = Vec::with_capacity(samples);
    for sample in 0..samples {
        let name = format!("other-{}", sample % OTHERS);
        let mark = format!("other-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let (path, change) = (WORKLOAD.parent(0).collection(), json!({"spec": {"mark": mark}}));
        let began = Instant::now();
        parents::patch(users, &format!("{path}/{name}"), &change).await?;
        let child = format!("{name}-child");
        loop {
            let seen = sightings.next().await?;
            if seen.name != reader::SHARED && seen.mark == sharing.mark {
                sharing.left = sharing.left.saturating_sub(1);
                sharing.last = Some(seen.at);
            }
            if seen.name == child && seen.mark == mark {
                latencies.push(seen.at.duration_since(began));
                break;
            }
        }
    }
    Ok(latencies)
}
