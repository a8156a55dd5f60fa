//! Where causes are planted: operators over a cluster, and a namespace for each cause.

use std::sync::{Mutex, PoisonError};

use kube::{
    Api,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
};
use operetta_apiserver::faults::FaultPlan;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::shell::Shell;
use crate::{
    link::Link,
    recipe::RECIPE,
    world::{Kind, Operators, World, eventually, is_ready, object},
};

/// Operators over a cluster.
pub(super) struct Rig {
    pub(super) world: World,
    pub(super) operators: Operators,
    pub(super) shell: Shell,
    /// Between the operators and the cluster, where causes are there.
    pub(super) link: Option<Link>,
    pub(super) plan: FaultPlan,
    /// Who else works on the objects.
    others: Mutex<Vec<JoinHandle<()>>>,
}

/// Where a cause is planted: a namespace of its own.
pub(super) struct Place<'a> {
    pub(super) rig: &'a Rig,
    pub(super) namespace: String,
}

impl Rig {
    pub(super) fn new(world: World, operators: Operators) -> Self {
        let shell = Shell::of(&world);
        let (link, plan, others) = (None, FaultPlan::new(), <_>::default());
        Self { world, operators, shell, link, plan, others }
    }
}

impl Place<'_> {
    pub(super) fn api(&self, kind: Kind) -> Api<DynamicObject> {
        let namespace = (!kind.is_cluster_scoped()).then_some(self.namespace.as_str());
        self.rig.world.api_in(kind, namespace)
    }

    pub(super) async fn create(&self, kind: Kind, body: Value) -> DynamicObject {
        self.api(kind).create(&PostParams::default(), &object(kind, body)).await.unwrap()
    }

    pub(super) async fn delete(&self, kind: Kind, name: &str) {
        self.api(kind).delete(name, &DeleteParams::background()).await.unwrap();
    }

    pub(super) async fn patch(&self, kind: Kind, name: &str, patch: Value) {
        let params = PatchParams { field_manager: Some("by-hand".to_owned()), ..<_>::default() };
        self.api(kind).patch(name, &params, &Patch::Merge(patch)).await.unwrap();
    }

    pub(super) async fn patch_status(&self, kind: Kind, name: &str, status: Value) {
        let patch = Patch::Merge(json!({"status": status}));
        self.api(kind).patch_status(name, &PatchParams::default(), &patch).await.unwrap();
    }

    /// The object; null if it does not exist.
    pub(super) async fn get(&self, kind: Kind, name: &str) -> Value {
        serde_json::to_value(self.api(kind).get_opt(name).await.unwrap()).unwrap()
    }

    pub(super) async fn until(
        &self,
        kind: Kind,
        name: &str,
        what: &str,
        is_right: impl Fn(&Value) -> bool,
    ) -> Value {
        eventually(what, || self.get(kind, name), is_right).await
    }

    /// A parent that returns these children.
    pub(super) async fn parent(&self, children: &[Value]) {
        self.create(RECIPE, crate::recipe::recipe("r", children)).await;
    }

    pub(super) async fn until_ready(&self, name: &str) {
        self.until(RECIPE, name, "a parent that is ready", is_ready).await;
    }

    /// Gives the operators a command.
    pub(super) async fn command(&self, path: &str) {
        let (code, body) = self.rig.operators.post(&format!("/api/v1/{path}")).await;
        assert!((200..300).contains(&code), "{code} {body}");
    }

    /// Somebody else works on the objects from now on.
    pub(super) fn others(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.lock().push(tokio::spawn(work));
    }

    pub(super) fn stop_others(&self) {
        self.lock().drain(..).for_each(|task| task.abort());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.rig.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
