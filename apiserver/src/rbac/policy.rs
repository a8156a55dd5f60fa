//! The roles and bindings that there are, ready to be asked. They are read from the log, and brought up to its head
//! before each answer.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;

use super::{group::GROUP, rule::Rule, subject::Subject};
use crate::{
    group_resource::GroupResource,
    log::{Event, Log, Object, ObjectKey, Scope},
    users::User,
};

/// A kind of role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoleKind {
    /// A `Role`.
    Role,
    /// A `ClusterRole`.
    ClusterRole,
}

/// What a binding binds to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RoleReference {
    /// The kind of role; `None` for a kind that there is not.
    pub kind: Option<RoleKind>,
    /// Its name.
    pub name: String,
}

/// A role that is bound to a user, and by what.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    /// The binding, as messages show it.
    pub source: String,
    /// The rules of the role.
    pub rules: Arc<[Rule]>,
}

/// A role that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MissingRole {
    /// The kind of role.
    pub kind: RoleKind,
    /// Its name.
    pub name: String,
}

/// The roles and bindings that there are.
#[derive(Debug, Default)]
pub(crate) struct Policy(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    roles: Cached<Arc<[Rule]>>,
    cluster_roles: Cached<Arc<[Rule]>>,
    bindings: Cached<Arc<Binding>>,
    cluster_bindings: Cached<Arc<Binding>>,
}

/// The objects of one resource, parsed.
#[derive(Debug)]
struct Cached<T> {
    resource: Option<Arc<GroupResource>>,
    version: u64,
    objects: BTreeMap<ObjectKey, T>,
}

#[derive(Debug)]
struct Binding {
    subjects: Vec<Subject>,
    role: RoleReference,
}

impl Policy {
    /// Forgets everything: the log was restored.
    pub(crate) fn reset(&self) {
        *self.lock() = State::default();
    }

    /// The roles that are bound to a user in a namespace, or in the whole cluster if that is empty.
    pub(crate) fn grants(
        &self,
        log: &Log,
        user: &User,
        namespace: &str,
    ) -> Vec<Result<Grant, MissingRole>> {
        let state = self.synchronized(log);
        let mut grants = Vec::new();
        for (key, binding) in &state.cluster_bindings.objects {
            grants.extend(state.grant("ClusterRoleBinding", key, binding, user));
        }
        if !namespace.is_empty() {
            let first = ObjectKey::new(namespace, "");
            let within = state.bindings.objects.range(first..);
            for (key, binding) in within.take_while(|(key, _)| *key.namespace == *namespace) {
                grants.extend(state.grant("RoleBinding", key, binding, user));
            }
        }
        grants
    }

    /// The rules of a role, as seen from a namespace.
    pub(crate) fn rules(
        &self,
        log: &Log,
        role: &RoleReference,
        namespace: &str,
    ) -> Result<Arc<[Rule]>, MissingRole> {
        self.synchronized(log).rules(role, namespace)
    }

    fn synchronized(&self, log: &Log) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        state.roles.synchronize(log, "roles", rules);
        state.cluster_roles.synchronize(log, "clusterroles", rules);
        let binding = |value: &Value| Arc::new(Binding::read(value));
        state.bindings.synchronize(log, "rolebindings", binding);
        state.cluster_bindings.synchronize(log, "clusterrolebindings", binding);
        state
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn grant(
        &self,
        kind: &str,
        key: &ObjectKey,
        binding: &Binding,
        user: &User,
    ) -> Option<Result<Grant, MissingRole>> {
        let namespace = &*key.namespace;
        let subject = binding.subjects.iter().find(|subject| subject.is(user, namespace))?;
        let grant = self.rules(&binding.role, namespace).map(|rules| {
            let name = match namespace {
                "" => key.name.to_string(),
                _ => format!("{}/{namespace}", key.name),
            };
            let (role, subject) = (binding.role.shown(), subject.shown(namespace));
            Grant { source: format!("{kind} \"{name}\" of {role} to {subject}"), rules }
        });
        Some(grant)
    }

    fn rules(&self, role: &RoleReference, namespace: &str) -> Result<Arc<[Rule]>, MissingRole> {
        let name = role.name.as_str();
        // A binding of another kind of role cannot be stored.
        let kind = role.kind.unwrap_or(RoleKind::ClusterRole);
        let found = match kind {
            RoleKind::Role => self.roles.objects.get(&ObjectKey::new(namespace, name)),
            RoleKind::ClusterRole => self.cluster_roles.objects.get(&ObjectKey::new("", name)),
        };
        found.cloned().ok_or_else(|| MissingRole { kind, name: name.to_owned() })
    }
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self { resource: None, version: 0, objects: BTreeMap::new() }
    }
}

impl<T> Cached<T> {
    fn synchronize(&mut self, log: &Log, plural: &str, parse: impl Fn(&Value) -> T) {
        let new = || Arc::new(GroupResource::new(GROUP, plural));
        let resource = Arc::clone(self.resource.get_or_insert_with(new));
        loop {
            let Ok((version, revisions)) = log.revisions_after(&resource, self.version, usize::MAX)
            else {
                return self.reload(log, &resource, parse);
            };
            self.version = version;
            if revisions.is_empty() {
                return;
            }
            for revision in revisions {
                match revision.event {
                    Event::Deleted => {
                        self.objects.remove(&revision.key);
                    }
                    Event::Added | Event::Modified => {
                        self.objects.insert(revision.key.clone(), parse(&revision.object.value()));
                    }
                }
            }
        }
    }

    fn reload(&mut self, log: &Log, resource: &GroupResource, parse: impl Fn(&Value) -> T) {
        let (version, entries) = log.entries(resource, &Scope::All);
        let parsed = |(key, object): (ObjectKey, Arc<Object>)| (key, parse(&object.value()));
        self.objects = entries.into_iter().map(parsed).collect();
        self.version = version;
    }
}

impl Binding {
    fn read(binding: &Value) -> Self {
        let subjects = binding["subjects"].as_array().into_iter().flatten();
        let role = RoleReference::read(&binding["roleRef"]);
        Self { subjects: subjects.filter_map(Subject::read).collect(), role }
    }
}

impl RoleReference {
    /// Reads a `roleRef`.
    pub(crate) fn read(reference: &Value) -> Self {
        let kind = match reference["kind"].as_str() {
            Some("Role") => Some(RoleKind::Role),
            Some("ClusterRole") => Some(RoleKind::ClusterRole),
            _ => None,
        };
        Self { kind, name: reference["name"].as_str().unwrap_or_default().to_owned() }
    }

    fn shown(&self) -> String {
        let kind = self.kind.map_or("", RoleKind::name);
        format!("{kind} \"{}\"", self.name)
    }
}

impl RoleKind {
    fn name(self) -> &'static str {
        match self {
            Self::Role => "Role",
            Self::ClusterRole => "ClusterRole",
        }
    }

    /// The plural.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Self::Role => "roles",
            Self::ClusterRole => "clusterroles",
        }
    }
}

impl MissingRole {
    /// As decisions give it as their reason.
    pub(crate) fn shown(&self) -> String {
        let kind = self.kind.name().to_lowercase();
        format!("{kind}.{GROUP} \"{}\" not found", self.name)
    }
}

/// The messages of several failures as one.
pub(crate) fn joined(messages: impl Iterator<Item = String>) -> Option<String> {
    let mut unique: Vec<String> = Vec::new();
    for message in messages {
        if !unique.contains(&message) {
            unique.push(message);
        }
    }
    match unique.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("[{}]", many.join(", "))),
    }
}

fn rules(role: &Value) -> Arc<[Rule]> {
    role["rules"].as_array().into_iter().flatten().map(Rule::read).collect()
}
