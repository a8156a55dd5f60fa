//! From a child's edit or deletion by another client to its repair, one at a time.
//!
//! The time begins when the client sends the edit or deletion, and ends when a watch shows the child
//! repaired. Its floor is a bare client that issues the operator's write as soon as the other has
//! its response. Before the operator creates a child again, it reads the parent, which may be being
//! deleted already: that repair has a second floor with the same read.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::{
    operators,
    parents::{self, Created, FIRST_MARK},
    recording::{Recording, Template},
    settings::Settings,
    table::{Row, per, percentile},
    twins::Twins,
};

/// Between two samples, so that the effects of the last one are over.
const PAUSE: Duration = Duration::from_millis(20);

/// A change of a child by another client.
#[derive(Debug, Clone, Copy)]
enum Harm {
    Edit,
    Delete,
}

/// Which of the operator's requests a bare client issues.
#[derive(Debug, Clone, Copy)]
enum Floor {
    Write,
    AllRequests,
}

/// The times of the repairs of one kind of change.
#[derive(Debug, Default)]
struct Times {
    ours: Vec<Duration>,
    writes: Vec<Duration>,
    all_requests: Vec<Duration>,
}

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    // Each child is changed once in each way, because repeated repairs of a child are slowed down.
    let mut twins = Twins::prepare(settings, settings.samples() + 1).await?;
    let mut rows = Vec::new();
    for (harm, name) in [(Harm::Edit, "edited"), (Harm::Delete, "deleted")] {
        let before = twins.cluster.mark()?;
        let times = twins.times(harm, settings.samples()).await?;
        let requests = twins.cluster.requests(before, operators::USER_AGENT).await?;
        println!("repair, a child {name}: {requests}");
        let [ours, writes, all] =
            [&times.ours, &times.writes, &times.all_requests].map(|all| percentile(all, 50));
        let figure = format!("a child {name} by hand is repaired, p50");
        rows.push(Row::latency(figure, ours, writes).target("at most +1 ms"));
        if twins.requests.recording.of(harm).iter().any(|request| !request.is_write()) {
            let figure = "  beside all its requests: it reads the parent first";
            rows.push(Row::latency(figure, ours, all));
        }
        let writes = per(requests.writes(), settings.samples() + 1);
        rows.push(Row::new("  writes per repair", writes).floor("1").target("1"));
    }
    twins.operators.stop().await?;
    Ok(rows)
}

impl Recording {
    fn of(&self, harm: Harm) -> &[Template] {
        match harm {
            Harm::Edit => &self.edit,
            Harm::Delete => &self.delete,
        }
    }
}

impl Twins {
    async fn times(&mut self, harm: Harm, samples: usize) -> Result<Times> {
        let mut times = Times::default();
        // The first of each opens connections and is not counted.
        for number in 0..=samples {
            let ours = self.repaired(harm, number).await?;
            let write = self.rewritten(harm, number, Floor::Write).await?;
            let all = self.rewritten(harm, number, Floor::AllRequests).await?;
            if number > 0 {
                times.ours.push(ours);
                times.writes.push(write);
                times.all_requests.push(all);
            }
        }
        Ok(times)
    }

    async fn repaired(&mut self, harm: Harm, number: usize) -> Result<Duration> {
        let started = Instant::now();
        let name = format!("own-{number}");
        self.harm(harm, &name, number).await?;
        let at = self.sightings.until(&name, FIRST_MARK).await?;
        tokio::time::sleep(PAUSE).await;
        Ok(at - started)
    }

    async fn rewritten(&mut self, harm: Harm, number: usize, which: Floor) -> Result<Duration> {
        let (floor, recording) = (self.floors[0].clone(), self.requests.recording.clone());
        let is_issued = |it: &&Template| it.is_write() || matches!(which, Floor::AllRequests);
        let started = Instant::now();
        self.harm(harm, &floor.parent.name, number).await?;
        let mut answer = None;
        for template in recording.of(harm).iter().filter(is_issued) {
            let body = template.body_of_change(&floor.parent, &floor.child, FIRST_MARK)?;
            answer = Some(self.requests.send(template, &floor.parent, body).await?);
        }
        let at = self.sightings.until(&floor.parent.name, FIRST_MARK).await?;
        let answer = answer.context("the operator repairs")?;
        self.floors[0].child = Created::from_response(&answer)?.uid;
        tokio::time::sleep(PAUSE).await;
        Ok(at - started)
    }

    async fn harm(&self, harm: Harm, name: &str, number: usize) -> Result<()> {
        let (users, workload) = (&self.requests.users, self.requests.workload);
        let path = format!("{}/{name}", workload.watched());
        match harm {
            Harm::Edit => {
                let mark = format!("not-ours-{number}");
                parents::patch(users, &path, &workload.edit(&mark)).await.map(drop)
            }
            Harm::Delete => parents::delete(users, &path).await,
        }
    }
}
