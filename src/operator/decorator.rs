//! Operators on types that they do not own.

use kube::Resource;

use super::{ConfigError, OperatorConfig};
use crate::object::{K8sType, LabelSelector, ResourceScope};

impl OperatorConfig {
    /// A decorator: an operator for objects that others own, such as Deployments. It adds children, and
    /// labels and annotations of the parent ([`SyncResponse::label`], [`SyncResponse::annotation`]).
    ///
    /// Its parents are those that [`with_parent_selector`](Self::with_parent_selector) and
    /// [`with_parent_annotations`](Self::with_parent_annotations) select, or all objects of the type.
    ///
    /// - What it puts on a parent is written by server-side apply with the operator's name as the field
    ///   manager. What the handler no longer returns is removed. The spec is never written, except for the
    ///   replicas under [`with_held_replicas`](Self::with_held_replicas).
    /// - A label or annotation that another field manager owns with another value is not written, and is
    ///   reported, unless [`with_forced_decoration`](Self::with_forced_decoration) says otherwise.
    /// - The status belongs to the controller of the type: nothing is written there without
    ///   [`with_status_fields`](Self::with_status_fields) or [`with_conditions`](Self::with_conditions).
    ///   What a decorator reports is on the page, in Events and in metrics.
    /// - The parent gets a finalizer only if the handler has one, or a child type is
    ///   [`delete_with_finalizer`](super::ChildConfig::delete_with_finalizer).
    /// - A parent that leaves the selection loses what the decorator added: its labels, annotations,
    ///   status fields and children. Unlike other operators, a decorator therefore watches all objects of
    ///   the type in its namespaces.
    ///
    /// ```
    /// use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
    /// use operetta::prelude::*;
    /// use serde_json::json;
    ///
    /// fn sync(request: &SyncRequest<Deployment>) -> Result<SyncResponse> {
    ///     let name = request.parent.metadata.name.clone().unwrap_or_default();
    ///     let notes = json!({"apiVersion": "v1", "kind": "ConfigMap",
    ///         "metadata": {"name": format!("{name}-notes")}});
    ///     Ok(SyncResponse::new().child(notes).label("example.com/noted", "true"))
    /// }
    ///
    /// let config = OperatorConfig::decorates::<Deployment>("notes")
    ///     .with_parent_annotations("example.com/notes=true")
    ///     .child::<ConfigMap>(ChildConfig::apply());
    /// let builder = Supervisor::builder().register(config, sync);
    /// # drop(builder);
    /// ```
    ///
    /// [`SyncResponse::label`]: super::SyncResponse::label
    /// [`SyncResponse::annotation`]: super::SyncResponse::annotation
    pub fn decorates<P>(name: &str) -> Self
    where
        P: Resource<DynamicType = ()>,
        P::Scope: ResourceScope,
    {
        Self::decorating(name, K8sType::of::<P>())
    }

    /// The same for a type that is known by its names.
    pub fn decorating(name: &str, parent: K8sType) -> Self {
        Self { decorates: true, ..Self::new(name, parent) }
    }

    /// Lets a decorator write the status fields that its handler returns, by server-side apply. Fields
    /// that it no longer returns are removed.
    #[must_use]
    pub fn with_status_fields(mut self) -> Self {
        self.decorator_status = true;
        self
    }

    /// Lets a decorator write the conditions of the framework into the status of its parents, with its
    /// name as a prefix, for example `notes/Synced`.
    #[must_use]
    pub fn with_conditions(mut self) -> Self {
        self.decorator_conditions = true;
        self
    }

    /// Lets a decorator take labels, annotations and status fields that other field managers own.
    #[must_use]
    pub fn with_forced_decoration(mut self) -> Self {
        self.force_decoration = true;
        self
    }

    /// Whether the operator writes any part of the status of its parents.
    pub(crate) fn writes_status(&self) -> bool {
        !self.decorates || self.decorator_status || self.decorator_conditions
    }

    pub(crate) fn selects_by_label(&self, key: &str) -> bool {
        has_key(self.parent_selector.as_ref(), key)
    }

    pub(crate) fn selects_by_annotation(&self, key: &str) -> bool {
        has_key(self.parent_annotations.as_ref(), key)
    }

    pub(super) fn validate_decorator(&self) -> Result<(), ConfigError> {
        let of_status = self.decorator_status || self.decorator_conditions;
        let options = of_status || self.force_decoration || self.decorator_replicas;
        if options && !self.decorates {
            return Err(ConfigError::NoDecorator { operator: self.name.clone() });
        }
        Ok(())
    }
}

/// Whether a selector, which is valid, has a requirement for a key.
fn has_key(selector: Option<&String>, key: &str) -> bool {
    let selector = selector.and_then(|text| LabelSelector::parse(text).ok());
    selector.is_some_and(|selector| selector.keys().any(|known| known == key))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::Deployment;

    use super::*;

    #[test]
    fn the_options_of_decorators_are_refused_for_others() {
        let decorator = || OperatorConfig::decorates::<Deployment>("a");
        assert_eq!(decorator().with_status_fields().with_forced_decoration().validate(), Ok(()));
        assert!(!decorator().writes_status() && decorator().with_conditions().writes_status());
        let operator = || OperatorConfig::of::<Deployment>("a");
        for config in [
            operator().with_status_fields(),
            operator().with_conditions(),
            operator().with_forced_decoration(),
            operator().with_held_replicas(),
        ] {
            let refused = config.validate();
            assert!(matches!(refused, Err(ConfigError::NoDecorator { .. })), "{refused:?}");
        }
    }
}
