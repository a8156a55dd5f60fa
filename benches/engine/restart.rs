//! A start over parents that are as they should be: how long until all are known to be, and what
//! was asked. Its floor is the lists that it cannot do without.

use std::time::Instant;

use anyhow::Result;

use crate::{
    cluster::Cluster,
    floor,
    operators::{self, Operators},
    parents::{self, FIRST_MARK},
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
    let (mut took, mut floors, mut streams) = (Vec::new(), Vec::new(), Vec::new());
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
        streams.push(floor::streamed_lists(&bare, workload).await?);
        let [took, floor, stream] = [&took, &floors, &streams].map(|times| time(times[number]));
        println!(
            "restart, round {}: {took} ({requests}); floor {floor}, streamed {stream}",
            number + 1
        );
        last = Some(requests);
    }
    let requests = last.unwrap_or_default();
    let figure = format!("restart over {count} parents, all synced (floor: bare lists)");
    Ok(vec![
        Row::times(figure, mean(&took), mean(&floors)).target("at most 2.00"),
        Row::times("  the bare lists, streamed", mean(&streams), mean(&floors)),
        Row::new("  writes by the operator", requests.writes().to_string()).floor("0").target("0"),
        Row::new("  requests by verb", requests.by_verb()).target("list, watch"),
    ])
}
