//! The program with the client of Python.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use operetta_harness::ignore_outside_ci;

use super::{MODULE, folder, started};
use crate::common::control_plane;

#[operetta_harness::test]
#[ignore = "exhaustive: .ci/long controller_runtime"]
fn a_program_with_the_client_of_python_finds_the_same_on_both_servers() {
    let packages = installed();
    let (_server, kubeconfig) = started("python");
    passes("the embedded server", &kubeconfig, &packages);
    passes("the real control plane", control_plane::own_blocking().kubeconfig_path(), &packages);
}

/// The folder of the packages. They are installed once for each list of their versions.
pub(crate) fn installed() -> PathBuf {
    let file = Path::new(MODULE).join("requirements.txt");
    let requirements = fs::read_to_string(&file).unwrap();
    let packages = folder("python-packages");
    let done = packages.join("installed.txt");
    if fs::read_to_string(&done).is_ok_and(|of| of == requirements) {
        return packages;
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]);
    pip.arg("--target").arg(&packages).arg("--requirement").arg(&file);
    match pip.output() {
        Ok(output) if output.status.success() => fs::write(&done, requirements).unwrap(),
        Ok(output) => ignore_outside_ci(String::from_utf8_lossy(&output.stderr)),
        Err(error) => ignore_outside_ci(format!("python3: {error}")),
    }
    packages
}

fn passes(cluster: &str, kubeconfig: &Path, packages: &Path) {
    let mut python = Command::new("python3");
    python.arg("client.py").current_dir(MODULE);
    python.env("KUBECONFIG", kubeconfig).env("PYTHONPATH", packages);
    python.env("PYTHONDONTWRITEBYTECODE", "1");
    let output = python.output().unwrap();
    assert!(output.status.success(), "on {cluster}:\n{}", String::from_utf8_lossy(&output.stderr));
}
