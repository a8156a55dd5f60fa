//! Synced parents without changes: the requests and the share of a core. The operators have their own process.
//!
//! At most a minute is measured. The requests after it do not depend on the number of parents: after 100 s
//! without an event or bookmark a list of one object probes the server, another watch follows, and the
//! discovery of the type is read again; and a watch lasts 290 s.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::{
    cluster::Cluster,
    operators,
    parents::{self, FIRST_MARK},
    process::OperatorProcess,
    settings::Settings,
    table::Row,
};

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let (count, workload) = (settings.resting(), settings.workload);
    let cluster = Cluster::start(settings.cluster.reachable()).await?;
    let users = cluster.client().await?;
    parents::install(&users, workload, 1).await?;
    let mut process = OperatorProcess::start(&cluster, workload, 1).await?;
    let (ty, spec) = (workload.parent(0), workload.spec(FIRST_MARK));
    parents::create_all(&users, &ty, "own", count, &spec).await?;
    process.at_rest_with(count).await?;
    let before = cluster.mark()?;
    let (started, used) = (Instant::now(), process.cpu()?);
    tokio::time::sleep(Duration::from_secs(settings.idle_seconds())).await;
    let share = process.cpu()?.saturating_sub(used).as_secs_f64() / started.elapsed().as_secs_f64();
    let requests = cluster.requests(before, operators::USER_AGENT).await?;
    println!("idle: {requests}");
    process.stop().await?;
    let figure = format!("idle, {count} parents, {} s: requests", settings.idle_seconds());
    Ok(vec![
        Row::new(figure, requests.but_watches().to_string())
            .floor("0")
            .target("0 but watches, within a minute"),
        Row::new("  CPU, of one core", format!("{:.2} %", share * 100.0))
            .floor("0 %")
            .target("under 1 %"),
    ])
}
