//! The peer: a webhook with controller-runtime, built once with Go.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Result, ensure};
use tokio::process::Command;

use super::serving::{Certificate, Serving, free_port};
use crate::settings::Settings;

pub(super) const NAME: &str = "controller-runtime";
/// Its rule for the path of a core type.
const PATH: &str = "/validate--v1-configmap";
const MODULE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/benches/engine/peers/controller-runtime");

/// The program; `None` without Go.
pub(super) fn program(settings: &Settings) -> Result<Option<PathBuf>> {
    if let Some(program) = &settings.peer {
        return Ok(Some(program.clone()));
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine-peers");
    fs::create_dir_all(&folder)?;
    let program = folder.join(NAME);
    let mut go = std::process::Command::new("go");
    go.current_dir(MODULE).env("CGO_ENABLED", "0");
    // The flags of the other modules of the repository: they share what is compiled.
    go.args(["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-o"]).arg(&program);
    match go.arg(".").output() {
        Ok(built) => {
            let errors = String::from_utf8_lossy(&built.stderr);
            ensure!(built.status.success(), "{MODULE} cannot be built: {errors}");
            Ok(Some(program))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn start(
    program: &Path,
    kubeconfig: &Path,
    certificate: &Certificate,
) -> Result<Serving> {
    let port = free_port()?;
    let mut command = Command::new(program);
    command.env("KUBECONFIG", kubeconfig);
    command.arg("-certificates").arg(certificate.folder()).args(["-port", &port.to_string()]);
    Serving::start(NAME, PATH.to_owned(), port, command).await
}
