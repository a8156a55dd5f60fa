//! An operator under test.

use std::{collections::HashSet, fmt, time::Duration};

use anyhow::Error;
use kube::Client;
use operetta::{
    object::Object,
    operator::AnyHandler,
    supervisor::{Connection, Running},
};
use serde_json::{Value, json};
use tokio::{
    runtime::{Builder, Runtime},
    time::{sleep, timeout},
};

use super::{
    MissingResource, TestKitError, cluster,
    records::{Counted, Records},
};
use crate::{
    config::{ClientConfig, OperatorConfig},
    handler::{Handler, SyncRequest},
    k8s_types::{K8sType, core::v1::Namespace},
    resource::{K8sResource, ObjectId, ObjectIdRef},
    runner::{adapter::Adapter, operator, types::Types},
};

/// How long the types of an operator may take to be served.
const TYPES: Duration = Duration::from_secs(30);

/// How long a call waits at most until the operator has nothing left to do.
pub(super) const SETTLING: Duration = Duration::from_secs(10);

/// How long a parent may take to go when the kit is dropped.
const CLEAN_UP: Duration = Duration::from_secs(10);

/// The time between two looks at an object.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// An operator that runs, and the cluster that it runs on. The calls block.
///
/// Dropping it deletes the parents that it created and, if asked, its namespace.
pub struct TestKit {
    pub(super) config: OperatorConfig,
    pub(super) client: Client,
    pub(super) records: Records,
    /// Created by the test.
    pub(super) parents: HashSet<ObjectId>,
    delete_namespace_on_drop: bool,
    running: Option<Running>,
    pub(super) runtime: Runtime,
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
    #[expect(clippy::needless_pass_by_value, reason = "the signature of roperator")]
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

/// What the rest is made of.
impl TestKit {
    pub(super) fn look(&self, ty: &K8sType, id: &ObjectIdRef<'_>) -> Result<Option<Value>, Error> {
        self.runtime.block_on(cluster::get(&self.client, ty, id))
    }

    fn cached(&self, ty: &K8sType, id: &ObjectIdRef<'_>) -> Result<Object, Error> {
        let found = self.running().stores().get_object(type_of(ty), (id.namespace, id.name))?;
        found.ok_or_else(|| missing(ty, id))
    }

    /// Returns also when the operator has not settled in this time.
    pub(super) fn settle(&self, time: Duration) {
        let _ = self.runtime.block_on(self.running().settled_within(time));
    }

    pub(super) fn pause(&self) {
        self.runtime.block_on(async { sleep(LOOK).await });
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
    let connection = Connection::from(client_config.kube_config().await?).login().await?;
    let client = connection.client()?;
    let types = timeout(TYPES, Types::of_server(&client, config.types())).await;
    let types = types.map_err(|_| TestKitError(not_served(config)))?;
    let user_agent = &client_config.user_agent;
    let running = operator::start(config, connection, user_agent, handler, &types).await?;
    running.ready().await;
    Ok((client, running))
}

fn not_served(config: &OperatorConfig) -> String {
    let types: Vec<_> = config.types().map(ToString::to_string).collect();
    format!("the API server does not serve all of these, or does not answer: {}", types.join(", "))
}

pub(super) fn missing(ty: &K8sType, id: &ObjectIdRef<'_>) -> Error {
    MissingResource { k8s_type: ty.clone(), id: id.to_owned() }.into()
}

fn type_of(ty: &K8sType) -> (&str, &str) {
    (ty.api_version, ty.kind)
}
