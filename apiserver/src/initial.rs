//! The initial state of a cluster: the built-in types, and the objects that every cluster has.
//!
//! Not here: what controllers of the real control plane make, such as service accounts.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    builtin::{self, BuiltinType},
    cluster::Cluster,
    crd,
    group_resource::GroupResource,
    log::ObjectKey,
    rbac,
    resource::{Origin, Resource},
    write::{self, Applied, Complaints, WriteOptions},
};

/// The namespaces of a new cluster.
const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// The built-in types.
pub(crate) fn resources() -> Vec<Resource> {
    // Definitions are a module of their own.
    let types = builtin::types().iter().filter(|ty| ty.group != "apiextensions.k8s.io");
    let mut resources: Vec<Resource> = types.map(resource).collect();
    resources.push(crd::definition_resource());
    resources
}

fn resource(builtin: &'static BuiltinType) -> Resource {
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    let stored = builtin::stored_as(builtin).unwrap_or(builtin);
    Resource {
        id: Arc::new(GroupResource::new(builtin.group, builtin.plural)),
        storage: Arc::new(GroupResource::new(stored.group, stored.plural)),
        version: builtin.version.to_owned(),
        storage_version: stored.version.to_owned(),
        kind: builtin.kind.to_owned(),
        list_kind: format!("{}List", builtin.kind),
        singular: builtin.singular.to_owned(),
        short_names: texts(&builtin.short_names),
        categories: texts(&builtin.categories),
        namespaced: builtin.namespaced,
        has_status: builtin.has_status,
        scale: None,
        has_generation: builtin.has_generation,
        schema: Arc::new(Arc::clone(&builtin.schema).into()),
        empty: Some(builtin::empty(builtin)),
        epoch: 0,
        deprecation: builtin::deprecation(builtin),
        columns: Arc::new([]),
        origin: Origin::BuiltIn(builtin),
    }
}

/// Creates those of the first objects that do not exist.
pub(crate) fn objects(cluster: &Cluster) {
    if !cluster.log.begin(rbac::objects()) {
        for object in rbac::declared() {
            create(cluster, object);
        }
    }
    let namespaces = NAMESPACES.map(
        |name| json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } }),
    );
    for object in namespaces.into_iter().chain(priority_classes()).chain([service()]) {
        create(cluster, object);
    }
}

fn create(cluster: &Cluster, mut object: Value) {
    let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
    let (version, kind) = (text("apiVersion"), text("kind"));
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let resources = cluster.registry.snapshot();
    let resource =
        resources.by_kind(group, &kind).expect("the first objects are of built-in types");
    let metadata = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    let namespace = metadata("namespace");
    let key = ObjectKey::new(namespace.as_str(), metadata("name"));
    if cluster.log.get(&resource.storage, &key).is_some() {
        return;
    }
    let options = WriteOptions { manager: "kube-apiserver".to_owned(), ..Default::default() };
    write::decode(resource, &mut object, options.validation, Complaints::default())
        .expect("the first objects are of their types");
    write::create(cluster, resource, &namespace, object, Applied::No, &options)
        .expect("a cluster accepts its first objects");
}

/// The priorities that pods of the system name.
fn priority_classes() -> [Value; 2] {
    let class = |name: &str, value: u32, description: &str| {
        json!({
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": { "name": name },
            "value": value,
            "description": description,
        })
    };
    [
        class(
            "system-node-critical",
            2_000_001_000,
            "Used for system critical pods that must not be moved from their current node.",
        ),
        class(
            "system-cluster-critical",
            2_000_000_000,
            "Used for system critical pods that must run in the cluster, but can be moved to another \
             node if necessary.",
        ),
    ]
}

/// The Service of the API server itself.
fn service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": { "component": "apiserver", "provider": "kubernetes" },
        },
        "spec": {
            "clusterIP": "10.0.0.1",
            "ports": [{ "name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443 }],
        },
    })
}
