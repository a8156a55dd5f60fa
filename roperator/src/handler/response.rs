//! The output of a handler.

use std::{fmt, time::Duration};

use operetta::operator::DesiredChild;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::resource::JsonObject;

/// The status and the children that a parent should have. `Debug` shows no content.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct SyncResponse {
    /// The status, a JSON object; `null` leaves it as it is.
    pub status: Value,
    /// Every child that should exist, with `apiVersion`, `kind` and a name. Other children are deleted. A
    /// child that has nothing else is created when it is missing, and left as it is otherwise.
    pub children: Vec<Value>,
    /// After how long to call the handler again although nothing changed; at least 100 ms.
    pub resync: Option<Duration>,
}

/// The result of the clean-up before a parent is deleted. `Debug` shows no content.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct FinalizeResponse {
    /// The status to show meanwhile; `null` leaves it as it is. Ignored when the clean-up is done.
    pub status: Value,
    /// When to call `finalize` again; `None` when the clean-up is done. Required in JSON.
    #[serde(deserialize_with = "Option::deserialize")]
    pub retry: Option<Duration>,
}

impl SyncResponse {
    /// A status, and no children yet.
    pub fn new(status: Value) -> Self {
        Self { status, children: Vec::new(), resync: None }
    }

    /// The same of a status as a Rust type.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn from_status<S: Serialize>(status: S) -> Result<Self, serde_json::Error> {
        serde_json::to_value(status).map(Self::new)
    }

    /// Adds a child.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn add_child<C: Serialize>(&mut self, child: C) -> Result<(), serde_json::Error> {
        self.children.push(serde_json::to_value(child)?);
        Ok(())
    }

    /// Calls the handler again after this time.
    pub fn resync_after(&mut self, duration: Duration) {
        self.resync = Some(duration);
    }

    /// The same as Operetta has it.
    pub(crate) fn into_operetta(self) -> operetta::operator::SyncResponse {
        let Self { status, children, resync } = self;
        let mut response = operetta::operator::SyncResponse::status(status);
        response.children = children.into_iter().map(desired).collect();
        response.resync = resync;
        response
    }
}

impl FinalizeResponse {
    /// The same as Operetta has it.
    pub(crate) fn into_operetta(self) -> operetta::operator::FinalizeResponse {
        let Self { status, retry } = self;
        operetta::operator::FinalizeResponse { status: Some(status), retry, ..<_>::default() }
    }
}

/// roperator leaves a child as it is when the handler returns its name only.
fn desired(object: Value) -> DesiredChild {
    let ensure = object.as_object().is_some_and(has_only_a_name);
    DesiredChild { ensure, ..object.into() }
}

fn has_only_a_name(object: &JsonObject) -> bool {
    let is_one_of = |names: &'static [&str]| move |name: &String| names.contains(&name.as_str());
    let metadata = object.get("metadata").and_then(Value::as_object);
    object.keys().all(is_one_of(&["apiVersion", "kind", "metadata"]))
        && metadata.is_some_and(|of| of.keys().all(is_one_of(&["namespace", "name"])))
}

impl fmt::Debug for SyncResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status: _, children, resync } = self;
        write!(f, "SyncResponse: {} children, resync: {resync:?}", children.len())
    }
}

impl fmt::Debug for FinalizeResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FinalizeResponse: retry: {:?}", self.retry)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_response_is_that_of_operetta() {
        let mut response = SyncResponse::from_status(json!({"a": 1})).unwrap();
        response.add_child(json!({"kind": "Pod", "spec": {}})).unwrap();
        response.resync_after(Duration::from_secs(7));
        let theirs = response.into_operetta();
        assert_eq!(theirs.status, Some(json!({"a": 1})));
        assert_eq!(theirs.children, [json!({"kind": "Pod", "spec": {}})]);
        assert_eq!(theirs.resync, Some(Duration::from_secs(7)));
        let done = FinalizeResponse { status: Value::Null, retry: None };
        assert!(done.into_operetta().is_done());
        let retry = Some(Duration::from_secs(1));
        let again = FinalizeResponse { status: json!({"a": 1}), retry }.into_operetta();
        assert_eq!((again.status, again.retry), (Some(json!({"a": 1})), retry));
    }

    #[test]
    fn a_child_that_has_only_a_name_is_left_as_it_is() {
        let named = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}});
        assert!(desired(named.clone()).ensure);
        for (field, value) in [("spec", json!({})), ("metadata", json!({"labels": {}}))] {
            let mut more = named.clone();
            more[field] = value;
            assert!(!desired(more.clone()).ensure, "{more}");
        }
        assert!(!desired(json!({"kind": "Pod"})).ensure, "it has no name");
    }

    #[test]
    fn a_response_in_json_must_say_what_would_delete() {
        assert!(serde_json::from_value::<SyncResponse>(json!({"status": null})).is_err());
        assert!(serde_json::from_value::<FinalizeResponse>(json!({"status": null})).is_err());
        let response = SyncResponse::new(json!({"password": "s3cret"}));
        let json = serde_json::to_value(&response).unwrap();
        assert_eq!(serde_json::from_value::<SyncResponse>(json).unwrap(), response);
        assert!(!format!("{response:?}").contains("s3cret"));
    }
}
