//! The objects that a handler names for one parent.

use crate::object::{K8sType, KeyRef, TypedResource};

/// The objects that a handler reads for one parent and does not own: by name, by labels, or all of a
/// namespace.
///
/// A rule without a namespace means that of the parent; for a cluster-scoped parent, all namespaces.
/// Every type must be declared by [`OperatorConfig::related`](super::super::OperatorConfig::related).
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Secret};
/// use operetta::{object::Object, prelude::*};
///
/// fn related(parent: &Object) -> Related {
///     let secret = parent.field("spec").unwrap_or_default()["secret"].as_str().unwrap_or_default().to_owned();
///     Related::new()
///         .named::<Secret>(&*secret)
///         .named::<ConfigMap>(("shared", "defaults"))
///         .labelled::<ConfigMap>("tier=gold")
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Related {
    pub(super) rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) ty: K8sType,
    pub(super) which: Which,
    pub(super) reach: Reach,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Which {
    Named(String),
    Labelled(String),
    All,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reach {
    /// The namespace of the parent, or all.
    OfParent,
    Namespace(String),
    Everywhere,
}

impl Related {
    /// No objects.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The types that are named.
    pub(crate) fn types(&self) -> impl Iterator<Item = &K8sType> {
        self.rules.iter().map(|rule| &rule.ty)
    }

    /// Adds the object of this name in the namespace of the parent, or of `(namespace, name)`. It need not
    /// exist.
    #[must_use]
    pub fn named<'k, R>(self, key: impl Into<KeyRef<'k>>) -> Self
    where
        R: TypedResource,
    {
        self.named_of_type(&K8sType::of::<R>(), key)
    }

    /// Adds the objects with these labels, for example `tier=gold,!legacy`.
    #[must_use]
    pub fn labelled<R>(self, selector: &str) -> Self
    where
        R: TypedResource,
    {
        self.labelled_of_type(&K8sType::of::<R>(), selector)
    }

    /// Adds all objects of a type.
    #[must_use]
    pub fn all<R>(self) -> Self
    where
        R: TypedResource,
    {
        self.all_of_type(&K8sType::of::<R>())
    }

    /// The same as [`named`](Self::named) for a type that is known by its names.
    #[must_use]
    pub fn named_of_type<'k>(self, ty: &K8sType, key: impl Into<KeyRef<'k>>) -> Self {
        let KeyRef { namespace, name } = key.into();
        let reach = namespace.map_or(Reach::OfParent, |it| Reach::Namespace(it.to_owned()));
        self.with(ty, Which::Named(name.to_owned()), reach)
    }

    /// The same as [`labelled`](Self::labelled) for a type that is known by its names.
    #[must_use]
    pub fn labelled_of_type(self, ty: &K8sType, selector: &str) -> Self {
        self.with(ty, Which::Labelled(selector.to_owned()), Reach::OfParent)
    }

    /// The same as [`all`](Self::all) for a type that is known by its names.
    #[must_use]
    pub fn all_of_type(self, ty: &K8sType) -> Self {
        self.with(ty, Which::All, Reach::OfParent)
    }

    /// Takes the objects that were added last from this namespace.
    #[must_use]
    pub fn in_namespace(self, namespace: &str) -> Self {
        self.reaching(Reach::Namespace(namespace.to_owned()))
    }

    /// Takes the objects that were added last from all namespaces.
    #[must_use]
    pub fn in_all_namespaces(self) -> Self {
        self.reaching(Reach::Everywhere)
    }

    fn with(mut self, ty: &K8sType, which: Which, reach: Reach) -> Self {
        self.rules.push(Rule { ty: ty.clone(), which, reach });
        self
    }

    fn reaching(mut self, reach: Reach) -> Self {
        if let Some(last) = self.rules.last_mut() {
            last.reach = reach;
        }
        self
    }
}
