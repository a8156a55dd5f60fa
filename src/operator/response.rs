//! The output of a handler.

use std::{any::Any, fmt, time::Duration};

use serde::Serialize;
use serde_json::Value;

use super::{
    ChildConfig, DesiredChild, EventType, HandlerEvent, Stage,
    shallow::{Shallow, json, limit, limit_children},
};

/// The children and the status that a parent should have. `Debug` shows no content.
///
/// `S` is the type of the status: anything that can be serialized to a JSON object.
///
/// As JSON it has its fields' names; `children` is required, as unlisted children are deleted.
#[derive(Clone, PartialEq, Serialize)]
pub struct SyncResponse<S = Value> {
    /// The status, a JSON object; `None` and `null` leave the fields of the status as they are.
    pub status: Option<S>,
    /// Every child that should exist, with `apiVersion` and `kind`. Other children are deleted.
    /// Fields that are not set belong to others. At most 10,000 children of 1.5 MB and 100 levels
    /// each, none twice, without a status and without metadata of the server; otherwise the whole
    /// response is refused.
    pub children: Vec<DesiredChild>,
    /// After how long to reconcile again although nothing changed: from the end of the reconcile,
    /// at least 100 ms.
    pub resync: Option<Duration>,
    /// What is recorded about the parent, see [`SyncResponse::event`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<HandlerEvent>,
    /// The stages in which children are written; none if all children are written together. See
    /// [`SyncResponse::then`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) stages: Vec<Stage>,
    /// Why a status or child cannot be serialized or parsed again, or the status is not an object;
    /// the reconcile then fails without writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unserializable: Option<String>,
}

impl SyncResponse {
    /// No children, and a status that stays as it is. A handler with another type of status writes
    /// `SyncResponse::default()`.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<S> SyncResponse<S> {
    /// No children yet, and a status.
    pub fn status(status: S) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// Sets the status.
    #[must_use]
    pub fn with_status<T>(self, status: T) -> SyncResponse<T> {
        self.having(Some(status))
    }

    fn having<T>(self, status: Option<T>) -> SyncResponse<T> {
        SyncResponse {
            status,
            children: self.children,
            resync: self.resync,
            events: self.events,
            stages: self.stages,
            unserializable: self.unserializable,
        }
    }

    /// Adds a child.
    #[must_use]
    pub fn child(self, child: impl Serialize) -> Self {
        self.desired(&child, DesiredChild::from)
    }

    /// Adds a child that is created when it is missing, and otherwise left as it is, for example a
    /// generated password. Its body may differ with each call: it is written only when the child is
    /// created. The child is owned like others, created again when it was deleted, and deleted when
    /// it is no longer returned.
    ///
    /// A child type that is [adopting](crate::operator::ChildConfig::adopting) takes an existing
    /// object as it is: only its labels and its owner reference are written.
    #[must_use]
    pub fn ensure(self, child: impl Serialize) -> Self {
        self.desired(&child, |object| DesiredChild { ensure: true, ..object.into() })
    }

    /// Adds a child with options of its own, instead of those of its type.
    ///
    /// [`ChildConfig::ignoring_status`], [`ChildConfig::delete_with_finalizer`] and
    /// [`ChildConfig::orphan_on_delete`] hold for a whole type and are refused here. When the child is
    /// no longer returned it is deleted with the propagation policy of its type.
    #[must_use]
    pub fn child_with(self, config: ChildConfig, child: impl Serialize) -> Self {
        self.desired(&child, |object| DesiredChild { config: Some(config), ..object.into() })
    }

    /// Adds children.
    #[must_use]
    pub fn children<C: Serialize>(self, children: impl IntoIterator<Item = C>) -> Self {
        children.into_iter().fold(self, Self::child)
    }

    /// Reconciles again after this time, at least 100 ms; an earlier reconcile supersedes it.
    #[must_use]
    pub fn resync_after(mut self, delay: Duration) -> Self {
        self.resync = Some(delay);
        self
    }

    /// Records a Kubernetes Event about the parent, once for as long as the next responses have it too.
    ///
    /// The reason is one word in `UpperCamelCase` of at most 128 letters and digits, the message has at most
    /// 1,024 bytes, and a response at most 10 Events; otherwise the whole response is refused. A `Normal` one is
    /// recorded when the children are written, a `Warning` also if that failed. None is recorded for a
    /// [preview](crate::operator::SyncRequest::is_preview).
    ///
    /// ```
    /// use operetta::{operator::EventType, prelude::*};
    ///
    /// fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    ///     let message = format!("{} has no backup", request.parent.name());
    ///     Ok(SyncResponse::new().event(EventType::Warning, "BackupMissing", message))
    /// }
    /// ```
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
        let stage = self.stages.len().saturating_sub(1);
        let object = self.json(child, "a child");
        self.children.extend(object.map(|object| DesiredChild { stage, ..with(object) }));
        self
    }

    fn json(&mut self, value: &impl Serialize, what: &str) -> Option<Value> {
        json(value, what, &mut self.unserializable)
    }
}

impl<S: Serialize + 'static> SyncResponse<S> {
    /// The response with its status as JSON.
    pub(crate) fn untyped(mut self) -> SyncResponse {
        let mut status = self.status.take();
        // A value is moved: it may be nested too deep to be walked.
        let status = match (&mut status as &mut dyn Any).downcast_mut::<Option<Value>>() {
            Some(value) => value.take(),
            None => status.and_then(|status| self.json(&status, "the status")),
        };
        self.having(status)
    }
}

// Not derived: that would require `S: Default`.
impl<S> Default for SyncResponse<S> {
    fn default() -> Self {
        let (children, resync, events, stages) = <_>::default();
        Self { status: None, children, resync, events, stages, unserializable: None }
    }
}

impl Shallow for SyncResponse {
    fn shallow(mut self) -> Self {
        limit(&mut self.status, &mut self.unserializable);
        limit_children(&mut self.children, &mut self.unserializable);
        self
    }
}

/// Children may be Secrets, and a status may quote one.
impl<S> fmt::Debug for SyncResponse<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (children, has_status) = (self.children.len(), self.status.is_some());
        write!(f, "SyncResponse({children} children, status: {has_status})")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::operator::{ErrorResponse, FinalizeResponse, depth};

    #[test]
    fn a_serialization_error_is_kept() {
        let odd = BTreeMap::from([(vec![1, 2], 3)]);
        let response = SyncResponse::new().child(odd);
        assert!(response.unserializable.is_some() && response.children.is_empty());
        let odd = BTreeMap::from([(vec![1, 2], 3)]);
        assert!(FinalizeResponse::done().with_status(&odd).unserializable.is_some());
        assert!(ErrorResponse::status(&odd).unserializable.is_some());
    }

    /// Dropping the response later would overflow the stack.
    #[test]
    fn a_value_that_is_nested_too_deep_is_removed_and_named() {
        let deep = || depth::nested(1_000_000);
        let mut child = json!({"kind": "Odd", "metadata": {"name": "a"}});
        child["spec"] = deep();
        let children = [json!({}), child].map(DesiredChild::from).into();
        let response = SyncResponse { children, ..SyncResponse::default() }.shallow();
        let why = "child 2 of the response (Odd a): it is nested more than 100 levels deep";
        assert_eq!(response.unserializable.as_deref(), Some(why));
        let why = Some("the status: it is nested more than 100 levels deep");
        let status = || Some(deep());
        let sync = SyncResponse { status: status(), ..SyncResponse::default() }.shallow();
        assert_eq!((sync.status, sync.unserializable.as_deref()), (None, why));
        let finalize = FinalizeResponse { status: status(), ..<_>::default() }.shallow();
        assert_eq!((finalize.status, finalize.unserializable.as_deref()), (None, why));
        let error = ErrorResponse { status: status(), ..<_>::default() }.shallow();
        assert_eq!((error.status, error.unserializable.as_deref()), (None, why));
    }

    #[test]
    fn a_status_that_is_not_an_object_is_removed_and_not_quoted() {
        for (status, kind) in [
            (json!("s3cret"), "a string"),
            (json!(["s3cret"]), "a list"),
            (json!(7), "a number"),
            (json!(true), "a boolean"),
        ] {
            let why = format!(
                "the status: it is {kind}, not a JSON object: return a map or a struct with \
                 fields, or none"
            );
            let expected = (None, Some(why));
            let sync = SyncResponse::status(status.clone()).shallow();
            assert_eq!((sync.status, sync.unserializable), expected);
            let finalize = FinalizeResponse::done().with_status(&status).shallow();
            assert_eq!((finalize.status, finalize.unserializable), expected);
            let error = ErrorResponse::status(&status).shallow();
            assert_eq!((error.status, error.unserializable), expected);
        }
        for status in [json!(null), json!({})] {
            let sync = SyncResponse::status(status.clone()).shallow();
            assert_eq!((sync.status, sync.unserializable), (Some(status), None));
        }
    }
}
