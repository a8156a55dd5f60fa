//! The program of the floor of a burst: a bare client in its own runtime, with the watches that an operator
//! needs. Their bytes are read and discarded.

use std::future::Future;

use anyhow::{Context, Result};
use http::Method;
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use tokio::{
    runtime::{Builder, Runtime},
    task::JoinHandle,
};

use crate::{cluster::Connect, floor, parents};

/// A bare client and its runtime.
pub(crate) struct BareProgram {
    client: Client,
    /// `None` once it ends.
    runtime: Option<Runtime>,
}

impl BareProgram {
    /// Starts it.
    pub(crate) async fn start(connect: Connect) -> Result<Self> {
        let runtime = Builder::new_multi_thread().thread_name("floor").enable_all().build()?;
        let client = runtime.spawn(async move { connect().await }).await??;
        Ok(Self { client, runtime: Some(runtime) })
    }

    /// Keeps a watch open for each path, until the program ends.
    pub(crate) async fn watch(&self, paths: &[String]) -> Result<()> {
        for path in paths {
            let (client, path) = (self.client(), path.clone());
            let opening = self.spawn(async move { open(client, path).await })?;
            let mut frames = opening.await??;
            self.spawn(async move {
                while let Some(frame) = frames.frame().await {
                    frame?;
                }
                Ok(())
            })?;
        }
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

async fn open(client: Client, path: String) -> Result<Body> {
    let (agent, nothing) = (floor::USER_AGENT, String::new());
    let request = parents::request(Method::GET, &path, agent, "application/json", nothing)?;
    Ok(client.send(request.map(Body::from)).await?.into_body())
}

/// A runtime must not block a thread that polls tasks.
impl Drop for BareProgram {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
