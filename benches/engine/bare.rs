//! The program that the floor of a burst stands for: a bare client in a runtime of its own, as any
//! operator has it, so that both share the machine with those who create the parents.

use std::future::Future;

use anyhow::{Context, Result};
use kube::Client;
use tokio::{
    runtime::{Builder, Runtime},
    task::JoinHandle,
};

use crate::cluster::Connect;

/// A bare client and its runtime.
pub(crate) struct BareProgram {
    client: Client,
    /// `None` once it was told to end.
    runtime: Option<Runtime>,
}

impl BareProgram {
    /// Starts it.
    pub(crate) async fn start(connect: Connect) -> Result<Self> {
        let runtime = Builder::new_multi_thread().thread_name("floor").enable_all().build()?;
        let client = runtime.spawn(async move { connect().await }).await??;
        Ok(Self { client, runtime: Some(runtime) })
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

/// A runtime must not be waited for where others are polled.
impl Drop for BareProgram {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
