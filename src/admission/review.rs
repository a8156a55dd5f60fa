//! Reads an `AdmissionReview`.

use serde::Deserialize;
use serde_json::Value;

use super::envelope::{ReviewError, request_of};
use crate::{
    object::ObjectKey,
    operator::{
        Stores,
        admission::{AdmissionRequest, AdmissionUser, Operation},
    },
};

/// The version that is answered: every supported API server sends it.
pub(super) const API_VERSION: &str = "admission.k8s.io/v1";
pub(super) const KIND: &str = "AdmissionReview";

/// A question, with what the answer needs.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) request: AdmissionRequest,
    /// The plural and the group of what is asked about.
    pub(crate) resource: (String, String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    #[serde(default)]
    uid: String,
    operation: Operation,
    #[serde(default)]
    resource: Resource,
    #[serde(default)]
    sub_resource: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    user_info: AdmissionUser,
    #[serde(default)]
    object: Option<Value>,
    #[serde(default)]
    old_object: Option<Value>,
    #[serde(default)]
    dry_run: Option<bool>,
    #[serde(default)]
    options: Value,
}

#[derive(Deserialize, Default)]
struct Resource {
    #[serde(default)]
    group: String,
    #[serde(default)]
    resource: String,
}

pub(crate) fn review(body: &[u8]) -> Result<Asked, ReviewError> {
    request_of::<Request>(body, (KIND, API_VERSION))?.asked()
}

impl Request {
    fn asked(self) -> Result<Asked, ReviewError> {
        let Self { uid, operation, resource, sub_resource, namespace, name, .. } = self;
        let Self { user_info, object, old_object, dry_run, options, .. } = self;
        if uid.is_empty() {
            return Err(ReviewError::NoUid(KIND));
        }
        if object.is_none() && old_object.is_none() {
            return Err(ReviewError::NoObject(KIND));
        }
        let given = |text: String| Some(text).filter(|text| !text.is_empty());
        let namespace = given(namespace);
        let request = AdmissionRequest {
            uid,
            operation,
            object,
            old: old_object,
            key: ObjectKey::new(namespace.as_deref(), &name),
            subresource: given(sub_resource),
            user: user_info,
            dry_run: dry_run.unwrap_or_default(),
            options,
            stores: Stores::default(),
        };
        Ok(Asked { request, resource: (resource.resource, resource.group) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn question() -> Value {
        json!({
            "apiVersion": API_VERSION, "kind": KIND,
            "request": {
                "uid": "u", "operation": "UPDATE",
                "kind": {"group": "example.com", "version": "v1", "kind": "Shop"},
                "resource": {"group": "example.com", "version": "v1", "resource": "shops"},
                "subResource": "status", "namespace": "ns", "name": "a", "dryRun": true,
                "userInfo": {"username": "ada", "groups": ["x"], "extra": {"scopes": ["s"]}},
                "object": {"a": 1}, "oldObject": {"a": 0}, "options": {"kind": "UpdateOptions"},
            },
        })
    }

    fn read(value: &Value) -> Result<Asked, ReviewError> {
        review(value.to_string().as_bytes())
    }

    #[test]
    fn a_question_has_what_a_handler_needs() {
        let Asked { request, resource } = read(&question()).unwrap();
        assert_eq!(resource, ("shops".to_owned(), "example.com".to_owned()));
        assert_eq!((request.operation, request.dry_run), (Operation::Update, true));
        assert_eq!(request.key, ObjectKey::namespaced("ns", "a"));
        assert_eq!(request.subresource.as_deref(), Some("status"));
        assert_eq!((request.object, request.old), (Some(json!({"a": 1})), Some(json!({"a": 0}))));
        assert_eq!(request.user.username, "ada");
        assert_eq!(request.user.extra["scopes"], ["s"]);
    }

    #[test]
    fn what_is_no_question_is_refused_with_a_sentence_that_quotes_nothing() {
        let with = |change: fn(&mut Value)| {
            let mut changed = question();
            change(&mut changed);
            read(&changed).unwrap_err().to_string()
        };
        let beta = with(|it| it["apiVersion"] = json!("admission.k8s.io/v1beta1"));
        assert_eq!(
            beta,
            "the body is of kind \"AdmissionReview\" and version \"admission.k8s.io/v1beta1\": send a AdmissionReview of \
             admission.k8s.io/v1"
        );
        for (message, expected) in [
            (with(|it| it["request"] = Value::Null), "the AdmissionReview has no `request`"),
            (
                with(|it| it["request"]["uid"] = json!("")),
                "the request of the AdmissionReview has no `uid`",
            ),
            (
                with(|it| it["request"]["operation"] = json!("SECRET")),
                "the request of the AdmissionReview cannot be read: operation",
            ),
            (
                with(|it| {
                    it["request"]["object"] = Value::Null;
                    it["request"]["oldObject"] = Value::Null;
                }),
                "the request of the AdmissionReview has neither an object nor an old one",
            ),
            (
                review(b"{\"kind\":").unwrap_err().to_string(),
                "the body is no JSON: line 1, column 8",
            ),
            (
                review(b"{\"request\":3,\"kind\":3}").unwrap_err().to_string(),
                "the AdmissionReview has no `request`",
            ),
        ] {
            assert_eq!(message, expected);
        }
    }
}
