//! The initial state of a cluster: the built-in types and the first namespaces.

use std::sync::Arc;

use serde_json::json;

use crate::{
    builtin::{self, BuiltinType},
    cluster::Cluster,
    crd, namespace,
    resource::{GroupResource, Origin, Resource},
    write::{self, Applied, WriteOptions},
};

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
        schema: Arc::clone(&builtin.schema),
        empty: Some(builtin::empty(builtin)),
        epoch: 0,
        deprecation: builtin::deprecation(builtin),
        columns: Arc::new([]),
        origin: Origin::BuiltIn(builtin),
    }
}

/// Creates the first objects.
pub(crate) fn objects(cluster: &Cluster) {
    let resources = cluster.registry.snapshot();
    let namespaces = resources.by_kind("", "Namespace").expect("namespaces are built in");
    for name in namespace::INITIAL {
        let object =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
        let options = WriteOptions { manager: "kube-apiserver".to_owned(), ..Default::default() };
        write::create(cluster, namespaces, "", object, Applied::No, &options)
            .expect("an empty cluster accepts its first namespaces");
    }
}
