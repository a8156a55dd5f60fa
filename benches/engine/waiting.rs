//! Asynchronous handlers that wait for another system, beside an operator that does not: parents of the other
//! operator are created at once, with and without as many that wait. The floor is without.

use std::time::{Duration, Instant};

use anyhow::Result;
use operetta::{
    operator::{SyncRequest, SyncResponse},
    supervisor::Supervisor,
};

use crate::{
    cluster::Cluster,
    operators::{DEADLINE, Operators},
    parents::{self, FIRST_MARK},
    process,
    settings::Settings,
    table::{Row, mean, time},
    workload::Workload,
};

/// How long a call waits beside bursts.
const WAIT: Duration = Duration::from_millis(200);
/// How long a call waits while memory is measured.
const LONG_WAIT: Duration = Duration::from_secs(10);
/// As the default of an operator: so many wait at any time, and the others queue.
const LIMIT: usize = 16;

struct Course {
    _cluster: Cluster,
    users: kube::Client,
    operators: Operators,
    workload: Workload,
    count: usize,
}

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let mut rows = vec![throughput(settings).await?];
    rows.push(memory(settings).await?);
    Ok(rows)
}

async fn throughput(settings: &Settings) -> Result<Row> {
    let course = Course::prepare(settings, WAIT, LIMIT).await?;
    let (mut beside, mut alone) = (Vec::new(), Vec::new());
    for round in 0..settings.rounds() {
        alone.push(course.burst(&format!("alone{round}")).await?);
        course.wait(&format!("waiting{round}")).await?;
        beside.push(course.burst(&format!("beside{round}")).await?);
        let (took, floor) = (time(beside[round]), time(alone[round]));
        println!("waiting, round {}: {took} beside those that wait, {floor} alone", round + 1);
        course.rest(&format!("waiting{round}")).await?;
    }
    let count = course.count;
    course.operators.stop().await?;
    let figure = format!("{count} parents, cold, beside {count} whose handler waits 200 ms");
    Ok(Row::times(figure, mean(&beside), mean(&alone)).target("at most 1.05"))
}

/// What the process needs more for each parent that is in a call at the same time.
#[expect(clippy::cast_precision_loss, reason = "a size in KiB fits")]
async fn memory(settings: &Settings) -> Result<Row> {
    let course = Course::prepare(settings, LONG_WAIT, settings.burst()).await?;
    let before = process::resident()?;
    course.create(1, "waiting").await?;
    course.operators.until(course.count, || course.waiting() == course.count).await?;
    tokio::time::sleep(WAIT).await;
    let more = process::resident()?.saturating_sub(before);
    let per_parent = format!("{:.2} KiB", more as f64 / course.count as f64);
    course.operators.stop().await?;
    Ok(Row::new("  resident memory per parent whose handler waits", per_parent))
}

impl Course {
    /// An operator whose handler waits so long, and the one of the workload.
    async fn prepare(settings: &Settings, wait: Duration, limit: usize) -> Result<Self> {
        let (workload, count) = (settings.workload, settings.burst());
        let cluster = Cluster::start(settings.cluster).await?;
        let users = cluster.client().await?;
        parents::install(&users, workload, 2).await?;
        let config = workload.config(&workload.parent(1)).with_max_concurrent_reconciles(limit);
        let waits = move |_: SyncRequest| async move {
            tokio::time::sleep(wait).await;
            Result::<SyncResponse>::Ok(SyncResponse::new().resync_after(wait))
        };
        let builder = Supervisor::builder().connect(cluster.connector()).register(config, waits);
        let operators = Operators::started(builder, workload, 1).await?;
        let course = Self { _cluster: cluster, users, operators, workload, count };
        course.burst("warm").await?;
        Ok(course)
    }

    /// Creates parents, and returns when all are synced.
    async fn burst(&self, prefix: &str) -> Result<Duration> {
        let expected = self.synced() + self.count;
        let started = Instant::now();
        self.create(0, prefix).await?;
        self.operators.until(self.count, || self.synced() >= expected).await?;
        Ok(started.elapsed())
    }

    fn synced(&self) -> usize {
        self.operators.parents_of(&self.name(0)).1
    }

    /// Creates parents whose handler waits, and returns when each has its status: from then on the operator
    /// only waits, and writes nothing.
    async fn wait(&self, prefix: &str) -> Result<()> {
        self.create(1, prefix).await?;
        let path = self.workload.parent(1).collection();
        let waiting = async {
            while parents::with_status(&self.users, &path).await? < self.count {
                tokio::time::sleep(WAIT).await;
            }
            Ok(())
        };
        tokio::time::timeout(DEADLINE, waiting).await?
    }

    fn waiting(&self) -> usize {
        self.operators.parents_of(&self.name(1)).0
    }

    fn name(&self, ty: usize) -> String {
        self.workload.config(&self.workload.parent(ty)).name().to_owned()
    }

    /// Deletes these parents.
    async fn rest(&self, prefix: &str) -> Result<()> {
        let (users, path) = (self.users.clone(), self.workload.parent(1).collection());
        let prefix = prefix.to_owned();
        parents::at_once(self.count, move |number| {
            let (users, path) = (users.clone(), format!("{path}/{prefix}-{number}"));
            async move { parents::delete(&users, &path).await }
        })
        .await?;
        self.operators.until(self.count, || self.waiting() == 0).await
    }

    async fn create(&self, ty: usize, prefix: &str) -> Result<()> {
        let (ty, spec) = (self.workload.parent(ty), self.workload.spec(FIRST_MARK));
        parents::create_all(&self.users, &ty, prefix, self.count, &spec).await
    }
}
