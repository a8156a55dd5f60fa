//! What a test asserts about objects.

use std::time::{Duration, Instant};

use anyhow::{Error, anyhow};
use serde_json::Value;

use super::{
    Diff, ToJson,
    kit::{LOOK, SETTLING, TestKit, missing},
};
use crate::{k8s_types::K8sType, resource::ObjectIdRef};

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
        let difference = self.difference(k8s_type, id, &expected.into_json()).err();
        assert!(
            difference.is_none(),
            "{}",
            difference.map(|it| format!("{it:#}")).unwrap_or_default()
        );
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
