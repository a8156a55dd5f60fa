//! Clients that others wrote, on the embedded server as a program: the published test suite of controller-runtime, and
//! programs with client-go and with the client of Python that run on the real control plane too, and what the README shows.
//!
//! The programs are in `tests/clients`. Specs that fail stand in `open.txt` with their reasons, and may only become
//! fewer. Without Go, or without Python, the tests are ignored.

mod python;
mod start;

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use operetta_harness::ignore_outside_ci;
use serde_json::Value;

use crate::common::{control_plane, program::Program};

const MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/clients");
const OPEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/controller_runtime/open.txt");
const SUITE: &str = "sigs.k8s.io/controller-runtime/pkg/client";

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long controller_runtime"]
fn the_suite_of_controller_runtime_passes_but_for_the_open_specs() {
    require_go();
    let (_server, kubeconfig) = started("suite");
    let report = folder("suite").join("report.json");
    let mut suite = go(SUITE, &kubeconfig);
    suite.env("USE_EXISTING_CLUSTER", "true");
    suite.arg("-args").arg(format!("-ginkgo.json-report={}", report.display()));
    let output = suite.output().unwrap();
    let Ok(text) = fs::read_to_string(&report) else {
        panic!("there is no report\n{}", String::from_utf8_lossy(&output.stdout));
    };
    judge(&serde_json::from_str(&text).unwrap());
}

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long controller_runtime"]
fn programs_with_client_go_find_the_same_on_both_servers() {
    require_go();
    let (_server, kubeconfig) = started("programs");
    passes("the embedded server", &kubeconfig);
    passes("the real control plane", control_plane::own_blocking().kubeconfig_path());
}

/// The embedded server as a program, and its kubeconfig.
fn started(test: &str) -> (Program, PathBuf) {
    let kubeconfig = folder(test).join("kubeconfig");
    (Program::start("--kubeconfig", &kubeconfig), kubeconfig)
}

fn require_go() {
    if Command::new("go").arg("version").output().is_err() {
        ignore_outside_ci("Go is not installed");
    }
}

/// A test run of a package on a cluster, with the flags that the control plane is built with: they share what is compiled.
fn go(package: &str, kubeconfig: &Path) -> Command {
    let mut command = Command::new("go");
    command.args(["test", "-trimpath", "-buildvcs=false", "-mod=readonly", "-vet=off", "-count=1"]);
    command.arg(package).current_dir(MODULE);
    command.env("CGO_ENABLED", "0").env("KUBECONFIG", kubeconfig);
    command
}

fn passes(cluster: &str, kubeconfig: &Path) {
    let output = go(".", kubeconfig).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "on {cluster}:\n{}", String::from_utf8_lossy(&text));
}

fn judge(report: &Value) {
    let specs: Vec<&Value> = report[0]["SpecReports"].as_array().unwrap().iter().collect();
    let in_state = |state: &str| specs.iter().filter(|spec| spec["State"] == state).count();
    let failed: BTreeMap<String, &str> = specs
        .iter()
        .filter(|spec| !matches!(spec["State"].as_str(), Some("passed" | "pending" | "skipped")))
        .map(|spec| (name(spec), spec["Failure"]["Message"].as_str().unwrap_or_default()))
        .filter(|(_, why)| !is_race(why))
        .collect();
    println!("figure: {} specs passed, {} failed", in_state("passed"), failed.len());
    let text = fs::read_to_string(OPEN).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let open: Vec<&str> = lines.filter_map(|line| Some(line.split_once(" # ")?.0)).collect();
    if env::var_os("UPDATE_EXPECT").is_some() {
        let stays =
            |line: &&str| line.split_once(" # ").is_none_or(|(spec, _)| failed.contains_key(spec));
        let kept: Vec<String> =
            text.lines().filter(stays).map(|line| format!("{line}\n")).collect();
        fs::write(OPEN, kept.concat()).unwrap();
        return;
    }
    let new: Vec<_> = failed.iter().filter(|(spec, _)| !open.contains(&spec.as_str())).collect();
    assert!(new.is_empty(), "specs that fail: {new:#?}");
    let mended: Vec<_> = open.iter().filter(|spec| !failed.contains_key(**spec)).collect();
    assert!(mended.is_empty(), "they pass now, UPDATE_EXPECT=1 removes them: {mended:#?}");
    assert!(in_state("passed") > 250, "the suite has become shorter");
}

/// The suite deletes a namespace and removes its finalizer itself. Where a namespace controller has been faster, that
/// fails: it is a race that the controller of the embedded server wins more often than the real one.
fn is_race(why: &str) -> bool {
    why.contains("namespaces \"") && why.contains("\" not found")
}

fn name(spec: &Value) -> String {
    let containers = spec["ContainerHierarchyTexts"].as_array().into_iter().flatten();
    let texts = containers.chain([&spec["LeafNodeText"]]).filter_map(Value::as_str);
    texts.collect::<Vec<_>>().join(" / ")
}

/// A folder of a test.
fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("controller_runtime").join(test);
    fs::create_dir_all(&folder).unwrap();
    folder
}
