//! The controller of cluster roles that are made of others: their rules are those of the roles that their
//! selectors select.

use serde_json::{Value, json};

use super::group::{GROUP, VERSION};
use crate::{
    builtin,
    cluster::Cluster,
    log::{ObjectKey, Scope},
    resource::GroupResource,
    write::{self, Applied, Change, Subresource, WriteOptions},
};

/// Who the rules of such a role belong to.
pub(super) const MANAGER: &str = "clusterrole-aggregation-controller";

/// Writes the rules of every role that is made of others, where they changed.
pub(crate) fn aggregate(cluster: &Cluster) {
    let resource = GroupResource::new(GROUP, "clusterroles");
    let (_, entries) = cluster.log.entries(&resource, &Scope::All);
    let all: Vec<Value> = entries.iter().map(|(_, object)| object.value()).collect();
    for role in all.iter().filter(|role| role["aggregationRule"].is_object()) {
        let rules = rules(role, &all);
        let current = role["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
        if current != rules {
            apply(cluster, role["metadata"]["name"].as_str().unwrap_or_default(), &rules);
        }
    }
}

/// The rules of a role that is made of others.
pub(super) fn rules(role: &Value, others: &[Value]) -> Vec<Value> {
    let selectors = role["aggregationRule"]["clusterRoleSelectors"].as_array();
    let mut rules: Vec<Value> = Vec::new();
    for selector in selectors.into_iter().flatten() {
        let mut selected: Vec<&Value> =
            others.iter().filter(|other| is_selected(other, role, selector)).collect();
        selected.sort_by_key(|role| role["metadata"]["name"].as_str());
        for rule in selected.into_iter().filter_map(|role| role["rules"].as_array()).flatten() {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
    rules
}

fn is_selected(other: &Value, role: &Value, selector: &Value) -> bool {
    let labels = other["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    other["metadata"]["name"] != role["metadata"]["name"] && builtin::selects(selector, &labels)
}

fn apply(cluster: &Cluster, name: &str, rules: &[Value]) {
    let resources = cluster.registry.snapshot();
    let Some(resource) = resources.by_kind(GROUP, "ClusterRole") else { return };
    let applied = json!({
        "apiVersion": format!("{GROUP}/{VERSION}"),
        "kind": "ClusterRole",
        "metadata": { "name": name },
        "rules": rules,
    });
    let options = WriteOptions { manager: MANAGER.to_owned(), ..Default::default() };
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
