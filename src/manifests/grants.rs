//! Verbs by group and resource, and the rules of RBAC that grant exactly these.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::rbac::v1::PolicyRule;

use crate::{
    object::K8sType,
    operator::{OperatorConfig, Role},
};

/// Every store watches, and in doubt an object is read live.
pub(super) const READ: [&str; 3] = ["get", "list", "watch"];

/// A server-side apply that creates needs `create` beside `patch`, also as a dry run. Every update
/// strategy, adoption and recreation consists of applies, patches and deletions.
const KEEP: [&str; 3] = ["create", "patch", "delete"];

/// Pods, and the types that make them.
const WITH_PODS: [(&str, &str); 6] = [
    ("", "pods"),
    ("apps", "daemonsets"),
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("apps", "statefulsets"),
    ("batch", "jobs"),
];

/// Verbs by group and resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Grants(BTreeMap<(String, String), BTreeSet<&'static str>>);

impl Grants {
    pub(super) fn allow(&mut self, group: &str, resource: &str, verbs: &[&'static str]) {
        self.0.entry((group.to_owned(), resource.to_owned())).or_default().extend(verbs);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an operator works here. Without one there may be reads of cluster-scoped types.
    pub(super) fn has_operator(&self) -> bool {
        self.0.contains_key(&("events.k8s.io".to_owned(), "events".to_owned()))
    }

    /// What an operator requests, wherever it works.
    pub(super) fn allow_operator<R: Role>(&mut self, config: &OperatorConfig<R>) {
        self.allow_parent(&config.parent, config.writes_status());
        if config.decorator_options().held_replicas {
            let scale = format!("{}/scale", config.parent.plural());
            self.allow(config.parent.group(), &scale, &["patch"]);
        }
        for child in &config.children {
            self.allow_child(&config.parent, &child.ty);
        }
        for related in config.related.iter().filter(|related| related.ty.is_namespaced()) {
            self.allow_reading(&related.ty);
        }
        // A repeated Event is patched. Warnings are recorded by every operator.
        self.allow("events.k8s.io", "events", &["create", "patch"]);
    }

    /// What the web endpoint reads beside the caches: Events, and beneath children that have Pods, these and their claims.
    pub(super) fn allow_looking(&mut self) {
        self.allow("", "events", &["list"]);
        let has_pods = |(group, resource): &(String, String)| {
            WITH_PODS.contains(&(group.as_str(), resource.as_str()))
        };
        if self.0.keys().any(has_pods) {
            self.allow("", "pods", &["list"]);
            self.allow("", "persistentvolumeclaims", &["list"]);
        }
    }

    /// What the election of a leader requests.
    pub(super) fn allow_leases(&mut self) {
        self.allow("coordination.k8s.io", "leases", &["get", "list", "watch", "create", "update"]);
    }

    /// What a member of a group requests that shares the parents out: it also deletes the Leases of members that ended.
    pub(super) fn allow_shards(&mut self) {
        self.allow_leases();
        self.allow("coordination.k8s.io", "leases", &["delete"]);
    }

    /// What the label of the leader requests.
    pub(super) fn allow_leader_label(&mut self) {
        self.allow("", "pods", &["patch"]);
    }

    /// What an operator reads of cluster-scoped types, which no role of a namespace grants.
    pub(super) fn allow_cluster_scoped<R: Role>(&mut self, config: &OperatorConfig<R>) {
        for related in config.related.iter().filter(|related| !related.ty.is_namespaced()) {
            self.allow_reading(&related.ty);
        }
    }

    fn allow_reading(&mut self, ty: &K8sType) {
        self.allow(ty.group(), ty.plural(), &READ);
    }

    fn allow_parent(&mut self, parent: &K8sType, has_status: bool) {
        let (group, plural) = (parent.group(), parent.plural());
        self.allow(group, plural, &READ);
        // For finalizers, also of a handler without one: one that an earlier version of the program
        // has added is removed. For the annotation by which users pause a parent. And for the labels and
        // annotations of a decorator.
        self.allow(group, plural, &["patch"]);
        if has_status {
            self.allow(group, &format!("{plural}/status"), &["patch"]);
        }
    }

    fn allow_child(&mut self, parent: &K8sType, child: &K8sType) {
        let (group, plural) = (child.group(), child.plural());
        self.allow(group, plural, &READ);
        self.allow(group, plural, &KEEP);
        // Owner references have `blockOwnerDeletion`, which the admission plugin
        // OwnerReferencesPermissionEnforcement allows to those who may change finalizers.
        if child.is_namespaced() || !parent.is_namespaced() {
            let finalizers = format!("{}/finalizers", parent.plural());
            self.allow(parent.group(), &finalizers, &["update"]);
        }
    }

    /// Resources of one group with the same verbs share a rule.
    pub(super) fn rules(&self) -> Vec<PolicyRule> {
        let mut rules: BTreeMap<(&String, &BTreeSet<&str>), Vec<String>> = BTreeMap::new();
        for ((group, resource), verbs) in &self.0 {
            rules.entry((group, verbs)).or_default().push(resource.clone());
        }
        let rule = |((group, verbs), resources): ((&String, &BTreeSet<&str>), _)| PolicyRule {
            api_groups: Some(vec![group.clone()]),
            resources: Some(resources),
            verbs: verbs.iter().map(|&verb| verb.to_owned()).collect(),
            ..PolicyRule::default()
        };
        rules.into_iter().map(rule).collect()
    }
}
