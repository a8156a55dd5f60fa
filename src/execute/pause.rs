//! What people command: pausing the operator or a parent.

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
    /// Pauses the operator: a request that is being sent is finished, and then only statuses are
    /// written. Whether it was not paused before.
    pub fn pause(&self) -> bool {
        !self.paused().swap(true, Ordering::AcqRel)
    }

    /// Ends that; to reconcile those who owe it is up to the caller. Whether it was paused before.
    pub fn resume(&self) -> bool {
        self.paused().swap(false, Ordering::AcqRel)
    }

    /// Whether the operator is paused.
    pub(super) fn has_paused(&self) -> bool {
        self.paused().load(Ordering::Acquire)
    }

    /// Whether a parent is paused, by whatever.
    pub(super) fn pauses(&self, parent: &Object) -> bool {
        self.has_paused() || is_paused(parent)
    }

    /// Puts the annotation that pauses it on exactly this parent, or takes it off.
    ///
    /// # Errors
    /// What the server says, for example that we may not, or that there is another of that name.
    pub async fn annotate_paused(
        &self,
        key: &ObjectKey,
        uid: &Uid,
        is_paused: bool,
    ) -> Result<(), ApiError> {
        let _under_way = self.orders.read().await;
        let value = if is_paused { json!("true") } else { Value::Null };
        let annotations = json!({PAUSED_ANNOTATION: value});
        let body = json!({"metadata": {"uid": uid, "annotations": annotations}});
        let (ty, manager) = (&self.config().parent, self.name().as_str());
        let reply = self.cluster().patch_object(ty, key, manager, &body).await?;
        self.cache(None, Cache::Saw(reply));
        Ok(())
    }
}
