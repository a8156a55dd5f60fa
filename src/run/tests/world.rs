//! An API server in memory: objects with uid, version and generation, and the answers to requests. Answers at
//! once; `faults` plans the failures. The behaviour tests run against a real server.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use serde_json::{Value, json};

use super::{
    faults::{Fault, Faults, kind},
    fields,
    refusals::{self, refused},
};
use crate::{
    object::{K8sType, KeptManagers, Object, ObjectKey, Uid},
    operator::ORPHAN_LABEL,
    plan::ChildId,
    reply::{ApiError, Cause, Deleted},
    run::{Answer, DryRun, Force, Reply, Request, Whole},
};

/// The name of the operator: its field manager.
pub(super) const OPERATOR: &str = "op";

/// The uid of the parent.
pub(super) const PARENT_UID: &str = "uid-parent";

/// An API server, and a record of the writes.
#[derive(Default)]
pub(super) struct World {
    objects: BTreeMap<ChildId, Stored>,
    version: u64,
    pub(super) faults: Faults,
    /// How many requests of the operator changed something.
    pub(super) writes: usize,
    /// Whether the operator may write objects that have no controller.
    pub(super) may_adopt: bool,
    /// A merge patch of every object that is applied and of every status, as of an admission policy.
    pub(super) policy: Option<Value>,
    /// The uids of the objects that it created.
    created: BTreeSet<Uid>,
    /// Whether the object to create is not the first of its name.
    replaced: bool,
    /// Violations by the operator.
    pub(super) violations: Vec<String>,
}

/// An object, also in the form of the caches: parsed once, as it is read often.
struct Stored {
    value: Value,
    object: Object,
}

pub(super) fn parent_type() -> K8sType {
    K8sType::namespaced("example.com/v1", "App", "apps")
}

/// The parent, a `ConfigMap` beside it, `Secret/<name>`, or a `ConfigMap` as `<namespace>/<name>`.
pub(super) fn named(name: &str) -> ChildId {
    let child = || K8sType::namespaced("v1", "ConfigMap", "configmaps");
    let (ty, namespace, name) = match name.split_once('/') {
        Some(("Secret", name)) => (K8sType::namespaced("v1", "Secret", "secrets"), "ns", name),
        Some((namespace, name)) => (child(), namespace, name),
        None if name == "parent" => (parent_type(), "ns", name),
        None => (child(), "ns", name),
    };
    ChildId { ty, key: ObjectKey::namespaced(namespace, name) }
}

// === changes by others ===

impl World {
    pub(super) fn get(&self, id: &ChildId) -> Option<&Value> {
        self.objects.get(id).map(|stored| &stored.value)
    }

    pub(super) fn object(&self, id: &ChildId) -> Option<Object> {
        self.objects.get(id).map(|stored| stored.object.clone())
    }

    pub(super) fn objects(&self) -> impl Iterator<Item = (&ChildId, &Object)> {
        self.objects.iter().map(|(id, stored)| (id, &stored.object))
    }

    /// Someone else creates an object.
    pub(super) fn put(&mut self, id: &ChildId, body: &Value, manager: &str) {
        let created = fields::merge(&skeleton(id), body, manager);
        self.store(id, created);
    }

    /// Someone else sends a merge patch.
    pub(super) fn edit(&mut self, id: &ChildId, patch: &Value, manager: &str) {
        if let Some(live) = self.get(id) {
            let edited = fields::merge(live, patch, manager);
            self.store(id, edited);
        }
    }

    /// Someone else changes an object, and owns no field of it.
    pub(super) fn alter(&mut self, id: &ChildId, patch: &Value) {
        if let Some(mut live) = self.get(id).cloned() {
            fields::merge_into(&mut live, patch);
            self.store(id, live);
        }
    }

    /// A manager leaves its fields of an object to the operator.
    pub(super) fn release(&mut self, id: &ChildId, manager: &str) {
        if let Some(live) = self.get(id) {
            let released = fields::release(live, manager, OPERATOR);
            self.store(id, released);
        }
    }

    /// Someone else deletes an object, and creates another of its name.
    pub(super) fn replace(&mut self, id: &ChildId, body: &Value, manager: &str) {
        self.objects.remove(id);
        self.version += 1;
        self.replaced = true;
        self.put(id, body, manager);
        self.replaced = false;
    }

    /// Someone else deletes an object.
    pub(super) fn delete(&mut self, id: &ChildId) {
        self.end(id);
    }
}

// === requests of the operator ===

impl World {
    pub(super) fn answer(&mut self, request: &Request) -> Answer {
        match self.faults.next(kind(request)) {
            Some(Fault::Lost) => {
                let _ = self.carry_out(request);
                Err(refusals::lost(request))
            }
            Some(Fault::Refused(fault)) => Err(refusals::planned(request, fault)),
            Some(Fault::Undecodable) => Err(refusals::undecodable(request)),
            Some(Fault::Unserved) => Err(refusals::unserved(request)),
            None => self.carry_out(request),
        }
    }

    fn carry_out(&mut self, request: &Request) -> Answer {
        match request {
            Request::Read(id) => Ok(Reply::Object(self.object(id))),
            Request::ReadWhole(id) => Ok(Reply::Whole(self.get(id).cloned().map(Whole))),
            Request::Apply { id, body, force, dry_run } => {
                self.apply(request, id, body, *force, *dry_run)
            }
            Request::Scale { id, .. } => panic!("no script scales {id}"),
            Request::Patch(id, patch) => self.patch(request, id, patch),
            Request::PatchStatus(id, patch) | Request::ApplyStatus { id, body: patch, .. } => {
                let status = json!({
                    "metadata": {"resourceVersion": patch["metadata"]["resourceVersion"]},
                    "status": patch["status"],
                });
                self.patch(request, id, &status)
            }
            Request::Delete { id, uid, version, .. } => {
                self.precondition(request, id, Some(&uid.to_string()), Some(&version.to_string()))?;
                self.check(id, "deleted");
                self.writes += 1;
                Ok(Reply::Deleted(match self.end(id) {
                    Some(left) => Deleted::Terminating(left),
                    None => Deleted::Gone,
                }))
            }
            Request::List { ty, namespace, selector } => {
                let (label, value) = selector.split_once('=').unwrap();
                let objects = self.objects.values().map(|stored| &stored.object);
                let is_listed = |object: &&Object| {
                    object.ty() == ty
                        && namespace.as_deref().is_none_or(|it| object.namespace() == Some(it))
                        && object.label(label).as_deref() == Some(value)
                };
                Ok(Reply::Listed(objects.filter(is_listed).cloned().collect()))
            }
        }
    }

    fn apply(
        &mut self,
        request: &Request,
        id: &ChildId,
        body: &Value,
        force: Force,
        dry_run: DryRun,
    ) -> Answer {
        let (uid, version) = (&body["metadata"]["uid"], &body["metadata"]["resourceVersion"]);
        let live = self.get(id);
        // An apply with a version creates a missing object, one with a uid does not.
        if live.is_some() || !uid.is_null() {
            self.precondition(request, id, uid.as_str(), version.as_str())?;
        }
        let before = self.get(id).cloned().unwrap_or_else(|| skeleton(id));
        let held = |held: Vec<fields::Held>| {
            let causes = held.into_iter().map(|held| Cause {
                reason: "FieldManagerConflict".to_owned(),
                message: format!("conflict with {:?} using {}", held.manager, id.ty.api_version()),
                field: held.path,
                ..Cause::default()
            });
            refused(request, 409, causes.collect())
        };
        let mut applied =
            fields::apply(&before, body, OPERATOR, force == Force::Yes).map_err(held)?;
        if let Some(policy) = &self.policy {
            fields::merge_into(&mut applied, policy);
        }
        if before["immutable"] == true && before["data"] != applied["data"] {
            let message = "Forbidden: field is immutable when `immutable` is set".to_owned();
            let cause = Cause { message, field: "data".to_owned(), ..Cause::default() };
            return Err(refusals::invalid(request, &id.ty, cause));
        }
        match dry_run {
            DryRun::No => {
                let is_new = !self.objects.contains_key(id);
                if !is_new && id.ty != parent_type() {
                    self.check(id, "written");
                }
                self.writes += usize::from(self.store(id, applied));
                let left = self.object(id).unwrap();
                self.created.extend(is_new.then(|| left.uid().clone()));
                Ok(Reply::Written(left))
            }
            DryRun::Yes | DryRun::OfNew => {
                let mut tried = applied;
                let metadata = tried["metadata"].as_object_mut().unwrap();
                metadata.entry("uid").or_insert_with(|| json!("uid-of-none"));
                metadata.entry("resourceVersion").or_insert_with(|| json!("0"));
                Ok(Reply::Written(object(id, &tried)))
            }
        }
    }

    fn patch(&mut self, request: &Request, id: &ChildId, patch: &Value) -> Answer {
        let metadata = &patch["metadata"];
        let (uid, version) = (metadata["uid"].as_str(), metadata["resourceVersion"].as_str());
        self.precondition(request, id, uid, version)?;
        if id.ty != parent_type() {
            self.check(id, "patched");
        }
        let mut patched = fields::merge(self.get(id).unwrap(), patch, OPERATOR);
        if let (Request::PatchStatus(..), Some(policy)) = (request, &self.policy) {
            fields::merge_into(&mut patched, policy);
        }
        self.writes += usize::from(self.store(id, patched.clone()));
        // The patch may have removed the object.
        Ok(Reply::Written(self.object(id).unwrap_or_else(|| object(id, &patched))))
    }

    fn precondition(
        &self,
        request: &Request,
        id: &ChildId,
        uid: Option<&str>,
        version: Option<&str>,
    ) -> Result<(), ApiError> {
        let Some(live) = self.get(id) else {
            let code = if matches!(request, Request::Apply { .. }) { 409 } else { 404 };
            return Err(refused(request, code, Vec::new()));
        };
        let live = &live["metadata"];
        if uid.is_some_and(|uid| live["uid"] != uid) && matches!(request, Request::Apply { .. }) {
            let field = "metadata.uid".to_owned();
            let cause = Cause { field, ..Cause::default() };
            return Err(refused(request, 422, vec![cause]));
        }
        let is_it = uid.is_none_or(|uid| live["uid"] == uid)
            && version.is_none_or(|version| live["resourceVersion"] == version);
        if is_it { Ok(()) } else { Err(refused(request, 409, Vec::new())) }
    }

    /// Records a violation if the operator may not write the object. It may claim objects that it created
    /// again, but not delete them.
    fn check(&mut self, id: &ChildId, done: &str) {
        let Some(object) = self.object(id) else { return };
        let is_elsewhere = id.key.namespace.as_deref() != Some("ns");
        let is_kept = object.label(ORPHAN_LABEL).is_some();
        let may_lose = done != "deleted" || is_elsewhere || is_kept;
        let is_free = self.may_adopt || (may_lose && self.created.contains(object.uid()));
        let may = object.controller().map_or(is_free, |uid| *uid == Uid::new(PARENT_UID));
        if !may {
            self.violations.push(format!("{id} is not ours, and was {done}"));
        }
    }
}

// === storage ===

impl World {
    /// Returns whether the object changed.
    fn store(&mut self, id: &ChildId, mut value: Value) -> bool {
        let before = self.objects.get(id).map(|stored| &stored.value);
        if before == Some(&value) {
            return false;
        }
        self.version += 1;
        let is_same_spec = before.is_some_and(|before| spec_of(before) == spec_of(&value));
        let generation = before.map_or(0, |it| it["metadata"]["generation"].as_u64().unwrap_or(0));
        let metadata = value["metadata"].as_object_mut().unwrap();
        let uid = match before {
            Some(before) => before["metadata"]["uid"].clone(),
            None if id.ty == parent_type() && !self.replaced => json!(PARENT_UID),
            None => json!(format!("uid-{}", self.version)),
        };
        metadata.insert("uid".to_owned(), uid);
        metadata.insert("resourceVersion".to_owned(), json!(self.version.to_string()));
        metadata.insert("generation".to_owned(), json!(generation + u64::from(!is_same_spec)));
        let is_held = metadata.get("finalizers").and_then(Value::as_array);
        let is_held = is_held.is_some_and(|finalizers| !finalizers.is_empty())
            || metadata.contains_key("deletionGracePeriodSeconds");
        if metadata.contains_key("deletionTimestamp") && !is_held {
            self.objects.remove(id);
        } else {
            let object = object(id, &value);
            self.objects.insert(id.clone(), Stored { value, object });
        }
        true
    }

    /// Deletes an object; returns it if it is terminating.
    fn end(&mut self, id: &ChildId) -> Option<Object> {
        let mut live = self.get(id)?.clone();
        if live["metadata"].get("deletionTimestamp").is_none() {
            live["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            self.store(id, live);
        }
        self.object(id)
    }
}

/// The fields whose changes the generation counts.
fn spec_of(value: &Value) -> (&Value, &Value) {
    (&value["spec"], &value["data"])
}

fn skeleton(id: &ChildId) -> Value {
    json!({
        "apiVersion": id.ty.api_version(), "kind": id.ty.kind(),
        "metadata": {"name": id.key.name, "namespace": id.key.namespace},
    })
}

fn object(id: &ChildId, value: &Value) -> Object {
    static KEPT: LazyLock<KeptManagers> = LazyLock::new(|| KeptManagers::new([OPERATOR, "old"]));
    Object::from_value(&id.ty, value, &KEPT).unwrap()
}
