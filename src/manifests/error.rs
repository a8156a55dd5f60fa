//! The errors of manifests.

use crate::operator::ConfigError;

/// A manifest cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// An operator could not be registered.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The framework could not write the conditions of the parents: the API server drops fields that
    /// a CRD does not declare.
    #[error(
        "version {version} of the CRD {name} does not declare {path}: derive it with \
         `#[kube(status = \"...\")]` and a field `conditions: operetta::operator::Conditions` in that status"
    )]
    NotDeclared {
        /// The CRD.
        name: String,
        /// Its version.
        version: String,
        /// The field that is missing.
        path: String,
    },
    /// An object does not fit into YAML.
    #[error("cannot write an object as YAML")]
    Yaml(#[source] Box<dyn std::error::Error + Send + Sync>),
}
