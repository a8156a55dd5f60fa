//! The controller of terminating namespaces: it deletes their contents, pods first, and then the namespace.
//!
//! The conditions of a terminating namespace report what remains in it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    cluster::Cluster,
    log::{ObjectKey, Scope},
    resource::{Resource, Subresource},
    write::{self, Change, DeleteOptions, Propagation, WriteOptions},
};

/// The conditions of a deletion that goes well, in their order: type, reason and message.
const GOOD: [(&str, &str, &str); 5] = [
    (
        "NamespaceDeletionDiscoveryFailure",
        "ResourcesDiscovered",
        "All resources successfully discovered",
    ),
    (
        "NamespaceDeletionGroupVersionParsingFailure",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    ("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
    (
        "NamespaceFinalizersRemaining",
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
];

/// What a deletion has left.
#[derive(Debug, Default)]
struct Remains {
    /// The number of objects by resource.
    objects: BTreeMap<String, usize>,
    /// The number of objects by finalizer.
    finalizers: BTreeMap<String, usize>,
    /// Why objects could not be deleted.
    failures: Vec<String>,
}

/// Continues the deletion of a namespace: deletes its contents, or the namespace if it is empty.
pub(super) fn terminate(cluster: &Cluster, name: &str) {
    let resources = cluster.registry.snapshot();
    let Some(namespaces) = resources.by_kind("", "Namespace") else { return };
    let key = ObjectKey::new("", name);
    let gone = match cluster.log.get(&namespaces.id, &key) {
        Some(namespace) if !namespace.meta.deleting => return,
        Some(_) => false,
        None => true,
    };
    let remains = empty(cluster, name);
    if gone {
        return;
    }
    write_conditions(cluster, namespaces, &key, &remains);
    if remains.objects.is_empty() {
        give_up(cluster, namespaces, &key);
    }
}

/// Deletes the contents of a namespace; returns what is left.
fn empty(cluster: &Cluster, name: &str) -> Remains {
    let resources = cluster.registry.snapshot();
    let is_pods = |r: &Resource| r.id.group.is_empty() && r.id.plural == "pods";
    let served = |pods: bool| {
        resources.iter().filter(move |r| r.namespaced && is_pods(r) == pods && r.is_stored_form())
    };
    let mut remains = Remains::default();
    served(true).for_each(|r| empty_of(cluster, r, name, &mut remains));
    if remains.objects.is_empty() {
        served(false).for_each(|r| empty_of(cluster, r, name, &mut remains));
    }
    remains
}

fn empty_of(cluster: &Cluster, resource: &Resource, namespace: &str, remains: &mut Remains) {
    let scope = Scope::Namespace(namespace.into());
    let options =
        DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
    let (_, entries) = cluster.log.entries(&resource.storage, &scope);
    if entries.is_empty() {
        return;
    }
    for (key, object) in entries {
        if !object.meta.deleting
            && let Err(error) = write::delete(cluster, resource, &key, &options)
            && error.code != 404
        {
            remains.failures.push(error.message);
        }
    }
    let (_, left) = cluster.log.entries(&resource.storage, &scope);
    if left.is_empty() {
        return;
    }
    let plural = format!("{}.{}", resource.id.plural, resource.id.group);
    remains.objects.insert(plural, left.len());
    for finalizer in left.iter().flat_map(|(_, object)| &object.meta.finalizers) {
        *remains.finalizers.entry(finalizer.to_string()).or_default() += 1;
    }
}

/// Writes the conditions, where they differ.
fn write_conditions(cluster: &Cluster, namespaces: &Resource, key: &ObjectKey, remains: &Remains) {
    let now = cluster.clock.now_text();
    let mut change = |live: &Value| {
        let mut next = live.clone();
        let conditions = &mut next["status"]["conditions"];
        if !conditions.is_array() {
            *conditions = json!([]);
        }
        for condition in GOOD {
            if let Some(conditions) = conditions.as_array_mut() {
                set(conditions, &remains.condition(condition), &now);
            }
        }
        Ok(Change { next, managed: write::Applied::No })
    };
    let options =
        WriteOptions { manager: "kube-controller-manager".to_owned(), ..Default::default() };
    // It may be deleted already.
    let _ = write::update(cluster, namespaces, key, Subresource::Status, &options, &mut change);
}

impl Remains {
    /// A condition with what is wrong, or else the good one: type, status, reason and message.
    fn condition(&self, good: (&'static str, &'static str, &str)) -> [String; 4] {
        let (ty, reason, message) = good;
        let listed = |parts: Vec<String>| (!parts.is_empty()).then(|| parts.join(", "));
        let counted = |counts: &BTreeMap<String, usize>, how: &str| {
            listed(
                counts
                    .iter()
                    .map(|(what, n)| format!("{what} {how} {n} resource instances"))
                    .collect(),
            )
        };
        let bad = match ty {
            "NamespaceDeletionContentFailure" => listed(self.failures.clone()).map(|list| {
                let number = self.failures.len();
                let message =
                    format!("Failed to delete all resource types, {number} remaining: {list}");
                ("ContentDeletionFailed", message)
            }),
            "NamespaceContentRemaining" => counted(&self.objects, "has").map(|list| {
                ("SomeResourcesRemain", format!("Some resources are remaining: {list}"))
            }),
            "NamespaceFinalizersRemaining" => counted(&self.finalizers, "in").map(|list| {
                let message =
                    format!("Some content in the namespace has finalizers remaining: {list}");
                ("SomeFinalizersRemain", message)
            }),
            _ => None,
        };
        let (status, reason, message) = match bad {
            Some((reason, message)) => ("True", reason, message),
            None => ("False", reason, message.to_owned()),
        };
        [ty.to_owned(), status.to_owned(), reason.to_owned(), message]
    }
}

/// Puts a condition into the list; its time stays where its status does.
fn set(conditions: &mut Vec<Value>, condition: &[String; 4], now: &str) {
    let [ty, status, reason, message] = condition;
    let known = conditions.iter_mut().find(|known| known["type"] == **ty);
    let time = match &known {
        Some(known) if known["status"] == **status => known["lastTransitionTime"].clone(),
        _ => json!(now),
    };
    let next = json!({
        "type": ty,
        "status": status,
        "lastTransitionTime": time,
        "reason": reason,
        "message": message,
    });
    match known {
        Some(known) => *known = next,
        None => conditions.push(next),
    }
}

fn give_up(cluster: &Cluster, namespaces: &Resource, key: &ObjectKey) {
    let mut change = |live: &Value| {
        let mut next = live.clone();
        next["spec"]["finalizers"] = json!([]);
        Ok(Change { next, managed: write::Applied::Yes })
    };
    let options = WriteOptions::default();
    // It may be deleted already.
    let _ = write::update(cluster, namespaces, key, Subresource::Finalize, &options, &mut change);
}
