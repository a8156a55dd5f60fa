//! What a watch of the watched children shows, and when.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt};
use http::Method;
use kube::{Client, core::WatchEvent};
use serde_json::Value;
use tokio::sync::mpsc::{self, UnboundedReceiver};

use crate::{parents, workload::Workload};

const DEADLINE: Duration = Duration::from_mins(1);

/// A child as the watch showed it.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) at: Instant,
    pub(crate) name: String,
    pub(crate) mark: String,
}

/// Everything that becomes of the watched children from the beginning of the watch on.
pub(crate) struct Sightings(UnboundedReceiver<Seen>);

impl Sightings {
    pub(crate) async fn begin(client: Client, workload: Workload) -> Result<Self> {
        let path = workload.watched();
        let list = parents::get(&client, &path).await?;
        let version = list["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        let path = format!("{path}?watch=true&resourceVersion={version}");
        let request =
            parents::request(Method::GET, &path, "observer", "application/json", String::new())?;
        let mut events = client.request_events::<Value>(request).await?.boxed();
        let (found, seen) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok(Some(event)) = events.try_next().await {
                let (WatchEvent::Added(child) | WatchEvent::Modified(child)) = event else {
                    continue;
                };
                let at = Instant::now();
                let name = child["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                let mark = workload.mark(&child).unwrap_or_default().to_owned();
                if found.send(Seen { at, name, mark }).is_err() {
                    return;
                }
            }
        });
        Ok(Self(seen))
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Result<Seen> {
        let next = tokio::time::timeout(DEADLINE, self.0.recv()).await;
        next.context("nothing becomes of the children any more")?.context("the watch ended")
    }

    /// When the child of this name next appears with this mark.
    pub(crate) async fn until(&mut self, name: &str, mark: &str) -> Result<Instant> {
        loop {
            let seen = self.next().await?;
            if seen.name == name && seen.mark == mark {
                return Ok(seen.at);
            }
        }
    }
}
