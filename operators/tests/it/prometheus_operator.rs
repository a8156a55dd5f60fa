//! The types of the Prometheus operator, from its published Go module.

use std::{fs, path::PathBuf, process::Command};

use operetta_harness::ignore_outside_ci;
use serde_json::Value;

const MODULE: &str = "github.com/prometheus-operator/prometheus-operator@v0.85.0";
/// Of the module's files.
const SUM: &str = "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=";

/// The CRD of a resource, as it is installed with the operator.
pub(crate) fn crd(plural: &str) -> Value {
    let file = format!("example/prometheus-operator-crd/monitoring.coreos.com_{plural}.yaml");
    let text = fs::read_to_string(module().join(file)).unwrap();
    serde_yaml_ng::from_str(&text).unwrap()
}

/// The folder of its files; the test is ignored where there is no Go.
fn module() -> PathBuf {
    let mut go = Command::new("go");
    // Beside no other module.
    go.current_dir(env!("CARGO_TARGET_TMPDIR")).env("GOWORK", "off");
    let output = match go.args(["mod", "download", "-json", MODULE]).output() {
        Ok(output) => output,
        Err(missing) => ignore_outside_ci(format!("no Go to download a module with: {missing}")),
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    assert!(found["Dir"].is_string(), "{found}{errors}");
    assert_eq!(found["Sum"], SUM);
    PathBuf::from(found["Dir"].as_str().unwrap())
}
