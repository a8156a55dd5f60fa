//! Which version of each child is known to be as desired, so that nothing is compared twice; and
//! what our last apply left, for children that the server will never show as they were applied (an
//! admission policy changes them, or drops a field).

use std::{collections::BTreeMap, sync::LazyLock};

use super::{
    ChildId, Contested, Write, 
};
use crate::{
    diff::{differences::differing_paths, fingerprint::same_owned_fields},
    object::{K8sType, Object, ObjectKey},
    operator::OperatorName,
};

/// What is known of the children of one parent: for each wish the version of the object at which
/// applying it would change nothing. Shares the objects with the caches.
#[derive(Debug, Clone, Default)]
pub struct LastApplied {
    /// Sorted by type and key.
    settled: Vec<Memo>,
    /// What most parents have nothing of.
    rare: Option<Box<Rare>>,
}

/// Children that are not simply as desired.
#[derive(Debug, Clone, Default)]
struct Rare {
    /// Those that are settled and that the server makes something else of, and where.
    altered: BTreeMap<ChildId, Vec<String>>,
    contested: BTreeMap<ChildId, Contested>,
    /// Those about which nothing can be done now.
    waiting: BTreeMap<ChildId, Deferral>,
}

/// Of a parent that has no such children.
static NOTHING_RARE: LazyLock<Rare> = LazyLock::new(Rare::default);

/// A child as an apply leaves it: applying the same to this version of it changes nothing.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The child.
    pub id: ChildId,
    /// What was desired, see [`Write::desired_hash`].
    pub desired_hash: u64,
    object: Object,
    /// Where the server has made something else of it.
    altered: Vec<String>,
}

/// Sixteen bytes, as there is one for every child of every parent.
#[derive(Debug, Clone)]
struct Memo {
    desired_hash: u64,
    settled: Object,
}

/// A child that is not as desired: it ends, changes only when it is deleted, or is yet to be written.
#[derive(Debug, Clone)]
struct Deferral {
    /// As it is, if it is there.
    seen: Option<Object>,
    /// As it was when something was last written to it.
    left: Option<Memo>,
    /// Whether it was as desired then, and not only but for what others hold.
    was_settled: bool,
    /// The wish of which a dry run has shown that it is not as that wants, and how it was then.
    differed: Option<Memo>,
}

impl Settled {
    /// The reply to the apply of `write`, or what was found to be as that wants it.
    pub fn new(write: &Write, object: &Object, operator: &OperatorName) -> Self {
        let altered = differing_paths(&write.body, object, operator);
        let (id, desired_hash, object) = (write.id.clone(), write.desired_hash, object.clone());
        Self { id, desired_hash, object, altered }
    }
}

impl LastApplied {
    /// Takes in how a child was left.
    pub fn remember(&mut self, settled: &Settled) {
        let Settled { id, desired_hash, object, altered } = settled;
        if let Some(rare) = &mut self.rare {
            rare.contested.remove(id);
            rare.waiting.remove(id);
        }
        self.alter(id, altered.clone());
        let memo = Memo::new(*desired_hash, object);
        match self.find(object.ty(), object.key()) {
            Ok(at) => self.settled[at] = memo,
            Err(at) => self.settled.insert(at, memo),
        }
    }

    /// Takes in what was found to be as desired, of different children of which nothing is known
    /// yet: all at once, as there may be thousands.
    pub(super) fn settle(&mut self, found: impl IntoIterator<Item = (u64, Object)>) {
        let memo = |(desired_hash, settled)| Memo { desired_hash, settled };
        self.settled.extend(found.into_iter().map(memo));
        self.settled.sort_unstable_by(|a, b| a.id().cmp(&b.id()));
    }

    /// Takes in where the server has made something else of a child that is as an apply leaves it.
    pub(super) fn alter(&mut self, id: &ChildId, paths: Vec<String>) {
        if !paths.is_empty() {
            self.rare_mut().altered.insert(id.clone(), paths);
        } else if let Some(rare) = &mut self.rare {
            rare.altered.remove(id);
        }
    }

    /// Drops what is known of a child, for example after its deletion.
    pub fn forget(&mut self, id: &ChildId) {
        if let Some(rare) = &mut self.rare {
            rare.altered.remove(id);
            rare.contested.remove(id);
            rare.waiting.remove(id);
        }
        if let Ok(at) = self.find(&id.ty, &id.key) {
            self.settled.remove(at);
        }
    }

    /// Takes in that others hold fields of a child. Until it changes there is nothing to do.
    pub fn contest(&mut self, contested: Contested) {
        self.forget(&contested.id);
        self.rare_mut().contested.insert(contested.id.clone(), contested);
    }

    /// Takes in that nothing can be done now about a child. How it was left before is kept: its end
    /// is the work of others, and what it was may be wished again.
    pub(super) fn wait(&mut self, seen: &Object, before: &Self) {
        let id = ChildId::of(seen);
        let left = before.left(&id).map(|(desired_hash, left)| Memo::new(desired_hash, left));
        let was_settled = before.memo_of(&id).is_some();
        let differed = before.rare().waiting.get(&id).and_then(|waiting| waiting.differed.clone());
        let seen = Some(seen.clone());
        self.rare_mut().waiting.insert(id, Deferral { seen, left, was_settled, differed });
    }

    /// Takes in that a child is to be what it was before under the same wish. Until it is written, how it
    /// was left is kept, so that a write which fails hides nothing that others did.
    pub(super) fn owe(&mut self, write: &Write, seen: Option<&Object>, before: &Self) {
        let left = before.left(&write.id).filter(|(wish, _)| *wish == write.desired_hash);
        let Some((wish, left)) = left else { return };
        let (seen, left) = (seen.cloned(), Some(Memo::new(wish, left)));
        let was_settled = before.memo_of(&write.id).is_some();
        let owed = Deferral { seen, left, was_settled, differed: None };
        self.rare_mut().waiting.insert(write.id.clone(), owed);
    }

    /// Takes in that a child which waits to be deleted is really not as it is desired.
    pub fn differs(&mut self, known: &Settled) {
        if let Some(waiting) = self.rare.as_mut().and_then(|rare| rare.waiting.get_mut(&known.id)) {
            waiting.differed = Some(Memo::new(known.desired_hash, &known.object));
        }
    }

    /// Whether it is not known if a child that looks different is as an apply would leave it: as after
    /// a start, where a policy changes what is applied.
    pub(super) fn is_doubtful(
        &self,
        write: &Write,
        live: &Object,
        operator: &OperatorName,
    ) -> bool {
        let differed = || self.rare().waiting.get(&write.id)?.differed.as_ref();
        let is_known = |memo: &Memo| {
            memo.desired_hash == write.desired_hash
                && same_owned_fields(&memo.settled, live, operator)
        };
        self.memo(write).is_none() && !differed().is_some_and(is_known)
    }

    /// The children of which others hold fields, by type and key.
    pub fn contested(&self) -> impl ExactSizeIterator<Item = &Contested> {
        self.rare().contested.values()
    }

    /// The children of which the server makes something else than is applied, and where.
    pub fn altered(&self) -> impl ExactSizeIterator<Item = (&ChildId, &[String])> {
        self.rare().altered.iter().map(|(id, paths)| (id, &**paths))
    }

    /// Where it does so with one.
    pub(super) fn altered_of(&self, id: &ChildId) -> Vec<String> {
        self.rare().altered.get(id).cloned().unwrap_or_default()
    }

    /// What others hold of a child.
    pub fn contested_of(&self, id: &ChildId) -> Option<&Contested> {
        self.rare().contested.get(id)
    }

    /// What others held when the same was last to be applied.
    pub(super) fn contested_for(&self, write: &Write) -> Option<&Contested> {
        let known = self.rare().contested.get(&write.id);
        known.filter(|known| known.desired_hash == write.desired_hash)
    }

    /// The wish of every child that was written, be it all but the fields that others hold, and the
    /// version at which that left it.
    pub(super) fn left(&self, id: &ChildId) -> Option<(u64, &Object)> {
        let waiting = || self.rare().waiting.get(id)?.left.as_ref();
        let contested =
            || self.rare().contested.get(id).map(|known| (known.desired_hash, &known.left));
        let memo = self.settled_of(id).or_else(waiting);
        memo.map(|memo| (memo.desired_hash, &memo.settled)).or_else(contested)
    }

    /// Whether all that a handler sees of the children is as the reconcile before left it.
    pub(super) fn are_untouched(&self, seen: &[&Object]) -> bool {
        let waiting = self.rare().waiting.values().filter(|waiting| waiting.seen.is_some()).count();
        let known = self.settled.len() + self.rare().contested.len() + waiting;
        seen.len() == known && seen.iter().all(|child| self.is_untouched(child))
    }

    fn is_untouched(&self, child: &Object) -> bool {
        let id = ChildId::of(child);
        let waiting = self.rare().waiting.get(&id).and_then(|waiting| waiting.seen.as_ref());
        waiting.or_else(|| Some(self.left(&id)?.1)) == Some(child)
    }

    /// Whether this very version is known to be what applying the write would leave.
    pub(super) fn is_settled(&self, write: &Write, live: &Object) -> bool {
        self.memo(write).is_some_and(|memo| memo.settled == *live)
    }

    /// The version at which the child was as the same wish wants, if what we own of it is still as
    /// it was then. What looked different then may look different now: applying it would change
    /// nothing.
    pub(super) fn left_alike(
        &self,
        write: &Write,
        live: &Object,
        operator: &OperatorName,
    ) -> Option<&Object> {
        let left = &self.memo(write)?.settled;
        same_owned_fields(left, live, operator).then_some(left)
    }

    /// Every child of which something is remembered.
    pub fn ids(&self) -> impl Iterator<Item = ChildId> {
        let settled = self.settled.iter().map(|memo| ChildId::of(&memo.settled));
        settled.chain(self.rare().contested.keys().cloned())
    }

    /// Whether a version of a child is remembered that is as desired.
    pub fn is_known(&self, id: &ChildId) -> bool {
        self.find(&id.ty, &id.key).is_ok()
    }

    /// How many children are remembered.
    pub fn len(&self) -> usize {
        self.settled.len()
    }

    /// Whether none is remembered.
    pub fn is_empty(&self) -> bool {
        self.settled.is_empty()
    }

    fn rare(&self) -> &Rare {
        self.rare.as_deref().unwrap_or(&NOTHING_RARE)
    }

    fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    fn memo(&self, write: &Write) -> Option<&Memo> {
        let memo = self.memo_of(&write.id);
        memo.filter(|memo| memo.desired_hash == write.desired_hash)
    }

    /// How a child was when it was last as desired.
    fn memo_of(&self, id: &ChildId) -> Option<&Memo> {
        let waiting =
            || self.rare().waiting.get(id).filter(|waiting| waiting.was_settled)?.left.as_ref();
        self.settled_of(id).or_else(waiting)
    }

    fn settled_of(&self, id: &ChildId) -> Option<&Memo> {
        self.settled.get(self.find(&id.ty, &id.key).ok()?)
    }

    fn find(&self, ty: &K8sType, key: &ObjectKey) -> Result<usize, usize> {
        self.settled.binary_search_by(|memo| memo.id().cmp(&(ty, key)))
    }
}

impl Memo {
    fn new(desired_hash: u64, settled: &Object) -> Self {
        Self { desired_hash, settled: settled.clone() }
    }

    fn id(&self) -> (&K8sType, &ObjectKey) {
        (self.settled.ty(), self.settled.key())
    }
}

#[cfg(test)]
mod tests;
