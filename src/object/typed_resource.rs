//! A Rust type of Kubernetes objects, and its scope.

use kube::{
    Resource,
    core::{ClusterResourceScope, NamespaceResourceScope},
};

/// Whether objects of a type live in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Each object is in a namespace.
    Namespaced,
    /// Objects belong to the cluster.
    Cluster,
}

/// The scopes that a Rust type can declare through [`kube::Resource::Scope`].
pub trait ResourceScope {
    /// The scope as a value.
    const SCOPE: Scope;
}

impl ResourceScope for NamespaceResourceScope {
    const SCOPE: Scope = Scope::Namespaced;
}

impl ResourceScope for ClusterResourceScope {
    const SCOPE: Scope = Scope::Cluster;
}

/// A Rust type of Kubernetes objects: one of k8s-openapi, or the one that `#[derive(CustomResource)]` makes.
/// Whatever implements [`kube::Resource`] without a dynamic type is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of Kubernetes objects",
    label = "this has no `apiVersion` and no `kind`",
    note = "of a custom resource, name the type that `#[derive(CustomResource)]` makes, which has the name of its \
            `kind`: the struct that derives it is the `spec`",
    note = "other types are those of `k8s_openapi`; all of the version of kube that `operetta::kube` is"
)]
pub trait TypedResource: Resource<DynamicType = (), Scope: ResourceScope> {}

#[diagnostic::do_not_recommend]
impl<K> TypedResource for K
where
    K: Resource<DynamicType = ()>,
    K::Scope: ResourceScope,
{
}
