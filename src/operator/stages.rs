//! The order in which the children of a response are written.

use std::time::Duration;

use kube::Resource;

use super::{Prerequisite, Stage, SyncResponse};
use crate::object::KeyRef;

/// The order of children. Without it all children are written together.
///
/// A child of a later stage is created and changed only while every child of the stages before it exists, is up
/// to date and is [ready](crate::object::Readiness): built-in kinds by their status, others by a condition
/// `Ready`, `Available` or `Established`, or as [`OperatorConfig::ready_when`](super::OperatorConfig::ready_when)
/// decides. A waiting child stays as it is. It is not deleted when an earlier child is no longer ready.
/// Children that are [ignored](super::ChildConfig::ignoring_readiness) for readiness count as ready once they
/// are up to date. The condition `Synced` names the waiting child, the child before it, and since when.
///
/// Children that are no longer returned are deleted in the reverse order.
impl<S> SyncResponse<S> {
    /// Begins the next stage: the children that follow wait for all children so far.
    #[must_use]
    pub fn then(mut self) -> Self {
        self.stage_mut();
        self.stages.push(Stage::default());
        self
    }

    /// Sets how long the next stage may wait for this one. After that the reconcile counts as failed: the
    /// condition `Stalled` and an Event name the child that is not ready. The stage is still waited for, and
    /// continues as soon as it is ready. The time counts from when the next stage began to wait, anew after a
    /// restart of the process.
    #[must_use]
    pub fn ready_within(mut self, time: Duration) -> Self {
        self.stage_mut().ready_within = Some(time);
        self
    }

    /// The last child waits for this other child of the response too: of this type, with this name, or
    /// `("namespace", "name")`. Without a namespace it is the one of the parent.
    ///
    /// The response is refused if it has no such child, or if children wait for each other in a circle.
    #[must_use]
    pub fn after<'a, C>(self, key: impl Into<KeyRef<'a>>) -> Self
    where
        C: Resource<DynamicType = ()>,
    {
        let (api_version, kind) = (C::api_version(&()), C::kind(&()));
        self.after_child(Prerequisite::new((&*api_version, &*kind), key))
    }

    /// The same for a type that is known by its names.
    #[must_use]
    pub fn after_child(mut self, prerequisite: Prerequisite) -> Self {
        if let Some(child) = self.children.last_mut() {
            child.after.push(prerequisite);
        } else {
            let why = format!("`after` {prerequisite} follows no child: call it after `child`");
            self.unserializable.get_or_insert(why);
        }
        self
    }

    fn stage_mut(&mut self) -> &mut Stage {
        if self.stages.is_empty() {
            self.stages.push(Stage::default());
        }
        self.stages.last_mut().expect("it was just filled")
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::Secret};
    use serde_json::json;

    use super::*;

    fn child(name: &str) -> serde_json::Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
    }

    #[test]
    fn each_child_belongs_to_the_stage_in_which_it_is_added() {
        let response = SyncResponse::new().child(child("a")).then().ensure(child("b"));
        let response = response.child(child("c")).after::<Secret>("s").then().child(child("d"));
        let stages: Vec<_> = response.children.iter().map(|child| child.stage).collect();
        assert_eq!(stages, [0, 1, 1, 2]);
        assert_eq!(response.children[2].after, [Prerequisite::new(("v1", "Secret"), "s")]);
        assert_eq!(response.stages.len(), 3);
    }

    #[test]
    fn a_stage_has_the_timeout_that_is_set_in_it() {
        let (short, long) = (Duration::from_secs(1), Duration::from_mins(1));
        let response = SyncResponse::new().child(child("a")).ready_within(short).then();
        let response = response.child(child("b")).then().child(child("c")).ready_within(long);
        let within: Vec<_> = response.stages.iter().map(|stage| stage.ready_within).collect();
        assert_eq!(within, [Some(short), None, Some(long)]);
    }

    #[test]
    fn an_edge_without_a_child_is_reported() {
        let response = SyncResponse::new().after::<Deployment>(("ns", "db")).child(child("a"));
        let why = response.unserializable.unwrap();
        assert_eq!(why, "`after` Deployment.apps/v1 ns/db follows no child: call it after `child`");
    }
}
