//! Commands of users: pauses the operator or a parent.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::Context;
use crate::{
    object::{Object, ObjectKey, Uid},
    operator::{PAUSED_ANNOTATION, is_paused},
    reply::ApiError,
    run::Cache,
};

impl Context {
    /// Pauses the operator: requests in flight finish, then only statuses are written. Returns whether it was
    /// not paused.
    pub(crate) fn pause(&self) -> bool {
        !self.paused.swap(true, Ordering::AcqRel)
    }

    /// Resumes the operator; the caller starts the deferred reconciles. Returns whether it was paused.
    pub(crate) fn resume(&self) -> bool {
        self.paused.swap(false, Ordering::AcqRel)
    }

    pub(super) fn has_paused(&self) -> bool {
        self.paused.load(Ordering::Acquire)
    }

    pub(super) fn pauses(&self, parent: &Object) -> bool {
        self.has_paused() || is_paused(parent)
    }

    /// Sets or removes the pause annotation of exactly this parent.
    ///
    /// The error of the server, for example a missing permission or another uid.
    pub(crate) async fn annotate_paused(
        &self,
        key: &ObjectKey,
        uid: &Uid,
        is_paused: bool,
    ) -> Result<(), ApiError> {
        let _in_flight = self.commands.read().await;
        let value = if is_paused { json!("true") } else { Value::Null };
        let annotations = json!({PAUSED_ANNOTATION: value});
        let body = json!({"metadata": {"uid": uid, "annotations": annotations}});
        let (ty, manager) = (&self.config().parent, self.name().as_str());
        let reply = self.parts.cluster.patch_object(ty, key, manager, &body).await?;
        self.cache(None, Cache::Saw(reply));
        Ok(())
    }
}
