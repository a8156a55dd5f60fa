//! The cluster of the tests, with the CRDs that the programs need.

use std::{
    convert::TryFrom,
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use kube::{
    config::{KubeConfigOptions, Kubeconfig},
    Client,
};
use operetta_apiserver::Server;
use operetta_controlplane::{ControlPlane, Error, GivenCluster};
use serde_json::{json, Value};
use tokio::runtime::Runtime;

use crate::world::World;

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Group, kind, plural, and whether objects are namespaced.
const TYPES: [(&str, &str, &str, bool); 5] = [
    ("example.roperator.com", "EchoServer", "echoservers", true),
    ("example.roperator.com", "TempNamespace", "tempnamespaces", false),
    ("roperator.com", "TestParent", "testparents", true),
    ("roperator.com", "TestChildOne", "testchildones", true),
    ("roperator.com", "TestChildTwo", "testchildtwos", true),
];

/// Runs the tests with the kubeconfig of the cluster that the environment chooses.
pub(crate) fn with_kubeconfig(tests: impl FnOnce(&Path) -> ExitCode) -> ExitCode {
    let runtime = Runtime::new().unwrap();
    match env::var("OPERETTA_TEST_CLUSTER").as_deref() {
        Ok("embedded") | Err(_) => on_embedded(&runtime, tests),
        Ok("controlplane") => on_control_plane(&runtime, tests),
        Ok("kubeconfig") => on_given(&runtime, tests),
        Ok(other) => {
            panic!("OPERETTA_TEST_CLUSTER={}: use embedded, controlplane or kubeconfig", other)
        }
    }
}

fn on_embedded(runtime: &Runtime, tests: impl FnOnce(&Path) -> ExitCode) -> ExitCode {
    let _inside = runtime.enter();
    let server = Server::start();
    let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
    let file = Temporary::new(running.kubeconfig());
    runtime.block_on(install(&file.0));
    tests(&file.0)
}

fn on_control_plane(runtime: &Runtime, tests: impl FnOnce(&Path) -> ExitCode) -> ExitCode {
    match ControlPlane::start() {
        Ok(plane) => {
            runtime.block_on(install(plane.kubeconfig_path()));
            tests(plane.kubeconfig_path())
        }
        Err(missing @ Error::Unavailable { .. }) if env::var_os("CI").is_none() => {
            println!("test result: ignored: {}", missing);
            ExitCode::SUCCESS
        }
        Err(error) => panic!("{}", error),
    }
}

/// The CRDs are removed afterwards; the tests remove their namespaces.
fn on_given(runtime: &Runtime, tests: impl FnOnce(&Path) -> ExitCode) -> ExitCode {
    let given = runtime.block_on(GivenCluster::from_environment()).unwrap();
    let names = TYPES.iter().map(|(group, _, plural, _)| format!("{}.{}", plural, group));
    let borrowed = runtime.block_on(given.borrow(names.collect())).unwrap();
    runtime.block_on(install(given.kubeconfig_path()));
    let code = tests(given.kubeconfig_path());
    runtime.block_on(borrowed.give_back()).unwrap();
    code
}

/// Returns when objects of the new types are collected with their owners: the garbage collector of a real
/// cluster looks for new types every 30 seconds, and roperator's tests wait for less.
async fn install(kubeconfig: &Path) {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    let world = World::of(Client::try_from(config).unwrap());
    for (group, kind, plural, is_namespaced) in TYPES {
        world.create(CRDS, crd(group, kind, plural, is_namespaced)).await;
        let is_established = |crd: &Value| {
            let conditions = crd["status"]["conditions"].as_array().cloned().unwrap_or_default();
            conditions.iter().any(|it| it["type"] == "Established" && it["status"] == "True")
        };
        let path = format!("{}/{}.{}", CRDS, plural, group);
        world.until(&path, "an established CRD", is_established).await;
    }
    collects(&world).await;
}

fn crd(group: &str, kind: &str, plural: &str, is_namespaced: bool) -> Value {
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{}.{}", plural, group)},
        "spec": {
            "group": group,
            "scope": if is_namespaced { "Namespaced" } else { "Cluster" },
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase()},
            "versions": [{
                "name": "v1alpha1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": any}, "subresources": {"status": {}},
            }],
        },
    })
}

async fn collects(world: &World) {
    let collection =
        |plural: &str| format!("/apis/roperator.com/v1alpha1/namespaces/default/{}", plural);
    let object = |kind: &str, metadata: Value| json!({"apiVersion": "roperator.com/v1alpha1", "kind": kind, "metadata": metadata});
    let (parents, children) = (collection("testparents"), collection("testchildones"));
    let parent = world.create(&parents, object("TestParent", json!({"name": "probe"}))).await;
    let owner = json!({
        "apiVersion": "roperator.com/v1alpha1", "kind": "TestParent", "name": "probe",
        "uid": parent["metadata"]["uid"],
    });
    let metadata = json!({"name": "probe", "ownerReferences": [owner]});
    world.create(&children, object("TestChildOne", metadata)).await;
    world.delete(&format!("{}/probe", parents)).await;
    world.until_gone(&format!("{}/probe", children)).await;
}

/// A file that is removed.
struct Temporary(PathBuf);

impl Temporary {
    fn new(text: &str) -> Self {
        let name = format!("operetta-roperator-{}", std::process::id());
        let file = env::temp_dir().join(name);
        fs::write(&file, text).unwrap();
        Self(file)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
