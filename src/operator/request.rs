//! The input of a handler.

use std::{fmt, time::SystemTime};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{Children, HandlerMetrics, Parent, TypedView};
use crate::object::{
    K8sType, KeptManagers, KeyRef, Object, ParseAsError, ParseObjectError, ResourceScope, Scope,
    TypeRef, TypedResource,
};

/// A snapshot of one parent and its children.
///
/// In a unit test it is made of plain values, and a handler is called as a function:
///
/// ```
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// use operetta::prelude::*;
/// use serde_json::json;
///
/// fn sync(request: &SyncRequest) -> Result<SyncResponse> {
///     let count = request.children::<ConfigMap>().len();
///     Ok(SyncResponse::status(json!({"count": count})))
/// }
///
/// let website = K8sType::namespaced("example.dev/v1", "Website", "websites");
/// let request = SyncRequest::example(&website, json!({"metadata": {"name": "a"}}))?
///     .with_child::<ConfigMap>(json!({"metadata": {"name": "a-config"}}))?;
/// assert_eq!(sync(&request)?.status, Some(json!({"count": 1})));
/// # Ok::<(), operetta::anyhow::Error>(())
/// ```
///
/// `P` is the Rust type of the parent: a kube resource, or the dynamic [`Object`]. A typed request for a
/// test is made of a dynamic one by [`SyncRequest::typed`].
///
/// As JSON it is `{"parent": .., "children": [..], "failures": ..}`, with `"related": [..]` where the
/// operator declares related types; [`SyncRequest::from_value`] reads it.
#[derive(Clone)]
pub struct SyncRequest<P = Object> {
    /// The parent.
    pub parent: P,
    /// The children that the parent owns, of every declared type.
    pub children: Children,
    /// How many consecutive calls of the handler for this parent failed directly before this one;
    /// since its spec last changed, if `metadata.generation` shows that. Only for the response to
    /// an error: the desired state must not depend on it.
    pub failures: u32,
    object: Object,
    now: SystemTime,
    is_preview: bool,
    metrics: HandlerMetrics,
    /// `None` where the operator declares no related type, or nobody asked the handler.
    pub(super) related: Option<Children>,
}

impl SyncRequest {
    /// A first request.
    pub fn new(parent: Object, children: Children) -> Self {
        let (object, now) = (parent.clone(), SystemTime::UNIX_EPOCH);
        let (failures, is_preview, metrics, related) = <_>::default();
        Self { parent, children, failures, object, now, is_preview, metrics, related }
    }

    /// A request for tests, with a parent without children. Required fields are added where they
    /// are missing: a uid, a version, and the namespace `default`.
    ///
    /// # Errors
    /// The value is not an object with a name.
    pub fn example(parent: &K8sType, value: impl Serialize) -> Result<Self, ParseObjectError> {
        Ok(Self::new(example(parent, value, "default")?, Children::default()))
    }

    /// The same request with the parent as a Rust type.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::Secret;
    /// use operetta::prelude::*;
    /// use serde_json::json;
    ///
    /// let value = json!({"metadata": {"name": "a"}, "type": "Opaque"});
    /// let request = SyncRequest::example(&K8sType::of::<Secret>(), value)?.typed::<Secret>()?;
    /// assert_eq!(request.parent.type_.as_deref(), Some("Opaque"));
    /// # Ok::<(), operetta::anyhow::Error>(())
    /// ```
    ///
    /// # Errors
    /// The parent does not fit the type.
    pub fn typed<P: Parent>(self) -> Result<SyncRequest<P>, ParseAsError> {
        let Self { children, failures, object, now, is_preview, metrics, related, parent: _ } =
            self;
        let parent = P::of_object(&object)?;
        Ok(SyncRequest { parent, children, failures, object, now, is_preview, metrics, related })
    }

    pub(crate) fn with_failures(self, failures: u32) -> Self {
        Self { failures, ..self }
    }

    /// The same request with the metrics of an operator.
    pub(crate) fn counting(self, metrics: HandlerMetrics) -> Self {
        Self { metrics, ..self }
    }

    /// The same request at this time, see [`SyncRequest::now`].
    #[must_use]
    pub fn at(self, now: SystemTime) -> Self {
        Self { now, ..self }
    }

    /// Marks the request as one of a preview, see [`SyncRequest::is_preview`].
    #[must_use]
    pub fn as_preview(self, is_preview: bool) -> Self {
        Self { is_preview, ..self }
    }
}

impl<P> SyncRequest<P> {
    /// The same request with the parent as the API server sent it.
    #[must_use]
    pub fn untyped(&self) -> SyncRequest {
        let Self { children, failures, object, now, is_preview, metrics, related, parent: _ } =
            self;
        let (children, related) = (children.clone(), related.clone());
        let plain = SyncRequest::new(object.clone(), children).as_preview(*is_preview).at(*now);
        let plain = plain.counting(metrics.clone());
        SyncRequest { failures: *failures, related, ..plain }
    }

    pub(super) fn all_related(&self) -> Option<&Children> {
        self.related.as_ref()
    }

    /// The parent as the API server sent it.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// The time at which the handler is called, by the clock of the process, which `testkit::Clock` moves; 1970 in
    /// a request that was made otherwise, without [`SyncRequest::at`].
    ///
    /// For what begins or ends at a certain time, with [`SyncResponse::resync_after`](super::SyncResponse::resync_after)
    /// for that time. What is desired must not differ with each call: a child with the time in it is written for ever.
    pub fn now(&self) -> SystemTime {
        self.now
    }

    /// Whether the response is only shown and nothing is written: a handler that calls other systems must
    /// not change anything there.
    pub fn is_preview(&self) -> bool {
        self.is_preview
    }

    /// The metrics of the operator that its handler counts itself. In a preview, and in a request that was made
    /// otherwise, they are shown nowhere.
    pub fn metrics(&self) -> &HandlerMetrics {
        &self.metrics
    }

    /// The same request with one more child, for tests; completed in the same way, with the
    /// namespace of the parent.
    ///
    /// # Errors
    /// The value is not an object with a name.
    pub fn with_child<C>(self, value: impl Serialize) -> Result<Self, ParseObjectError>
    where
        C: TypedResource,
    {
        self.with_child_of_type(&K8sType::of::<C>(), value)
    }

    /// The same for a type that is known by its names.
    ///
    /// # Errors
    /// The value is not an object with a name.
    pub fn with_child_of_type(
        mut self,
        ty: &K8sType,
        value: impl Serialize,
    ) -> Result<Self, ParseObjectError> {
        let namespace = self.object.namespace().unwrap_or("default");
        let child = example(ty, value, namespace)?;
        self.children.insert(child);
        Ok(self)
    }

    /// The parent as a Rust type.
    ///
    /// # Errors
    /// The parent does not fit the type. Returned by a handler the error becomes the parent's
    /// `Ready` condition, which names the path and quotes no value.
    ///
    /// A type whose status has required fields does not fit a parent whose first reconcile failed:
    /// its status has only conditions. [`SyncRequest::spec_as`] ignores the status.
    pub fn parent_as<T: DeserializeOwned>(&self) -> Result<T, ParseAsError> {
        self.object.parse_as()
    }

    /// The `spec` of the parent as a Rust type.
    ///
    /// # Errors
    /// It does not fit the type, as for [`SyncRequest::parent_as`].
    pub fn spec_as<S: DeserializeOwned>(&self) -> Result<S, ParseAsError> {
        self.object.parse_field_as("spec")
    }

    /// The children of a Rust type; empty for a type that the operator does not declare in this
    /// version. Each is parsed once per reconcile.
    pub fn children<C>(&self) -> TypedView<'_, C>
    where
        C: TypedResource + DeserializeOwned + Send + Sync + 'static,
    {
        self.children.with_type()
    }

    /// The child of a Rust type with this name: in the namespace of the parent, or the first by
    /// namespace if the parent is cluster-scoped.
    ///
    /// # Errors
    /// The child does not fit the type. The error names it and the JSON path.
    pub fn child<C>(&self, name: &str) -> Result<Option<&C>, ParseAsError>
    where
        C: TypedResource + DeserializeOwned + Send + Sync + 'static,
    {
        self.beside(self.children::<C>(), name)
    }

    /// The object with this name in the namespace of the parent, or the first with it if the parent is
    /// cluster-scoped.
    pub(super) fn beside<'a, C>(
        &self,
        view: TypedView<'a, C>,
        name: &str,
    ) -> Result<Option<&'a C>, ParseAsError>
    where
        C: TypedResource + DeserializeOwned + Send + Sync + 'static,
    {
        match self.object.namespace() {
            Some(namespace) if C::Scope::SCOPE == Scope::Namespaced => view.get((namespace, name)),
            _ => view.named(name),
        }
    }

    /// The existing child with the type and the name of a desired one. A desired child without a
    /// namespace gets that of the parent. `None` also if `apiVersion`, `kind` or name is missing.
    pub fn existing(&self, desired: &Value) -> Option<&Object> {
        let children = self.children.of_type(TypeRef::in_value(desired)?);
        let key = KeyRef::in_value(desired)?;
        let is_namespaced = children.ty()?.is_namespaced();
        let default = self.object.namespace().filter(|_| is_namespaced);
        children.get(KeyRef { namespace: key.namespace.or(default), ..key })
    }
}

/// Names the parent, and shows no content.
impl<P> fmt::Debug for SyncRequest<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, children, failures, is_preview, related, now: _, metrics: _, parent: _ } =
            self;
        f.debug_struct("SyncRequest")
            .field("parent", object)
            .field("children", children)
            .field("failures", failures)
            .field("is_preview", is_preview)
            .field("related", related)
            .finish()
    }
}

pub(super) fn example(
    ty: &K8sType,
    value: impl Serialize,
    namespace: &str,
) -> Result<Object, ParseObjectError> {
    let mut value = serde_json::to_value(value)?;
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        let name = metadata.get("name").and_then(Value::as_str).unwrap_or_default();
        let uid = format!("uid-of-{}-{name}", ty.kind().to_lowercase());
        let complete = [("uid", json!(uid)), ("resourceVersion", json!("1"))];
        let namespace = ty.is_namespaced().then(|| ("namespace", json!(namespace)));
        for (field, value) in complete.into_iter().chain(namespace) {
            metadata.entry(field).or_insert(value);
        }
    }
    Object::from_value(ty, &value, &KeptManagers::default())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};

    use super::*;

    fn request() -> SyncRequest {
        SyncRequest::example(
            &K8sType::namespaced("example.dev/v1", "Website", "websites"),
            json!({"metadata": {"name": "a", "namespace": "ns"}}),
        )
        .unwrap()
        .with_child::<ConfigMap>(json!({"metadata": {"name": "config"}}))
        .unwrap()
    }

    #[test]
    fn an_example_is_completed_as_a_cluster_would() {
        let request = request();
        assert_eq!(request.parent.key().to_string(), "ns/a");
        let child = request.children.of_type(("v1", "ConfigMap")).first().unwrap();
        assert_eq!(child.key().to_string(), "ns/config");
        assert_ne!(child.uid(), request.parent.uid());
        let nameless = SyncRequest::example(&K8sType::of::<Pod>(), json!({"metadata": {}}));
        assert!(matches!(nameless, Err(ParseObjectError::Missing("metadata.name"))));
    }

    #[test]
    fn an_existing_child_is_found_by_the_desired_one() {
        let request = request();
        let desired = |kind: &str, metadata: Value| json!({"apiVersion": "v1", "kind": kind, "metadata": metadata});
        for (desired, is_there) in [
            (desired("ConfigMap", json!({"name": "config"})), true),
            (desired("ConfigMap", json!({"name": "config", "namespace": "ns"})), true),
            (desired("ConfigMap", json!({"name": "config", "namespace": "other"})), false),
            (desired("ConfigMap", json!({"name": "other"})), false),
            (desired("Pod", json!({"name": "config"})), false),
            (json!({"metadata": {"name": "config"}}), false),
            (json!("config"), false),
        ] {
            assert_eq!(request.existing(&desired).is_some(), is_there, "{desired}");
        }
    }

    #[test]
    fn a_cluster_scoped_child_has_no_namespace() {
        let ty = K8sType::cluster_scoped("example.dev/v1", "City", "cities");
        let request = SyncRequest::example(&ty, json!({"metadata": {"name": "a"}})).unwrap();
        let request = request.with_child::<Namespace>(json!({"metadata": {"name": "n"}})).unwrap();
        let desired = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}});
        assert!(request.existing(&desired).is_some());
    }
}
