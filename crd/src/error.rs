//! Why a file has no types: what happened, to which file or definition, and what to do.

use std::{io, path::PathBuf};

/// An error of the macro. It is shown at the path, or at the version, in the program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("the variable CARGO_MANIFEST_DIR is not set: build with cargo, which sets it")]
    NoManifestFolder,
    #[error("{} is no UTF-8: rename the folder or the file", path.display())]
    PathIsNoText { path: PathBuf },
    #[error(
        "cannot read {}: {source}. The path is relative to the folder of Cargo.toml", path.display()
    )]
    ReadFailed { path: PathBuf, source: io::Error },
    #[error("{path} is no YAML or JSON: {source}. Templates have to be rendered first")]
    ParseFailed { path: String, source: serde_yaml_ng::Error },
    #[error(
        "{path} has no CustomResourceDefinition of apiextensions.k8s.io/v1: name the file of the CRD, for example \
         the output of `kubectl get crd NAME -o yaml`"
    )]
    NoDefinition { path: String },
    #[error(
        "the CustomResourceDefinition {name} in {path} has no {field}: add it, or take the file from its project"
    )]
    Incomplete { path: String, name: String, field: &'static str },
    #[error(
        "the CustomResourceDefinition {name} in {path} serves no version {version}: it serves {served}"
    )]
    UnknownVersion { path: String, name: String, version: String, served: String },
    #[error(
        "version {version} of the CustomResourceDefinition {name} in {path} has no schema \
         (schema.openAPIV3Schema): there are no fields to make types of, use `K8sType` and JSON"
    )]
    NoSchema { path: String, name: String, version: String },
}

impl Error {
    /// Whether the version that the program names is wrong, and not the file.
    pub(crate) fn is_of_version(&self) -> bool {
        matches!(self, Self::UnknownVersion { .. })
    }
}
