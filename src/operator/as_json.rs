//! Requests as JSON, for a handler in another process or a test with recorded requests: `parent`,
//! `children` and `failures`, and `related` where the operator reads related objects.
//!
//! A request is parsed with the configuration of its operator: an object alone has neither its
//! plural nor its scope.

use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct};
use serde_json::Value;

use super::{Children, OperatorConfig, Role, SyncRequest};
use crate::object::{K8sType, KeptManagers, Object, ParseObjectError, TypeRef};

/// A JSON value is not a request of an operator. The value is not quoted: it may be a Secret.
#[derive(Debug, thiserror::Error)]
pub enum ParseRequestError {
    /// It has no `parent`, or no list of `children`.
    #[error("not a request: `parent`, `children` or `failures` is missing or of another type")]
    Shape,
    /// The parent has another type, or none.
    #[error("not a request of this operator: the parent is not a {0}")]
    Parent(K8sType),
    /// The operator does not declare the type of a child, or the child has none.
    #[error("not a request of this operator: it does not declare the type of child {0}")]
    Child(usize),
    /// The operator does not declare the type of a related object, or the object has none.
    #[error("not a request of this operator: it does not declare the type of related object {0}")]
    Related(usize),
    /// The parent, a child or a related object is not a Kubernetes object.
    #[error(transparent)]
    Object(#[from] ParseObjectError),
}

#[derive(Deserialize)]
struct Wire {
    parent: Value,
    children: Vec<Value>,
    #[serde(default)]
    failures: u32,
    #[serde(default)]
    related: Vec<Value>,
}

impl SyncRequest {
    /// Parses a request to an operator from the output of [`Serialize`], or from roperator's JSON.
    ///
    /// # Errors
    /// It is not a request, or has objects of types that the operator does not declare.
    pub fn from_value<R: Role>(
        config: &OperatorConfig<R>,
        value: Value,
    ) -> Result<Self, ParseRequestError> {
        let wire: Wire = serde_json::from_value(value).map_err(|_| ParseRequestError::Shape)?;
        if !is_of(&config.parent, &wire.parent) {
            return Err(ParseRequestError::Parent(config.parent.clone()));
        }
        let parent = object(&config.parent, &wire.parent)?;
        let types = config.children.iter().map(|child| &child.ty);
        let children = by_type(types, &wire.children, ParseRequestError::Child)?;
        let types = config.related.iter().map(|related| &related.ty);
        let related = by_type(types, &wire.related, ParseRequestError::Related)?;
        let related = (!config.related.is_empty()).then_some(related);
        Ok(Self::new(parent, children).with_failures(wire.failures).relating(related))
    }
}

/// Every declared type has a list, even without an object.
fn by_type<'a>(
    types: impl Iterator<Item = &'a K8sType>,
    values: &[Value],
    undeclared: fn(usize) -> ParseRequestError,
) -> Result<Children, ParseRequestError> {
    let mut of_types: Vec<(K8sType, Vec<Object>)> =
        types.map(|ty| (ty.clone(), Vec::new())).collect();
    for (index, value) in values.iter().enumerate() {
        let declared = of_types.iter_mut().find(|(ty, _)| is_of(ty, value));
        let (ty, objects) = declared.ok_or(undeclared(index + 1))?;
        objects.push(object(ty, value)?);
    }
    Ok(Children::new(of_types))
}

fn is_of(ty: &K8sType, value: &Value) -> bool {
    TypeRef::in_value(value) == Some(ty.into())
}

fn object(ty: &K8sType, value: &Value) -> Result<Object, ParseObjectError> {
    Object::from_value(ty, value, &KeptManagers::default())
}

impl<P> Serialize for SyncRequest<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let related = self.all_related();
        let count = 3 + usize::from(related.is_some());
        let mut fields = serializer.serialize_struct("SyncRequest", count)?;
        fields.serialize_field("parent", self.object())?;
        fields.serialize_field("children", &self.children)?;
        fields.serialize_field("failures", &self.failures)?;
        if let Some(related) = related {
            fields.serialize_field("related", related)?;
        }
        fields.end()
    }
}

/// A list: all of them, type by type in the order of declaration, each by key.
impl Serialize for Children {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
    use serde_json::json;

    use super::*;
    use crate::operator::{ChildConfig, ErrorResponse, FinalizeResponse, SyncResponse};

    fn config() -> OperatorConfig {
        OperatorConfig::of::<Secret>("a")
            .child::<ConfigMap>(ChildConfig::apply())
            .child::<Pod>(ChildConfig::recreate())
    }

    fn object(kind: &str, name: &str) -> Value {
        let metadata =
            json!({"name": name, "namespace": "ns", "uid": name, "resourceVersion": "1"});
        json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": {"a": [1.5]}})
    }

    #[test]
    fn a_request_survives_a_round_trip_through_json() {
        let children = [object("ConfigMap", "a"), object("ConfigMap", "b"), object("Pod", "a")];
        let json = json!({"parent": object("Secret", "p"), "children": children, "failures": 2});
        let request = SyncRequest::from_value(&config(), json.clone()).unwrap();
        assert_eq!(request.parent.key().to_string(), "ns/p");
        assert_eq!((request.children::<Pod>().len(), request.failures), (1, 2));
        assert_eq!(serde_json::to_value(&request).unwrap(), json);
    }

    #[test]
    fn a_request_of_roperator_has_no_failures() {
        let json = json!({"parent": object("Secret", "p"), "children": []});
        let request = SyncRequest::from_value(&config(), json).unwrap();
        assert_eq!(request.failures, 0);
        assert!(
            request.children.of_type(("v1", "Pod")).ty().is_some(),
            "declared, without a child"
        );
    }

    #[test]
    fn an_invalid_request_is_refused_without_being_quoted() {
        let secret = || object("Secret", "s3cret");
        let nameless = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"a": "s3cret"}});
        for (json, why) in [
            (json!("s3cret"), "`parent`, `children` or `failures`"),
            (json!({"parent": secret()}), "`parent`, `children` or `failures`"),
            (
                json!({"parent": object("Pod", "s3cret"), "children": []}),
                "the parent is not a Secret.v1",
            ),
            (
                json!({"parent": secret(), "children": [secret()]}),
                "does not declare the type of child 1",
            ),
            (json!({"parent": nameless, "children": []}), "`metadata.name` is missing"),
        ] {
            let error = SyncRequest::from_value(&config(), json).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn responses_survive_a_round_trip_through_json() {
        let (second, status) = (Duration::from_secs(1), json!({"a": 1}));
        let sync =
            SyncResponse::status(status.clone()).child(json!({"kind": "Pod"})).resync_after(second);
        let json = json!({
            "status": {"a": 1}, "children": [{"kind": "Pod"}], "resync": {"secs": 1, "nanos": 0},
        });
        assert_eq!(serde_json::to_value(&sync).unwrap(), json);
        assert_eq!(serde_json::from_value::<SyncResponse>(json).unwrap(), sync);
        let finalize = FinalizeResponse::retry_after(second).with_status(&status);
        let json = json!({"status": {"a": 1}, "retry": {"secs": 1, "nanos": 0}});
        assert_eq!(serde_json::to_value(&finalize).unwrap(), json);
        assert_eq!(serde_json::from_value::<FinalizeResponse>(json.clone()).unwrap(), finalize);
        let error = ErrorResponse::status(&status).retry_after(second);
        assert_eq!(serde_json::to_value(&error).unwrap(), json);
        assert_eq!(serde_json::from_value::<ErrorResponse>(json).unwrap(), error);
    }

    #[test]
    fn an_unserializable_child_is_still_known_after_a_round_trip() {
        let odd = std::collections::BTreeMap::from([(vec![1, 2], 3)]);
        let response = SyncResponse::new().child(odd);
        let json = serde_json::to_value(&response).unwrap();
        assert!(json["unserializable"].is_string());
        assert_eq!(serde_json::from_value::<SyncResponse>(json).unwrap(), response);
    }

    /// A response without these fields would delete every child, or finish the finalization.
    #[test]
    fn a_response_without_children_or_retry_is_refused() {
        assert!(serde_json::from_value::<SyncResponse>(json!({"status": null})).is_err());
        assert!(serde_json::from_value::<FinalizeResponse>(json!({"status": null})).is_err());
        let done = serde_json::from_value::<FinalizeResponse>(json!({"retry": null}));
        assert_eq!(done.unwrap(), FinalizeResponse::done());
        let none = serde_json::from_value::<SyncResponse>(json!({"children": []}));
        assert_eq!(none.unwrap(), SyncResponse::new());
    }
}
