//! A start with parents that are synced: how long until all are known to be, and the requests. Its floor is
//! the lists that a start needs: each in one request, and in the operator's pages; as text, and decoded as by a
//! program that uses kube alone.
//!
//! Beside lists and watches the process reads the `OpenAPI` documents of the types (`/openapi/v3/...`). Their
//! number does not depend on the number of objects. They are the `get` among the requests.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::{
    cluster::Cluster,
    floor,
    operators::{self, Operators},
    parents::{self, FIRST_MARK},
    recording::Recording,
    requests::Requests,
    settings::Settings,
    table::{Row, mean, time},
    workload::Workload,
};

/// What is measured in turns. The server's garbage collector runs about once a round for as long as
/// the lists take, and should not always fall on the same kind.
const KINDS: usize = 5;

/// How long each took, by kind.
#[derive(Default)]
struct Times {
    took: Vec<Duration>,
    floors: Vec<Duration>,
    pages: Vec<Duration>,
    streams: Vec<Duration>,
    decoded: Vec<Duration>,
}

impl Times {
    /// Those of the last round.
    fn last(&self) -> String {
        let times = [&self.took, &self.floors, &self.pages, &self.streams, &self.decoded];
        let last = times.map(|times| times.last().copied().map(time).unwrap_or_default());
        let [took, floor, in_pages, stream, decoded] = last;
        format!("{took}; floor {floor}, in pages {in_pages}, streamed {stream}, decoded {decoded}")
    }
}

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let (count, workload) = (settings.resting(), settings.workload);
    let cluster = Cluster::start(settings.cluster).await?;
    let (users, bare) = (cluster.client().await?, cluster.client().await?);
    parents::install(&users, workload, 1).await?;
    let operators = Operators::start(cluster.connector(), workload, 1).await?;
    let (ty, spec) = (workload.parent(0), workload.spec(FIRST_MARK));
    parents::create_all(&users, &ty, "own", count, &spec).await?;
    operators.until_synced(count).await?;
    operators.stop().await?;
    let recording = Recording::take(workload).await?;
    let mut times = Times::default();
    let mut requests = Requests::default();
    for number in 0..settings.restarts() {
        for turn in 0..KINDS {
            match (number + turn) % KINDS {
                0 => {
                    let before = cluster.mark()?;
                    times.took.push(restart(&cluster, workload, count).await?);
                    requests = cluster.requests(before, operators::USER_AGENT).await?;
                }
                1 => times.floors.push(floor::lists(&bare, workload).await?),
                2 => times.pages.push(floor::pages(&bare, &recording).await?),
                3 => times.streams.push(floor::streamed_lists(&bare, workload).await?),
                _ => times.decoded.push(floor::decoded_lists(&bare, workload).await?),
            }
        }
        println!("restart, round {}: {} ({requests})", number + 1, times.last());
    }
    let Times { took, floors, pages, streams, decoded } = times;
    let figure = format!("restart over {count} parents, all synced (floor: bare lists)");
    Ok(vec![
        Row::times(figure, mean(&took), mean(&floors)).target("at most 2.00"),
        Row::times("  beside the bare lists in its pages", mean(&took), mean(&pages)),
        Row::times("  beside the lists decoded by kube", mean(&took), mean(&decoded)),
        Row::times("  the bare lists, in its pages", mean(&pages), mean(&floors)),
        Row::times("  the bare lists, streamed", mean(&streams), mean(&floors)),
        Row::times("  the bare lists, decoded by kube", mean(&decoded), mean(&floors)),
        Row::new("  writes by the operator", requests.writes().to_string()).floor("0").target("0"),
        Row::new("  requests by verb", requests.by_verb())
            .target("list, watch, get of schemas alone"),
    ])
}

/// From the start until all parents are known to be synced.
async fn restart(cluster: &Cluster, workload: Workload, count: usize) -> Result<Duration> {
    let started = Instant::now();
    let operators = Operators::start(cluster.connector(), workload, 1).await?;
    operators.until_synced(count).await?;
    let took = started.elapsed();
    operators.stop().await?;
    Ok(took)
}
