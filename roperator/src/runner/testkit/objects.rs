//! Objects of any type, created, changed and read by a test.

use std::time::{Duration, Instant};

use anyhow::Error;
use serde_json::Value;

use super::{
    ToJson, cluster,
    kit::{SETTLING, TestKit},
};
use crate::{
    k8s_types::K8sType,
    resource::{ObjectIdRef, ResourceJson},
};

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
