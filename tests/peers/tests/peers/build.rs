//! Programs in other languages: built once, ignored where the language is not installed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

use operetta_harness::ignore_outside_ci;

use crate::greeter::Program;

const PEERS: &str = env!("CARGO_MANIFEST_DIR");

/// `kopf run`, with its packages.
pub(crate) fn kopf() -> Program {
    let packages = python_packages("kopf");
    let file = format!("{PEERS}/kopf/greeting.py");
    let program = Program::new("python3").argument("-m").argument("kopf").argument("run");
    let program = program.argument("--standalone").argument("--all-namespaces").argument(&file);
    // Nothing is written beside the sources.
    let nowhere = folder("python-cache");
    program.variable("PYTHONPATH", &packages).variable("PYTHONPYCACHEPREFIX", &nowhere)
}

/// The program with controller-runtime.
pub(crate) fn controller_runtime() -> Program {
    Program::new(go("controller-runtime", ".").to_str().unwrap())
}

/// Metacontroller. It would serve metrics at a fixed port.
pub(crate) fn metacontroller() -> Program {
    let program = go("metacontroller", "metacontroller");
    let program = Program::new(program.to_str().unwrap()).argument("--debug-addr=0");
    // By default it sends five requests a second.
    program.argument("--client-go-qps=100").argument("--client-go-burst=100")
}

/// Ignores the test without Python.
pub(crate) fn require_python() {
    if let Err(missing) = Command::new("python3").arg("--version").output() {
        ignore_outside_ci(format!("Python is not installed: {missing}"));
    }
}

/// A program of a Go module, built with the flags of the other modules: they share what is compiled.
fn go(peer: &str, package: &str) -> PathBuf {
    let program = folder("programs").join(peer);
    let mut go = Command::new("go");
    go.current_dir(Path::new(PEERS).join(peer)).env("CGO_ENABLED", "0");
    go.args(["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-o"]).arg(&program);
    match go.arg(package).output() {
        Ok(built) if built.status.success() => program,
        Ok(failed) => panic!("{}", String::from_utf8_lossy(&failed.stderr)),
        Err(missing) => ignore_outside_ci(format!("Go is not installed: {missing}")),
    }
}

/// The folder of the packages. They are installed once for each list of their versions.
fn python_packages(peer: &str) -> PathBuf {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let file = Path::new(PEERS).join(peer).join("requirements.txt");
    let requirements = fs::read_to_string(&file).unwrap();
    let packages = folder(&format!("{peer}-packages"));
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

/// A folder that stays from one run to the next.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers").join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}
