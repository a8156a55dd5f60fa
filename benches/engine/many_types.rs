//! Many parent types over the same child types, beside one type with as many parents: how many watches, how much memory,
//! how long a restart takes, and what it writes.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::{
    cluster::Cluster,
    operators,
    parents::{self, FIRST_MARK},
    process::{AFTERWARDS, OperatorProcess, Rest},
    requests::Requests,
    settings::Settings,
    table::{Row, mean},
};

const TYPES: usize = 50;

/// A process with so many types, over which the parents are spread.
struct Spread {
    rest: Rest,
    requests: Requests,
    /// Until all parents are known to be synced after a restart.
    restart: Duration,
    again: Requests,
}

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let (mut one, mut many) = (Vec::new(), Vec::new());
    for number in 1..=settings.rounds() {
        let few = spread(settings, 1).await?;
        let all = spread(settings, TYPES).await?;
        println!("types, round {number}: one {}; {TYPES} {}", few.requests, all.requests);
        one.push(few);
        many.push(all);
    }
    let (each, all) = (settings.burst() / TYPES, settings.burst());
    let least = (TYPES + settings.workload.children().len()).to_string();
    let figure = |what: &str| format!("{TYPES} types x {each} parents: {what}");
    let most = |count: fn(&Requests) -> usize, of: fn(&Spread) -> &Requests| {
        many.iter().map(|it| count(of(it))).max().unwrap_or_default().to_string()
    };
    let times = |spread: &[Spread]| spread.iter().map(|it| it.restart).collect::<Vec<_>>();
    let restart = figure(&format!("restart, all synced (floor: one x {all})"));
    Ok(vec![
        Row::new(figure("watches opened"), most(Requests::watches, |it| &it.requests))
            .floor(&least)
            .target(&least),
        memory_row(figure(&format!("memory (floor: one x {all})")), &many, &one),
        Row::times(restart, mean(&times(&many)), mean(&times(&one))),
        Row::new(figure("writes after the restart"), most(Requests::writes, |it| &it.again))
            .floor("0")
            .target("0"),
    ])
}

/// Compares means: processes differ in how much freed memory they keep.
#[expect(clippy::cast_precision_loss, reason = "kibibytes of a process fit")]
fn memory_row(figure: String, many: &[Spread], one: &[Spread]) -> Row {
    let mean = |all: &[Spread]| {
        let kib = all.iter().map(|it| it.rest.resident_kib).sum::<usize>() as f64;
        kib / all.len() as f64 / 1024.0
    };
    let (many, one) = (mean(many), mean(one));
    let row = Row::new(figure, format!("{many:.1} MiB")).floor(format!("{one:.1} MiB"));
    row.ratio(format!("{:.2}", many / one)).target("at most 1.15")
}

async fn spread(settings: &Settings, types: usize) -> Result<Spread> {
    let workload = settings.workload;
    let cluster = Cluster::start(settings.cluster.reachable()).await?;
    let users = cluster.client().await?;
    parents::install(&users, workload, types).await?;
    let before = cluster.mark()?;
    let mut process = OperatorProcess::start(&cluster, workload, types).await?;
    let each = settings.burst() / types;
    for number in 0..types {
        let (ty, spec) = (workload.parent(number), workload.spec(FIRST_MARK));
        parents::create_all(&users, &ty, &format!("own{number}"), each, &spec).await?;
    }
    let rest = process.at_rest_with(each * types).await?;
    let requests = cluster.requests(before, operators::USER_AGENT).await?;
    process.stop().await?;
    let (before, started) = (cluster.mark()?, Instant::now());
    let mut process = OperatorProcess::start(&cluster, workload, types).await?;
    process.at_rest_with(each * types).await?;
    let restart = started.elapsed().saturating_sub(AFTERWARDS);
    let again = cluster.requests(before, operators::USER_AGENT).await?;
    process.stop().await?;
    Ok(Spread { rest, requests, restart, again })
}
