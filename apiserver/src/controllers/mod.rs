//! The controllers that live in the server. One task runs them all.
//!
//! ```text
//!  log ─> revisions ─> Work: the objects to check ─> each controller ─> write
//! ```
//!
//! **Invariants.** The task follows the log. It never sleeps or polls: every step is caused by a revision, and so
//! it works under a paused clock too. Controllers change objects through `write` alone.

mod certificates;
mod cluster_roles;
mod definitions;
mod disruption_budgets;
mod foreign_owner;
mod garbage;
mod namespace_defaults;
mod namespaces;
mod quotas;
mod volume_protection;

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
};

use tokio::sync::mpsc::UnboundedReceiver;

pub(crate) use self::{
    definitions::{publish, serve_again},
    namespace_defaults::complete_all,
};
use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::{Committed, Event, Meta, ObjectKey},
    rbac,
    shared::Shared,
};

/// How many revisions are processed together, so that bulk deletions are handled once.
const BATCH: usize = 1024;

/// Which controllers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Running {
    /// Those of kube-apiserver and of kube-controller-manager.
    #[default]
    All,
    /// The same, and those that make what every namespace has.
    AllWithDefaults,
    /// Only what kube-apiserver does itself: definitions.
    OfApiServer,
}

/// The objects to check after a batch of revisions.
#[derive(Debug, Default)]
struct Work {
    gone: BTreeSet<Box<str>>,
    dependents: BTreeSet<(Arc<GroupResource>, ObjectKey)>,
    waiting: BTreeSet<(Arc<GroupResource>, ObjectKey)>,
    namespaces: BTreeSet<Arc<str>>,
    definitions: BTreeSet<Arc<str>>,
    volumes: volume_protection::Work,
    budgets: disruption_budgets::Work,
    certificates: certificates::Work,
    /// Whether a cluster role changed.
    roles: bool,
    quotas: quotas::Work,
    defaults: namespace_defaults::Work,
}

/// Runs until the server is dropped.
pub(crate) async fn run(
    server: Weak<Shared>,
    mut commits: UnboundedReceiver<Committed>,
    running: Running,
) {
    let mut batch = Vec::new();
    while commits.recv_many(&mut batch, BATCH).await > 0 {
        let Some(server) = server.upgrade() else { return };
        let mut work = Work::default();
        for committed in batch.drain(..) {
            work.note(&server.cluster, &committed);
        }
        work.perform(&server.cluster, running);
        drop(server);
        // Lets writers proceed between two batches on a single-threaded runtime.
        tokio::task::yield_now().await;
    }
}

impl Work {
    fn note(&mut self, cluster: &Cluster, committed: &Committed) {
        let Committed { resource, revision } = committed;
        let meta = &revision.object.meta;
        self.volumes.note(resource, revision);
        self.budgets.note(resource, revision);
        self.certificates.note(resource, revision);
        self.roles |= resource.plural == "clusterroles" && resource.group == rbac::GROUP;
        self.quotas.note(resource, revision);
        self.defaults.note(resource, revision);
        let this = || (Arc::clone(resource), revision.key.clone());
        if revision.event == Event::Deleted {
            self.gone.insert(meta.uid.clone());
            self.dependents.extend(cluster.log.dependents(&meta.uid));
            self.note_owners(cluster, &revision.key, meta);
            self.note_container(resource, &revision.key);
            return;
        }
        if !meta.owners.is_empty() {
            self.dependents.insert(this());
        }
        if let Some(previous) = &revision.previous
            && previous.meta.owners != meta.owners
        {
            self.note_owners(cluster, &revision.key, &previous.meta);
        }
        if garbage::waits(meta) {
            self.dependents.extend(cluster.log.dependents(&meta.uid));
            self.waiting.insert(this());
        }
        if meta.deleting {
            // The conditions of its namespace say what holds it.
            self.note_container(resource, &revision.key);
            match (resource.group.as_str(), resource.plural.as_str()) {
                ("", "namespaces") => self.namespaces.insert(revision.key.name.clone()),
                ("apiextensions.k8s.io", _) => self.definitions.insert(revision.key.name.clone()),
                _ => true,
            };
        } else if revision.event == Event::Added {
            // It may have been created in a terminating namespace.
            self.note_container(resource, &revision.key);
        }
    }

    /// Checks owners that wait for their dependents.
    fn note_owners(&mut self, cluster: &Cluster, key: &ObjectKey, meta: &Meta) {
        for owner in &meta.owners {
            let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
            let resources = cluster.registry.snapshot();
            if let Some(resource) = resources.by_kind(group, &owner.kind) {
                let namespace = if resource.namespaced { key.namespace.clone() } else { "".into() };
                let key = ObjectKey::new(namespace, owner.name.clone());
                self.waiting.insert((Arc::clone(&resource.storage), key));
            }
        }
    }

    /// Checks a namespace or definition that may wait for the object.
    fn note_container(&mut self, resource: &GroupResource, key: &ObjectKey) {
        if !key.namespace.is_empty() {
            self.namespaces.insert(key.namespace.clone());
        }
        self.definitions.insert(resource.to_string().into());
    }

    fn perform(mut self, cluster: &Cluster, running: Running) {
        for name in &self.definitions {
            definitions::terminate(cluster, name);
        }
        let defaults = std::mem::take(&mut self.defaults);
        match running {
            Running::OfApiServer => {}
            Running::All => self.manage(cluster),
            Running::AllWithDefaults => {
                defaults.perform(cluster);
                self.manage(cluster);
            }
        }
    }

    /// What kube-controller-manager does.
    fn manage(self, cluster: &Cluster) {
        self.volumes.perform(cluster);
        self.budgets.perform(cluster);
        self.certificates.perform(cluster);
        if self.roles {
            cluster_roles::aggregate(cluster);
        }
        self.quotas.perform(cluster);
        for (resource, key) in &self.dependents {
            garbage::look_at(cluster, resource, key, &self.gone);
        }
        for (resource, key) in &self.waiting {
            garbage::finish(cluster, resource, key);
        }
        for name in &self.namespaces {
            namespaces::terminate(cluster, name);
        }
    }
}
