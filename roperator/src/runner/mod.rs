//! Runs operators.
//!
//! ```text
//! run_operator* ------> operator: kube client, types, Supervisor --> Operetta calls adapter --> Handler
//! start_operator* --+       |
//!                   |       +--> endpoint: /health, /metrics
//!                   +--> OperatorHandle
//! ```

mod adapter;
mod endpoint;
mod handle;
mod operator;
#[cfg(feature = "testkit")]
pub mod testkit;
mod types;

use std::{env, future, io, thread};

use anyhow::{Error, anyhow};
use tokio::runtime::{Builder, Runtime};

pub use handle::OperatorHandle;
use operator::Operator;

use crate::{
    config::{ClientConfig, OperatorConfig},
    handler::Handler,
};

/// An operator has stopped without having been asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the operator has stopped without having been asked")]
pub struct UnexpectedShutdownError;

/// SIGTERM or SIGINT has stopped an operator. roperator has no such error: a signal ends its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a signal has stopped the operator")]
pub struct Stopped;

/// Runs an operator with the service account of its Pod or, outside of a Pod, with the current context of the
/// kubeconfig. Blocks until it is stopped by an error or a signal, and returns that: [`Stopped`] for a signal.
pub fn run_operator(config: OperatorConfig, handler: impl Handler) -> Error {
    let client_config = around(&config.operator_name);
    client_config.map_or_else(
        |error| error,
        |client| run_operator_with_client_config(config, client, handler),
    )
}

/// The same for a certain cluster.
#[expect(clippy::needless_pass_by_value, reason = "the signature of roperator")]
pub fn run_operator_with_client_config(
    config: OperatorConfig,
    client_config: ClientConfig,
    handler: impl Handler,
) -> Error {
    match blocking(config, &client_config, handler) {
        Ok(()) => Stopped.into(),
        Err(error) => error,
    }
}

/// Starts an operator on a runtime, which is not blocked. Dropping the handle stops the operator.
///
/// # Errors
/// The configuration of the client or the port cannot be used. What fails later is logged, and ends the
/// operator.
#[expect(clippy::needless_pass_by_value, reason = "the signature of roperator")]
pub fn start_operator_with_runtime(
    runtime: &Runtime,
    config: OperatorConfig,
    client_config: ClientConfig,
    handler: impl Handler,
) -> Result<OperatorHandle, Error> {
    let operator = Operator::prepare(config, &client_config, handler)?;
    Ok(OperatorHandle::spawn(runtime, operator))
}

/// On a thread of its own: the caller may be within a runtime.
fn blocking(
    config: OperatorConfig,
    client_config: &ClientConfig,
    handler: impl Handler,
) -> Result<(), Error> {
    let operator = Operator::prepare(config, client_config, handler)?;
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let run = || runtime.block_on(async { operator.run(signal()?).await });
    thread::scope(|scope| scope.spawn(run).join())
        .unwrap_or_else(|_| Err(UnexpectedShutdownError.into()))
}

/// The cluster that the process runs in. In a Pod no other one is tried.
fn around(user_agent: &str) -> Result<ClientConfig, Error> {
    let of_pod = ClientConfig::from_service_account(user_agent);
    match (of_pod, env::var_os("KUBERNETES_SERVICE_HOST")) {
        (Ok(config), _) => Ok(config),
        (Err(error), Some(_)) => {
            Err(anyhow!("the Pod has no service account that can be used: {error}"))
        }
        (Err(_), None) => Ok(ClientConfig::from_kubeconfig(user_agent)?),
    }
}

/// Resolves at SIGTERM or SIGINT.
#[cfg(unix)]
fn signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let (mut terminate, mut interrupt) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(future::poll_fn(move |context| {
        let is_asked = [&mut terminate, &mut interrupt]
            .into_iter()
            .any(|signal| signal.poll_recv(context).is_ready());
        if is_asked { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    }))
}

/// Resolves at Ctrl-C.
#[cfg(not(unix))]
fn signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            future::pending::<()>().await;
        }
    })
}
