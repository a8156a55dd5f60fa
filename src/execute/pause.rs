//! Commands of users: pauses the operator, and annotates a parent.

use std::{
    sync::{Arc, MutexGuard, PoisonError},
    time::SystemTime,
};

use serde_json::json;

use super::{Context, clock::now};
use crate::{
    object::{Object, ObjectKey, Uid},
    operator::{Pause, is_paused},
    reply::ApiError,
    report::pause,
    run::Cache,
};

impl Context {
    /// Pauses the operator, or replaces its pause: requests in flight finish, then only statuses are written.
    pub(crate) fn pause(&self, pause: Arc<Pause>) {
        *self.paused() = Some(pause);
    }

    /// Resumes the operator; the caller starts the deferred reconciles. Returns whether it was paused.
    pub(crate) fn resume(&self) -> bool {
        self.paused().take().is_some()
    }

    /// The pause of the operator, unless it is over.
    pub(crate) fn pause_now(&self) -> Option<Arc<Pause>> {
        self.paused().clone().filter(|pause| !pause.is_over(now().wall))
    }

    pub(super) fn pauses(&self, parent: &Object) -> bool {
        self.pause_now().is_some() || is_paused(parent, now().wall)
    }

    /// Since when a parent shows that it is paused.
    pub(crate) fn paused_since(&self, parent: &Object) -> Option<SystemTime> {
        pause::shown_since(&self.condition_names(parent).alone(parent))
    }

    /// Sets or removes an annotation of exactly this parent.
    ///
    /// The error of the server, for example a missing permission or another uid.
    pub(crate) async fn annotate(
        &self,
        key: &ObjectKey,
        uid: &Uid,
        (name, value): (&str, Option<&str>),
    ) -> Result<(), ApiError> {
        let _in_flight = self.commands.read().await;
        let elsewhere = |_| ApiError::NotLeading { request: format!("annotate {key}") };
        let _busy = self.begin(uid).map_err(elsewhere)?;
        let annotations = json!({name: value});
        let body = json!({"metadata": {"uid": uid, "annotations": annotations}});
        let (ty, manager) = (&self.config().parent, self.name().as_str());
        let reply = self.parts.cluster.patch_object(ty, key, manager, &body).await?;
        self.cache(None, Cache::Saw(reply));
        Ok(())
    }

    fn paused(&self) -> MutexGuard<'_, Option<Arc<Pause>>> {
        self.paused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
