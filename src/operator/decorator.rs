//! Operators on types that they do not own.

use super::{Decorates, DecoratorOptions, DecoratorRole, OperatorConfig, Role};
use crate::object::{K8sType, LabelSelector, TypedResource};

/// The configuration of a decorator, see [`OperatorConfig::decorates`].
pub type DecoratorConfig = OperatorConfig<Decorates>;

impl OperatorConfig<Decorates> {
    /// A decorator: an operator for objects that others own, such as Deployments. It adds children, and
    /// labels and annotations of the parent ([`SyncResponse::decorating`]).
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
    /// use operetta::{operator::{Decoration, DecoratorResponse}, prelude::*};
    /// use serde_json::json;
    ///
    /// fn sync(request: &SyncRequest<Deployment>) -> Result<DecoratorResponse> {
    ///     let name = request.parent.metadata.name.clone().unwrap_or_default();
    ///     let notes = json!({"apiVersion": "v1", "kind": "ConfigMap",
    ///         "metadata": {"name": format!("{name}-notes")}});
    ///     let noted = Decoration::new().label("example.com/noted", "true");
    ///     Ok(SyncResponse::new().child(notes).decorating(noted))
    /// }
    ///
    /// let config = OperatorConfig::decorates::<Deployment>("notes")
    ///     .with_parent_annotations("example.com/notes=true")
    ///     .child::<ConfigMap>(ChildConfig::apply());
    /// let builder = Supervisor::builder().register(config, sync);
    /// # drop(builder);
    /// ```
    ///
    /// The options of a decorator do not compile for an operator that owns its parents:
    ///
    /// ```compile_fail,E0277
    /// # use k8s_openapi::api::apps::v1::Deployment;
    /// # use operetta::prelude::*;
    /// let config = OperatorConfig::of::<Deployment>("notes").with_conditions();
    /// ```
    ///
    /// [`SyncResponse::decorating`]: super::SyncResponse::decorating
    pub fn decorates<P>(name: &str) -> Self
    where
        P: TypedResource,
    {
        Self::decorating(name, K8sType::of::<P>())
    }

    /// The same for a type that is known by its names.
    pub fn decorating(name: &str, parent: K8sType) -> Self {
        Self { decorator: Some(DecoratorOptions::default()), ..Self::with_parent(name, parent) }
    }
}

/// The options of decorators.
impl<R: Role> OperatorConfig<R> {
    /// Lets a decorator write the status fields that its handler returns, by server-side apply. Fields
    /// that it no longer returns are removed.
    #[must_use]
    pub fn with_status_fields(self) -> Self
    where
        R: DecoratorRole,
    {
        self.allowing(|options| options.status_fields = true)
    }

    /// Lets a decorator write the conditions of the framework into the status of its parents, with its
    /// name as a prefix, for example `notes/Synced`.
    #[must_use]
    pub fn with_conditions(self) -> Self
    where
        R: DecoratorRole,
    {
        self.allowing(|options| options.conditions = true)
    }

    /// Lets a decorator take labels, annotations and status fields that other field managers own.
    #[must_use]
    pub fn with_forced_decoration(self) -> Self
    where
        R: DecoratorRole,
    {
        self.allowing(|options| options.force = true)
    }

    /// Lets a decorator hold the replicas of its parents, which have a `scale` subresource and
    /// `spec.replicas`, see [`Decoration::hold_replicas`](super::Decoration::hold_replicas).
    #[must_use]
    pub fn with_held_replicas(self) -> Self
    where
        R: DecoratorRole,
    {
        self.allowing(|options| options.held_replicas = true)
    }

    fn allowing(mut self, option: impl FnOnce(&mut DecoratorOptions)) -> Self {
        option(self.decorator.get_or_insert_default());
        self
    }
}

// === what any operator is asked ===

impl<R: Role> OperatorConfig<R> {
    /// Whether others own its parents.
    pub(crate) fn is_decorator(&self) -> bool {
        self.decorator.is_some()
    }

    /// What it may do as a decorator; an operator that owns its parents may nothing of that.
    pub(crate) fn decorator_options(&self) -> DecoratorOptions {
        self.decorator.unwrap_or_default()
    }

    /// Whether the operator writes any part of the status of its parents.
    pub(crate) fn writes_status(&self) -> bool {
        let DecoratorOptions { status_fields, conditions, .. } = self.decorator_options();
        !self.is_decorator() || status_fields || conditions
    }

    pub(crate) fn selects_by_label(&self, key: &str) -> bool {
        has_key(self.parent_selector.as_ref(), key)
    }

    pub(crate) fn selects_by_annotation(&self, key: &str) -> bool {
        has_key(self.parent_annotations.as_ref(), key)
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
    fn a_decorator_writes_a_status_only_if_it_is_allowed_to() {
        let decorator = || OperatorConfig::decorates::<Deployment>("a");
        assert!(!decorator().with_forced_decoration().with_held_replicas().writes_status());
        assert!(decorator().with_conditions().writes_status());
        assert!(decorator().with_status_fields().writes_status());
        assert!(OperatorConfig::of::<Deployment>("a").writes_status());
    }
}
