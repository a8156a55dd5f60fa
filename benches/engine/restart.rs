//! A start over parents that are as they should be: how long until all are known to be, and what
//! was asked. Its floor is the lists that it cannot do without: each in one request, and in the pages
//! in which it asks for them.

use std::time::Instant;

use anyhow::Result;

use crate::{
    cluster::Cluster,
    floor,
    operators::{self, Operators},
    parents::{self, FIRST_MARK},
    recording::Recording,
    settings::Settings,
    table::{Row, mean, time},
};

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
    let [mut took, mut floors, mut pages, mut streams] = [const { Vec::new() }; 4];
    let mut last = None;
    for number in 0..settings.rounds() {
        let before = cluster.mark().await?;
        let started = Instant::now();
        let operators = Operators::start(cluster.connector(), workload, 1).await?;
        operators.until_synced(count).await?;
        took.push(started.elapsed());
        operators.stop().await?;
        let requests = cluster.requests(before, operators::USER_AGENT).await?;
        floors.push(floor::lists(&bare, workload).await?);
        pages.push(floor::pages(&bare, &recording).await?);
        streams.push(floor::streamed_lists(&bare, workload).await?);
        let times = [&took, &floors, &pages, &streams];
        let [took, floor, in_pages, stream] = times.map(|times| time(times[number]));
        println!(
            "restart, round {}: {took} ({requests}); floor {floor}, in pages {in_pages}, \
             streamed {stream}",
            number + 1
        );
        last = Some(requests);
    }
    let requests = last.unwrap_or_default();
    let figure = format!("restart over {count} parents, all synced (floor: bare lists)");
    Ok(vec![
        Row::times(figure, mean(&took), mean(&floors)).target("at most 2.00"),
        Row::times("  beside the bare lists in its pages", mean(&took), mean(&pages)),
        Row::times("  the bare lists, in its pages", mean(&pages), mean(&floors)),
        Row::times("  the bare lists, streamed", mean(&streams), mean(&floors)),
        Row::new("  writes by the operator", requests.writes().to_string()).floor("0").target("0"),
        Row::new("  requests by verb", requests.by_verb()).target("list, watch"),
    ])
}
