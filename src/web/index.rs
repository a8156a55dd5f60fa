//! The list of paths, for programs.

use schemars::JsonSchema;
use serde::Serialize;

use super::{endpoint::Endpoint, paths::Paths};

/// The paths of the endpoint.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Index {
    /// Every path.
    paths: Vec<&'static str>,
    /// Every path with each of its methods.
    pub(super) endpoints: Vec<Entry>,
    /// Why there is no page for browsers; absent if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    dashboard: Option<&'static str>,
}

/// A path with a method.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Endpoint")]
pub(super) struct Entry {
    /// The methods, such as `GET, HEAD`.
    pub(super) methods: &'static str,
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
}

impl Index {
    /// All paths, and why there is no page.
    pub(super) fn new(paths: &Paths, dashboard: Option<&'static str>) -> Self {
        let entry = |&Endpoint { method, path, summary, .. }: &Endpoint| {
            let methods = method.names();
            Entry { methods, path, summary }
        };
        Self { paths: paths.each(), endpoints: paths.endpoints().map(entry).collect(), dashboard }
    }
}
