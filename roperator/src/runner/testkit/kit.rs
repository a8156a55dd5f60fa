//! An operator under test.

use std::{
    collections::HashSet,
    fmt,
    time::{Duration, Instant},
};

use anyhow::{Error, anyhow};
use kube::Client;
use operetta::{object::Object, operator::AnyHandler, supervisor::Running};
use serde_json::{Value, json};
use tokio::{
    runtime::{Builder, Runtime},
    time::{sleep, timeout},
};

use super::{
    Diff, MissingResource, TestKitError, ToJson, cluster,
    records::{Counted, Records},
};
use crate::{
    config::{ClientConfig, OperatorConfig},
    handler::{Handler, SyncRequest},
    k8s_types::{K8sType, core::v1::Namespace},
    resource::{K8sResource, ObjectId, ObjectIdRef, ResourceJson},
    runner::{adapter::Adapter, operator, types::Types},
};

/// How long the types of an operator may take to be served.
const TYPES: Duration = Duration::from_secs(30);

/// How long a call waits at most until the operator has nothing left to do.
const SETTLING: Duration = Duration::from_secs(10);

/// How long a parent may take to go when the kit is dropped.
const CLEAN_UP: Duration = Duration::from_secs(10);

/// The time between two looks at an object.
const LOOK: Duration = Duration::from_millis(10);

/// An operator that runs, and the cluster that it runs on. The calls block.
///
/// Dropping it deletes the parents that it created and, if asked, its namespace.
pub struct TestKit {
    config: OperatorConfig,
    client: Client,
    records: Records,
    /// Created by the test.
    parents: HashSet<ObjectId>,
    delete_namespace_on_drop: bool,
    running: Option<Running>,
    runtime: Runtime,
}

/// Starting and stopping.
impl TestKit {
    /// An operator within a namespace, which is created, and deleted when the kit is dropped.
    ///
    /// # Errors
    /// See [`TestKit::create`].
    pub fn with_test_namespace(
        namespace: impl Into<String>,
        operator_config: OperatorConfig,
        client_config: ClientConfig,
        handler: impl Handler,
    ) -> Result<Self, Error> {
        let config = operator_config.within_namespace(namespace);
        let mut kit = Self::create(config, client_config, handler)?.delete_namespace_on_drop();
        let name = kit.config.namespace.clone().unwrap_or_default();
        if kit.get_resource_from_api_server(Namespace, &ObjectIdRef::new("", &name))?.is_none() {
            let labels = json!({"roperator.com/test-namespace": "true"});
            let metadata = json!({"name": name, "labels": labels});
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
            kit.create_resource(Namespace, &namespace)?;
        }
        Ok(kit)
    }

    /// Starts an operator.
    ///
    /// # Errors
    /// The cluster cannot be reached, does not serve a type of the operator, or the configuration cannot work.
    pub fn create(
        operator_config: OperatorConfig,
        client_config: ClientConfig,
        handler: impl Handler,
    ) -> Result<Self, Error> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let records = Records::default();
        let handler = Counted { handler, records: records.clone() };
        let handler = AnyHandler::blocking(Adapter(handler));
        let (client, running) =
            runtime.block_on(started(&operator_config, &client_config, handler))?;
        Ok(Self {
            config: operator_config,
            client,
            records,
            parents: HashSet::new(),
            delete_namespace_on_drop: false,
            running: Some(running),
            runtime,
        })
    }

    /// Deletes the namespace of the operator when the kit is dropped.
    ///
    /// # Panics
    /// The operator is in all namespaces.
    #[must_use]
    pub fn delete_namespace_on_drop(mut self) -> Self {
        assert!(self.config.namespace.is_some(), "the operator is in all namespaces");
        self.delete_namespace_on_drop = true;
        self
    }
}

/// Reconciling.
impl TestKit {
    /// As [`TestKit::reconcile`].
    ///
    /// # Panics
    /// The handler has failed, or the operator has stopped.
    pub fn reconcile_and_assert_success(&mut self, max_timeout: Duration) {
        self.reconcile(max_timeout).expect("the operator reconciles");
    }

    /// Waits until the operator has nothing left to do, at most this time.
    ///
    /// # Errors
    /// The handler has failed since the last call, see [`HandlerErrors`](super::HandlerErrors), or the
    /// operator has stopped.
    pub fn reconcile(&mut self, max_timeout: Duration) -> Result<(), Error> {
        self.run_reconciliation(true, max_timeout)
    }

    /// As [`TestKit::reconcile`]; the errors of the handler may be ignored.
    ///
    /// # Errors
    /// The handler has failed since the last call, or the operator has stopped.
    pub fn run_reconciliation(
        &mut self,
        fail_on_handler_error: bool,
        max_timeout: Duration,
    ) -> Result<(), Error> {
        self.settle(max_timeout);
        if !self.running().is_active() {
            return Err(TestKitError("the operator has stopped".to_owned()).into());
        }
        let errors = self.records.take();
        if fail_on_handler_error { Ok(errors?) } else { Ok(()) }
    }

    /// The parent and its children as the operator has them.
    ///
    /// # Errors
    /// There is no such parent ([`MissingResource`]).
    pub fn get_current_state_for_parent(
        &mut self,
        parent_id: &ObjectIdRef<'_>,
    ) -> Result<SyncRequest, Error> {
        self.settle(SETTLING);
        let parent = self.cached(self.config.parent, parent_id)?;
        let mut children = Vec::new();
        for ty in self.config.child_types.keys() {
            let objects = self.running().stores().list_objects(type_of(ty))?;
            children.extend(
                objects.into_iter().filter(|child| child.controller() == Some(parent.uid())),
            );
        }
        let resource = |object: &Object| K8sResource::from_value(object.to_value());
        let children = children.iter().map(resource).collect::<Result<_, _>>()?;
        Ok(SyncRequest { parent: resource(&parent)?, children })
    }
}

/// Objects of any type.
impl TestKit {
    /// Creates a parent, and waits as [`TestKit::reconcile_and_assert_success`].
    ///
    /// # Panics
    /// It cannot be created, or the handler fails.
    pub fn create_parent(&mut self, resource: impl ToJson, reconciliation_timeout: Duration) {
        let ty = self.config.parent;
        self.create_resource(ty, &resource.into_json()).expect("the parent can be created");
        self.reconcile_and_assert_success(reconciliation_timeout);
    }

    /// Deletes a parent, and waits until it has gone.
    ///
    /// # Panics
    /// It cannot be deleted, does not go in this time, or the handler fails.
    pub fn delete_parent(&mut self, id: &ObjectIdRef<'_>, timeout: Duration) {
        let ty = self.config.parent;
        self.delete_resource(ty, id).expect("the parent can be deleted");
        self.assert_resource_deleted_eventually(ty, id, timeout);
    }

    /// As [`TestKit::delete_parent`], whatever happens.
    pub fn delete_parent_ignore_errors(&mut self, id: &ObjectIdRef<'_>, timeout: Duration) {
        let (ty, deadline) = (self.config.parent, Instant::now() + timeout);
        if self.delete_resource(ty, id).is_err() {
            return;
        }
        while matches!(self.look(ty, id), Ok(Some(_))) && Instant::now() < deadline {
            self.pause();
        }
    }

    /// Creates an object.
    ///
    /// # Errors
    /// The server refuses it.
    ///
    /// # Panics
    /// It is a parent without a name.
    pub fn create_resource(
        &mut self,
        k8s_type: &K8sType,
        new_resource: &Value,
    ) -> Result<(), Error> {
        if k8s_type == self.config.parent {
            let id = new_resource.get_id_ref().expect("the parent has a name").to_owned();
            self.parents.insert(id);
        }
        self.settle(SETTLING);
        self.runtime.block_on(cluster::create(&self.client, k8s_type, new_resource))
    }

    /// Replaces an object.
    ///
    /// # Errors
    /// There is no such object, or the server refuses the new one.
    pub fn replace_resource(
        &mut self,
        k8s_type: &K8sType,
        id: &ObjectIdRef<'_>,
        new_resource: impl ToJson,
    ) -> Result<(), Error> {
        self.settle(SETTLING);
        let object = new_resource.into_json();
        self.runtime.block_on(cluster::replace(&self.client, k8s_type, id, &object))
    }

    /// Deletes an object.
    ///
    /// # Errors
    /// There is no such object.
    pub fn delete_resource(
        &mut self,
        k8s_type: &K8sType,
        id: &ObjectIdRef<'_>,
    ) -> Result<(), Error> {
        self.settle(SETTLING);
        self.runtime.block_on(cluster::delete(&self.client, k8s_type, id))
    }

    /// An object as the server has it; `None` if there is none.
    ///
    /// # Errors
    /// The server refuses the request.
    pub fn get_resource_from_api_server(
        &mut self,
        k8s_type: &K8sType,
        id: &ObjectIdRef<'_>,
    ) -> Result<Option<Value>, Error> {
        self.settle(SETTLING);
        self.look(k8s_type, id)
    }
}

/// Assertions.
impl TestKit {
    /// Waits until an object has gone.
    ///
    /// # Panics
    /// It does not go in this time, or the handler fails.
    pub fn assert_resource_deleted_eventually(
        &mut self,
        k8s_type: &K8sType,
        id: &ObjectIdRef<'_>,
        timeout: Duration,
    ) {
        self.wait(
            timeout,
            |object| match object {
                None => Ok(()),
                Some(object) => Err(anyhow!("{k8s_type} {id} is still there: {object:#}")),
            },
            k8s_type,
            id,
        );
    }

    /// Waits until there is an object.
    ///
    /// # Panics
    /// There is none in this time, or the handler fails.
    pub fn assert_resource_exists_eventually(
        &mut self,
        k8s_type: &K8sType,
        id: &ObjectIdRef<'_>,
        timeout: Duration,
    ) {
        self.wait(
            timeout,
            |object| object.map(drop).ok_or_else(|| missing(k8s_type, id)),
            k8s_type,
            id,
        );
    }

    /// Waits until an object has all that is expected; it may have more.
    ///
    /// # Panics
    /// It has not in this time.
    pub fn assert_resource_eq_eventually(
        &mut self,
        k8s_type: &K8sType,
        id: &ObjectIdRef<'_>,
        expected: impl ToJson,
        timeout: Duration,
    ) {
        let (expected, deadline) = (expected.into_json(), Instant::now() + timeout);
        let mut last = self.difference(k8s_type, id, &expected);
        while let Err(error) = &last {
            assert!(Instant::now() < deadline, "{error:#}");
            self.pause();
            last = self.difference(k8s_type, id, &expected);
        }
        // As in roperator, an earlier error of the handler does not matter.
        let _ = self.records.take();
    }

    /// Compares an object with what is expected; it may have more.
    ///
    /// # Panics
    /// It has not all that is expected.
    pub fn assert_child_resource_eq(
        &mut self,
        k8s_type: &K8sType,
        id: &ObjectIdRef<'_>,
        expected: impl ToJson,
    ) {
        self.settle(SETTLING);
        let difference = self.difference(k8s_type, id, &expected.into_json());
        assert!(difference.is_ok(), "{:#}", difference.unwrap_err());
    }

    fn wait(
        &mut self,
        timeout: Duration,
        is_right: impl Fn(Option<Value>) -> Result<(), Error>,
        ty: &K8sType,
        id: &ObjectIdRef<'_>,
    ) {
        let deadline = Instant::now() + timeout;
        while let Err(error) = is_right(self.look(ty, id).expect("the server answers")) {
            assert!(Instant::now() < deadline, "{error:#}");
            self.reconcile_and_assert_success(LOOK);
            self.pause();
        }
    }

    fn difference(
        &self,
        ty: &K8sType,
        id: &ObjectIdRef<'_>,
        expected: &Value,
    ) -> Result<(), Error> {
        let actual = self.look(ty, id)?.ok_or_else(|| missing(ty, id))?;
        match Diff::of(actual, expected) {
            None => Ok(()),
            Some(diff) => Err(anyhow!("{ty} {id} {diff}")),
        }
    }
}

/// What the rest is made of.
impl TestKit {
    fn look(&self, ty: &K8sType, id: &ObjectIdRef<'_>) -> Result<Option<Value>, Error> {
        self.runtime.block_on(cluster::get(&self.client, ty, id))
    }

    fn cached(&self, ty: &K8sType, id: &ObjectIdRef<'_>) -> Result<Object, Error> {
        let found = self.running().stores().get_object(type_of(ty), (id.namespace, id.name))?;
        found.ok_or_else(|| missing(ty, id))
    }

    /// Returns also when the operator has not settled in this time.
    fn settle(&self, time: Duration) {
        let _ = self.runtime.block_on(self.running().settled_within(time));
    }

    fn pause(&self) {
        self.runtime.block_on(sleep(LOOK));
    }

    fn running(&self) -> &Running {
        self.running.as_ref().expect("it is taken when the kit is dropped")
    }

    fn delete_namespace(&self) {
        let Some(namespace) = &self.config.namespace else { return };
        let id = ObjectIdRef::new("", namespace);
        if let Err(error) = self.runtime.block_on(cluster::delete(&self.client, Namespace, &id)) {
            tracing::error!("the namespace of the test stays: {error:#}");
        }
    }
}

impl fmt::Debug for TestKit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { config, parents, running, .. } = self;
        f.debug_struct("TestKit")
            .field("config", config)
            .field("parents", parents)
            .field("running", running)
            .finish_non_exhaustive()
    }
}

impl Drop for TestKit {
    fn drop(&mut self) {
        if self.delete_namespace_on_drop {
            for parent in std::mem::take(&mut self.parents) {
                self.delete_parent_ignore_errors(&parent.as_id_ref(), CLEAN_UP);
            }
            self.delete_namespace();
        }
        if let Some(running) = self.running.take() {
            // The error that ended it was seen by the calls before.
            let _ = self.runtime.block_on(running.stop());
        }
    }
}

async fn started(
    config: &OperatorConfig,
    client_config: &ClientConfig,
    handler: AnyHandler,
) -> Result<(Client, Running), Error> {
    let kube = client_config.kube_config().await?;
    let client = Client::try_from(kube.clone())?;
    let types = timeout(TYPES, Types::of_server(&client, config.types())).await;
    let types = types.map_err(|_| TestKitError(not_served(config)))?;
    let running = operator::start(config, kube, &client_config.user_agent, handler, &types).await?;
    running.ready().await;
    Ok((client, running))
}

fn not_served(config: &OperatorConfig) -> String {
    let types: Vec<_> = config.types().map(ToString::to_string).collect();
    format!("the API server does not serve all of these, or does not answer: {}", types.join(", "))
}

fn missing(ty: &K8sType, id: &ObjectIdRef<'_>) -> Error {
    MissingResource { k8s_type: ty.clone(), id: id.to_owned() }.into()
}

fn type_of(ty: &K8sType) -> (&str, &str) {
    (ty.api_version, ty.kind)
}
