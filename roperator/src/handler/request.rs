//! The input of a handler.

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{RawView, TypedView};
use crate::{
    k8s_types::K8sType,
    resource::{InvalidResourceError, K8sResource, K8sTypeRef, ResourceJson},
};

/// A snapshot of a parent and its children. `Debug` names them.
///
/// A test makes one of its two fields, and calls a handler as a function.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct SyncRequest {
    /// The parent.
    pub parent: K8sResource,
    /// The children that the parent owns, of every declared type.
    pub children: Vec<K8sResource>,
}

/// The children of a request, see [`SyncRequest::children`].
#[derive(Debug)]
pub struct RequestChildren<'a>(&'a SyncRequest);

impl SyncRequest {
    /// The same as the request of Operetta.
    pub(crate) fn of(
        request: &operetta::operator::SyncRequest,
    ) -> Result<Self, InvalidResourceError> {
        let parent = K8sResource::from_value(request.parent.to_value())?;
        let children = request.children.iter();
        let children = children.map(|child| K8sResource::from_value(child.to_value()));
        Ok(Self { parent, children: children.collect::<Result<_, _>>()? })
    }

    /// The parent as a Rust type.
    ///
    /// # Errors
    /// It does not fit the type.
    pub fn deserialize_parent<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.parent.clone().into_type()
    }

    /// The children, to be searched by type and name.
    pub fn children(&self) -> RequestChildren<'_> {
        RequestChildren(self)
    }
}

impl<'a> RequestChildren<'a> {
    /// The children of a type, named by its constant or as `("v1", "Pod")`.
    pub fn of_type<'b>(&self, type_ref: impl Into<K8sTypeRef<'b>>) -> RawView<'a, 'b> {
        RawView::new(&self.0.children, type_ref.into())
    }

    /// The children of a type as a Rust type.
    pub fn with_type<'b, T: DeserializeOwned>(
        &self,
        k8s_type: &'static K8sType,
    ) -> TypedView<'a, 'b, T> {
        self.of_type(k8s_type).as_type()
    }

    /// All children.
    pub fn iter(&self) -> impl Iterator<Item = &'a K8sResource> + use<'a> {
        self.0.children.iter()
    }

    /// The existing child with the type and the name of this object.
    ///
    /// # Panics
    /// The object has no `apiVersion`, `kind` or name.
    #[expect(clippy::unwrap_in_result, reason = "the contract of roperator")]
    pub fn get_child_with_id(&self, resource: &Value) -> Option<&'a K8sResource> {
        let id = resource.get_type_ref().zip(resource.get_id_ref());
        let (ty, id) = id.expect("the object has an apiVersion, a kind and a metadata.name");
        self.of_type(ty).get(id)
    }
}

impl fmt::Debug for SyncRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parent, children } = self;
        write!(f, "SyncRequest: {parent:?} with {} children", children.len())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;
    use crate::k8s_types::core::v1::{Pod, Secret, Service};

    fn object(api_version: &str, kind: &str, name: &str) -> Value {
        let metadata = json!({
            "namespace": "ns", "name": name, "uid": format!("{kind}-{name}"), "resourceVersion": "1",
        });
        json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": {"a": 1}})
    }

    /// A parent with two Pods and a Service.
    pub(crate) fn request() -> SyncRequest {
        let children = [("Pod", "b"), ("Service", "b"), ("Pod", "c")];
        let children = children.map(|(kind, name)| object("v1", kind, name));
        let parent = object("example.dev/v1", "Website", "a");
        serde_json::from_value(json!({"parent": parent, "children": children})).unwrap()
    }

    #[derive(Deserialize)]
    struct Mine {
        metadata: Metadata,
    }

    #[derive(Deserialize)]
    struct Metadata {
        uid: String,
    }

    #[test]
    fn children_are_found_by_type_and_name() {
        let request = request();
        let pods = request.children().of_type(Pod);
        assert_eq!((pods.count(), pods.is_empty(), pods.type_ref()), (2, false, Pod.to_type_ref()));
        assert_eq!(pods.get(("ns", "c")).unwrap().uid(), "Pod-c");
        assert!(pods.exists(("ns", "b")) && !pods.exists(("ns", "d")) && !pods.exists(("", "b")));
        assert_eq!(pods.clone().into_iter().count(), 2);
        assert_eq!(request.children().of_type(("v1", "Service")).first().unwrap().name(), "b");
        assert!(request.children().of_type(Secret).first().is_none());
        assert_eq!(request.children().iter().count(), 3);
    }

    #[test]
    fn children_are_read_as_a_rust_type() {
        let request = request();
        let pods = request.children().with_type::<Mine>(Pod);
        assert_eq!(pods.get(("ns", "c")).unwrap().unwrap().metadata.uid, "Pod-c");
        assert_eq!(pods.first().unwrap().unwrap().metadata.uid, "Pod-b");
        assert_eq!((pods.count(), pods.is_empty(), pods.as_raw().count()), (2, false, 2));
        assert!(pods.exists(("ns", "b")) && pods.into_iter().all(|pod| pod.is_ok()));
        let misfits = request.children().with_type::<Vec<u8>>(Service);
        assert!(misfits.iter().all(|service| service.is_err()));
        let parent: Mine = request.deserialize_parent().unwrap();
        assert_eq!(parent.metadata.uid, "Website-a");
    }

    #[test]
    fn an_existing_child_is_found_by_a_desired_one() {
        let request = request();
        let metadata = json!({"namespace": "ns", "name": "b"});
        let desired = json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata});
        let found = request.children().get_child_with_id(&desired);
        assert_eq!(found, request.children().of_type(Service).first());
    }

    #[test]
    fn a_request_survives_a_round_trip_through_json_and_debug_shows_no_content() {
        let request = request();
        let json = serde_json::to_value(&request).unwrap();
        assert_eq!(serde_json::from_value::<SyncRequest>(json).unwrap(), request);
        assert_eq!(format!("{request:?}"), "SyncRequest: Website ns/a @1 with 3 children");
    }
}
