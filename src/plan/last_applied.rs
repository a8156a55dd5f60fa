//! Which version of each child is known to be up to date, so that nothing is compared twice; and
//! what our last apply left of children that the server never stores as they were applied (an
//! admission policy changes them, or drops a field).

use std::{collections::BTreeMap, sync::LazyLock};

use super::{ChildId, Contested, Write};
use crate::{
    diff::fingerprint::same_owned_fields,
    object::{K8sType, Object, ObjectKey},
    operator::OperatorName,
};

/// The known versions of the children of one parent: for each desired state, the version of the object
/// that an apply would not change. Shares the objects with the caches.
#[derive(Debug, Clone, Default)]
pub struct LastApplied {
    /// Sorted by type and key.
    settled: Vec<SettledVersion>,
    /// Empty for most parents.
    exceptions: Option<Box<Exceptions>>,
}

/// Children of which more than the version is known.
#[derive(Debug, Clone, Default)]
struct Exceptions {
    /// Settled children that the server changes whenever they are applied, and where.
    altered: BTreeMap<ChildId, Vec<String>>,
    contested: BTreeMap<ChildId, Contested>,
    /// Children that cannot be changed now.
    waiting: BTreeMap<ChildId, Deferral>,
    /// How many others come before a child, where that is not none.
    ranks: BTreeMap<ChildId, u16>,
}

/// For a parent without such children.
static NO_EXCEPTIONS: LazyLock<Exceptions> = LazyLock::new(Exceptions::default);

/// A child as an apply leaves it: applying the same again would not change this version.
#[derive(Debug, Clone)]
pub struct Settled {
    pub(crate) id: ChildId,
    /// The hash of what was desired, see [`Write::desired_hash`].
    pub(crate) desired_hash: u64,
    object: Object,
    /// Where the server has changed it.
    altered: Vec<String>,
}

/// Sixteen bytes, as there is one for every child of every parent.
#[derive(Debug, Clone)]
struct SettledVersion {
    desired_hash: u64,
    settled: Object,
}

/// A child that is not up to date: it is being deleted, changes only on deletion, or is not written
/// yet.
#[derive(Debug, Clone)]
struct Deferral {
    seen: Option<Object>,
    left: Option<SettledVersion>,
    /// Whether it was up to date then, including the fields that others own.
    was_settled: bool,
    /// The desired state that a dry run has shown to differ from the object, and the object then.
    differed: Option<SettledVersion>,
}

impl Settled {
    /// From the reply to the apply of `write`, or from an object that was found up to date.
    pub fn new(write: &Write, object: &Object, operator: &OperatorName) -> Self {
        let altered = || write.differences(object, operator).changed_paths();
        let altered = if write.ensure { Vec::new() } else { altered() };
        let (id, desired_hash, object) = (write.id.clone(), write.desired_hash, object.clone());
        Self { id, desired_hash, object, altered }
    }
}

impl LastApplied {
    /// Records how a child was left.
    pub fn remember(&mut self, settled: &Settled) {
        let Settled { id, desired_hash, object, altered } = settled;
        if let Some(exceptions) = &mut self.exceptions {
            exceptions.contested.remove(id);
            exceptions.waiting.remove(id);
        }
        self.alter(id, altered.clone());
        let version = SettledVersion::new(*desired_hash, object);
        match self.find(object.ty(), object.key()) {
            Ok(at) => self.settled[at] = version,
            Err(at) => self.settled.insert(at, version),
        }
    }

    /// Records children that were found up to date and are not recorded yet: all at once, as there
    /// may be thousands.
    pub(super) fn settle(&mut self, found: impl IntoIterator<Item = (u64, Object)>) {
        let version = |(desired_hash, settled)| SettledVersion { desired_hash, settled };
        self.settled.extend(found.into_iter().map(version));
        self.settled.sort_unstable_by(|a, b| a.id().cmp(&b.id()));
    }

    pub(super) fn alter(&mut self, id: &ChildId, paths: Vec<String>) {
        if !paths.is_empty() {
            self.exceptions_mut().altered.insert(id.clone(), paths);
        } else if let Some(exceptions) = &mut self.exceptions {
            exceptions.altered.remove(id);
        }
    }

    pub(crate) fn forget(&mut self, id: &ChildId) {
        if let Some(exceptions) = &mut self.exceptions {
            exceptions.altered.remove(id);
            exceptions.contested.remove(id);
            exceptions.waiting.remove(id);
        }
        if let Ok(at) = self.find(&id.ty, &id.key) {
            self.settled.remove(at);
        }
    }

    /// Records that others own fields of a child. Until it changes there is nothing to do.
    pub(crate) fn contest(&mut self, contested: Contested) {
        self.forget(&contested.id);
        self.exceptions_mut().contested.insert(contested.id.clone(), contested);
    }

    /// Records that a child cannot be changed now. How it was left before is kept: others delete
    /// it, and the same may be desired again.
    pub(super) fn wait(&mut self, seen: &Object, before: &Self) {
        let id = ChildId::of(seen);
        let left =
            before.left(&id).map(|(desired_hash, left)| SettledVersion::new(desired_hash, left));
        let was_settled = before.version_of(&id).is_some();
        let differed =
            before.exceptions().waiting.get(&id).and_then(|waiting| waiting.differed.clone());
        let seen = Some(seen.clone());
        self.exceptions_mut().waiting.insert(id, Deferral { seen, left, was_settled, differed });
    }

    /// Records that a child is yet to be written. If the same was desired before, how it was left
    /// is kept until then, so that a failed write does not hide a change by others.
    pub(super) fn defer(&mut self, write: &Write, seen: Option<&Object>, before: &Self) {
        let left = before.left(&write.id).filter(|(hash, _)| *hash == write.desired_hash);
        let Some((hash, left)) = left else { return };
        let (seen, left) = (seen.cloned(), Some(SettledVersion::new(hash, left)));
        let was_settled = before.version_of(&write.id).is_some();
        let deferral = Deferral { seen, left, was_settled, differed: None };
        self.exceptions_mut().waiting.insert(write.id.clone(), deferral);
    }

    /// Records that a child which waits to be deleted really differs from what is desired.
    pub(crate) fn differs(&mut self, known: &Settled) {
        if let Some(waiting) =
            self.exceptions.as_mut().and_then(|exceptions| exceptions.waiting.get_mut(&known.id))
        {
            waiting.differed = Some(SettledVersion::new(known.desired_hash, &known.object));
        }
    }

    /// Whether a child that differs may still be what an apply would leave: after a start nothing
    /// is known of what a policy changes.
    pub(super) fn is_doubtful(
        &self,
        write: &Write,
        live: &Object,
        operator: &OperatorName,
    ) -> bool {
        let differed = || self.exceptions().waiting.get(&write.id)?.differed.as_ref();
        let is_known = |version: &SettledVersion| {
            version.desired_hash == write.desired_hash
                && same_owned_fields(&version.settled, live, operator)
        };
        self.version(write).is_none() && !differed().is_some_and(is_known)
    }

    /// Records how many others come before each child.
    pub(super) fn rank_as(&mut self, ranks: BTreeMap<ChildId, u16>) {
        if ranks.values().any(|rank| *rank > 0) {
            self.exceptions_mut().ranks = ranks;
        }
    }

    /// How many others came before a child when it was desired; 0 also if that is not known.
    pub(super) fn rank(&self, child: &Object) -> u16 {
        let ranks = &self.exceptions().ranks;
        if ranks.is_empty() {
            0
        } else {
            ranks.get(&ChildId::of(child)).copied().unwrap_or_default()
        }
    }

    /// The children of which others own fields, by type and key.
    pub(crate) fn contested(&self) -> impl ExactSizeIterator<Item = &Contested> {
        self.exceptions().contested.values()
    }

    /// The children that the server changes whenever they are applied, and where.
    pub(crate) fn altered(&self) -> impl ExactSizeIterator<Item = (&ChildId, &[String])> {
        self.exceptions().altered.iter().map(|(id, paths)| (id, &**paths))
    }

    /// The same for one child.
    pub(super) fn altered_of(&self, id: &ChildId) -> Vec<String> {
        self.exceptions().altered.get(id).cloned().unwrap_or_default()
    }

    pub(crate) fn contested_of(&self, id: &ChildId) -> Option<&Contested> {
        self.exceptions().contested.get(id)
    }

    /// The conflict that was found when the same was last applied.
    pub(super) fn contested_for(&self, write: &Write) -> Option<&Contested> {
        let known = self.exceptions().contested.get(&write.id);
        known.filter(|known| known.desired_hash == write.desired_hash)
    }

    /// The last write of a child: the hash of the desired state, and the resulting version. The write may
    /// lack the fields that other managers own.
    pub(super) fn left(&self, id: &ChildId) -> Option<(u64, &Object)> {
        let waiting = || self.exceptions().waiting.get(id)?.left.as_ref();
        let contested =
            || self.exceptions().contested.get(id).map(|known| (known.desired_hash, &known.left));
        let version = self.settled_of(id).or_else(waiting);
        version.map(|version| (version.desired_hash, &version.settled)).or_else(contested)
    }

    /// Whether the children that a handler sees are as the reconcile before left them.
    pub(super) fn are_untouched(&self, seen: &[&Object]) -> bool {
        let waiting =
            self.exceptions().waiting.values().filter(|waiting| waiting.seen.is_some()).count();
        let known = self.settled.len() + self.exceptions().contested.len() + waiting;
        seen.len() == known && seen.iter().all(|child| self.is_untouched(child))
    }

    fn is_untouched(&self, child: &Object) -> bool {
        let id = ChildId::of(child);
        let waiting = self.exceptions().waiting.get(&id).and_then(|waiting| waiting.seen.as_ref());
        waiting.or_else(|| Some(self.left(&id)?.1)) == Some(child)
    }

    /// Whether this version is known to be what applying the write would leave.
    pub(super) fn is_settled(&self, write: &Write, live: &Object) -> bool {
        self.version(write).is_some_and(|version| version.settled == *live)
    }

    /// The version at which the child was up to date with the same desired state, if the fields
    /// that we own have not changed since. The differences of that version are then still those
    /// that applying would not change.
    pub(super) fn left_alike(
        &self,
        write: &Write,
        live: &Object,
        operator: &OperatorName,
    ) -> Option<&Object> {
        let left = &self.version(write)?.settled;
        same_owned_fields(left, live, operator).then_some(left)
    }

    /// Every child that is remembered, also with fields that others own.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ChildId> {
        let settled = self.settled.iter().map(|version| ChildId::of(&version.settled));
        settled.chain(self.exceptions().contested.keys().cloned())
    }

    /// Whether an up-to-date version of a child is remembered.
    pub(crate) fn is_known(&self, id: &ChildId) -> bool {
        self.find(&id.ty, &id.key).is_ok()
    }

    /// Whether a child is up to date at this version: nobody has changed what we apply of it.
    pub(crate) fn is_up_to_date(&self, now: &Object, operator: &OperatorName) -> bool {
        let is_it = |known: &SettledVersion| {
            known.settled == *now || same_owned_fields(&known.settled, now, operator)
        };
        self.settled_of(&ChildId::of(now)).is_some_and(is_it)
    }

    /// How many children are remembered.
    pub(crate) fn len(&self) -> usize {
        self.settled.len()
    }

    fn exceptions(&self) -> &Exceptions {
        self.exceptions.as_deref().unwrap_or(&NO_EXCEPTIONS)
    }

    fn exceptions_mut(&mut self) -> &mut Exceptions {
        self.exceptions.get_or_insert_default()
    }

    fn version(&self, write: &Write) -> Option<&SettledVersion> {
        let version = self.version_of(&write.id);
        version.filter(|version| version.desired_hash == write.desired_hash)
    }

    fn version_of(&self, id: &ChildId) -> Option<&SettledVersion> {
        let waiting = || {
            self.exceptions().waiting.get(id).filter(|waiting| waiting.was_settled)?.left.as_ref()
        };
        self.settled_of(id).or_else(waiting)
    }

    fn settled_of(&self, id: &ChildId) -> Option<&SettledVersion> {
        self.settled.get(self.find(&id.ty, &id.key).ok()?)
    }

    fn find(&self, ty: &K8sType, key: &ObjectKey) -> Result<usize, usize> {
        self.settled.binary_search_by(|version| version.id().cmp(&(ty, key)))
    }
}

impl SettledVersion {
    fn new(desired_hash: u64, settled: &Object) -> Self {
        Self { desired_hash, settled: settled.clone() }
    }

    fn id(&self) -> (&K8sType, &ObjectKey) {
        (self.settled.ty(), self.settled.key())
    }
}

#[cfg(test)]
mod tests;
