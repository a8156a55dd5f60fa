//! The type of the parent in a request.

use kube::Resource;
use serde::de::DeserializeOwned;

use crate::object::{K8sType, Object, ParseAsError, ResourceScope};

/// The parent of a [`SyncRequest`](super::SyncRequest): an [`Object`], or any kube resource.
pub trait Parent: Sized + Send + Sync + 'static {
    /// The Kubernetes type; `None` for an [`Object`], which has any.
    fn k8s_type() -> Option<K8sType>;

    /// The parent of a cached object.
    ///
    /// # Errors
    /// The object does not fit the Rust type.
    fn of_object(object: &Object) -> Result<Self, ParseAsError>;
}

impl Parent for Object {
    fn k8s_type() -> Option<K8sType> {
        None
    }

    fn of_object(object: &Object) -> Result<Self, ParseAsError> {
        Ok(object.clone())
    }
}

impl<P> Parent for P
where
    P: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
    P::Scope: ResourceScope,
{
    fn k8s_type() -> Option<K8sType> {
        Some(K8sType::of::<P>())
    }

    fn of_object(object: &Object) -> Result<Self, ParseAsError> {
        object.parse_as()
    }
}
