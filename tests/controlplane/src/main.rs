//! Builds the programs of the control plane, or runs one until Ctrl-C.

use clap::{Parser, Subcommand};
use operetta_controlplane::{Binaries, ControlPlane, Error, Options, Version};

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
    Build {
        /// The versions, such as 1.33; without one, the reference of the tests
        versions: Vec<Version>,
    },
    /// Print the versions that can be built
    Versions,
    /// Start a control plane and wait for Ctrl-C (the default)
    Run {
        /// The version, such as 1.33; without one, the reference of the tests
        version: Option<Version>,
    },
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
    let version = match arguments.command {
        Some(Subcommands::Build { versions }) => return build(versions),
        Some(Subcommands::Versions) => {
            println!("{}", Version::ALL.map(Version::minor).join("\n"));
            return Ok(());
        }
        Some(Subcommands::Run { version: Some(version) }) => version,
        Some(Subcommands::Run { version: None }) | None => Version::REFERENCE,
    };
    Binaries::find_or_build(version)?;
    let options = Options::default().version(version);
    let options = arguments.apiserver_flag.into_iter().fold(options, Options::api_server_flag);
    run(&options).await
}

fn build(versions: Vec<Version>) -> Result<(), Error> {
    let versions = if versions.is_empty() { vec![Version::REFERENCE] } else { versions };
    for version in versions {
        println!("{}", Binaries::find_or_build(version)?.folder().display());
    }
    Ok(())
}

async fn run(options: &Options) -> Result<(), Error> {
    let control_plane = ControlPlane::start_with(options)?;
    println!("export KUBECONFIG={}", control_plane.kubeconfig_path().display());
    println!("alias kubectl={}", control_plane.kubectl().display());
    eprintln!("Kubernetes answers at {}; Ctrl-C ends it.", control_plane.server_url());
    tokio::signal::ctrl_c()
        .await
        .map_err(|source| Error::Io { what: "waiting for Ctrl-C".into(), source })
}
