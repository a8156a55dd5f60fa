//! Programs that run on the embedded server and on the real control plane, and must see the same.
//!
//! A program gets a [`World`]. [`on_both_servers`] makes two tests of it; without the programs of the real control plane
//! the second is ignored.

mod kube_derive;
mod stored_versions;

use std::sync::atomic::{AtomicU32, Ordering};

use kube::{
    Api, Client,
    api::{DynamicObject, Patch, PatchParams},
};
use operetta_apiserver::Server;
use serde_json::Value;

use crate::common::{api, control_plane, create};

/// Makes two tests of each program.
macro_rules! on_both_servers {
    ($($program:ident),+ $(,)?) => {
        mod embedded {
            $(
                #[operetta_harness::test]
                async fn $program() {
                    super::$program(&$crate::both_servers::World::embedded()).await;
                }
            )+
        }

        mod real {
            $(
                #[operetta_harness::test]
                async fn $program() {
                    super::$program(&$crate::both_servers::World::real().await).await;
                }
            )+
        }
    };
}
use on_both_servers;

/// One of the servers, and names that nobody else uses on it.
struct World {
    client: Client,
    /// Of types, and in the names of namespaces.
    group: String,
    _server: Option<Server>,
}

impl World {
    fn embedded() -> Self {
        let server = Server::start();
        Self { client: server.client_as("test/1.0"), group: group(), _server: Some(server) }
    }

    async fn real() -> Self {
        let client = control_plane::shared().await.client().unwrap();
        Self { client, group: group(), _server: None }
    }

    fn definitions(&self) -> Api<DynamicObject> {
        api(&self.client, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "")
    }

    /// Creates a definition; its versions are served afterwards.
    async fn define(&self, definition: Value) {
        let spec = definition["spec"].clone();
        create(&self.definitions(), definition).await;
        self.serves(&spec).await;
    }

    /// Changes a definition. That it has effect is seen by the objects.
    async fn redefine(&self, definition: &Value) {
        let name = definition["metadata"]["name"].as_str().unwrap();
        let patch = Patch::Merge(definition);
        self.definitions().patch(name, &PatchParams::default(), &patch).await.unwrap();
    }

    async fn serves(&self, spec: &Value) {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (group, kind) = (text(&spec["group"]), text(&spec["names"]["kind"]));
        for version in spec["versions"].as_array().unwrap() {
            let version = format!("{group}/{}", text(&version["name"]));
            let objects = api(&self.client, &version, &kind, "default");
            while objects.list(&kube::api::ListParams::default()).await.is_err() {
                tokio::task::yield_now().await;
            }
        }
    }
}

fn group() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("both{}.example.com", NEXT.fetch_add(1, Ordering::Relaxed))
}
