//! A resource type: group, version, kind, plural and scope, and the paths that follow from them.

use std::{fmt, sync::Arc};

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::{ObjectKey, ResourceScope, Scope, TypedResource};

/// Characters that names may have (those of Roles, for example) and paths of URLs may not.
const NOT_IN_PATHS: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'?').add(b'`');

/// The groups with a dot that the API server itself serves. Others with similar endings belong to
/// CRDs, such as `gateway.networking.k8s.io`, or to aggregated servers.
const BUILTIN_GROUPS: [&str; 18] = [
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// A resource type of the Kubernetes API. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct K8sType(Arc<Facts>);

#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Facts {
    api_version: String,
    kind: String,
    plural: String,
    scope: Scope,
}

impl K8sType {
    /// The type behind a Rust type such as `Pod`, or one that derives `CustomResource`.
    pub fn of<K>() -> Self
    where
        K: TypedResource,
    {
        Self::new(&K::api_version(&()), &K::kind(&()), &K::plural(&()), K::Scope::SCOPE)
    }

    /// A type by its names; `api_version` is `v1` or `group/version`, `plural` is the name in URLs.
    pub fn new(api_version: &str, kind: &str, plural: &str, scope: Scope) -> Self {
        Self(Arc::new(Facts {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            scope,
        }))
    }

    /// A type whose objects live in namespaces.
    pub fn namespaced(api_version: &str, kind: &str, plural: &str) -> Self {
        Self::new(api_version, kind, plural, Scope::Namespaced)
    }

    /// A type whose objects belong to the cluster.
    pub fn cluster_scoped(api_version: &str, kind: &str, plural: &str) -> Self {
        Self::new(api_version, kind, plural, Scope::Cluster)
    }

    /// `v1` or `group/version`.
    pub fn api_version(&self) -> &str {
        &self.0.api_version
    }

    /// The group; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }

    /// The version without the group.
    pub fn version(&self) -> &str {
        self.api_version().split_once('/').map_or(self.api_version(), |(_, version)| version)
    }

    /// The kind, as in YAML.
    pub fn kind(&self) -> &str {
        &self.0.kind
    }

    /// The plural, as in URLs.
    pub fn plural(&self) -> &str {
        &self.0.plural
    }

    /// Whether objects of the type live in namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.0.scope == Scope::Namespaced
    }

    /// Whether the type is one that the API server itself defines, as opposed to a custom resource.
    pub(crate) fn is_builtin(&self) -> bool {
        !self.group().contains('.') || BUILTIN_GROUPS.contains(&self.group())
    }

    /// Whether the type may be defined by a CRD: the group of a CRD has a dot, and with the
    /// permission one can be defined even in a group of Kubernetes itself.
    pub(crate) fn may_be_custom(&self) -> bool {
        self.group().contains('.')
    }

    /// Whether this is `kind` of `api_version`.
    pub(crate) fn is(&self, api_version: &str, kind: &str) -> bool {
        self.api_version() == api_version && self.kind() == kind
    }

    /// Whether both have the same objects, perhaps in different versions.
    pub(crate) fn is_version_of(&self, other: &Self) -> bool {
        (self.group(), self.kind()) == (other.group(), other.kind())
    }

    /// `plural` or `plural.group`: the name of the type in RBAC and kubectl.
    pub(crate) fn resource_name(&self) -> String {
        match self.group() {
            "" => self.plural().to_owned(),
            group => format!("{}.{group}", self.plural()),
        }
    }

    /// The URL path of the collection, of one namespace or of all.
    pub(crate) fn collection_path(&self, namespace: Option<&str>) -> String {
        let root = if self.group().is_empty() { "api" } else { "apis" };
        let api_version = self.api_version();
        let plural = self.plural();
        match namespace.filter(|_| self.is_namespaced()) {
            Some(namespace) => format!("/{root}/{api_version}/namespaces/{namespace}/{plural}"),
            None => format!("/{root}/{api_version}/{plural}"),
        }
    }

    /// The URL path of one object.
    pub(crate) fn object_path(&self, key: &ObjectKey) -> String {
        let name = utf8_percent_encode(&key.name, NOT_IN_PATHS);
        format!("{}/{name}", self.collection_path(key.namespace.as_deref()))
    }
}

impl fmt::Display for K8sType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.kind(), self.api_version())
    }
}

impl fmt::Debug for K8sType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::Namespace};

    use super::*;

    #[test]
    fn a_rust_type_knows_its_paths() {
        let deployment = K8sType::of::<Deployment>();
        assert_eq!(deployment.to_string(), "Deployment.apps/v1");
        assert_eq!(deployment.resource_name(), "deployments.apps");
        assert_eq!(
            deployment.object_path(&ObjectKey::namespaced("ns", "a")),
            "/apis/apps/v1/namespaces/ns/deployments/a"
        );
        assert_eq!(deployment.collection_path(None), "/apis/apps/v1/deployments");
    }

    /// A Role may have such a name.
    #[test]
    fn every_name_has_a_valid_path() {
        let key = ObjectKey::namespaced("ns", "a:<b>`{c}|d?e#f");
        let path = K8sType::of::<Deployment>().object_path(&key);
        let uri: http::Uri = path.parse().unwrap();
        let name = uri.path().rsplit('/').next().unwrap();
        assert_eq!(percent_encoding::percent_decode_str(name).decode_utf8().unwrap(), *key.name);
    }

    #[test]
    fn builtin_groups_are_distinguished_from_similar_groups_of_crds() {
        for (api_version, is_builtin) in [
            ("v1", true),
            ("apps/v1", true),
            ("policy/v1", true),
            ("networking.k8s.io/v1", true),
            ("rbac.authorization.k8s.io/v1", true),
            ("gateway.networking.k8s.io/v1", false),
            ("policy.networking.k8s.io/v1alpha1", false),
            ("snapshot.storage.k8s.io/v1", false),
            ("metrics.k8s.io/v1beta1", false),
            ("cert-manager.io/v1", false),
        ] {
            let ty = K8sType::namespaced(api_version, "Thing", "things");
            assert_eq!(ty.is_builtin(), is_builtin, "{ty}");
        }
    }

    /// The list is taken from the modules of Kubernetes, so that a new version shows new groups.
    #[test]
    fn every_type_that_kubernetes_publishes_is_known_as_its_own() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/apiserver/data/builtin.json");
        let data = std::fs::read(file).unwrap();
        let data: serde_json::Value = serde_json::from_slice(&data).unwrap();
        let resources = data["resources"].as_array().unwrap();
        assert!(resources.len() > 30);
        for resource in resources {
            let text = |name: &str| resource[name].as_str().unwrap_or_default();
            let api_version = match text("group") {
                "" => text("version").to_owned(),
                group => format!("{group}/{}", text("version")),
            };
            assert!(
                K8sType::namespaced(&api_version, text("kind"), "x").is_builtin(),
                "{resource}"
            );
        }
    }

    #[test]
    fn a_core_type_has_no_group_and_a_cluster_type_no_namespace() {
        let namespace = K8sType::of::<Namespace>();
        assert_eq!((namespace.group(), namespace.version()), ("", "v1"));
        assert_eq!(namespace.collection_path(Some("ignored")), "/api/v1/namespaces");
    }
}
