//! The plain form: one document for each group, and one for each version with its resources.

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::{
    groups::{self, Group},
    listed::{Kind, Listed, Subresource},
};
use crate::resource::{Resource, Resources};

/// `/api`.
pub(crate) fn core_versions(host: &str) -> Value {
    let addresses = json!([{ "clientCIDR": "0.0.0.0/0", "serverAddress": host }]);
    json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses })
}

/// `/apis`.
pub(crate) fn group_list(resources: &Resources) -> Value {
    let groups: Vec<Value> = groups::others(resources).iter().map(group_value).collect();
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
}

/// `/apis/{group}`; `None` when there is no such group.
pub(crate) fn group(resources: &Resources, group: &str) -> Option<Value> {
    let mut value = group_value(&groups::find(resources, group)?);
    value["kind"] = json!("APIGroup");
    value["apiVersion"] = json!("v1");
    Some(value)
}

fn group_value(group: &Group) -> Value {
    let name = &group.name;
    let version =
        |version: &str| json!({ "groupVersion": format!("{name}/{version}"), "version": version });
    let versions: Vec<Value> = group.versions.iter().map(|it| version(&it.version)).collect();
    let preferred = versions.first().cloned();
    json!({ "name": name, "versions": versions, "preferredVersion": preferred })
}

/// `/api/v1`, `/apis/{group}/{version}`; `None` when there is no such version.
pub(crate) fn resources(resources: &Resources, group: &str, version: &str) -> Option<Value> {
    let found = groups::find(resources, group)?;
    let listed = &found.version(version)?.resources;
    let entries = listed.iter().flat_map(|it| entries(resources, group, version, it));
    let group_version =
        if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let mut list = json!({
        "kind": "APIResourceList",
        "groupVersion": group_version,
        "resources": entries.collect::<Vec<_>>(),
    });
    // Go writes the core group without.
    if !group.is_empty() {
        list["apiVersion"] = json!("v1");
    }
    Some(list)
}

fn entries(resources: &Resources, group: &str, version: &str, listed: &Listed) -> Vec<Value> {
    let mut main = json!({
        "name": listed.plural,
        "singularName": listed.singular,
        "namespaced": listed.is_namespaced(),
        "kind": listed.response_kind.kind,
        "verbs": listed.verbs,
    });
    if !listed.short_names.is_empty() {
        main["shortNames"] = json!(listed.short_names);
    }
    if !listed.categories.is_empty() {
        main["categories"] = json!(listed.categories);
    }
    if let Some(resource) = resources.by_path(group, version, &listed.plural) {
        main["storageVersionHash"] = json!(storage_version_hash(resource));
    }
    let subresources = listed.subresources.iter().map(|it| entry(group, version, listed, it));
    std::iter::once(main).chain(subresources).collect()
}

fn entry(group: &str, version: &str, of: &Listed, subresource: &Subresource) -> Value {
    let Kind { group: kind_group, version: kind_version, kind } = &subresource.response_kind;
    let mut entry = json!({
        "name": format!("{}/{}", of.plural, subresource.name),
        "singularName": "",
        "namespaced": of.is_namespaced(),
        "kind": kind,
        "verbs": subresource.verbs,
    });
    if !kind_version.is_empty() && (&**kind_group, &**kind_version) != (group, version) {
        entry["group"] = json!(kind_group);
        entry["version"] = json!(kind_version);
    }
    entry
}

/// Kinds of which the real server still stores an older version, which the release before it can read.
const STORED_OLDER: [(&str, &str); 5] = [
    ("ClusterTrustBundle", "v1beta1"),
    ("CustomResourceDefinition", "v1beta1"),
    ("DeviceTaintRule", "v1beta2"),
    ("PodCertificateRequest", "v1beta1"),
    ("StorageVersionMigration", "v1beta1"),
];

/// Changes with the type that objects are stored as.
fn storage_version_hash(resource: &Resource) -> String {
    let Resource { storage, storage_version, kind, .. } = resource;
    let older = STORED_OLDER.iter().find(|(older, _)| !resource.is_custom() && older == kind);
    let storage_version = older.map_or(storage_version.as_str(), |(_, version)| version);
    let text = format!("{}/{storage_version}/{kind}", storage.group);
    STANDARD.encode(&digest(&SHA256, text.as_bytes()).as_ref()[..8])
}
