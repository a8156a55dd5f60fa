//! Objects as JSON, by the paths of their URLs.

use kube::{
    Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    core::request::Request,
};
use operetta::testkit::eventually;
use serde_json::{Value, json};

/// A client.
pub(crate) struct World(Client);

impl World {
    pub(crate) fn of(client: Client) -> Self {
        Self(client)
    }

    /// The cluster of the kubeconfig.
    pub(crate) async fn new() -> Self {
        Self::of(Client::try_default().await.unwrap())
    }

    /// A namespace of a new name.
    pub(crate) async fn namespace(&self, prefix: &str) -> String {
        let metadata = json!({"generateName": format!("{prefix}-")});
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
        let created = self.create("/api/v1/namespaces", namespace).await;
        created["metadata"]["name"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn create(&self, collection: &str, object: Value) -> Value {
        let bytes = serde_json::to_vec(&object).unwrap();
        let request = Request::new(collection).create(&PostParams::default(), bytes).unwrap();
        self.0.request(request).await.unwrap()
    }

    /// By a JSON merge patch.
    pub(crate) async fn patch(&self, path: &str, changes: Value) -> Value {
        let (collection, name) = split(path);
        let (params, merge) = (PatchParams::default(), Patch::Merge(changes));
        let request = Request::new(collection).patch(name, &params, &merge).unwrap();
        self.0.request(request).await.unwrap()
    }

    pub(crate) async fn patch_status(&self, path: &str, status: Value) {
        let (collection, name) = split(path);
        let (params, merge) = (PatchParams::default(), Patch::Merge(json!({"status": status})));
        let request = Request::new(collection).patch_subresource("status", name, &params, &merge);
        self.0.request::<Value>(request.unwrap()).await.unwrap();
    }

    pub(crate) async fn delete(&self, path: &str) {
        let (collection, name) = split(path);
        let request = Request::new(collection).delete(name, &DeleteParams::background()).unwrap();
        self.0.request::<Value>(request).await.unwrap();
    }

    /// The object, or null.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let (collection, name) = split(path);
        let request = Request::new(collection).get(name, &<_>::default()).unwrap();
        match self.0.request(request).await {
            Ok(object) => object,
            Err(kube::Error::Api(status)) if status.code == 404 => Value::Null,
            Err(error) => panic!("{path}: {error}"),
        }
    }

    pub(crate) async fn until(
        &self,
        path: &str,
        what: &str,
        is_right: impl Fn(&Value) -> bool,
    ) -> Value {
        eventually(&format!("{path}: {what}"), || self.get(path), is_right).await
    }

    pub(crate) async fn until_gone(&self, path: &str) {
        self.until(path, "gone", Value::is_null).await;
    }
}

fn split(path: &str) -> (&str, &str) {
    let at = path.rfind('/').unwrap();
    (&path[..at], &path[at + 1..])
}
