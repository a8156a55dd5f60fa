//! The program of the floor of a burst: a bare client in its own runtime, with the watches that an operator
//! needs. Their bytes are read and discarded.

use std::{future::Future, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use tokio::{
    runtime::{Builder, Runtime},
    task::JoinHandle,
};

use crate::{cluster::Connect, floor, parents};

/// How long to wait before a refused watch is tried again.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// A bare client and its runtime.
pub(crate) struct BareProgram {
    client: Client,
    watches: Vec<JoinHandle<Result<()>>>,
    /// `None` once it ends.
    runtime: Option<Runtime>,
}

impl BareProgram {
    /// Starts it.
    pub(crate) async fn start(connect: Connect) -> Result<Self> {
        let runtime = Builder::new_multi_thread().thread_name("floor").enable_all().build()?;
        let client = runtime.spawn(async move { connect().await }).await??;
        Ok(Self { client, watches: Vec::new(), runtime: Some(runtime) })
    }

    /// Keeps a watch open for each path, until the program ends.
    pub(crate) async fn watch(&mut self, paths: &[String]) -> Result<()> {
        for path in paths {
            let (client, path) = (self.client(), path.clone());
            let opening = self.spawn(async move { open(client, path).await })?;
            let mut frames = opening.await??;
            let watch = self.spawn(async move {
                while let Some(frame) = frames.frame().await {
                    frame?;
                }
                Ok(())
            })?;
            self.watches.push(watch);
        }
        Ok(())
    }

    /// Fails if a watch has ended: its events would be missing from the floor.
    pub(crate) fn check_watches(&self) -> Result<()> {
        let open = self.watches.iter().filter(|watch| !watch.is_finished()).count();
        ensure!(open == self.watches.len(), "{open} of {} watches are open", self.watches.len());
        Ok(())
    }

    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// Runs something in it.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<JoinHandle<Result<T>>> {
        Ok(self.runtime.as_ref().context("the program runs")?.spawn(work))
    }
}

/// Opens a watch. A server refuses it while it initialises the storage of a new type.
async fn open(client: Client, path: String) -> Result<Body> {
    loop {
        let (agent, nothing) = (floor::USER_AGENT, String::new());
        let request = parents::request(Method::GET, &path, agent, "application/json", nothing)?;
        let response = client.send(request.map(Body::from)).await?;
        match response.status() {
            StatusCode::OK => return Ok(response.into_body()),
            StatusCode::TOO_MANY_REQUESTS => tokio::time::sleep(BETWEEN_TRIES).await,
            status => bail!("the watch of {path} was refused with {status}"),
        }
    }
}

/// A runtime must not block a thread that polls tasks.
impl Drop for BareProgram {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
