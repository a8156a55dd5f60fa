//! What the README shows: how tests in other languages start the server.

use std::{env, path::Path, process::Command};

use super::{MODULE, folder, go, python, require_go};

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long controller_runtime"]
fn a_test_in_go_starts_the_server() {
    require_go();
    let kubeconfig = folder("start-go").join("none");
    passes(go("./start", &kubeconfig));
}

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long controller_runtime"]
fn a_test_in_python_starts_the_server() {
    let packages = python::installed();
    let mut python = Command::new("python3");
    python.arg(Path::new(MODULE).join("start.py")).current_dir(folder("start-python"));
    python.env("PYTHONPATH", packages);
    passes(python);
}

/// Runs it where the server is installed.
fn passes(mut program: Command) {
    let server = Path::new(env!("CARGO_BIN_EXE_operetta-apiserver"));
    let mut path = server.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    let output = program.env("PATH", path).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
}
