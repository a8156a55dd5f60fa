//! Many parent types over the same child types: how many watches, and how much memory beside one
//! type with as many parents.

use anyhow::Result;

use crate::{
    cluster::Cluster,
    operators,
    parents::{self, FIRST_MARK},
    process::{OperatorProcess, Rest},
    requests::Requests,
    settings::Settings,
    table::Row,
};

const TYPES: usize = 10;

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let (mut one, mut many, mut watched) = (Vec::new(), Vec::new(), 0);
    for number in 1..=settings.rounds() {
        let (few, few_requests) = spread(settings, 1).await?;
        let (rest, requests) = spread(settings, TYPES).await?;
        println!("types, round {number}: one {few_requests}; {TYPES} {requests}");
        one.push(few.resident_kib);
        many.push(rest.resident_kib);
        watched = requests.watches().max(watched);
    }
    let (each, all) = (settings.burst() / TYPES, settings.burst());
    let least = (TYPES + settings.workload.children().len()).to_string();
    let figure = |what| format!("{TYPES} types x {each} parents: {what}");
    Ok(vec![
        Row::new(figure("watches opened"), watched.to_string()).floor(&least).target(&least),
        memory_row(figure(&format!("memory (floor: one x {all})")), &many, &one),
    ])
}

/// Compares means: processes differ in how much freed memory they keep.
#[expect(clippy::cast_precision_loss, reason = "kibibytes of a process fit")]
fn memory_row(figure: String, many: &[usize], one: &[usize]) -> Row {
    let mean = |kib: &[usize]| kib.iter().sum::<usize>() as f64 / kib.len() as f64 / 1024.0;
    let (many, one) = (mean(many), mean(one));
    let row = Row::new(figure, format!("{many:.1} MiB")).floor(format!("{one:.1} MiB"));
    row.ratio(format!("{:.2}", many / one)).target("at most 1.00")
}

/// The memory and requests of a process with so many types, over which the parents are spread.
async fn spread(settings: &Settings, types: usize) -> Result<(Rest, Requests)> {
    let workload = settings.workload;
    let cluster = Cluster::start(settings.cluster.reachable()).await?;
    let users = cluster.client().await?;
    parents::install(&users, workload, types).await?;
    let before = cluster.mark().await?;
    let mut process = OperatorProcess::start(&cluster, workload, types).await?;
    let each = settings.burst() / types;
    for number in 0..types {
        let (ty, spec) = (workload.parent(number), workload.spec(FIRST_MARK));
        parents::create_all(&users, &ty, &format!("own{number}"), each, &spec).await?;
    }
    let rest = process.at_rest_with(each * types).await?;
    let requests = cluster.requests(before, operators::USER_AGENT).await?;
    process.stop().await?;
    Ok((rest, requests))
}
