//! The related objects of a request.

use serde::{Serialize, de::DeserializeOwned};

use super::{Children, RawView, SyncRequest, TypedView, request::example};
use crate::object::{K8sType, ParseAsError, ParseObjectError, TypeRef, TypedResource};

impl SyncRequest {
    /// The related objects, of an operator that declares some.
    pub(crate) fn relating(mut self, related: Option<Children>) -> Self {
        self.related = related;
        self
    }

    pub(crate) fn declares_no_related(&self) -> bool {
        self.related.is_none()
    }
}

impl<P> SyncRequest<P> {
    /// The related objects of a Rust type: those that [`Handler::related`](super::Handler::related) names,
    /// as far as they exist. Each is parsed once per reconcile.
    pub fn related<R>(&self) -> TypedView<'_, R>
    where
        R: TypedResource + DeserializeOwned + Send + Sync + 'static,
    {
        self.related.as_ref().map_or_else(TypedView::default, Children::with_type)
    }

    /// The same for a type that is known by its names, such as `("v1", "Secret")`.
    pub fn related_of_type<'t>(&self, ty: impl Into<TypeRef<'t>>) -> RawView<'_> {
        self.related.as_ref().map_or_else(RawView::default, |related| related.of_type(ty))
    }

    /// The related object of a Rust type with this name: in the namespace of the parent, or the first by
    /// namespace if the parent is cluster-scoped. One in another namespace is
    /// `request.related::<R>().get((namespace, name))`.
    ///
    /// # Errors
    /// The object does not fit the type. The error names it and the JSON path.
    pub fn related_object<R>(&self, name: &str) -> Result<Option<&R>, ParseAsError>
    where
        R: TypedResource + DeserializeOwned + Send + Sync + 'static,
    {
        self.beside(self.related::<R>(), name)
    }

    /// The same request with one more related object, for tests; completed as a child is.
    ///
    /// # Errors
    /// The value is not an object with a name.
    pub fn with_related<R>(self, value: impl Serialize) -> Result<Self, ParseObjectError>
    where
        R: TypedResource,
    {
        self.with_related_of_type(&K8sType::of::<R>(), value)
    }

    /// The same for a type that is known by its names.
    ///
    /// # Errors
    /// The value is not an object with a name.
    pub fn with_related_of_type(
        mut self,
        ty: &K8sType,
        value: impl Serialize,
    ) -> Result<Self, ParseObjectError> {
        let object = example(ty, value, self.object().namespace().unwrap_or("default"))?;
        self.related.get_or_insert_default().insert(object);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use serde_json::json;

    use super::*;

    #[test]
    fn related_objects_are_found_by_name() {
        let secret = |namespace: &str| json!({"metadata": {"name": "ca", "namespace": namespace}});
        let website = K8sType::namespaced("example.dev/v1", "Website", "websites");
        let parent = json!({"metadata": {"name": "a", "namespace": "ns"}});
        let request = SyncRequest::example(&website, parent).unwrap();
        let request = request.with_related::<Secret>(json!({"metadata": {"name": "ca"}})).unwrap();
        let request = request.with_related::<Secret>(secret("shared")).unwrap();
        let ca = request.related_object::<Secret>("ca").unwrap().unwrap();
        assert_eq!(ca.metadata.namespace.as_deref(), Some("ns"));
        assert!(request.related::<Secret>().get(("shared", "ca")).unwrap().is_some());
        assert!(request.related_object::<Secret>("other").unwrap().is_none());
        assert_eq!(request.related_of_type(("v1", "Secret")).len(), 2);
        assert!(request.related::<ConfigMap>().is_empty());
        assert_eq!(request.untyped().related::<Secret>().len(), 2);
    }
}
