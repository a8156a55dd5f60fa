//! The cluster of the tests, with the CRDs that the programs need.

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use kube::{
    Client,
    config::{KubeConfigOptions, Kubeconfig},
};
use operetta_apiserver::Server;
use operetta_controlplane::{ControlPlane, Error, GivenCluster, Options, Version};
use operetta_harness::Folder;
use tokio::runtime::Runtime;

use crate::{types, world::World};

/// Runs the tests with the kubeconfig of the cluster that the environment chooses.
pub(crate) fn with_kubeconfig(tests: impl FnOnce(&Path) -> ExitCode) -> ExitCode {
    let runtime = Runtime::new().unwrap();
    let cluster = env::var("OPERETTA_TEST_CLUSTER").unwrap_or_else(|_| "embedded".into());
    match (cluster.as_str(), Version::chosen(&cluster)) {
        (_, Some(version)) => on_control_plane(&runtime, version.unwrap(), tests),
        ("embedded", _) => on_embedded(&runtime, tests),
        ("kubeconfig", _) => on_given(&runtime, tests),
        _ => panic!("OPERETTA_TEST_CLUSTER={cluster}: use embedded, controlplane or kubeconfig"),
    }
}

fn on_embedded(runtime: &Runtime, tests: impl FnOnce(&Path) -> ExitCode) -> ExitCode {
    let _inside = runtime.enter();
    let server = Server::start();
    let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
    let file = Temporary::new("admin", running.kubeconfig());
    runtime.block_on(install(&file.0));
    tests(&file.0)
}

fn on_control_plane(
    runtime: &Runtime,
    version: Version,
    tests: impl FnOnce(&Path) -> ExitCode,
) -> ExitCode {
    match ControlPlane::start_with(&Options::default().version(version)) {
        Ok(plane) => {
            runtime.block_on(install(plane.kubeconfig_path()));
            tests(plane.kubeconfig_path())
        }
        Err(missing @ Error::Unavailable { .. }) if env::var_os("CI").is_none() => {
            println!("test result: ignored: {missing}");
            ExitCode::SUCCESS
        }
        Err(error) => panic!("{error}"),
    }
}

/// The CRDs are removed afterwards; the tests remove their namespaces.
fn on_given(runtime: &Runtime, tests: impl FnOnce(&Path) -> ExitCode) -> ExitCode {
    let given = runtime.block_on(GivenCluster::from_environment()).unwrap();
    let names = types::all().map(types::CustomType::crd_name).collect();
    let borrowed = runtime.block_on(given.borrow(names)).unwrap();
    runtime.block_on(install(given.kubeconfig_path()));
    let code = tests(given.kubeconfig_path());
    runtime.block_on(borrowed.give_back()).unwrap();
    code
}

async fn install(kubeconfig: &Path) {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    types::install(&World::of(Client::try_from(config).unwrap())).await;
}

/// A file that is removed.
pub(crate) struct Temporary(pub(crate) PathBuf, #[expect(dead_code, reason = "held")] Folder);

impl Temporary {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let folder = Folder::new();
        Self(folder.write(name, text), folder)
    }
}
