//! The embedded API server as a program: starts, writes a kubeconfig, and serves until it is stopped.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use clap::Parser;
use operetta_apiserver::{DataDirectoryError, ServeError, Server};

const NOT_IMITATED: &str = "\
Not imitated, and answered with 501 or 415 where a client asks for it: logs, exec, port-forward and proxies
(no containers run), conversion webhooks of custom resource definitions.
Not there: admission webhooks,
aggregated discovery, OpenAPI schemas of built-in types (kubectl explain), quotas, request limits.
There is no scheduler, no kubelet and no workload controller: Pods stay Pending and end as soon as
they are deleted, Deployments make no ReplicaSets.";

/// An embedded Kubernetes API server on loopback, for development and tests.
#[derive(Debug, Parser)]
#[command(version, about, after_help = NOT_IMITATED)]
struct Arguments {
    /// Where to listen; only loopback addresses are accepted. Port 0 chooses a free one, with --data that of
    /// the last time.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Where to write the kubeconfig (mode 0600) [default: operetta.kubeconfig, or kubeconfig in the directory
    /// of --data].
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// A directory to keep the objects and credentials in, so that they survive a restart and a crash. It is
    /// created if it does not exist. Without it nothing is kept.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// How many MiB of objects there may be; their history takes at most half as many more.
    #[arg(long, default_value_t = 2048)]
    storage_mib: usize,
    /// Enforces what roles and their bindings allow. Without it, everybody who has a token may do everything.
    #[arg(long)]
    rbac: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Err(error) = run(arguments).await else { return ExitCode::SUCCESS };
    let flag = match error {
        Failure::Serve(ServeError::NotLoopback(_) | ServeError::Listen { .. }) => "--listen: ",
        Failure::Serve(ServeError::Kubeconfig { .. }) => "--kubeconfig: ",
        Failure::Data(_) | Failure::Serve(ServeError::DataDirectory(_)) => "--data: ",
        Failure::Serve(ServeError::Credentials(_)) | Failure::Write(_) => "",
    };
    eprintln!("error: {flag}{error}");
    ExitCode::FAILURE
}

/// Why the program ends.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Data(#[from] DataDirectoryError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error("{0}")]
    Write(String),
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    let Arguments { listen, kubeconfig, data, storage_mib, rbac } = arguments;
    let builder = Server::builder().storage(storage_mib.saturating_mul(1 << 20));
    let builder = if rbac { builder.rbac() } else { builder };
    let server = match &data {
        Some(directory) => builder.start_in(directory)?,
        None => builder.start(),
    };
    let usual = || data.map_or_else(|| "operetta.kubeconfig".into(), |it| it.join("kubeconfig"));
    let kubeconfig = kubeconfig.unwrap_or_else(usual);
    let running = server.serve(listen)?;
    running.write_kubeconfig(&kubeconfig)?;
    println!("The embedded Kubernetes API server listens on https://{}", running.address());
    println!("export KUBECONFIG={}", kubeconfig.display());
    let ended = tokio::select! {
        () = stop_signal() => Ok(()),
        why = server.persistence_failure() => Err(Failure::Write(why)),
    };
    running.stop().await;
    server.close().await;
    ended
}

/// Returns on Ctrl-C and on SIGTERM.
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => signal.recv().await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated => {}
    }
}
