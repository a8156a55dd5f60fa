//! Discovery: groups, versions and resources, and the version of the server.
//!
//! Only the plain form; clients that ask for the aggregated one fall back to it.

use serde_json::{Value, json};

use crate::{
    resource::{Resource, Resources},
    reviews,
};

/// The release whose behaviour is imitated.
pub(crate) const IMITATED: &str = "v1.36.2";

/// `/version`, which shows that it is not the real server.
pub(crate) fn version() -> Value {
    json!({
        "major": "1",
        "minor": "36",
        "gitVersion": format!("{IMITATED}+operetta"),
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}

/// `/api`.
pub(crate) fn core_versions(host: &str) -> Value {
    let addresses = json!([{ "clientCIDR": "0.0.0.0/0", "serverAddress": host }]);
    json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses })
}

/// `/apis`.
pub(crate) fn groups(resources: &Resources) -> Value {
    let groups: Vec<Value> = resources
        .groups()
        .into_iter()
        .chain(reviews::groups())
        .map(|(name, versions)| group_value(name, &versions))
        .collect();
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
}

/// `/apis/{group}`; `None` when there is no such group.
pub(crate) fn group(resources: &Resources, group: &str) -> Option<Value> {
    let mut groups = resources.groups().into_iter().chain(reviews::groups());
    let (name, versions) = groups.find(|(name, _)| *name == group)?;
    let mut value = group_value(name, &versions);
    value["kind"] = json!("APIGroup");
    value["apiVersion"] = json!("v1");
    Some(value)
}

fn group_value(name: &str, versions: &[&str]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| json!({ "groupVersion": format!("{name}/{version}"), "version": version }))
        .collect();
    let preferred = versions.first().cloned();
    json!({ "name": name, "versions": versions, "preferredVersion": preferred })
}

/// `/api/v1`, `/apis/{group}/{version}`; `None` when there is no such version.
pub(crate) fn resources(resources: &Resources, group: &str, version: &str) -> Option<Value> {
    if let Some(reviews) = reviews::discovery(group, version) {
        return Some(reviews);
    }
    let mut found: Vec<&Resource> =
        resources.of_group_version(group, version).map(AsRef::as_ref).collect();
    found.sort_by(|a, b| a.id.plural.cmp(&b.id.plural));
    let api_version = found.first()?.api_version();
    let list: Vec<Value> = found.into_iter().flat_map(entries).collect();
    Some(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": api_version,
        "resources": list,
    }))
}

fn entries(resource: &Resource) -> Vec<Value> {
    let mut main = json!({
        "name": resource.id.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": resource.verbs(),
    });
    if !resource.short_names.is_empty() {
        main["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        main["categories"] = json!(resource.categories);
    }
    let mut entries = vec![main];
    if resource.has_status {
        entries.push(json!({
            "name": format!("{}/status", resource.id.plural),
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": resource.kind,
            "verbs": ["get", "patch", "update"],
        }));
    }
    if resource.has_scale() {
        entries.push(json!({
            "name": format!("{}/scale", resource.id.plural),
            "singularName": "",
            "namespaced": resource.namespaced,
            "group": "autoscaling",
            "version": "v1",
            "kind": "Scale",
            "verbs": ["get", "patch", "update"],
        }));
    }
    entries
}
