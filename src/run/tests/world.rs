//! An API server in memory: objects with uid, version and generation, and the answers to requests. Answers
//! at once, and forgets nothing; what goes wrong is planned by `faults`. The real thing is tested against in
//! the tests of the whole.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    faults::{Fault, Faults, kind},
    fields,
};
use crate::{
    object::{K8sType, KeptManagers, Object, Uid},
    plan::ChildId,
    reply::{ApiError, Cause, Deleted, Refusal},
    run::{Answer, DryRun, Force, Reply, Request, Whole},
};

/// The name of the operator: its field manager.
pub(super) const OPERATOR: &str = "op";

/// The uid of the parent.
pub(super) const PARENT_UID: &str = "uid-parent";

/// An API server, and what it was made to do.
#[derive(Default)]
pub(super) struct World {
    objects: BTreeMap<ChildId, Stored>,
    version: u64,
    pub(super) faults: Faults,
    /// How many requests of the operator have changed something.
    pub(super) writes: usize,
    /// Whether the operator may write objects that have no controller.
    pub(super) may_adopt: bool,
    /// The uids of what it has created.
    made: BTreeSet<Uid>,
    /// What the operator should never have done.
    pub(super) breaches: Vec<String>,
}

/// An object, and as the caches want it: read once, as there are many looks at it.
struct Stored {
    value: Value,
    object: Object,
}

pub(super) fn parent_type() -> K8sType {
    K8sType::namespaced("example.com/v1", "App", "apps")
}

/// The parent, or the child that has this name.
pub(super) fn named(name: &str) -> ChildId {
    let child = K8sType::namespaced("v1", "ConfigMap", "configmaps");
    let ty = if name == "parent" { parent_type() } else { child };
    ChildId { ty, key: crate::object::ObjectKey::namespaced("ns", name) }
}

// === what others do ===

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

    /// Somebody else creates an object.
    pub(super) fn put(&mut self, id: &ChildId, body: &Value, manager: &str) {
        let created = fields::merge(&skeleton(id), body, manager);
        self.store(id, created);
    }

    /// Somebody else sends a merge patch.
    pub(super) fn edit(&mut self, id: &ChildId, patch: &Value, manager: &str) {
        if let Some(live) = self.get(id) {
            let edited = fields::merge(live, patch, manager);
            self.store(id, edited);
        }
    }

    /// Somebody else deletes an object.
    pub(super) fn delete(&mut self, id: &ChildId) {
        self.end(id);
    }
}

// === what the operator asks ===

impl World {
    pub(super) fn answer(&mut self, request: &Request) -> Answer {
        match self.faults.next(kind(request)) {
            Some(Fault::Refused(code, after)) => Err(refused(request, code, after, Vec::new())),
            Some(Fault::Lost) => {
                let _ = self.carry_out(request);
                let after = Duration::from_secs(30);
                Err(ApiError::TimedOut { request: format!("{request:?}"), after })
            }
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
            Request::Patch(id, patch) => self.patch(request, id, patch),
            Request::PatchStatus(id, patch) => {
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
        // A version creates where nothing is, a uid never does.
        if live.is_some() || !uid.is_null() {
            self.precondition(request, id, uid.as_str(), version.as_str())?;
        }
        let before = self.get(id).cloned().unwrap_or_else(|| skeleton(id));
        let held = |held: Vec<fields::Held>| {
            let causes = held.into_iter().map(|held| Cause {
                reason: "FieldManagerConflict".to_owned(),
                message: format!("conflict with {:?} using {}", held.manager, id.ty.api_version()),
                field: held.path,
            });
            refused(request, 409, None, causes.collect())
        };
        let applied = fields::apply(&before, body, OPERATOR, force == Force::Yes).map_err(held)?;
        if before["immutable"] == true && before["data"] != applied["data"] {
            let message = "Forbidden: field is immutable when `immutable` is set".to_owned();
            let cause = Cause { reason: String::new(), message, field: "data".to_owned() };
            return Err(refused(request, 422, None, vec![cause]));
        }
        match dry_run {
            DryRun::No => {
                let is_new = !self.objects.contains_key(id);
                if !is_new {
                    self.check(id, "written");
                }
                self.writes += usize::from(self.store(id, applied));
                let left = self.object(id).unwrap();
                self.made.extend(is_new.then(|| left.uid().clone()));
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
        let patched = fields::merge(self.get(id).unwrap(), patch, OPERATOR);
        self.writes += usize::from(self.store(id, patched.clone()));
        // One that has ended by that is not there any more.
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
            return Err(refused(request, code, None, Vec::new()));
        };
        let live = &live["metadata"];
        if uid.is_some_and(|uid| live["uid"] != uid) && matches!(request, Request::Apply { .. }) {
            let field = "metadata.uid".to_owned();
            let cause = Cause { field, ..Cause::default() };
            return Err(refused(request, 422, None, vec![cause]));
        }
        let is_it = uid.is_none_or(|uid| live["uid"] == uid)
            && version.is_none_or(|version| live["resourceVersion"] == version);
        if is_it { Ok(()) } else { Err(refused(request, 409, None, Vec::new())) }
    }

    /// Whether an object is one that the operator may touch. What it has made and somebody has untied since
    /// may be tied again; it is not deleted.
    fn check(&mut self, id: &ChildId, done: &str) {
        let Some(object) = self.object(id) else { return };
        let may = match object.controller() {
            Some(uid) => *uid == Uid::new(PARENT_UID),
            None => self.may_adopt || (done != "deleted" && self.made.contains(object.uid())),
        };
        if !may {
            self.breaches.push(format!("{id} is not ours, and was {done}"));
        }
    }
}

// === storage ===

impl World {
    /// Whether it is another one now.
    fn store(&mut self, id: &ChildId, mut value: Value) -> bool {
        let before = self.objects.get(id).map(|stored| &stored.value);
        if before == Some(&value) {
            return false;
        }
        self.version += 1;
        let is_same_wish = before.is_some_and(|before| wish(before) == wish(&value));
        let generation = before.map_or(0, |it| it["metadata"]["generation"].as_u64().unwrap_or(0));
        let metadata = value["metadata"].as_object_mut().unwrap();
        let uid = match before {
            Some(before) => before["metadata"]["uid"].clone(),
            None if id.ty == parent_type() => json!(PARENT_UID),
            None => json!(format!("uid-{}", self.version)),
        };
        metadata.insert("uid".to_owned(), uid);
        metadata.insert("resourceVersion".to_owned(), json!(self.version.to_string()));
        metadata.insert("generation".to_owned(), json!(generation + u64::from(!is_same_wish)));
        let is_held = metadata.get("finalizers").and_then(Value::as_array);
        let is_held = is_held.is_some_and(|finalizers| !finalizers.is_empty());
        if metadata.contains_key("deletionTimestamp") && !is_held {
            self.objects.remove(id);
        } else {
            let object = object(id, &value);
            self.objects.insert(id.clone(), Stored { value, object });
        }
        true
    }

    /// What is left of it for now.
    fn end(&mut self, id: &ChildId) -> Option<Object> {
        let mut live = self.get(id)?.clone();
        if live["metadata"].get("deletionTimestamp").is_none() {
            live["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            self.store(id, live);
        }
        self.object(id)
    }
}

/// Of what the generation counts the changes.
fn wish(value: &Value) -> (&Value, &Value) {
    (&value["spec"], &value["data"])
}

fn skeleton(id: &ChildId) -> Value {
    json!({
        "apiVersion": id.ty.api_version(), "kind": id.ty.kind(),
        "metadata": {"name": id.key.name, "namespace": "ns"},
    })
}

fn object(id: &ChildId, value: &Value) -> Object {
    static KEPT: LazyLock<KeptManagers> = LazyLock::new(|| KeptManagers::new([OPERATOR, "old"]));
    Object::from_value(&id.ty, value, &KEPT).unwrap()
}

fn refused(
    request: &Request,
    code: u16,
    retry_after: Option<Duration>,
    causes: Vec<Cause>,
) -> ApiError {
    let (reason, message) = (String::new(), format!("answered {code}"));
    let refusal = Refusal { code, reason, message, retry_after, causes, names_object: true };
    ApiError::Refused { request: format!("{request:?}"), refusal: Box::new(refusal) }
}
