//! The embedded API server as a program: starts, writes a kubeconfig, and serves until it is stopped.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use clap::Parser;
use operetta_apiserver::{ServeError, Server};

const NOT_IMITATED: &str = "\
Not imitated, and answered with 501 or 415 where a client asks for it: logs, exec and other subresources
of pods,
CEL rules and conversion webhooks of custom resource definitions.
Not there: admission webhooks, RBAC and its enforcement (whoever has the token may do everything),
aggregated discovery, OpenAPI schemas of built-in types (kubectl explain), quotas, request limits.
There is no scheduler, no kubelet and no workload controller: Pods stay Pending and end as soon as
they are deleted, Deployments make no ReplicaSets. Nothing is kept on disk.";

/// An embedded Kubernetes API server on loopback, for development and tests.
#[derive(Debug, Parser)]
#[command(version, about, after_help = NOT_IMITATED)]
struct Arguments {
    /// Where to listen; only loopback addresses are accepted, port 0 chooses a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Where to write the kubeconfig (mode 0600).
    #[arg(long, default_value = "operetta.kubeconfig")]
    kubeconfig: PathBuf,
    /// How many MiB of objects there may be; their history takes at most half as many more.
    #[arg(long, default_value_t = 2048)]
    storage_mib: usize,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Err(error) = run(arguments).await else { return ExitCode::SUCCESS };
    let flag = match error {
        ServeError::NotLoopback(_) | ServeError::Listen { .. } => "--listen: ",
        ServeError::Kubeconfig { .. } => "--kubeconfig: ",
        ServeError::Credentials(_) => "",
    };
    eprintln!("error: {flag}{error}");
    ExitCode::FAILURE
}

async fn run(Arguments { listen, kubeconfig, storage_mib }: Arguments) -> Result<(), ServeError> {
    let server = Server::builder().storage(storage_mib.saturating_mul(1 << 20)).start();
    let running = server.serve(listen)?;
    running.write_kubeconfig(&kubeconfig)?;
    println!("The embedded Kubernetes API server listens on https://{}", running.address());
    println!("export KUBECONFIG={}", kubeconfig.display());
    stop_signal().await;
    running.stop().await;
    Ok(())
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
