//! What the parents of one operator read.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{index::Index, look::Look, source::Source};
use crate::{
    object::{K8sType, Object, Uid},
    operator::{Ask, Asks, Children},
    store::Change,
};

/// The related types of an operator, in the order of declaration.
#[derive(Debug, Default)]
pub(crate) struct Reads(Vec<OfType>);

struct OfType {
    source: Source,
    index: Mutex<Index>,
}

/// What is known of the objects that a parent asks for.
#[derive(Debug)]
pub(crate) enum FoundRelated {
    Objects(Children),
    /// They are being listed, and the parent will be woken. As text.
    Pending(String),
    /// They cannot be read, and why.
    Unavailable(String),
}

/// Something that a parent reads, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShownRead {
    pub(crate) ty: K8sType,
    /// The name, or the selection.
    pub(crate) which: String,
    /// How many objects there are; `None` while that is not known.
    pub(crate) found: Option<usize>,
    /// Why they cannot be read.
    pub(crate) problem: Option<String>,
}

// === for reconciles ===

impl Reads {
    pub(crate) fn new(sources: impl IntoIterator<Item = Source>) -> Self {
        let of_type = |source| OfType { source, index: Mutex::default() };
        Self(sources.into_iter().map(of_type).collect())
    }

    /// Replaces what a parent asks for. From now on it is woken by changes.
    pub(crate) fn ask(&self, parent: &Uid, asks: &Asks) {
        for of_type in &self.0 {
            let ty = &of_type.source.spec().ty;
            let its_own = asks.iter().filter(|(asked, _)| asked == ty).map(|(_, ask)| ask.clone());
            of_type.ask(parent, its_own.collect());
        }
    }

    /// The objects that were asked for. Every declared type has a list.
    pub(crate) fn answer(&self, asks: &Asks) -> FoundRelated {
        let (mut objects, mut pending) = (self.empty(), Vec::new());
        for (ty, ask) in asks {
            match self.of_type(ty).map_or(Look::Pending, |of_type| of_type.source.look(ask)) {
                Look::Objects(found) => {
                    let known = objects.iter_mut().filter(|(of_type, _)| of_type == ty);
                    known.for_each(|(_, known)| known.extend(found.iter().cloned()));
                }
                Look::Pending => pending.push(format!("{ty} {ask}")),
                Look::Unavailable(why) => {
                    return FoundRelated::Unavailable(format!("{ty} {ask}: {why}"));
                }
            }
        }
        if !pending.is_empty() {
            return FoundRelated::Pending(pending.join(", "));
        }
        for (_, found) in &mut objects {
            found.sort_unstable_by(|a, b| a.key().cmp(b.key()));
            found.dedup_by(|a, b| a.key() == b.key());
        }
        FoundRelated::Objects(Children::new(objects))
    }

    fn empty(&self) -> Vec<(K8sType, Vec<Object>)> {
        self.0.iter().map(|of_type| (of_type.source.spec().ty.clone(), Vec::new())).collect()
    }

    fn of_type(&self, ty: &K8sType) -> Option<&OfType> {
        self.0.iter().find(|of_type| of_type.source.spec().ty == *ty)
    }
}

// === for actors and the web ===

impl Reads {
    /// The parents that a change concerns.
    pub(crate) fn concerned(&self, ty: &K8sType, change: &Change) -> Vec<Uid> {
        self.of_type(ty).map(|of_type| of_type.index().concerned(change)).unwrap_or_default()
    }

    /// The parents that ask for one of these.
    pub(crate) fn asking(&self, ty: &K8sType, asks: &[Ask]) -> Vec<Uid> {
        let Some(of_type) = self.of_type(ty) else { return Vec::new() };
        let index = of_type.index();
        let mut parents: Vec<Uid> = asks.iter().flat_map(|ask| index.asking(ask)).collect();
        parents.sort_unstable();
        parents.dedup();
        parents
    }

    /// The source of a type whose store is fed by a watch that exists for other reasons.
    pub(crate) fn whole(&self, ty: &K8sType) -> Option<&Source> {
        Some(&self.of_type(ty)?.source).filter(|source| source.is_whole())
    }

    /// The parents that ask for any object of a type.
    pub(crate) fn parents(&self, ty: &K8sType) -> Vec<Uid> {
        self.of_type(ty).map(|of_type| of_type.index().parents()).unwrap_or_default()
    }

    /// Nothing is read for a parent any more.
    pub(crate) fn forget(&self, parent: &Uid) {
        self.0.iter().for_each(|of_type| of_type.ask(parent, Vec::new()));
    }

    /// What a parent reads.
    pub(crate) fn shown(&self, parent: &Uid) -> Vec<ShownRead> {
        let mut all = Vec::new();
        for OfType { source, index } in &self.0 {
            let asks = lock(index).asks_of(parent).to_vec();
            all.extend(asks.iter().map(|ask| shown(source, ask)));
        }
        all
    }
}

fn shown(source: &Source, ask: &Ask) -> ShownRead {
    let (found, problem) = match source.look(ask) {
        Look::Objects(found) => (Some(found.len()), None),
        Look::Pending => (None, None),
        Look::Unavailable(why) => (None, Some(why)),
    };
    ShownRead { ty: source.spec().ty.clone(), which: ask.to_string(), found, problem }
}

impl OfType {
    fn ask(&self, parent: &Uid, asks: Vec<Ask>) {
        // The lock is held until the source knows, so that the first and the last asker are in order.
        let mut index = self.index();
        let difference = index.set(parent, asks);
        self.source.ask(difference.asked, difference.dropped);
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        lock(&self.index)
    }
}

fn lock(index: &Mutex<Index>) -> MutexGuard<'_, Index> {
    index.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for OfType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}
