//! The type of the parent in a request.

use serde::de::DeserializeOwned;

use crate::object::{K8sType, Object, ParseAsError, TypedResource};

/// The parent of a [`SyncRequest`](super::SyncRequest): an [`Object`], or any kube resource.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the parent of a request",
    label = "the request of this handler has `{Self}` as its parent",
    note = "of a custom resource, write `SyncRequest<P>` with the type `P` that `#[derive(CustomResource)]` makes, which \
            has the name of its `kind`: the struct that derives it is the `spec`",
    note = "other parents are types of `k8s_openapi`, or an `Object`: `SyncRequest` without a type"
)]
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

#[diagnostic::do_not_recommend]
impl<P> Parent for P
where
    P: TypedResource + DeserializeOwned + Send + Sync + 'static,
{
    fn k8s_type() -> Option<K8sType> {
        Some(K8sType::of::<P>())
    }

    fn of_object(object: &Object) -> Result<Self, ParseAsError> {
        object.parse_as()
    }
}
