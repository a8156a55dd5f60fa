//! The steps of a plan. Values only; why a step is in a plan is decided elsewhere.

use std::{
    collections::BTreeMap,
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, LazyLock},
};

use serde_json::{Value, json};

use super::initial_fields::InitialFields;
use crate::{
    diff::differences::Differences,
    object::{K8sType, Object, ObjectKey, ResourceVersion, Uid, being_deleted},
    operator::{ChildConfig, ConflictPolicy, OperatorName},
    reply::Defaults,
};

/// Type, namespace and name of a child.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChildId {
    pub(crate) ty: K8sType,
    /// Namespace and name.
    pub(crate) key: ObjectKey,
}

/// One thing to do.
#[derive(Debug, Clone)]
pub enum Step {
    /// Forced server-side apply that fails when the object exists.
    Create(Write),
    /// Forced server-side apply that fails when the object does not exist or is another one.
    Update(Write),
    /// Delete with uid and resourceVersion as preconditions.
    Delete(Deletion),
}

/// A server-side apply. `Debug` does not show the body.
#[derive(Clone)]
pub struct Write {
    pub(crate) id: ChildId,
    /// The complete body to apply, with the precondition (`resourceVersion` or `uid`) in it.
    pub body: Value,
    /// A hash of the body without the precondition.
    pub(crate) desired_hash: u64,
    /// Where the child differs from what is desired; at most ten JSON paths, none for a create.
    pub(crate) paths: Vec<String>,
    /// How this child is treated.
    pub(crate) config: ChildConfig,
    /// Whether the child is left as it is once it exists.
    pub(crate) ensure: bool,
    /// Sent instead of the body: what ties an ensured child to its parent, and changes nothing else
    /// of this version of it.
    pub(crate) claim: Option<Value>,
    /// The fields of the body that are only a start.
    pub(super) initial: InitialFields,
    /// The defaults of a type that may be custom, if they are known.
    pub(super) defaults: Option<Arc<Defaults>>,
}

/// A delete with its preconditions.
#[derive(Debug, Clone)]
pub struct Deletion {
    pub(crate) id: ChildId,
    /// The uid of the object to delete, and of no later one with the same name.
    pub(crate) uid: Uid,
    /// The version on which the decision is based.
    pub(crate) version: ResourceVersion,
    pub(crate) why: DeletionReason,
    /// Whether it holds what cannot be rebuilt: parent and child are then read live before.
    pub(crate) irreplaceable: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum DeletionReason {
    /// The handler no longer wants it.
    Undesired,
    /// It differs, and its type is recreated rather than updated.
    Recreate {
        paths: Vec<String>,
        /// The update that is not sent. A dry run of it whose reply satisfies
        /// [`same_owned_fields`](super::same_owned_fields) shows that the server (an admission
        /// policy) causes the difference, and that recreating would change nothing.
        instead_of: Box<Write>,
    },
    /// It differs in immutable fields, and its type may be recreated.
    Immutable {
        paths: Vec<String>,
        /// The update that the server refused.
        instead_of: Box<Write>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WaitingChild {
    pub(crate) id: ChildId,
    pub(crate) why: WaitingReason,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WaitingReason {
    /// It has a deletionTimestamp; it is handled once it is deleted.
    #[error("{}", being_deleted(.finalizers))]
    Deleting {
        /// Its finalizers, as far as they are known.
        finalizers: Vec<String>,
    },
    /// It should be deleted, but the store of its type may be incomplete.
    #[error("its deletion waits until all objects of its type are known")]
    TypeNotSynced,
    /// It differs, and its type changes only when the object is deleted.
    #[error("it differs at {} and changes only when it is deleted", .paths.join(", "))]
    OnDelete { paths: Vec<String> },
}

// === WaitingReason ===

impl WaitingReason {
    /// For an object that is being deleted.
    pub(crate) fn deleting(object: &Object) -> Self {
        Self::Deleting { finalizers: object.finalizers() }
    }

    pub(crate) fn is_deleting(&self) -> bool {
        matches!(self, Self::Deleting { .. })
    }
}

pub(super) fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

// === ChildId ===

impl ChildId {
    pub(crate) fn of(object: &Object) -> Self {
        Self { ty: object.ty().clone(), key: object.key().clone() }
    }
}

impl fmt::Display for ChildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ty, self.key)
    }
}

impl fmt::Debug for ChildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

// === Step ===

impl Step {
    pub(crate) fn id(&self) -> &ChildId {
        match self {
            Self::Create(write) | Self::Update(write) => &write.id,
            Self::Delete(deletion) => &deletion.id,
        }
    }
}

// === Write ===

impl Write {
    pub(crate) fn new(id: ChildId, body: Value, desired_hash: u64, config: ChildConfig) -> Self {
        let (paths, ensure, claim, initial, defaults) = <_>::default();
        Self { id, body, desired_hash, paths, config, ensure, claim, initial, defaults }
    }

    pub(super) fn with_defaults(self, of_types: &BTreeMap<K8sType, Arc<Defaults>>) -> Self {
        Self { defaults: of_types.get(&self.id.ty).cloned(), ..self }
    }

    /// The same child with fields that are only a start.
    pub(super) fn with_initial_fields(self, initial: InitialFields) -> Self {
        Self { initial, ..self }.setting_initial_fields()
    }

    pub(super) fn setting_initial_fields(self) -> Self {
        self.with_initial(InitialFields::begin)
    }

    /// The write that leaves the initial fields of an object of ours as they are.
    pub(super) fn keeping_initial_fields(self, live: &Object, operator: &OperatorName) -> Self {
        self.with_initial(|initial, body| initial.keep(body, live, operator))
    }

    /// The same for an object that is adopted.
    pub(super) fn taking_initial_fields(self, live: &Object) -> Self {
        self.with_initial(|initial, body| initial.take(body, live))
    }

    fn with_initial(mut self, apply: impl Fn(&mut InitialFields, &mut Value) -> u64) -> Self {
        // The content of an ensured child stays in any case.
        if !self.initial.is_empty() && !self.ensure {
            let content = apply(&mut self.initial, &mut self.body);
            self.desired_hash = content ^ hash_of(&self.config);
        }
        self
    }

    /// The body to apply.
    pub(crate) fn sent(&self) -> &Value {
        self.claim.as_ref().unwrap_or(&self.body)
    }

    /// The desired state of the child: the body without the precondition.
    pub(crate) fn desired(&self) -> Value {
        let mut desired = self.sent().clone();
        if let Some(metadata) = desired["metadata"].as_object_mut() {
            metadata.retain(|name, _| !["uid", "resourceVersion"].contains(&name.as_str()));
        }
        desired
    }

    /// The same body as a create: no existing object has version 1, and a body with a version never
    /// overwrites one.
    pub(super) fn creating(self) -> Self {
        let mut creating = self.setting_initial_fields();
        let metadata = &mut creating.body["metadata"];
        metadata["resourceVersion"] = json!("1");
        metadata.as_object_mut().map(|fields| fields.remove("uid"));
        creating.claim = None;
        creating
    }

    /// The same body as a create under an unused name, to try whether the server would accept it.
    #[must_use]
    pub(crate) fn elsewhere(&self) -> Self {
        let mut elsewhere = self.clone().creating();
        let name = format!("operetta-trial-{:016x}", hash_of(&self.id.key.name));
        elsewhere.body["metadata"]["name"] = json!(name);
        elsewhere.id.key.name = name.into();
        elsewhere
    }

    /// Where a live object is not what this apply should have left.
    pub(super) fn differences(&self, live: &Object, operator: &OperatorName) -> Differences {
        Differences::between(&self.body, live, operator, self.defaults())
    }

    /// The defaults of the type that are no difference.
    pub(crate) fn defaults(&self) -> &Defaults {
        static NONE: LazyLock<Defaults> = LazyLock::new(Defaults::default);
        self.defaults.as_deref().unwrap_or(&NONE)
    }

    /// Whether it takes fields of other managers.
    pub(crate) fn forces(&self) -> bool {
        self.claim.is_some() || self.config.conflicts == ConflictPolicy::Force
    }

    /// Whether it succeeds only if the object does not exist.
    pub(crate) fn is_creating(&self) -> bool {
        self.body["metadata"].get("uid").is_none()
    }

    /// The same body as an update of the object with this uid.
    pub(super) fn updating(mut self, uid: &Uid, paths: Vec<String>) -> Self {
        let metadata = &mut self.body["metadata"];
        metadata["uid"] = json!(uid);
        match self.initial.precondition() {
            Some(version) => metadata["resourceVersion"] = json!(version.to_string()),
            None => drop(metadata.as_object_mut().map(|it| it.remove("resourceVersion"))),
        }
        self.paths = paths;
        self
    }

    /// The write that ties this version of an object to the parent and leaves its content.
    pub(super) fn claiming(self, live: &Object, claim: Value, paths: Vec<String>) -> Self {
        Self { claim: Some(claim), ..self.updating(live.uid(), paths) }
    }

    /// The same body as an update of exactly this version of an object that is not ours yet.
    #[must_use]
    pub(crate) fn adopting(self, uid: &Uid, version: &ResourceVersion) -> Self {
        let mut adopting = self.updating(uid, Vec::new());
        adopting.body["metadata"]["resourceVersion"] = json!(version.to_string());
        adopting
    }
}

impl fmt::Debug for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, paths, ensure, .. } = self;
        let mut shown = f.debug_struct("Write");
        shown.field("id", id).field("paths", paths).field("ensure", ensure);
        shown.finish_non_exhaustive()
    }
}

// === Deletion ===

impl Deletion {
    pub(crate) fn undesired(object: &Object) -> Self {
        Self::new(object, DeletionReason::Undesired)
    }

    /// The write that replaces the object.
    pub(crate) fn instead_of(&self) -> Option<&Write> {
        match &self.why {
            DeletionReason::Recreate { instead_of, .. }
            | DeletionReason::Immutable { instead_of, .. } => Some(instead_of),
            DeletionReason::Undesired => None,
        }
    }

    pub(super) fn new(object: &Object, why: DeletionReason) -> Self {
        Self {
            id: ChildId::of(object),
            uid: object.uid().clone(),
            version: object.resource_version().clone(),
            why,
            irreplaceable: crate::diff::builtin::is_irreplaceable(object.ty()),
        }
    }
}
