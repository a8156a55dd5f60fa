//! The controller of cluster roles that are made of others.

use serde_json::{Value, json};

use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::{ObjectKey, Scope},
    rbac,
    resource::Subresource,
    write::{self, Applied, Change, WriteOptions},
};

/// Writes the rules of every role that is made of others, where they changed.
pub(super) fn aggregate(cluster: &Cluster) {
    let resource = GroupResource::new(rbac::GROUP, "clusterroles");
    let (_, entries) = cluster.log.entries(&resource, &Scope::All);
    let all: Vec<Value> = entries.iter().map(|(_, object)| object.value()).collect();
    for role in all.iter().filter(|role| role["aggregationRule"].is_object()) {
        let rules = rbac::aggregated_rules(role, &all);
        let current = role["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
        if current != rules {
            apply(cluster, role["metadata"]["name"].as_str().unwrap_or_default(), &rules);
        }
    }
}

fn apply(cluster: &Cluster, name: &str, rules: &[Value]) {
    let resources = cluster.registry.snapshot();
    let Some(resource) = resources.by_kind(rbac::GROUP, "ClusterRole") else { return };
    let applied = json!({
        "apiVersion": format!("{}/{}", rbac::GROUP, rbac::VERSION),
        "kind": "ClusterRole",
        "metadata": { "name": name },
        "rules": rules,
    });
    let options =
        WriteOptions { manager: rbac::AGGREGATION_MANAGER.to_owned(), ..Default::default() };
    let mut change = |live: &Value| {
        let main = Subresource::Main;
        let next =
            write::apply_request(cluster, resource, main, Some(live), &applied, true, &options)?;
        Ok(Change { next, managed: Applied::Yes })
    };
    let key = ObjectKey::new("", name);
    // It may be deleted already.
    let _ = write::update(cluster, resource, &key, Subresource::Main, &options, &mut change);
}
