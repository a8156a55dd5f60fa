//! What a parent remembers of its calls of an external system, in its status: which input was sent, under which
//! idempotency key, which ids came back, and until when that holds.
//!
//! Decides whether a call is due. The handler calls.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use k8s_openapi::jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{digest, moment};
use crate::operator::SyncRequest;

/// An input cannot be compared with the last one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot make a digest of an input that cannot be serialized: {0}")]
pub struct InputError(String);

/// The state of one purpose of an external system, as a field of the parent's status.
///
/// A call is due when there was none, when the input differs from that of the last one, and when the time is over
/// for which the last one is valid. A failed call is not remembered: it is due again, with the same key.
///
/// The key of a call is made of the uid of the parent, the purpose and the input. So the same call has the same key
/// after an error, after a crash between the call and the write of the status, and in another process; and a parent
/// that was deleted and created again has another. Send it as the idempotency key of the request, or as the name or
/// a tag of what is created, and look for that first.
///
/// Why a handler is called is not known to it: a user who wants the call to be made again changes the input. Let
/// the value of an annotation be part of it, as `kubectl rollout restart` does with Pods.
///
/// The digest of the input is in the status, where [it reveals](super::checksum_of) what a digest reveals: no password
/// belongs into the input alone.
///
/// ```
/// use operetta::{prelude::*, recipes::{Due, External}};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
/// use serde_json::{Value, json};
/// use std::time::Duration;
///
/// #[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
/// #[serde(default)]
/// struct RepositoryStatus {
///     remote: External,
/// }
///
/// async fn sync(request: SyncRequest) -> Result<SyncResponse<RepositoryStatus>> {
///     let mut status: RepositoryStatus = request.object().parse_field_as("status").unwrap_or_default();
///     let input = json!({
///         "name": request.parent.name(), "owner": request.parent.pointer("/spec/owner"),
///         "again": request.parent.annotations().get("example.dev/again"),
///     });
///     let wait = match status.remote.due("repository", &request, &input)? {
///         Due::Call(call) => {
///             let id = create_or_update(call.key(), &input).await?;
///             status.remote = call.succeeded().with_id("repository", id).valid_for(HOUR);
///             Some(HOUR)
///         }
///         Due::NotYet(wait) => wait,
///     };
///     let response = SyncResponse::status(status);
///     Ok(match wait {
///         Some(wait) => response.resync_after(wait),
///         None => response,
///     })
/// }
///
/// const HOUR: Duration = Duration::from_secs(3600);
///
/// async fn create_or_update(key: &str, input: &Value) -> Result<String> {
///     Ok(format!("made of {input} for {key}"))
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct External {
    /// The key of the last call that succeeded; empty if there was none.
    #[serde(skip_serializing_if = "String::is_empty")]
    key: String,
    /// What the external system named things, by a word of the handler.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    ids: BTreeMap<String, String>,
    /// When the last call succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    called: Option<Timestamp>,
    /// Until when that is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    valid_until: Option<Timestamp>,
}

/// Whether an external system is to be called now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// It is.
    Call(Call),
    /// It is not, and will be after this time if nothing changes. `None` if only a change makes a call due, or in a
    /// [preview](SyncRequest::is_preview), which never calls.
    NotYet(Option<Duration>),
}

/// A call that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    key: String,
    why: CallReason,
    now: SystemTime,
    ids: BTreeMap<String, String>,
}

/// Why a call is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallReason {
    /// None has succeeded yet.
    First,
    /// The input is another one.
    Changed,
    /// The last one is no longer valid.
    Expired,
}

impl External {
    /// Whether to call now with this input. The purpose distinguishes several calls for one parent; the time is
    /// [`SyncRequest::now`].
    ///
    /// # Errors
    /// The input cannot be serialized.
    pub fn due<P>(
        &self,
        purpose: &str,
        request: &SyncRequest<P>,
        input: &(impl Serialize + ?Sized),
    ) -> Result<Due, InputError> {
        let input = serde_json::to_value(input).map_err(|error| InputError(error.to_string()))?;
        let input = digest::hex(&digest::of(&input));
        let uid = request.object().uid().to_string();
        let key = digest::hex(&digest::of_texts(&[&uid, purpose, &input])[..16]);
        let (now, until) = (request.now(), self.valid_until);
        let left = until.and_then(|until| moment::until(until, now));
        let why = if self.key.is_empty() {
            CallReason::First
        } else if self.key != key {
            CallReason::Changed
        } else if until.is_some() && left.is_none() {
            CallReason::Expired
        } else {
            return Ok(Due::NotYet(left));
        };
        if request.is_preview() {
            return Ok(Due::NotYet(None));
        }
        Ok(Due::Call(Call { key, why, now, ids: self.ids.clone() }))
    }

    /// An id that the last call left.
    pub fn id(&self, name: &str) -> Option<&str> {
        self.ids.get(name).map(String::as_str)
    }

    /// The key of the last call that succeeded.
    pub fn key(&self) -> Option<&str> {
        Some(&*self.key).filter(|key| !key.is_empty())
    }

    /// When the last call succeeded.
    pub fn called(&self) -> Option<Timestamp> {
        self.called
    }

    /// Remembers an id, in place of an earlier one of this name.
    #[must_use]
    pub fn with_id(mut self, name: impl Into<String>, id: impl Into<String>) -> Self {
        self.ids.insert(name.into(), id.into());
        self
    }

    /// Makes the call due again after a time, in whole seconds, counted from the call.
    #[must_use]
    pub fn valid_for(self, time: Duration) -> Self {
        Self { valid_until: self.called.map(|called| moment::after(called, time)), ..self }
    }
}

impl Call {
    /// The idempotency key: 32 hexadecimal digits.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Why it is due.
    pub fn why(&self) -> CallReason {
        self.why
    }

    /// What to remember after the call has succeeded: the ids of earlier calls stay. It is valid until the input
    /// changes.
    pub fn succeeded(self) -> External {
        let Self { key, why: _, now, ids } = self;
        External { key, ids, called: Some(moment::second_of(now)), valid_until: None }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::object::K8sType;

    const HOUR: Duration = Duration::from_hours(1);

    fn at(uid: &str, seconds: u64) -> SyncRequest {
        let ty = K8sType::namespaced("example.dev/v1", "Repository", "repositories");
        let parent = json!({"metadata": {"name": "a", "uid": uid}});
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        SyncRequest::example(&ty, parent).unwrap().at(now)
    }

    fn call(state: &External, request: &SyncRequest, input: &Value) -> Call {
        match state.due("repository", request, input).unwrap() {
            Due::Call(call) => call,
            Due::NotYet(wait) => panic!("not due for {wait:?}"),
        }
    }

    #[test]
    fn a_call_is_due_once_for_each_input() {
        let (request, input) = (at("u", 0), json!({"name": "a", "size": 1}));
        let first = call(&External::default(), &request, &input);
        assert_eq!((first.why(), first.key().len()), (CallReason::First, 32));
        let again = call(&External::default(), &at("u", 9), &json!({"size": 1, "name": "a"}));
        assert_eq!(again.key(), first.key(), "a failed call is repeated with its key");
        let state = first.succeeded().with_id("repository", "r-1");
        assert_eq!(state.due("repository", &at("u", 1_000_000), &input), Ok(Due::NotYet(None)));
        let changed = call(&state, &request, &json!({"name": "a", "size": 2}));
        assert_eq!(changed.why(), CallReason::Changed);
        assert_eq!(changed.succeeded().id("repository"), Some("r-1"));
    }

    #[test]
    fn a_call_is_due_again_when_its_time_is_over() {
        let input = json!("x");
        let state = call(&External::default(), &at("u", 100), &input).succeeded().valid_for(HOUR);
        let due = |seconds| state.due("repository", &at("u", seconds), &input).unwrap();
        assert_eq!(due(100), Due::NotYet(Some(HOUR)));
        assert_eq!(due(3699), Due::NotYet(Some(Duration::from_secs(1))));
        let Due::Call(call) = due(3700) else { panic!("not due") };
        assert_eq!((call.why(), Some(call.key())), (CallReason::Expired, state.key()));
        assert_eq!(call.succeeded().called().unwrap().as_second(), 3700);
    }

    #[test]
    fn each_parent_and_purpose_has_a_key_of_its_own() {
        let input = json!({});
        let key = |uid, purpose| {
            let due = External::default().due(purpose, &at(uid, 0), &input);
            let Ok(Due::Call(call)) = due else { panic!("{due:?}") };
            call.key().to_owned()
        };
        assert_ne!(key("u", "a"), key("v", "a"));
        assert_ne!(key("u", "a"), key("u", "b"));
    }

    #[test]
    fn a_preview_calls_nothing() {
        let preview = at("u", 0).as_preview(true);
        let due = External::default().due("repository", &preview, &json!({}));
        assert_eq!(due, Ok(Due::NotYet(None)));
    }

    #[test]
    fn the_state_is_read_back_from_a_status() {
        let state = call(&External::default(), &at("u", 7), &json!({}));
        let state = state.succeeded().with_id("a", "b").valid_for(HOUR);
        let json = serde_json::to_value(&state).unwrap();
        assert_eq!(json["called"], "1970-01-01T00:00:07Z");
        assert_eq!(serde_json::from_value::<External>(json).unwrap(), state);
        assert_eq!(serde_json::to_value(External::default()).unwrap(), json!({}));
        assert_eq!(serde_json::from_value::<External>(json!({})).unwrap(), External::default());
    }

    /// Also of `Polling`.
    #[test]
    fn a_crd_can_have_the_state_in_its_status() {
        #[derive(kube::CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
        #[kube(
            group = "example.dev",
            version = "v1",
            kind = "Repository",
            namespaced,
            status = "RepositoryStatus"
        )]
        struct RepositorySpec {}

        #[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
        #[serde(default)]
        struct RepositoryStatus {
            remote: External,
            polling: Option<crate::recipes::Polling>,
            conditions: crate::operator::Conditions,
        }

        let crd = crate::manifests::crd::<Repository>().unwrap();
        let schema = serde_json::to_value(&crd.spec.versions[0].schema).unwrap();
        let status = &schema["openAPIV3Schema"]["properties"]["status"]["properties"];
        let called = &status["remote"]["properties"]["called"];
        assert_eq!((&called["type"], &called["format"]), (&json!("string"), &json!("date-time")));
        assert_eq!(status["polling"]["properties"]["next"]["format"], "date-time");
        assert_eq!(status["remote"]["properties"]["ids"]["additionalProperties"]["type"], "string");
    }
}
