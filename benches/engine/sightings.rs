//! The events of a watch of the watched children, with their times.

use std::{
    convert::Infallible,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use futures::{StreamExt, TryStreamExt};
use http::Method;
use kube::{Client, core::WatchEvent};
use serde_json::Value;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::{
    parents,
    workload::{NAMESPACE, Workload},
};

const DEADLINE: Duration = Duration::from_mins(1);

/// A child as the watch showed it.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) at: Instant,
    pub(crate) name: String,
    pub(crate) mark: String,
}

/// Every change of the watched children since the watch began.
pub(crate) struct Sightings(UnboundedReceiver<Seen>);

impl Sightings {
    pub(crate) async fn begin(client: Client, workload: Workload) -> Result<Self> {
        Self::at(client, workload, workload.watched()).await
    }

    /// The same in all namespaces.
    pub(crate) async fn everywhere(client: Client, workload: Workload) -> Result<Self> {
        let here = format!("/namespaces/{NAMESPACE}");
        Self::at(client, workload, workload.watched().replace(&here, "")).await
    }

    async fn at(client: Client, workload: Workload, path: String) -> Result<Self> {
        let list = parents::get(&client, &format!("{path}?limit=1")).await?;
        let version = list["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        let (found, seen) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            tokio::select! {
                () = found.closed() => {}
                Err(error) = watch(&client, (workload, &path), version, &found) => {
                    eprintln!("the children are not watched: {error:#}");
                }
            }
        });
        Ok(Self(seen))
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Result<Seen> {
        let next = tokio::time::timeout(DEADLINE, self.0.recv()).await;
        next.context("no child changes any more")?.context("the watch ended")
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

/// Sends the events of a watch until it fails. A server may end a slow watch: the next one continues from
/// its last version.
async fn watch(
    client: &Client,
    (workload, collection): (Workload, &str),
    mut version: String,
    found: &UnboundedSender<Seen>,
) -> Result<Infallible> {
    loop {
        let path = format!("{collection}?watch=true&resourceVersion={version}");
        let request =
            parents::request(Method::GET, &path, "observer", "application/json", String::new())?;
        let mut events = client.request_events::<Value>(request).await?.boxed();
        while let Some(event) = events.try_next().await? {
            let child = match event {
                WatchEvent::Added(child) | WatchEvent::Modified(child) => child,
                WatchEvent::Error(status) => bail!("{}", status.message),
                WatchEvent::Deleted(_) | WatchEvent::Bookmark(_) => continue,
            };
            let at = Instant::now();
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            version = text(&child["metadata"]["resourceVersion"]);
            let name = text(&child["metadata"]["name"]);
            let mark = workload.mark(&child).unwrap_or_default().to_owned();
            let _ = found.send(Seen { at, name, mark });
        }
    }
}
