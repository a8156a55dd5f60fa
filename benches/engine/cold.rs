//! Many parents created at once: how long until all have their children and status, and at what
//! cost. Operator and floor take turns on one server, each as often first as second: a server
//! gets slower with every object.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Result;
use kube::Client;

use crate::{
    bare::BareProgram,
    cluster::Cluster,
    floor,
    operators::{self, Operators},
    parents::{self, FIRST_MARK},
    process::cpu_of,
    recording::Recording,
    requests::Requests,
    settings::Settings,
    table::{Row, mean, time},
    workload::Workload,
};

/// Enough to open connections and fill caches.
const WARM_UP: usize = 20;

/// What the turns share.
struct Course {
    cluster: Cluster,
    users: Client,
    bare: BareProgram,
    operators: Operators,
    recording: Arc<Recording>,
    workload: Workload,
    count: usize,
}

/// The wall time, CPU time and requests of a turn.
struct Turn {
    took: Duration,
    cpu: Duration,
    requests: Requests,
}

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let course = Course::prepare(settings).await?;
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    for round in 0..settings.rounds() {
        let is_floor_first = round % 2 == 1;
        for is_floor in [is_floor_first, !is_floor_first] {
            let (turns, who) = if is_floor { (&mut floors, "floor") } else { (&mut ours, "ours") };
            let turn = course.turn(is_floor, round).await?;
            let Turn { took, cpu, requests } = &turn;
            let (took, cpu) = (time(*took), time(*cpu));
            println!("cold, round {}, {who}: {took}, {cpu} of CPU ({requests})", round + 1);
            turns.push(turn);
        }
    }
    course.bare.check_watches()?;
    let writes_per_parent = course.recording.create.len();
    course.operators.stop().await?;
    Ok(rows(settings, writes_per_parent, &ours, &floors))
}

impl Course {
    async fn prepare(settings: &Settings) -> Result<Self> {
        let workload = settings.workload;
        let recording = Arc::new(Recording::take(workload).await?);
        let cluster = Cluster::start(settings.cluster).await?;
        let (users, mut bare) =
            (cluster.client().await?, BareProgram::start(cluster.connector()).await?);
        parents::install(&users, workload, 1).await?;
        bare.watch(&recording.watches).await?;
        let operators = Operators::start(cluster.connector(), workload, 1).await?;
        let count = settings.burst();
        let course = Self { cluster, users, bare, operators, recording, workload, count };
        course.create("warm", WARM_UP).await?;
        course.operators.until_synced(WARM_UP).await?;
        course.floor("floor-warm", WARM_UP).await?;
        Ok(course)
    }

    async fn turn(&self, is_floor: bool, round: usize) -> Result<Turn> {
        let user_agent = if is_floor { floor::USER_AGENT } else { operators::USER_AGENT };
        let (before, used) = (self.cluster.mark()?, cpu_of(std::process::id())?);
        let took = if is_floor {
            self.floor(&format!("floor{round}"), self.count).await?
        } else {
            self.ours(&own(round), WARM_UP + (round + 1) * self.count).await?
        };
        let cpu = cpu_of(std::process::id())?.saturating_sub(used);
        if !is_floor {
            parents::check(&self.users, self.workload, &own(round), self.count).await?;
        }
        Ok(Turn { took, cpu, requests: self.cluster.requests(before, user_agent).await? })
    }

    /// Until all parents of the operator are synced, including those of earlier rounds.
    async fn ours(&self, prefix: &str, parents: usize) -> Result<Duration> {
        let started = Instant::now();
        self.create(prefix, self.count).await?;
        self.operators.until_synced(parents).await?;
        Ok(started.elapsed())
    }

    async fn create(&self, prefix: &str, count: usize) -> Result<()> {
        let (ty, spec) = (self.workload.parent(0), self.workload.spec(FIRST_MARK));
        parents::create_all(&self.users, &ty, prefix, count, &spec).await
    }

    async fn floor(&self, prefix: &str, count: usize) -> Result<Duration> {
        let what = (self.workload, &self.recording);
        floor::burst((&self.users, &self.bare), what, prefix, count).await
    }
}

/// The prefix of the operator's parents of a round.
fn own(round: usize) -> String {
    format!("own{round}")
}

fn rows(settings: &Settings, writes_per_parent: usize, ours: &[Turn], floors: &[Turn]) -> Vec<Row> {
    let count = settings.burst();
    let mean_of =
        |turns: &[Turn], of: fn(&Turn) -> Duration| mean(&turns.iter().map(of).collect::<Vec<_>>());
    let (times, cpu) =
        (|turns| mean_of(turns, |turn| turn.took), |turns| mean_of(turns, |turn| turn.cpu));
    let most = |turns: &[Turn]| {
        let requests = turns.iter().map(|turn| turn.requests.clone());
        requests.max_by_key(Requests::writes).unwrap_or_default()
    };
    let (requests, least) = (most(ours), count * writes_per_parent);
    let refused: usize = ours.iter().map(|turn| turn.requests.refused()).sum();
    let figure = format!("{count} parents with {} children, cold", writes_per_parent - 1);
    vec![
        Row::times(figure, times(ours), times(floors)).target(settings.workload.burst_target()),
        Row::times("  CPU of this process", cpu(ours), cpu(floors)),
        Row::new("  writes, of the round with most", requests.writes().to_string())
            .floor(least.to_string())
            .target(settings.workload.burst_writes_target(count)),
        Row::new("  refused, of all rounds", refused.to_string()).floor("0").target("0"),
        Row::new("  requests by verb", requests.by_verb()).floor(most(floors).by_verb()),
    ]
}
