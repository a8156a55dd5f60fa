//! What the version of the server offers, by its own answers and never by its number.

use operetta_harness::ignore;

use crate::world::{Kind, World};

/// How the reason begins why a test is ignored on a version of Kubernetes.
const NOT_SERVED: &str = "this version of Kubernetes does not serve ";

impl World {
    /// Ignores the test where the version of the server does not serve this type, as its discovery says.
    pub(crate) async fn needs_served(&self, kind: Kind) {
        if !self.serves(kind).await {
            ignore(format!("{NOT_SERVED}{} of {}", kind.2, kind.0));
        }
    }

    /// Whether the discovery of the server has this type.
    pub(crate) async fn serves(&self, kind: Kind) -> bool {
        let root = if kind.0.contains('/') { "apis" } else { "api" };
        let request = http::Request::get(format!("/{root}/{}", kind.0)).body(Vec::new()).unwrap();
        let served = self.client.request_text(request).await.unwrap_or_default();
        served.contains(&format!("\"name\":\"{}\"", kind.2))
    }

    /// Whether the server answers a watch with a list first (KEP-3157): it refuses that where the feature is off.
    pub(crate) async fn streams_lists(&self) -> bool {
        let path = "/api/v1/namespaces?watch=1&timeoutSeconds=1&allowWatchBookmarks=true\
                    &sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
        let request = http::Request::get(path).body(Vec::new()).unwrap();
        self.client.request_text(request).await.is_ok()
    }
}
