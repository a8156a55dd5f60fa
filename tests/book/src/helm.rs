//! The real helm, built from its Go module in `tests/helm`.

use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
};

use thiserror::Error;

const MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../helm");

/// Why there is no helm.
#[derive(Debug, Error)]
pub enum HelmError {
    /// Go is not installed.
    #[error("no Go to build helm with: {0}")]
    NoGo(io::Error),
    /// Go has failed.
    #[error("go build of helm: {0}")]
    Build(String),
}

/// Builds helm into this folder, unless it is there already, and returns its path.
///
/// # Errors
/// Go is missing or fails.
pub fn build_helm(folder: &Path) -> Result<PathBuf, HelmError> {
    let program = folder.join("helm");
    let mut go = Command::new("go");
    go.current_dir(MODULE).env("CGO_ENABLED", "0");
    go.args(["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-o"]).arg(&program);
    let built = go.arg("helm.sh/helm/v3/cmd/helm").output().map_err(HelmError::NoGo)?;
    if built.status.success() {
        return Ok(program);
    }
    Err(HelmError::Build(String::from_utf8_lossy(&built.stderr).into_owned()))
}
