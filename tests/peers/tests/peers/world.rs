//! A cluster with the CRD, a running program, and what a test does and sees there.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use k8s_openapi::{
    api::core::v1::ConfigMap,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client,
    api::{
        ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams,
    },
};
use operetta::testkit::eventually;
use serde_json::{Value, json};

use crate::{
    cluster::Cluster,
    greeter::{Greeter, Program},
};

const CRD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/crd.yaml");

/// What a test acts on.
pub(crate) struct World {
    folder: PathBuf,
    program: Program,
    /// Ends before the cluster.
    running: Option<Greeter>,
    greetings: Api<DynamicObject>,
    config_maps: Api<ConfigMap>,
    cluster: Cluster,
}

impl World {
    /// Starts the program in a cluster with the CRD and these objects, of which each may be the type of the next.
    pub(crate) async fn start(program: Program, objects: &[Value]) -> Self {
        let folder = new_folder();
        let cluster = Cluster::start(&folder).await;
        let client = cluster.client().await;
        let ty = GroupVersionKind::gvk("example.dev", "v1", "Greeting");
        let greetings: Api<DynamicObject> = Api::default_namespaced_with(
            client.clone(),
            &ApiResource::from_gvk_with_plural(&ty, "greetings"),
        );
        let config_maps = Api::default_namespaced(client.clone());
        install(&Api::all(client.clone()), &greetings).await;
        for object in objects {
            create(&client, object).await;
        }
        let mut world = Self { folder, program, running: None, greetings, config_maps, cluster };
        world.resume();
        world
    }

    /// Ends the program without notice.
    pub(crate) fn kill(&mut self) {
        self.running = None;
    }

    /// Starts the program again.
    pub(crate) fn resume(&mut self) {
        self.running = Some(self.program.start(self.cluster.kubeconfig(), &self.folder));
    }

    /// Starts another program instead.
    pub(crate) fn replace(&mut self, program: Program) {
        self.kill();
        self.program = program;
        self.resume();
    }

    /// Writes to Greetings and `ConfigMap`s so far.
    pub(crate) async fn writes(&self) -> Vec<String> {
        self.cluster.writes().await
    }

    /// Creates a Greeting.
    pub(crate) async fn greet(&self, name: &str, whom: &str) {
        let greeting = json!({
            "apiVersion": "example.dev/v1", "kind": "Greeting",
            "metadata": {"name": name}, "spec": {"name": whom},
        });
        let greeting = serde_json::from_value(greeting).unwrap();
        self.greetings.create(&PostParams::default(), &greeting).await.unwrap();
    }

    /// Changes a Greeting.
    pub(crate) async fn change(&self, name: &str, patch: Value) {
        let patch = Patch::Merge(patch);
        self.greetings.patch(name, &PatchParams::default(), &patch).await.unwrap();
    }

    /// Changes the status of a Greeting.
    pub(crate) async fn change_status(&self, name: &str, patch: Value) {
        let patch = Patch::Merge(patch);
        self.greetings.patch_status(name, &PatchParams::default(), &patch).await.unwrap();
    }

    /// Deletes a Greeting.
    pub(crate) async fn dismiss(&self, name: &str) {
        self.greetings.delete(name, &DeleteParams::background()).await.unwrap();
    }

    /// Creates a `ConfigMap` that belongs to nobody.
    pub(crate) async fn create_config_map(&self, name: &str, data: (&str, &str)) {
        let mut config_map = ConfigMap::default();
        config_map.metadata.name = Some(name.to_owned());
        config_map.data = Some([(data.0.to_owned(), data.1.to_owned())].into());
        self.config_maps.create(&PostParams::default(), &config_map).await.unwrap();
    }

    /// Edits a `ConfigMap`.
    pub(crate) async fn edit(&self, name: &str, data: Value) {
        let patch = Patch::Merge(json!({"data": data}));
        self.config_maps.patch(name, &PatchParams::default(), &patch).await.unwrap();
    }

    /// Deletes a `ConfigMap`, and returns its uid.
    pub(crate) async fn delete_config_map(&self, name: &str) -> String {
        let uid = self.config_maps.get(name).await.unwrap().metadata.uid.unwrap();
        self.config_maps.delete(name, &DeleteParams::default()).await.unwrap();
        uid
    }

    /// The Greeting; null when there is none.
    pub(crate) async fn greeting(&self, name: &str) -> Value {
        serde_json::to_value(self.greetings.get_opt(name).await.unwrap()).unwrap()
    }

    /// The `ConfigMap`; null when there is none.
    pub(crate) async fn config_map(&self, name: &str) -> Value {
        serde_json::to_value(self.config_maps.get_opt(name).await.unwrap()).unwrap()
    }

    /// Waits until a `ConfigMap` greets somebody.
    pub(crate) async fn until_greeted(&self, name: &str, whom: &str) -> Value {
        let is_right = |it: &Value| it.pointer("/data/hello") == Some(&json!(whom));
        self.until_config_map(&format!("{name} greets {whom}"), name, is_right).await
    }

    /// Waits until a `ConfigMap` is right.
    pub(crate) async fn until_config_map(
        &self,
        what: &str,
        name: &str,
        is_right: impl Fn(&Value) -> bool,
    ) -> Value {
        eventually(what, || self.config_map(name), is_right).await
    }

    /// Waits until a Greeting has this number in its status.
    pub(crate) async fn until_counted(&self, name: &str, number: u32) {
        let is_right = |it: &Value| it.pointer("/status/greeted") == Some(&json!(number));
        eventually("the count in the status", || self.greeting(name), is_right).await;
    }

    /// Ends the program and deletes its files.
    pub(crate) fn end(mut self) {
        self.kill();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

async fn install(definitions: &Api<CustomResourceDefinition>, greetings: &Api<DynamicObject>) {
    let definition = serde_yaml_ng::from_str(&fs::read_to_string(CRD).unwrap()).unwrap();
    definitions.create(&PostParams::default(), &definition).await.unwrap();
    let list =
        || async { greetings.list(&<_>::default()).await.map_err(|error| error.to_string()) };
    eventually("the type Greeting is served", list, Result::is_ok).await.unwrap();
}

/// Creates a cluster-scoped object as soon as its type is served.
async fn create(client: &Client, object: &Value) {
    let object: DynamicObject = serde_json::from_value(object.clone()).unwrap();
    let ty = object.types.clone().unwrap();
    let kind = GroupVersionKind::try_from(ty).unwrap();
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &ApiResource::from_gvk(&kind));
    let created =
        || async { api.create(&PostParams::default(), &object).await.map_err(|it| it.to_string()) };
    eventually(&format!("{} is served", kind.kind), created, Result::is_ok).await.unwrap();
}

/// An empty folder of its own for each caller.
pub(crate) fn new_folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("peers-{}-{number}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // The files of an earlier process with the same id.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
