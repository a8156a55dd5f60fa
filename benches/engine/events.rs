//! What an event of a child costs the operators' process, by the number of objects: a field of
//! another manager changes, which causes a reconcile without writes. Its floor is the same
//! with a tenth of the objects. Beside it what a look-up costs among many children of one parent.

use std::time::Duration;

use anyhow::{Result, ensure};
use kube::Client;
use serde_json::json;

use crate::{
    cluster::Cluster,
    look_ups, operators,
    parents::{self, FIRST_MARK},
    process::OperatorProcess,
    settings::Settings,
    table::{Row, time},
    workload::Workload,
};

/// Enough for clocks that tick a hundred times a second.
const EVENTS: usize = 3000;
/// With the three that every parent has, ten.
const MORE_CONFIG_MAPS: usize = 7;
const CHILDREN: usize = 10;

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    if settings.workload != Workload::Trio {
        println!("events: only the workload `trio` has ten children per parent");
        return Ok(Vec::new());
    }
    let cluster = Cluster::start(settings.cluster.reachable()).await?;
    let users = cluster.client().await?;
    parents::install(&users, settings.workload, 1).await?;
    let mut process = OperatorProcess::start(&cluster, settings.workload, 1).await?;
    let (mut there, mut costs) = (0, Vec::new());
    for size in settings.event_sizes() {
        create(&users, settings.workload, there..size).await?;
        process.at_rest_with(size).await?;
        there = size;
        // The first round fills the caches per object.
        cost(&cluster, &users, &mut process, (size, "first")).await?;
        costs.push(cost(&cluster, &users, &mut process, (size, "second")).await?);
        println!("events: {} of CPU each with {size} parents", time(costs[costs.len() - 1]));
    }
    process.stop().await?;
    let [few, many] = settings.event_sizes();
    let figure = format!(
        "CPU per child event, {many} parents x {} children (floor: {few} x {})",
        many * CHILDREN,
        few * CHILDREN
    );
    let row = Row::times(figure, costs[1], costs[0]).target("O(1): about 1.00");
    Ok(vec![row, look_ups::measure()?])
}

async fn create(users: &Client, workload: Workload, numbers: std::ops::Range<usize>) -> Result<()> {
    let spec = json!({"mark": FIRST_MARK, "moreConfigMaps": MORE_CONFIG_MAPS});
    let (users, ty, first) = (users.clone(), workload.parent(0), numbers.start);
    parents::at_once(numbers.len(), move |number| {
        let (users, ty, spec) = (users.clone(), ty.clone(), spec.clone());
        let name = format!("own-{}", first + number);
        async move { parents::create(&users, &ty, name, &spec).await.map(drop) }
    })
    .await
}

/// The CPU time per event.
async fn cost(
    cluster: &Cluster,
    users: &Client,
    process: &mut OperatorProcess,
    (parents, round): (usize, &'static str),
) -> Result<Duration> {
    let (before, used) = (cluster.mark()?, process.cpu()?);
    let (users, path) = (users.clone(), Workload::Trio.watched());
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
