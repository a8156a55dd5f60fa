//! From a parent's change to its child's, at a rate: an open loop, in which no change waits for
//! another. The time begins when a change is due, so that delays by other changes count. Its
//! floor makes the same requests.

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

/// Changes of some parents, each when it is due.
struct Turn {
    rate: usize,
    round: usize,
    numbers: Range<usize>,
}

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    let (rate, count) = (settings.rate, settings.rate * settings.rate_seconds());
    let mut twins = Twins::prepare(settings, count).await?;
    let (mut ours, mut floors) = (Vec::new(), Vec::new());
    let before = twins.cluster.mark()?;
    // Each as often first as second, because other processes use the machine too.
    for round in 0..settings.rounds() {
        let numbers = if round % 2 == 0 { 0..count / 2 } else { count / 2..count };
        let (turn, is_floor_first) = (Turn { rate, round, numbers }, round % 2 == 1);
        for is_floor in [is_floor_first, !is_floor_first] {
            if is_floor {
                floors.extend(twins.floors_at(&turn).await?);
            } else {
                ours.extend(twins.ours_at(&turn).await?);
                twins.operators.until_synced(count).await?;
            }
        }
    }
    let requests = twins.cluster.requests(before, operators::USER_AGENT).await?;
    let (least, changes) = (twins.requests.recording.change.len(), ours.len());
    twins.operators.stop().await?;
    let row = |percent| {
        let figure = format!("spec change to child written, {rate}/s, p{percent} of {changes}");
        Row::latency(figure, percentile(&ours, percent), percentile(&floors, percent))
    };
    Ok(vec![
        row(50).target("at most +1 ms"),
        row(99).target("at most +10 ms"),
        Row::new("  writes per change", per(requests.writes(), changes))
            .floor(least.to_string())
            .target(settings.workload.change_writes_target()),
    ])
}

impl Twins {
    async fn ours_at(&mut self, turn: &Turn) -> Result<Vec<Duration>> {
        let (requests, ty) = (self.requests.clone(), self.requests.workload.parent(0));
        let changing = turn.each(|number, mark| {
            let (requests, ty) = (requests.clone(), ty.clone());
            async move { requests.change(&ty, &format!("own-{number}"), &mark).await.map(drop) }
        });
        self.latencies("own", turn, changing).await
    }

    async fn floors_at(&mut self, turn: &Turn) -> Result<Vec<Duration>> {
        let (requests, ty) = (self.requests.clone(), self.requests.workload.floor());
        let floors = self.floors.clone();
        let changing = turn.each(|number, mark| {
            let (requests, ty, floor) = (requests.clone(), ty.clone(), floors[number].clone());
            async move {
                let parent = requests.change(&ty, &floor.parent.name, &mark).await?;
                requests.follow(&floor, &parent, &mark).await
            }
        });
        self.latencies("floor", turn, changing).await
    }

    /// How long after its due time each change was seen, while the changes are made.
    async fn latencies(
        &mut self,
        prefix: &str,
        turn: &Turn,
        changing: impl Future<Output = Result<()>>,
    ) -> Result<Vec<Duration>> {
        let started = Instant::now();
        let sightings = &mut self.sightings;
        let watching = async {
            let mut at = HashMap::new();
            while at.len() < turn.numbers.len() {
                let seen = sightings.next().await?;
                let number = seen.name.strip_prefix(prefix).and_then(|it| it.strip_prefix('-'));
                let number: Option<usize> = number.and_then(|number| number.parse().ok());
                if let Some(number) = number.filter(|number| turn.numbers.contains(number))
                    && seen.mark == turn.mark(number)
                {
                    at.entry(number).or_insert(seen.at);
                }
            }
            anyhow::Ok(at)
        };
        let (at, ()) = future::try_join(watching, changing).await?;
        let latency = |(number, at): (usize, Instant)| {
            at.saturating_duration_since(started + turn.after(number))
        };
        Ok(at.into_iter().map(latency).collect())
    }
}

impl Turn {
    /// Calls `change` with every number and its mark, each when it is due.
    async fn each<C, F>(&self, change: C) -> Result<()>
    where
        C: Fn(usize, String) -> F,
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let started = tokio::time::Instant::now();
        let mut changes = Vec::with_capacity(self.numbers.len());
        for number in self.numbers.clone() {
            tokio::time::sleep_until(started + self.after(number)).await;
            changes.push(tokio::spawn(change(number, self.mark(number))));
        }
        for change in changes {
            change.await?.context("a change is made")?;
        }
        Ok(())
    }

    /// How long after the beginning of the turn a parent is changed.
    #[expect(clippy::cast_precision_loss, reason = "a number of changes fits")]
    fn after(&self, number: usize) -> Duration {
        Duration::from_secs_f64((number - self.numbers.start) as f64 / self.rate as f64)
    }

    fn mark(&self, number: usize) -> String {
        format!("mark-{}-{number}", self.round)
    }
}
