//! Resident memory per parent with its children, from a process that runs the operator and nothing
//! else: the slope between two numbers of parents. Its floor is the JSON that it caches. Once for a
//! process that ran while they were created, and once for one that started afterwards.

use anyhow::Result;
use kube::Client;

use crate::{
    cluster::Cluster,
    parents::{self, FIRST_MARK},
    process::{OperatorProcess, Rest},
    settings::Settings,
    table::Row,
    workload::Workload,
};

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let workload = settings.workload;
    let cluster = Cluster::start(settings.cluster.reachable()).await?;
    let users = cluster.client().await?;
    parents::install(&users, workload, 1).await?;
    let mut process = OperatorProcess::start(&cluster, workload, 1).await?;
    let mut readings = vec![(0, process.at_rest_with(0).await?)];
    let mut restart_readings = readings.clone();
    for (number, size) in settings.sizes().into_iter().enumerate() {
        let (ty, spec) = (workload.parent(0), workload.spec(FIRST_MARK));
        let more = size - readings[number].0;
        parents::create_all(&users, &ty, &format!("own{number}"), more, &spec).await?;
        let rest = process.at_rest_with(size).await?;
        readings.push((size, rest));
        let mut restarted = OperatorProcess::start(&cluster, workload, 1).await?;
        let restart_rest = restarted.at_rest_with(size).await?;
        restart_readings.push((size, restart_rest));
        restarted.stop().await?;
        println!(
            "memory: {} KiB resident with {size} parents, {} KiB after a start over them ({} KiB \
             with none)",
            rest.resident_kib, restart_rest.resident_kib, readings[0].1.resident_kib
        );
    }
    process.stop().await?;
    let json = json_of_one(&users, workload).await?;
    let figure = format!("(floor: JSON cached; {json} bytes without managedFields)");
    let seen = row(&format!("memory per parent {figure}"), readings[1], readings[2]);
    let restarted =
        row("  in a process started over them", restart_readings[1], restart_readings[2]);
    Ok(vec![seen.target("at most 8 KiB"), restarted])
}

#[expect(clippy::cast_precision_loss, reason = "kibibytes of a process fit")]
fn row(figure: &str, few: (usize, Rest), many: (usize, Rest)) -> Row {
    let per_parent = |of: fn(&Rest) -> usize| {
        of(&many.1).saturating_sub(of(&few.1)) as f64 / many.0.saturating_sub(few.0) as f64
    };
    let slope = per_parent(|rest| rest.resident_kib);
    let floor = per_parent(|rest| rest.cached_bytes) / 1024.0;
    let figure = format!("{figure}, {} to {}", few.0, many.0);
    let row = Row::new(figure, format!("{slope:.2} KiB")).floor(format!("{floor:.2} KiB"));
    row.ratio(format!("{:.2}", slope / floor))
}

/// The bytes of a parent and its children, as the server sends them without `managedFields`.
async fn json_of_one(users: &Client, workload: Workload) -> Result<usize> {
    let mut bytes = 0;
    for path in workload.children().into_iter().chain([workload.parent(0).collection()]) {
        let mut object = parents::get(users, &format!("{path}/own1-0")).await?;
        object["metadata"].as_object_mut().and_then(|fields| fields.remove("managedFields"));
        bytes += object.to_string().len();
    }
    Ok(bytes)
}
