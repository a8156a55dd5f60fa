//! The world of a test: a cluster with the CRDs, its own namespace, and operators.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
pub(crate) use operetta::testkit::eventually;
use operetta::testkit::{until_ready, until_synced};
use operetta::{prelude::*, supervisor::SupervisorBuilder};
use operetta_apiserver::Server;
use operetta_controlplane::{Borrowed, GivenCluster};
use operetta_harness::ignore;
use serde_json::{Value, json};

use crate::{
    cluster::{Cluster, Connector, Request},
    failed,
    needs::{Need, needs},
    recipe::{self, RECIPE},
};
pub(crate) use crate::{kind::*, started::Operators};

/// The timeout of the start of operators.
const DEADLINE: Duration = Duration::from_secs(30);

/// A cluster as one test sees it.
pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pub(crate) client: Client,
    pub(crate) namespace: String,
    /// What is given back to the cluster of a kubeconfig.
    borrowed: Option<Borrowed>,
}

impl World {
    /// A world with the CRDs of this repository and an empty namespace.
    pub(crate) async fn new() -> Self {
        Self::on(Cluster::start().await).await
    }

    /// The same where Pods become ready: play the kubelet beside it.
    pub(crate) async fn with_workloads() -> Self {
        needs(Need::Workloads);
        Self::on(Cluster::with_workloads().await).await
    }

    /// The same where roles are enforced, too.
    pub(crate) async fn with_roles() -> Self {
        needs(Need::Workloads);
        Self::on(Cluster::with_roles().await).await
    }

    /// The same where [`World::our_requests`] works.
    pub(crate) async fn that_logs_requests() -> Self {
        needs(Need::RequestLog);
        Self::new().await
    }

    /// The same where [`Cluster::forget_history`] works.
    pub(crate) async fn that_can_forget() -> Self {
        needs(Need::Forgetting);
        Self::new().await
    }

    /// The same where RBAC is enforced, with the configuration of a restricted user.
    pub(crate) async fn that_enforces_rbac(user: &str) -> (Self, kube::Config) {
        needs(Need::Rbac);
        let world = Self::on(Cluster::with_roles().await).await;
        let config = world.cluster.kube_config_for(user);
        (world, config)
    }

    /// The same on an embedded server of the test's choice, such as that of operators whose clock it moves.
    pub(crate) async fn of(server: &Server) -> Self {
        Self::on(Cluster::Embedded(server.clone(), OnceLock::new())).await
    }

    async fn on(cluster: Cluster) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let crds = operators::crds().unwrap();
        let client = cluster.client();
        let world = if let Cluster::Given(given, _) = &cluster {
            let names = crds.iter().map(ResourceExt::name_any);
            let borrowed = borrow(given, names.chain([recipe::crd(None).name_any()])).await;
            let namespace = borrowed.namespace().to_owned();
            Self { cluster, client, namespace, borrowed: Some(borrowed) }
        } else {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            Self { cluster, client, namespace: format!("test-{number}"), borrowed: None }
        };
        operetta::supervisor::install_crds(&world.client, &crds).await.unwrap();
        world.install_recipes().await;
        if world.borrowed.is_none() {
            world.clear().await;
            world.create(NAMESPACE, json!({"metadata": {"name": world.namespace}})).await;
        }
        world
    }

    pub(crate) async fn install_recipes(&self) {
        let crd = recipe::crd(Some(recipe::status()));
        operetta::supervisor::install_crds(&self.client, &[crd]).await.unwrap();
    }

    /// Replaces the type by one without a status and its subresource, and waits until that is published.
    pub(crate) async fn install_recipes_without_status(&self) {
        operetta::supervisor::install_crds(&self.client, &[recipe::crd(None)]).await.unwrap();
        self.until_published(|text| {
            text.contains("Recipe") && !text.contains("/recipes/{name}/status")
        })
        .await;
    }

    /// Replaces the type by one that marks fields as secret, and waits until that is published.
    pub(crate) async fn install_recipes_with_secrets(&self) {
        operetta::supervisor::install_crds(&self.client, &[recipe::crd_with_secrets()])
            .await
            .unwrap();
        self.until_published(|text| text.contains(r#""format":"password""#)).await;
    }

    /// Replaces the type by one that declares no status and has one, and waits until that is
    /// published.
    pub(crate) async fn install_recipes_with_open_root(&self) {
        operetta::supervisor::install_crds(&self.client, &[recipe::crd_with_open_root()])
            .await
            .unwrap();
        self.until_published(|text| text.contains("Recipe") && !text.contains("courses")).await;
    }

    /// Waits until the published schema of the type is right.
    pub(crate) async fn until_published(&self, is_right: impl Fn(&String) -> bool) {
        let published = || async {
            let path = format!("/openapi/v3/apis/{}", RECIPE.0);
            let request = http::Request::get(path).body(Vec::new()).unwrap();
            self.client.request_text(request).await.unwrap_or_default()
        };
        eventually("the schema", published, is_right).await;
    }

    /// Removes the parents of earlier tests on the same cluster, decorated ones too, and their finalizers, which the next
    /// operator of that name would finalize.
    async fn clear(&self) {
        for kind in [ECHO, TEMP, PROPAGATION, DATABASE, RECIPE, DEPLOYMENT] {
            let all: Api<DynamicObject> = Api::all_with(self.client.clone(), &kind.resource());
            for parent in all.list(&ListParams::default()).await.unwrap() {
                let api = self.api_in(kind, parent.metadata.namespace.as_deref());
                let (name, free) = (parent.name_any(), json!({"metadata": {"finalizers": null}}));
                let _ = api.patch(&name, &PatchParams::default(), &Patch::Merge(free)).await;
                let _ = api.delete(&name, &DeleteParams::default()).await;
            }
        }
    }

    /// Starts a supervisor with these operators and waits until it is ready.
    pub(crate) async fn start(
        &self,
        register: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
    ) -> Operators {
        self.start_over(self.cluster.connector(), register).await
    }

    /// The same with a connection of the test's choice.
    pub(crate) async fn start_over(
        &self,
        connector: Connector,
        register: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
    ) -> Operators {
        let operators = self.launch_over(connector, register).await;
        tokio::time::timeout(DEADLINE, operators.running().ready()).await.expect("ready in time");
        operators
    }

    /// The same without waiting until it is ready.
    pub(crate) async fn launch_over(
        &self,
        connector: Connector,
        register: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
    ) -> Operators {
        let builder = Supervisor::builder().connect(connector).serve("127.0.0.1:0");
        // On a small machine one thread for all actors is the default.
        Operators::new(register(builder.with_arbiters(2)).start().await.unwrap())
    }

    /// Starts the operators of this repository.
    pub(crate) async fn start_all(&self) -> Operators {
        self.start(|builder| operators::register_all(builder, operators::all())).await
    }

    pub(crate) fn api(&self, kind: Kind) -> Api<DynamicObject> {
        self.api_in(kind, (!kind.is_cluster_scoped()).then_some(self.namespace.as_str()))
    }

    pub(crate) fn api_in(&self, kind: Kind, namespace: Option<&str>) -> Api<DynamicObject> {
        match namespace {
            Some(namespace) => {
                Api::namespaced_with(self.client.clone(), namespace, &kind.resource())
            }
            None => Api::all_with(self.client.clone(), &kind.resource()),
        }
    }

    pub(crate) async fn create(&self, kind: Kind, body: Value) -> Value {
        self.try_create(kind, body).await.unwrap()
    }

    pub(crate) async fn try_create(&self, kind: Kind, body: Value) -> kube::Result<Value> {
        let object = object(kind, body);
        let created = self.api(kind).create(&PostParams::default(), &object).await?;
        Ok(serde_json::to_value(created).unwrap())
    }

    /// Applies as `kubectl apply --server-side` does.
    pub(crate) async fn apply(&self, kind: Kind, body: Value) -> Value {
        let object = object(kind, body);
        let name = object.metadata.name.clone().unwrap();
        let params = PatchParams::apply("kubectl").force();
        let applied = self.api(kind).patch(&name, &params, &Patch::Apply(&object)).await.unwrap();
        serde_json::to_value(applied).unwrap()
    }

    /// Sends a JSON merge patch, as `kubectl patch --type=merge` does.
    pub(crate) async fn patch(&self, kind: Kind, name: &str, patch: Value) -> Value {
        let params = PatchParams { field_manager: Some("by-hand".to_owned()), ..<_>::default() };
        let patched = self.api(kind).patch(name, &params, &Patch::Merge(patch)).await.unwrap();
        serde_json::to_value(patched).unwrap()
    }

    pub(crate) async fn delete(&self, kind: Kind, name: &str) {
        self.api(kind).delete(name, &DeleteParams::background()).await.unwrap();
    }

    /// Deletes without a grace period.
    pub(crate) async fn delete_now(&self, kind: Kind, name: &str) {
        let params = DeleteParams::background().grace_period(0);
        self.api(kind).delete(name, &params).await.unwrap();
    }

    /// The object; null if it does not exist.
    pub(crate) async fn get(&self, kind: Kind, name: &str) -> Value {
        let object = self.api(kind).get_opt(name).await.unwrap();
        serde_json::to_value(object).unwrap()
    }

    pub(crate) async fn list(&self, kind: Kind) -> Vec<Value> {
        let list = self.api(kind).list(&ListParams::default()).await.unwrap();
        list.into_iter().map(|object| serde_json::to_value(object).unwrap()).collect()
    }

    /// Waits until an object is right, and returns it.
    pub(crate) async fn until(
        &self,
        kind: Kind,
        name: &str,
        what: &str,
        is_right: impl Fn(&Value) -> bool,
    ) -> Value {
        eventually(what, || self.get(kind, name), is_right).await
    }

    /// Waits until the parent is ready.
    pub(crate) async fn until_ready(&self, kind: Kind, name: &str) -> Value {
        let ready = until_ready(&self.api(kind), name).await;
        serde_json::to_value(ready).unwrap()
    }

    /// Waits until the children of the parent are up to date, ready or not.
    pub(crate) async fn until_synced(&self, kind: Kind, name: &str) -> Value {
        let synced = until_synced(&self.api(kind), name).await;
        serde_json::to_value(synced).unwrap()
    }

    /// The requests of the operators, with the guarantee of [`Cluster::requests`].
    pub(crate) async fn our_requests(&self) -> Vec<Request> {
        let requests = self.cluster.requests().await.into_iter();
        requests.filter(|request| request.user_agent.starts_with("operetta/")).collect()
    }
}

/// Borrows a namespace of the cluster of a kubeconfig; ignores the test if it is in use.
async fn borrow(given: &GivenCluster, definitions: impl Iterator<Item = String>) -> Borrowed {
    match given.borrow(definitions.collect()).await {
        Ok(borrowed) => borrowed,
        Err(in_use @ operetta_controlplane::Error::InUse { .. }) => ignore(in_use),
        Err(error) => panic!("{error}"),
    }
}

/// Prints what a failed test has requested, and restores the cluster of a kubeconfig.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            failed::print_requests(&self.cluster, &self.namespace);
        }
        let Some(borrowed) = self.borrowed.take() else { return };
        let runtime = tokio::runtime::Handle::current();
        let given_back = tokio::task::block_in_place(|| runtime.block_on(borrowed.give_back()));
        if let Err(error) = given_back {
            eprintln!("the cluster was not restored completely: {error}");
            assert!(std::thread::panicking(), "{error}");
        }
    }
}

/// Whether a parent is ready for its current generation.
pub(crate) fn is_ready(parent: &Value) -> bool {
    is_true(parent, "Ready")
}

/// Whether the children of a parent are up to date with its current generation, ready or not.
pub(crate) fn is_synced(parent: &Value) -> bool {
    is_true(parent, "Synced")
}

fn is_true(parent: &Value, ty: &str) -> bool {
    let found = condition(parent, ty);
    found["status"] == "True" && found["observedGeneration"] == parent["metadata"]["generation"]
}

/// A condition of an object; null if it is absent.
pub(crate) fn condition(object: &Value, ty: &str) -> Value {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.into_iter().find(|condition| condition["type"] == ty).unwrap_or_default()
}

pub(crate) fn object(kind: Kind, mut body: Value) -> DynamicObject {
    body["apiVersion"] = json!(kind.0);
    body["kind"] = json!(kind.1);
    serde_json::from_value(body).unwrap()
}
