//! Charges a write to the quotas of its namespace, or refuses it.

use std::sync::Arc;

use serde_json::Value;

use super::{
    amounts::{self, Amounts},
    matching, usage,
};
use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::{Expect, Object, ObjectKey, Refused, Scope, Write},
    resource::Resource,
};

/// A write that may use something.
#[derive(Debug)]
pub(crate) struct Charge<'a> {
    pub resource: &'a GroupResource,
    pub namespace: &'a str,
    pub subresource: &'a str,
    pub object: &'a Value,
    /// What the write changes, unless it creates.
    pub old: Option<&'a Value>,
    pub dry_run: bool,
}

/// A quota, and what it is to be charged.
struct Due {
    key: ObjectKey,
    live: Arc<Object>,
    quota: Value,
    used: Amounts,
}

/// Charges a write; the reason why it may not be done is the error.
pub(crate) fn charge(cluster: &Cluster, charge: &Charge<'_>) -> Result<(), String> {
    if !charge.is_counted() {
        return Ok(());
    }
    let resources = cluster.registry.snapshot();
    let Some(quotas) = resources.by_kind("", "ResourceQuota") else { return Ok(()) };
    let scope = Scope::Namespace(charge.namespace.into());
    // Another write charges the same quotas in between.
    loop {
        let (_, entries) = cluster.log.entries(&quotas.storage, &scope);
        let mut due = Vec::new();
        for (key, live) in entries {
            due.extend(charge.due(key, live)?);
        }
        if charge.dry_run || due.into_iter().all(|due| pay(cluster, quotas, due)) {
            return Ok(());
        }
    }
}

impl Charge<'_> {
    /// Whether a write of its kind is counted.
    fn is_counted(&self) -> bool {
        if self.namespace.is_empty() || self.resource.plural == "events" {
            return false;
        }
        match (self.resource.group.as_str(), self.resource.plural.as_str(), self.subresource) {
            ("", "pods", "resize") => true,
            (_, _, sub) if !sub.is_empty() => false,
            ("", "pods", _) => self.old.is_none_or(|old| {
                matching::is_terminating(old) != matching::is_terminating(self.object)
            }),
            ("", "services" | "persistentvolumeclaims", _) => true,
            _ => self.old.is_none(),
        }
    }

    /// What a quota is to be charged, if something.
    fn due(&self, key: ObjectKey, live: Arc<Object>) -> Result<Option<Due>, String> {
        let quota = live.value();
        let (hard, used) =
            (amounts::of(&quota["status"]["hard"]), amounts::of(&quota["status"]["used"]));
        if !matching::matches(&quota, &hard, self.resource, self.object) {
            return Ok(None);
        }
        if let Some(missing) = matching::missing(&hard, self.resource, self.object) {
            return Err(format!("failed quota: {}: {missing}", key.name));
        }
        let counted: Vec<&str> = hard
            .keys()
            .filter(|name| usage::counts(self.resource, name))
            .map(String::as_str)
            .collect();
        if counted.iter().any(|name| !used.contains_key(*name)) {
            let names = counted.join(",");
            return Err(format!("status unknown for quota: {}, resources: {names}", key.name));
        }
        let now = usage::of(self.resource, self.object);
        let before = self
            .old
            .filter(|old| matching::matches(&quota, &hard, self.resource, old))
            .map(|old| usage::of(self.resource, old))
            .unwrap_or_default();
        let more = amounts::masked(&amounts::growth(&now, &before), &hard);
        if more.is_empty() {
            return Ok(None);
        }
        let mut next = used.clone();
        amounts::add(&mut next, &more);
        let is_exceeded = |(name, _): &(&String, &_)| next[*name].compare(hard[*name]).is_gt();
        let exceeded: Amounts =
            more.iter().filter(is_exceeded).map(|(name, amount)| (name.clone(), *amount)).collect();
        if exceeded.is_empty() {
            return Ok(Some(Due { key, live, quota, used: next }));
        }
        let shown = |amounts: &Amounts| amounts::shown(&amounts::masked(amounts, &exceeded));
        Err(format!(
            "exceeded quota: {}, requested: {}, used: {}, limited: {}",
            key.name,
            amounts::shown(&exceeded),
            shown(&used),
            shown(&hard),
        ))
    }
}

/// Stores what is used now; whether nobody else did in between.
fn pay(cluster: &Cluster, quotas: &Resource, due: Due) -> bool {
    let Due { key, live, mut quota, used } = due;
    quota["status"]["used"] = amounts::json(&used);
    let write = Write {
        resource: &quotas.storage,
        key,
        expect: Expect::Version(live.meta.resource_version),
        delete: false,
        value: quota,
        epoch: live.epoch,
    };
    !matches!(cluster.log.commit(write), Err(Refused::Outrun(_)))
}
