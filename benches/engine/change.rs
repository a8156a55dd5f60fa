//! From a parent's change to its child's, one at a time, with no other load.
//!
//! The time begins when a user sends the change, and ends when a watch shows the child changed. Its
//! floor is a bare client that issues the operator's write as soon as the user has an answer.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::{
    operators, parents,
    settings::Settings,
    table::{Row, per, percentile},
    twins::Twins,
};

/// Between two samples, so that the effects of the last one are over.
const PAUSE: Duration = Duration::from_millis(10);
const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let mut twins = Twins::prepare(settings, 1).await?;
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    let before = twins.cluster.mark()?;
    // The first of each opens connections and is not counted.
    for number in 0..=settings.samples() {
        let mark = format!("mark-{number}");
        ours.push(twins.ours(&mark).await?);
        floors.push(twins.floors(&mark).await?);
    }
    let requests = twins.cluster.requests(before, operators::USER_AGENT).await?;
    let (writes, changes) = (requests.writes(), ours.len());
    let least = twins.requests.recording.change.iter().filter(|it| it.is_write()).count();
    twins.operators.stop().await?;
    let row = |percent| {
        let figure = format!("spec change to child written, one at a time, p{percent}");
        Row::latency(figure, percentile(&ours[1..], percent), percentile(&floors[1..], percent))
    };
    Ok(vec![
        row(50).target("at most +1 ms"),
        row(99).target("at most +10 ms"),
        Row::new("  writes per change", per(writes, changes))
            .floor(least.to_string())
            .target(settings.workload.change_writes_target()),
    ])
}

impl Twins {
    async fn ours(&mut self, mark: &str) -> Result<Duration> {
        let ty = self.requests.workload.parent(0);
        let started = Instant::now();
        self.requests.change(&ty, "own-0", mark).await?;
        let at = self.sightings.until("own-0", mark).await?;
        self.until_synced(&format!("{}/own-0", ty.collection())).await?;
        Ok(at - started)
    }

    async fn floors(&mut self, mark: &str) -> Result<Duration> {
        let floor = &self.floors[0];
        let started = Instant::now();
        let ty = self.requests.workload.floor();
        let parent = self.requests.change(&ty, &floor.parent.name, mark).await?;
        self.requests.follow(floor, &parent, mark).await?;
        let at = self.sightings.until(&floor.parent.name, mark).await?;
        tokio::time::sleep(PAUSE).await;
        Ok(at - started)
    }

    /// The status is written too.
    async fn until_synced(&self, path: &str) -> Result<()> {
        let ready = async {
            while !parents::is_synced(&parents::get(&self.requests.users, path).await?) {
                tokio::time::sleep(PAUSE).await;
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(DEADLINE, ready).await.context("the parent never came to rest")??;
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }
}
