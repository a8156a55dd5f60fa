//! From a child's edit or deletion by somebody else to its repair, one at a time.
//!
//! The time begins when somebody sends the edit or deletion, and ends when a watch shows the child
//! as it was. Its floor is a bare client that issues the operator's write as soon as the other has
//! an answer.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::{
    operators,
    parents::{self, Created, FIRST_MARK},
    settings::Settings,
    table::{Row, per, percentile},
    twins::Twins,
};

/// Between two samples, so that the last one's echoes are over.
const PAUSE: Duration = Duration::from_millis(20);

/// What somebody does to a child.
#[derive(Debug, Clone, Copy)]
enum Harm {
    Edit,
    Delete,
}

pub(crate) async fn measure(settings: &Settings) -> Result<Vec<Row>> {
    // Each child is harmed once in each way: who harms the same again and again is slowed down.
    let mut twins = Twins::prepare(settings, settings.samples() + 1).await?;
    let mut rows = Vec::new();
    for (harm, name) in [(Harm::Edit, "edited"), (Harm::Delete, "deleted")] {
        let (mut ours, mut floors) = (Vec::new(), Vec::new());
        let before = twins.cluster.mark().await?;
        // The first of each opens connections and is not counted.
        for number in 0..=settings.samples() {
            ours.push(twins.repaired(harm, number).await?);
            floors.push(twins.rewritten(harm, number).await?);
        }
        let requests = twins.cluster.requests(before, operators::USER_AGENT).await?;
        println!("repair, a child {name}: {requests}");
        let figure = format!("a child {name} by hand is repaired, p50");
        let row = Row::latency(figure, percentile(&ours[1..], 50), percentile(&floors[1..], 50));
        rows.push(row.target("at most +1 ms"));
        let writes = per(requests.writes(), ours.len());
        rows.push(Row::new("  writes per repair", writes).floor("1").target("1"));
    }
    twins.operators.stop().await?;
    Ok(rows)
}

impl Twins {
    async fn repaired(&mut self, harm: Harm, number: usize) -> Result<Duration> {
        let started = Instant::now();
        let name = format!("own-{number}");
        self.harm(harm, &name, number).await?;
        let at = self.sightings.until(&name, FIRST_MARK).await?;
        tokio::time::sleep(PAUSE).await;
        Ok(at - started)
    }

    async fn rewritten(&mut self, harm: Harm, number: usize) -> Result<Duration> {
        let floor = self.floors[0].clone();
        let templates = match harm {
            Harm::Edit => &self.requests.recording.edit,
            Harm::Delete => &self.requests.recording.delete,
        };
        let template = templates.first().context("the operator repairs")?;
        let body = template.body_of_change(&floor.parent, &floor.child, FIRST_MARK)?;
        let started = Instant::now();
        self.harm(harm, &floor.parent.name, number).await?;
        let answer = self.requests.write(template, &floor.parent, body).await?;
        let at = self.sightings.until(&floor.parent.name, FIRST_MARK).await?;
        self.floors[0].child = Created::from_answer(&answer)?.uid;
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
