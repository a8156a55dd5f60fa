//! The tree of the cached children of a parent, each with its readiness and the decision of the last
//! reconcile. Its size is limited: a parent may have thousands of children, and owners may be cyclic.

use std::collections::{BTreeMap, HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    diff::PreviewView,
    views::{KeyView, TypeView},
};
use crate::{
    board::OperatorInfo,
    history::{Decision, Reconcile},
    object::{Object, Readiness, Uid},
    plan::{ChildId, is_ours},
    store::StoreReader,
};

/// A child, or a missing one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Child")]
pub(super) struct Node {
    #[serde(flatten)]
    pub(super) ty: TypeView,
    #[serde(flatten)]
    pub(super) key: KeyView,
    #[serde(flatten)]
    pub(super) facts: Option<Facts>,
    pub(super) readiness: ReadinessView,
    /// The decision of the last reconcile about it; absent if it was not modified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<Decision>,
    /// What a reconcile would do with it; absent if it would not be modified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) preview: Option<PreviewView>,
    /// The objects that it owns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) children: Vec<Node>,
}

/// Details of an existing object.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Facts {
    pub(super) uid: String,
    resource_version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<i64>,
    deleting: bool,
    /// The field manager that changed it after the operator; absent if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) changed_by: Option<String>,
    /// Whether its owner is the object above it; otherwise it only has the label.
    pub(super) owned: bool,
}

/// Whether an object is ready.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Readiness")]
pub(super) struct ReadinessView {
    /// `Ready`, `Exists`, `Progressing`, `Failed`, `Terminating` or `Missing`.
    pub(super) state: &'static str,
    /// Why it is not ready.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) message: String,
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) omitted: usize,
}

pub(super) struct Roots<'a> {
    pub(super) info: &'a OperatorInfo,
    pub(super) parent: &'a Object,
    /// Every cache, because children of children may be of any type.
    pub(super) caches: &'a [StoreReader],
    pub(super) last_reconcile: Option<&'a Reconcile>,
    pub(super) redact: &'a dyn Fn(&Object, &str) -> String,
}

const MAX_NODES: usize = 500;
const MAX_DEPTH: usize = 6;

/// The children of a parent: existing ones, and missing ones that the last reconcile could not create
/// or the next one would create.
pub(super) fn tree(roots: &Roots<'_>, mut previews: HashMap<ChildId, PreviewView>) -> Tree {
    let mut decisions = roots.decisions();
    let mut builder = Builder { roots, seen: HashSet::new(), room: MAX_NODES, omitted: 0 };
    builder.seen.insert(roots.parent.uid().clone());
    let mut tree = Tree::default();
    for child in &roots.children() {
        let id = ChildId::of(child);
        let decision = decisions.remove(id.to_string().as_str()).cloned();
        let preview = previews.remove(&id);
        let Some(node) = builder.node(child, decision, 1) else { continue };
        tree.nodes.push(Node { preview, ..node });
    }
    let stuck = decisions.into_values().filter(|decision| decision.what.verb().is_none());
    let stuck = stuck.filter_map(|it| Some((roots.id(&it.child)?, Some(it.clone()))));
    let mut missing: BTreeMap<ChildId, Option<Decision>> = stuck.collect();
    for id in previews.keys() {
        missing.entry(id.clone()).or_default();
    }
    tree.omitted = builder.omitted + missing.len().saturating_sub(builder.room);
    for (id, decision) in missing.into_iter().take(builder.room) {
        let preview = previews.remove(&id);
        tree.nodes.push(Node {
            ty: (&id.ty).into(),
            key: (&id.key).into(),
            facts: None,
            readiness: Readiness::missing().into(),
            decision,
            preview,
            children: Vec::new(),
        });
    }
    tree
}

impl<'a> Roots<'a> {
    /// The objects with the label of the parent, except those that another child owns.
    fn children(&self) -> Vec<Object> {
        let declared = &self.info.config.children;
        let is_declared = |cache: &&StoreReader| declared.iter().any(|it| it.ty == *cache.ty());
        let caches = self.caches.iter().filter(is_declared);
        let mut children: Vec<Object> =
            caches.flat_map(|cache| cache.of_parent(self.parent.uid())).collect();
        let uids: HashSet<Uid> = children.iter().map(|child| child.uid().clone()).collect();
        children.retain(|child| child.controller().is_none_or(|owner| !uids.contains(owner)));
        children.sort_by(|a, b| (a.ty(), a.key()).cmp(&(b.ty(), b.key())));
        children
    }

    fn readiness(&self, object: &Object) -> Readiness {
        let mut readiness = self.info.config.readiness(object);
        if !readiness.message.is_empty() {
            readiness.message = (self.redact)(object, &readiness.message);
        }
        readiness
    }

    fn decisions(&self) -> HashMap<&'a str, &'a Decision> {
        let decisions = self.last_reconcile.map(|it| &*it.decisions).unwrap_or_default();
        decisions.iter().map(|decision| (&*decision.child, decision)).collect()
    }

    fn id(&self, name: &str) -> Option<ChildId> {
        let mut types = self.info.config.children.iter().map(|child| &child.ty);
        types.find_map(|ty| {
            let key = name.strip_prefix(&ty.to_string())?.strip_prefix(' ')?;
            Some(ChildId { ty: ty.clone(), key: key.parse().ok()? })
        })
    }
}

struct Builder<'a> {
    roots: &'a Roots<'a>,
    seen: HashSet<Uid>,
    room: usize,
    omitted: usize,
}

impl Builder<'_> {
    fn node(&mut self, object: &Object, decision: Option<Decision>, depth: usize) -> Option<Node> {
        if !self.seen.insert(object.uid().clone()) {
            return None;
        }
        let Some(room) = self.room.checked_sub(1) else {
            self.omitted += 1;
            return None;
        };
        self.room = room;
        let children = if depth < MAX_DEPTH { self.beneath(object, depth + 1) } else { Vec::new() };
        Some(Node {
            ty: object.ty().into(),
            key: object.key().into(),
            facts: Some(self.facts(object, depth)),
            readiness: self.roots.readiness(object).into(),
            decision,
            preview: None,
            children,
        })
    }

    fn beneath(&mut self, owner: &Object, depth: usize) -> Vec<Node> {
        let caches = self.roots.caches.iter();
        let mut below: Vec<Object> =
            caches.flat_map(|cache| cache.of_parent(owner.uid())).collect();
        below.retain(|object| object.controller() == Some(owner.uid()));
        below.sort_by(|a, b| (a.ty(), a.key()).cmp(&(b.ty(), b.key())));
        below.iter().filter_map(|object| self.node(object, None, depth)).collect()
    }

    fn facts(&self, object: &Object, depth: usize) -> Facts {
        let Roots { info, parent, .. } = self.roots;
        Facts {
            uid: object.uid().to_string(),
            resource_version: object.resource_version().to_string(),
            generation: object.generation(),
            deleting: object.is_deleting(),
            changed_by: object.changed_by().map(str::to_owned),
            owned: depth > 1 || is_ours(&info.config, &info.name, parent, object),
        }
    }
}

impl From<Readiness> for ReadinessView {
    fn from(Readiness { state, message }: Readiness) -> Self {
        Self { state: state.name(), message }
    }
}

#[cfg(test)]
mod tests;
