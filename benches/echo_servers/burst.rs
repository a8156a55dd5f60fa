//! Many parents created at once: how long until all have their children and status, and what it
//! took. Operator and floor take turns on one server, each as often first as second: servers grow
//! slower with what they hold.

use std::time::{Duration, Instant};

use anyhow::Result;
use kube::Client;

use crate::{
    Settings,
    cluster::{Cluster, Requests},
    floor::{self, Template},
    operators::{self, Operators},
    parents::{self, ECHO},
    table::{Row, mean, time},
};

/// Enough to open connections and fill caches.
const WARM_UP: usize = 20;
/// A Pod, a Service and a status.
const WRITES_PER_PARENT: usize = 3;

/// What the turns share.
struct Course {
    cluster: Cluster,
    users: Client,
    bare: Client,
    operators: Operators,
    template: Template,
    count: usize,
}

/// How long a turn took, and what was asked.
type Turn = (Duration, Requests);

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let course = Course::prepare(settings).await?;
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    for round in 0..settings.rounds {
        let is_floor_first = round % 2 == 1;
        for is_floor in [is_floor_first, !is_floor_first] {
            let (turns, who) = if is_floor { (&mut floors, "floor") } else { (&mut ours, "ours") };
            let turn = course.turn(is_floor, round).await?;
            println!("burst, round {}, {who}: {} ({})", round + 1, time(turn.0), turn.1);
            turns.push(turn);
        }
    }
    course.operators.stop().await?;
    Ok(rows(settings.parents, &ours, &floors))
}

impl Course {
    async fn prepare(settings: &Settings) -> Result<Self> {
        let cluster = Cluster::start(settings.cluster).await?;
        let (users, bare) = (cluster.client().await?, cluster.client().await?);
        parents::install(&users).await?;
        let operators = Operators::start(cluster.connector()).await?;
        parents::create_all(&users, ECHO, "warm", WARM_UP).await?;
        operators.until_synced(WARM_UP).await?;
        let template = Template::from_sample(&users, "warm-0").await?;
        floor::burst(&users, &bare, &template, "floor-warm", WARM_UP).await?;
        Ok(Self { cluster, users, bare, operators, template, count: settings.parents })
    }

    async fn turn(&self, is_floor: bool, round: usize) -> Result<Turn> {
        let user_agent = if is_floor { floor::USER_AGENT } else { operators::USER_AGENT };
        let before = self.cluster.requests(user_agent).await?;
        let took = if is_floor {
            let prefix = format!("floor{round}");
            floor::burst(&self.users, &self.bare, &self.template, &prefix, self.count).await?
        } else {
            self.burst(round).await?
        };
        Ok((took, self.cluster.requests(user_agent).await?.since(&before)))
    }

    async fn burst(&self, round: usize) -> Result<Duration> {
        let prefix = format!("echo{round}");
        let started = Instant::now();
        parents::create_all(&self.users, ECHO, &prefix, self.count).await?;
        self.operators.until_synced(WARM_UP + (round + 1) * self.count).await?;
        let took = started.elapsed();
        parents::check(&self.users, &prefix, self.count).await?;
        Ok(took)
    }
}

fn rows(count: usize, ours: &[Turn], floors: &[Turn]) -> Vec<Row> {
    let times = |turns: &[Turn]| mean(&turns.iter().map(|(took, _)| *took).collect::<Vec<_>>());
    let most = |turns: &[Turn]| {
        let requests = turns.iter().map(|(_, requests)| requests.clone());
        requests.max_by_key(Requests::writes).unwrap_or_default()
    };
    let (requests, least) = (most(ours), count * WRITES_PER_PARENT);
    vec![
        Row::times(
            format!("{count} parents created at once, all done"),
            times(ours),
            times(floors),
        )
        .target("ratio at most 1.5"),
        Row::new("  writes, of the round with most", requests.writes().to_string())
            .floor(least.to_string())
            .target(format!("at most {least}")),
        Row::new("  requests by verb", requests.by_verb()).floor(most(floors).by_verb()),
    ]
}
