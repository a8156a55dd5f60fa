//! Builds the programs of the control plane, or runs one until Ctrl-C.

use clap::{Parser, Subcommand};
use operetta_controlplane::{Binaries, ControlPlane, Error, Options};

/// A real Kubernetes control plane on loopback, for tests: etcd, kube-apiserver and kube-controller-manager
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Subcommands>,
    /// A flag for kube-apiserver, such as --apiserver-flag=--feature-gates=WatchList=false
    #[arg(long, allow_hyphen_values = true)]
    apiserver_flag: Vec<String>,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Build the programs if need be, and print the folder that holds them
    Build,
    /// Start a control plane and wait for Ctrl-C (the default)
    Run,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::process::ExitCode {
    match execute(Arguments::parse()).await {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            std::process::ExitCode::FAILURE
        }
    }
}

async fn execute(arguments: Arguments) -> Result<(), Error> {
    let binaries = Binaries::find_or_build()?;
    if matches!(arguments.command, Some(Subcommands::Build)) {
        println!("{}", binaries.folder().display());
        return Ok(());
    }
    let options =
        arguments.apiserver_flag.into_iter().fold(Options::default(), Options::api_server_flag);
    let control_plane = ControlPlane::start_with(&options)?;
    println!("export KUBECONFIG={}", control_plane.kubeconfig_path().display());
    println!("alias kubectl={}", control_plane.kubectl().display());
    eprintln!("Kubernetes answers at {}; Ctrl-C ends it.", control_plane.server_url());
    tokio::signal::ctrl_c()
        .await
        .map_err(|source| Error::Io { what: "waiting for Ctrl-C".into(), source })
}
