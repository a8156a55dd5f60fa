//! The output of a finalization.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ChildConfig, DesiredChild, EventType, HandlerEvent,
    shallow::{Shallow, json, limit, limit_children},
};

/// The result of the clean-up before a parent is deleted. `Debug` shows no content.
///
/// As JSON it has its fields' names; `retry` is required, as `null` finishes the finalization.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalizeResponse {
    /// The status to show meanwhile, a JSON object; `None` and `null` leave it as it is. Ignored
    /// when the clean-up is done.
    pub status: Option<Value>,
    /// When to try again. With `None` and without `waits` the clean-up is done, and the parent may be
    /// deleted.
    #[serde(deserialize_with = "Option::deserialize")]
    pub retry: Option<Duration>,
    /// Whether the clean-up continues when a child changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// The children that the clean-up needs, such as a Job that makes a last backup: they are created and
    /// updated as those of a [`SyncResponse`](super::SyncResponse). All other children stay as they are. None when the
    /// clean-up is done: they are deleted with the parent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<DesiredChild>,
    /// Whether children that would stay without their parent are deleted before it goes; see
    /// [`FinalizeResponse::deleting_orphans`]. Ignored until the clean-up is done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deletes_orphans: bool,
    /// What is recorded about the parent, see [`FinalizeResponse::event`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<HandlerEvent>,
    /// Why the status is not a serializable JSON object; the reconcile then fails, and the parent
    /// stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unserializable: Option<String>,
}

impl FinalizeResponse {
    /// The clean-up is done: the finalizer is removed and the parent is deleted.
    pub fn done() -> Self {
        Self::default()
    }

    /// Not done yet: the parent stays, and `finalize` is called again after this time, at least 100
    /// ms.
    pub fn retry_after(delay: Duration) -> Self {
        Self { retry: Some(delay), ..Self::default() }
    }

    /// Not done yet: the parent stays, and `finalize` is called again when a child changes, and at least
    /// once a minute.
    ///
    /// ```
    /// use k8s_openapi::api::batch::v1::Job;
    /// use operetta::prelude::*;
    /// use serde_json::json;
    ///
    /// /// The database is deleted once its last backup is complete.
    /// fn finalize(request: &SyncRequest) -> Result<FinalizeResponse> {
    ///     let name = format!("{}-last-backup", request.parent.name());
    ///     let status = request.child::<Job>(&name)?.and_then(|job| job.status.as_ref());
    ///     if status.is_some_and(|status| status.succeeded > Some(0)) {
    ///         return Ok(FinalizeResponse::done());
    ///     }
    ///     let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}});
    ///     Ok(FinalizeResponse::wait().child(job).with_status(json!({"phase": "BackingUp"})))
    /// }
    /// ```
    pub fn wait() -> Self {
        Self { waits: true, ..Self::default() }
    }

    /// Deletes the children that would stay without their parent
    /// ([`ChildConfig::orphan_on_delete`]), too: for a parent whose user may ask for it. The finalizer is
    /// removed when they are gone.
    ///
    /// ```
    /// use operetta::prelude::*;
    ///
    /// fn finalize(request: &SyncRequest) -> Result<FinalizeResponse> {
    ///     let spec = request.parent.field("spec").unwrap_or_default();
    ///     let done = FinalizeResponse::done();
    ///     Ok(if spec["deletionPolicy"] == "Delete" { done.deleting_orphans() } else { done })
    /// }
    /// ```
    #[must_use]
    pub fn deleting_orphans(self) -> Self {
        Self { deletes_orphans: true, ..self }
    }

    /// Whether the parent may be deleted.
    pub fn is_done(&self) -> bool {
        self.retry.is_none() && !self.waits
    }

    /// Adds a child that the clean-up needs.
    #[must_use]
    pub fn child(self, child: impl Serialize) -> Self {
        self.desired(&child, DesiredChild::from)
    }

    /// Adds a child that is created when it is missing, and otherwise left as it is.
    #[must_use]
    pub fn ensure(self, child: impl Serialize) -> Self {
        self.desired(&child, |object| DesiredChild { ensure: true, ..object.into() })
    }

    /// Adds a child with options of its own, instead of those of its type.
    #[must_use]
    pub fn child_with(self, config: ChildConfig, child: impl Serialize) -> Self {
        self.desired(&child, |object| DesiredChild { config: Some(config), ..object.into() })
    }

    /// Records an Event about the parent, as [`SyncResponse::event`](super::SyncResponse::event) does; a `Normal`
    /// one of a clean-up that is done when what follows it has succeeded. An invalid one keeps the parent from
    /// being deleted.
    #[must_use]
    pub fn event(
        mut self,
        event_type: EventType,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        self.events.push(HandlerEvent::new(event_type, reason, message));
        self
    }

    fn desired(mut self, child: &impl Serialize, with: impl Fn(Value) -> DesiredChild) -> Self {
        let object = json(child, "a child", &mut self.unserializable);
        self.children.extend(object.map(with));
        self
    }

    /// Sets the status to show meanwhile.
    #[must_use]
    pub fn with_status(mut self, status: impl Serialize) -> Self {
        self.status = json(&status, "the status", &mut self.unserializable);
        self
    }
}

impl Shallow for FinalizeResponse {
    fn shallow(mut self) -> Self {
        limit(&mut self.status, &mut self.unserializable);
        limit_children(&mut self.children, &mut self.unserializable);
        self
    }
}

/// Children may be Secrets, and a status may quote one.
impl fmt::Debug for FinalizeResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, retry, waits, children, deletes_orphans, events: _, unserializable: _ } =
            self;
        let (has_status, children) = (status.is_some(), children.len());
        write!(f, "FinalizeResponse({children} children, status: {has_status}, retry: {retry:?}")?;
        write!(f, ", waits: {waits}, deletes orphans: {deletes_orphans})")
    }
}
