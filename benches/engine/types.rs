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
    let (one, few) = spread(settings, 1).await?;
    let (many, requests) = spread(settings, TYPES).await?;
    println!("types: one {few}; {TYPES} {requests}");
    let (each, all) = (settings.burst() / TYPES, settings.burst());
    let children = settings.workload.children().len();
    let figure = |what| format!("{TYPES} types x {each} parents: {what}");
    let watched = requests.watches().to_string();
    Ok(vec![
        Row::new(figure("watches opened"), watched)
            .floor((TYPES + children).to_string())
            .target((TYPES + children).to_string()),
        memory_row(figure(&format!("memory (floor: one x {all})")), many, one),
    ])
}

#[expect(clippy::cast_precision_loss, reason = "kibibytes of a process fit")]
fn memory_row(figure: String, many: Rest, one: Rest) -> Row {
    let (many, one) = (many.resident_kib as f64 / 1024.0, one.resident_kib as f64 / 1024.0);
    let row = Row::new(figure, format!("{many:.1} MiB")).floor(format!("{one:.1} MiB"));
    row.ratio(format!("{:.2}", many / one)).target("at most 1.00")
}

/// What becomes of a process with so many types, among which the parents are divided.
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
