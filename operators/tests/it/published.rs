//! Types of other projects, from their published Go modules.

use std::{fs, path::PathBuf, process::Command};

use operetta_harness::ignore_outside_ci;
use serde_json::Value;

/// A module with CRDs.
pub(crate) struct Module {
    name: &'static str,
    /// Of its files.
    sum: &'static str,
    folder: &'static str,
    group: &'static str,
}

pub(crate) const PROMETHEUS_OPERATOR: Module = Module {
    name: "github.com/prometheus-operator/prometheus-operator@v0.85.0",
    sum: "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
    folder: "example/prometheus-operator-crd",
    group: "monitoring.coreos.com",
};

pub(crate) const CERT_MANAGER: Module = Module {
    name: "github.com/cert-manager/cert-manager@v1.21.2",
    sum: "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
    folder: "deploy/crds",
    group: "cert-manager.io",
};

impl Module {
    /// The CRD of a resource, as it is installed.
    pub(crate) fn crd(&self, plural: &str) -> Value {
        let file = format!("{}/{}_{plural}.yaml", self.folder, self.group);
        let text = fs::read_to_string(self.files().join(file)).unwrap();
        serde_yaml_ng::from_str(&text).unwrap()
    }

    /// The folder of its files; the test is ignored where there is no Go.
    fn files(&self) -> PathBuf {
        let mut go = Command::new("go");
        // Beside no other module.
        go.current_dir(env!("CARGO_TARGET_TMPDIR")).env("GOWORK", "off");
        let output = match go.args(["mod", "download", "-json", self.name]).output() {
            Ok(output) => output,
            Err(missing) => {
                ignore_outside_ci(format!("no Go to download a module with: {missing}"))
            }
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        assert!(found["Dir"].is_string(), "{found}{errors}");
        assert_eq!(found["Sum"], self.sum);
        PathBuf::from(found["Dir"].as_str().unwrap())
    }
}
