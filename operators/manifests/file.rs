//! A generated file below `deploy`.

/// How it is generated.
pub(super) const HEADER: &str = "Generated from operators/manifests: change that, then run\n    \
                                 cargo run -- manifests; cargo run -- manifests --helm";

/// A file below `deploy`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its path.
    pub path: String,
    /// Its content.
    pub text: String,
}
