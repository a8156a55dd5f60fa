//! Processes that share parents out, beside one that has all of them: what each receives, keeps and computes; how soon others
//! answer for one that is killed, or stops on SIGTERM; and what is written when processes come and go.
//!
//! The parents are over 300 namespaces, with one child or three in turn. The server runs with lists of shards and without
//! them (on the real one its feature gate). The largest of three processes counts.

mod group;
mod load;
mod relay;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use futures::future::try_join_all;
use kube::Client;

pub(crate) use group::GROUP;
use group::{Cost, Member, until_shared};
use load::Load;

use crate::{
    cluster::Cluster,
    operators, parents,
    settings::Settings,
    sightings::Sightings,
    table::{Row, percentile, time},
    workload::Workload,
};

const MEMBERS: usize = 3;

/// How many parents of a killed process are changed: so few that it is not the rate of writes that is measured.
const CHANGED: usize = 100;

/// How long changes are measured while nothing else happens.
const CALM: Duration = Duration::from_secs(10);

/// How long they are measured after the process has stopped. Longer would be calm, and hide those before.
const AFTER_HAND_OVER: Duration = Duration::from_secs(2);

/// A server with the parents, their children and no process.
struct Scene {
    cluster: Cluster,
    users: Client,
    load: Load,
    workload: Workload,
    count: usize,
    /// How many processes were started.
    started: usize,
}

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let mut without = Scene::prepare(settings, false).await?;
    let (one, three, members) = without.starts().await?;
    let mut rows = without.cost_rows(false, (one, &three));
    end(members).await?;
    drop(without);
    let mut scene = Scene::prepare(settings, true).await?;
    let (one, three, members) = scene.starts().await?;
    rows.extend(scene.cost_rows(true, (one, &three)));
    let (took, members) = scene.take_over(members).await?;
    rows.extend(takeover_rows(&took));
    let (calm, passing, members) = scene.hand_over(members).await?;
    rows.push(hand_over_row(&calm, &passing));
    rows.push(scene.come_and_go(members).await?);
    Ok(rows)
}

async fn end(members: Vec<Member>) -> Result<()> {
    try_join_all(members.into_iter().map(Member::stop)).await.map(drop)
}

fn takeover_rows(took: &[Duration]) -> Vec<Row> {
    let row = |percent| {
        let figure = format!("killed: expiry to answer, p{percent} of {}", took.len());
        Row::new(figure, time(percentile(took, percent)))
    };
    vec![row(50), row(99).target("at most 2 s")]
}

fn hand_over_row(calm: &[Duration], passing: &[Duration]) -> Row {
    let figure = format!("SIGTERM: change to child, p99 of {} (floor: calm)", passing.len());
    let (value, floor) = (percentile(passing, 99), percentile(calm, 99));
    Row::latency(figure, value, floor).target("at most 300 ms")
}

impl Scene {
    /// The group itself makes the children, which have the label of their bucket then.
    async fn prepare(settings: &Settings, selects: bool) -> Result<Self> {
        let (count, workload) = (settings.resting(), settings.workload);
        let cluster = Cluster::with_shards(settings.cluster.reachable(), selects).await?;
        let users = cluster.client().await?;
        parents::install(&users, workload, 1).await?;
        let load = Load::create(users.clone(), workload, count).await?;
        let mut scene = Self { cluster, users, load, workload, count, started: 0 };
        let members = scene.group(MEMBERS).await?;
        scene.settle(members).await?;
        Ok(scene)
    }

    /// So many processes that start at once.
    async fn group(&mut self, size: usize) -> Result<Vec<Member>> {
        let names: Vec<String> = (0..size).map(|at| format!("p{}", self.started + at)).collect();
        self.started += size;
        Member::of_group(&self.cluster, self.workload, &names).await
    }

    /// Waits until all parents are synced, and ends the processes.
    async fn settle(&self, mut members: Vec<Member>) -> Result<()> {
        self.costs(&mut members).await?;
        end(members).await
    }

    /// What each process has used once all have synced their parents.
    async fn costs(&self, members: &mut [Member]) -> Result<Vec<Cost>> {
        let held = until_shared(&self.users, members).await?;
        let waiting = members.iter_mut().zip(held);
        try_join_all(waiting.map(|(member, holds)| member.cost_with(self.load.within(holds).len())))
            .await
    }

    /// The start of one process that has all parents, and then of three that share them.
    async fn starts(&mut self) -> Result<(Cost, Vec<Cost>, Vec<Member>)> {
        let mut alone = Member::alone(&self.cluster, self.workload).await?;
        let one = alone.cost_with(self.count).await?;
        alone.stop().await?;
        let mut members = self.group(MEMBERS).await?;
        let three = self.costs(&mut members).await?;
        println!("shards: one {one:?}, three {three:?}");
        Ok((one, three, members))
    }

    /// The largest of three beside the one.
    fn cost_rows(&self, selects: bool, (one, three): (Cost, &[Cost])) -> Vec<Row> {
        let how = if selects { "with lists of shards" } else { "without lists of shards" };
        let figure = format!("{} parents, {how}, three (floor: one): ", self.count);
        let most = |of: fn(&Cost) -> f64| (three.iter().map(of).fold(0.0, f64::max), of(&one));
        let [bytes, memory, cpu] =
            if selects { ["at most 0.40"; 3] } else { ["-", "at most 0.45", "at most 0.60"] };
        vec![
            share(format!("{figure}received"), most(Cost::received_mib), "MiB").target(bytes),
            share("  memory".to_owned(), most(Cost::resident_mib), "MiB").target(memory),
            share("  of it no pages of the program".to_owned(), most(Cost::anonymous_mib), "MiB"),
            share("  CPU of the start".to_owned(), most(Cost::seconds), "s").target(cpu),
        ]
    }

    /// One is killed, and some of its parents are changed before its Lease expires. Returns how long after that each was
    /// answered.
    async fn take_over(
        &mut self,
        mut members: Vec<Member>,
    ) -> Result<(Vec<Duration>, Vec<Member>)> {
        const MARK: &str = "mark-killed";
        let Some(killed) = members.pop() else { bail!("there are some") };
        let lease = killed.lease().to_owned();
        let mut sightings = self.load.sightings(self.workload).await?;
        let (holds, _) = group::said(&self.users, &lease).await?;
        killed.kill().await?;
        let all = self.load.within(holds);
        let step = all.len().div_ceil(CHANGED).max(1);
        let changed: Vec<usize> = all.into_iter().step_by(step).collect();
        self.load.change_all(changed.clone(), MARK).await?;
        // The last renewal may have been on its way.
        let (_, expiry) = group::said(&self.users, &lease).await?;
        let answered = answers(&mut sightings, MARK, changed.into_iter().collect()).await?;
        let after = |at: &Instant| at.saturating_duration_since(expiry);
        until_shared(&self.users, &members).await?;
        let took: Vec<Duration> = answered.values().map(after).collect();
        println!("shards: killed, the first answer {:?} after the expiry", took.iter().min());
        Ok((took, members))
    }

    /// Changes at a rate, first while nothing else happens, and then while one process stops on SIGTERM. Returns how long each
    /// took to be answered.
    async fn hand_over(
        &mut self,
        mut members: Vec<Member>,
    ) -> Result<(Vec<Duration>, Vec<Duration>, Vec<Member>)> {
        members.extend(self.group(MEMBERS - members.len()).await?);
        self.costs(&mut members).await?;
        let calm = async {
            tokio::time::sleep(CALM).await;
            Ok(())
        };
        let calm = self.answered_during("mark-calm", calm).await?;
        let Some(leaving) = members.pop() else { bail!("there are some") };
        let users = self.users.clone();
        let passing = async {
            leaving.stop().await?;
            until_shared(&users, &members).await?;
            tokio::time::sleep(AFTER_HAND_OVER).await;
            Ok(())
        };
        let passing = self.answered_during("mark-passing", passing).await?;
        Ok((calm, passing, members))
    }

    async fn answered_during(
        &self,
        mark: &str,
        event: impl Future<Output = Result<()>>,
    ) -> Result<Vec<Duration>> {
        let mut sightings = self.load.sightings(self.workload).await?;
        let due = self.load.change_until(mark, event).await?;
        let changed: BTreeMap<usize, Instant> =
            due.into_iter().enumerate().map(|(at, due)| (self.load.spread(at), due)).collect();
        let answered = answers(&mut sightings, mark, changed.keys().copied().collect()).await?;
        let took = |(number, at): (&usize, &Instant)| at.saturating_duration_since(changed[number]);
        Ok(answered.iter().map(took).collect())
    }

    /// What is written but Leases while three become five and then two, and nothing changes.
    async fn come_and_go(&mut self, mut members: Vec<Member>) -> Result<Row> {
        members.extend(self.group(MEMBERS - members.len()).await?);
        self.costs(&mut members).await?;
        let before = self.cluster.mark()?;
        members.extend(self.group(2).await?);
        self.costs(&mut members).await?;
        let leaving = members.split_off(2);
        end(leaving).await?;
        self.costs(&mut members).await?;
        let requests = self.cluster.requests(before, operators::USER_AGENT).await?;
        println!("shards: three, five, two: {requests}");
        let writes = requests.writes() - requests.writes_of("leases");
        end(members).await?;
        let row = Row::new("three, five, two: writes but Leases", writes.to_string());
        Ok(row.floor("0").target("0"))
    }
}

fn share(figure: String, (value, floor): (f64, f64), unit: &str) -> Row {
    let row = Row::new(figure, format!("{value:.2} {unit}")).floor(format!("{floor:.2} {unit}"));
    row.ratio(format!("{:.2}", value / floor))
}

/// When the child of each of these parents first appears with this mark.
async fn answers(
    sightings: &mut Sightings,
    mark: &str,
    mut awaited: BTreeSet<usize>,
) -> Result<BTreeMap<usize, Instant>> {
    let mut answered = BTreeMap::new();
    while !awaited.is_empty() {
        let seen = sightings.next().await?;
        let number = load::number(&seen.name).filter(|_| seen.mark == mark);
        if let Some(number) = number.filter(|number| awaited.remove(number)) {
            answered.insert(number, seen.at);
        }
    }
    Ok(answered)
}
