//! A start over parents that are as they should be: how long until all are known to be, and what
//! was asked. Its floor is the three lists that it cannot do without.

use std::time::Instant;

use anyhow::Result;

use crate::{
    Settings,
    cluster::Cluster,
    floor,
    operators::{self, Operators},
    parents::{self, ECHO},
    table::{Row, mean, time},
};

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let count = settings.parents;
    let cluster = Cluster::start(settings.cluster).await?;
    let (users, bare) = (cluster.client().await?, cluster.client().await?);
    parents::install(&users).await?;
    let operators = Operators::start(cluster.connector()).await?;
    parents::create_all(&users, ECHO, "echo", count).await?;
    operators.until_synced(count).await?;
    operators.stop().await?;
    let (mut took, mut floors, mut last) = (Vec::new(), Vec::new(), None);
    for number in 0..settings.rounds {
        let before = cluster.requests(operators::USER_AGENT).await?;
        let started = Instant::now();
        let operators = Operators::start(cluster.connector()).await?;
        operators.until_synced(count).await?;
        took.push(started.elapsed());
        operators.stop().await?;
        let requests = cluster.requests(operators::USER_AGENT).await?.since(&before);
        floors.push(floor::lists(&bare).await?);
        println!(
            "restart, round {}: {} ({requests}); floor {}",
            number + 1,
            time(took[number]),
            time(floors[number])
        );
        last = Some(requests);
    }
    let requests = last.unwrap_or_default();
    Ok(vec![
        Row::times(
            format!("restart over {count} parents, all synced (floor: 3 lists)"),
            mean(&took),
            mean(&floors),
        ),
        Row::new("  writes by the operator", requests.writes().to_string()).floor("0").target("0"),
        Row::new("  requests by verb", requests.by_verb()),
    ])
}
