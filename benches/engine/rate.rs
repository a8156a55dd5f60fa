//! From a parent's change to its child's, at a rate: an open loop, in which no change waits for
//! another. The time begins when a change should have been sent, so that what comes late because
//! of others counts; each parent is changed once. Its floor makes the same requests.

use std::{
    collections::HashMap,
    future::Future,
    ops::Range,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use futures::future;

use crate::{
    operators,
    settings::Settings,
    table::{Row, per, percentile},
    twins::Twins,
};

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let (rate, count) = (settings.rate, settings.rate * settings.rate_seconds());
    let mut twins = Twins::prepare(settings, count).await?;
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    let before = twins.cluster.mark().await?;
    // By turns, because others use the machine too.
    for turn in [0..count / 2, count / 2..count] {
        floors.extend(twins.floors_at(rate, turn.clone()).await?);
        ours.extend(twins.ours_at(rate, turn).await?);
        twins.operators.until_synced(count).await?;
    }
    let requests = twins.cluster.requests(before, operators::USER_AGENT).await?;
    let least = twins.requests.recording.change.len();
    twins.operators.stop().await?;
    let row = |percent| {
        let figure = format!("spec change to child written, {rate}/s, p{percent} of {count}");
        Row::latency(figure, percentile(&ours, percent), percentile(&floors, percent))
    };
    Ok(vec![
        row(50).target("at most +1 ms"),
        row(99).target("at most +10 ms"),
        Row::new("  writes per change", per(requests.writes(), count))
            .floor(least.to_string())
            .target(least.to_string()),
    ])
}

impl Twins {
    async fn ours_at(&mut self, rate: usize, numbers: Range<usize>) -> Result<Vec<Duration>> {
        let (requests, ty) = (self.requests.clone(), self.requests.workload.parent(0));
        let changing = at_rate(rate, numbers.clone(), move |number| {
            let (requests, ty) = (requests.clone(), ty.clone());
            async move {
                let mark = format!("mark-{number}");
                requests.change(&ty, &format!("own-{number}"), &mark).await.map(drop)
            }
        });
        self.latencies("own", rate, numbers, changing).await
    }

    async fn floors_at(&mut self, rate: usize, numbers: Range<usize>) -> Result<Vec<Duration>> {
        let (requests, ty) = (self.requests.clone(), self.requests.workload.floor());
        let floors = self.floors.clone();
        let changing = at_rate(rate, numbers.clone(), move |number| {
            let (requests, ty, floor) = (requests.clone(), ty.clone(), floors[number].clone());
            async move {
                let mark = format!("mark-{number}");
                let parent = requests.change(&ty, &floor.parent.name, &mark).await?;
                requests.follow(&floor, &parent, &mark).await
            }
        });
        self.latencies("floor", rate, numbers, changing).await
    }

    /// How long after its time each change was seen, while the changes are made.
    async fn latencies(
        &mut self,
        prefix: &str,
        rate: usize,
        numbers: Range<usize>,
        changing: impl Future<Output = Result<()>>,
    ) -> Result<Vec<Duration>> {
        let started = Instant::now();
        let sightings = &mut self.sightings;
        let watching = async {
            let mut at = HashMap::new();
            while at.len() < numbers.len() {
                let seen = sightings.next().await?;
                let number = seen.name.strip_prefix(prefix).and_then(|it| it.strip_prefix('-'));
                let number: Option<usize> = number.and_then(|number| number.parse().ok());
                if let Some(number) = number.filter(|number| numbers.contains(number))
                    && seen.mark == format!("mark-{number}")
                {
                    at.entry(number).or_insert(seen.at);
                }
            }
            anyhow::Ok(at)
        };
        let (at, ()) = future::try_join(watching, changing).await?;
        let latency = |(number, at): (usize, Instant)| {
            at.saturating_duration_since(started + after(rate, number - numbers.start))
        };
        Ok(at.into_iter().map(latency).collect())
    }
}

/// Calls `change` with every number, each at its time.
async fn at_rate<C, F>(rate: usize, numbers: Range<usize>, change: C) -> Result<()>
where
    C: Fn(usize) -> F,
    F: Future<Output = Result<()>> + Send + 'static,
{
    let started = tokio::time::Instant::now();
    let mut changes = Vec::with_capacity(numbers.len());
    for (order, number) in numbers.enumerate() {
        tokio::time::sleep_until(started + after(rate, order)).await;
        changes.push(tokio::spawn(change(number)));
    }
    for change in changes {
        change.await?.context("a change is made")?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a number of changes fits")]
fn after(rate: usize, number: usize) -> Duration {
    Duration::from_secs_f64(number as f64 / rate as f64)
}
