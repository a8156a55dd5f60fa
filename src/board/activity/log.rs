//! The entries that are kept: a fixed amount of memory, the oldest are dropped first.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::{
    entry::{Entry, LeaderChange, What},
    kind::Shelf,
};
use crate::{
    object::{K8sType, ObjectKey},
    operator::OperatorName,
};

/// How much of what happened is kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ActivityLimit {
    /// About how many bytes.
    pub(crate) bytes: usize,
    pub(crate) entries: usize,
}

#[derive(Debug, Default)]
pub(super) struct Log {
    limit: ActivityLimit,
    last: u64,
    shelves: [Kept; 3],
    /// The parents that are paused themselves.
    paused: HashSet<(OperatorName, ObjectKey)>,
    /// Whether this process leads by a Lease, and who does.
    leases: HashMap<String, (bool, Option<Arc<str>>)>,
    /// The parent type of each operator, also of those that are gone.
    types: HashMap<OperatorName, K8sType>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The newest is last.
    entries: VecDeque<Arc<Entry>>,
    bytes: usize,
    /// When the newest dropped entry happened.
    dropped: Option<SystemTime>,
}

/// Who did something, and why, as far as is known.
type Said = (Option<Arc<str>>, Option<Arc<str>>);

/// Up to how many entries ago an equal one is found.
const LOOK_BACK: usize = 8;
/// An equal one that is older is another one.
const SAME_WITHIN: Duration = Duration::from_mins(10);
/// Up to how many entries ago the user of a pause is added to it.
const LATE: usize = 64;
/// More paused parents are not told apart.
const MAX_PAUSED: usize = 10_000;

impl Default for ActivityLimit {
    fn default() -> Self {
        Self { bytes: 2_000_000, entries: 10_000 }
    }
}

impl Log {
    pub(super) fn limit(&mut self, limit: ActivityLimit) {
        self.limit = limit;
        self.shelves.iter_mut().zip(Shelf::ALL).for_each(|(kept, shelf)| kept.trim(limit, shelf));
    }

    pub(super) fn push(&mut self, at: SystemTime, operator: Option<&OperatorName>, what: What) {
        self.last += 1;
        let (number, place) = (self.last, what.shelf());
        let kept = &mut self.shelves[place as usize];
        let entry = match kept.take_alike(at, operator, &what) {
            Some(earlier) => earlier.again(number, at),
            None => Entry::new(number, at, operator.cloned(), what),
        };
        kept.push(Arc::new(entry));
        kept.trim(self.limit, place);
    }

    /// All entries, the oldest first.
    pub(super) fn entries(&self) -> Vec<Arc<Entry>> {
        let kept = self.shelves.iter().flat_map(|kept| kept.entries.iter().cloned());
        let mut entries: Vec<_> = kept.collect();
        entries.sort_unstable_by_key(|entry| entry.number);
        entries
    }

    /// Up to when entries were dropped.
    pub(super) fn dropped(&self) -> Vec<(Shelf, SystemTime)> {
        let shelves = Shelf::ALL.into_iter().zip(&self.shelves);
        shelves.filter_map(|(shelf, kept)| Some((shelf, kept.dropped?))).collect()
    }

    /// Adds a pause of a parent or its end, once: the command of a user and the reconcile after it both report it.
    pub(super) fn parent_paused(
        &mut self,
        at: SystemTime,
        (operator, parent): (&OperatorName, &ObjectKey),
        is_paused: bool,
        (by, why): Said,
    ) {
        if !self.is_new(operator, parent, is_paused) {
            if by.is_some() {
                let kept = &mut self.shelves[Shelf::Commands as usize];
                kept.add_user(operator, parent, is_paused, (by, why));
            }
            return;
        }
        let parent = Some(parent.clone());
        let what =
            if is_paused { What::Paused { parent, by, why } } else { What::Resumed { parent, by } };
        self.push(at, Some(operator), what);
    }

    /// Records whether a parent is paused, and returns whether that is new.
    pub(super) fn is_new(
        &mut self,
        operator: &OperatorName,
        parent: &ObjectKey,
        is_paused: bool,
    ) -> bool {
        if !is_paused && self.paused.is_empty() {
            return false;
        }
        let paused = (operator.clone(), parent.clone());
        if is_paused {
            self.paused.len() < MAX_PAUSED && self.paused.insert(paused)
        } else {
            self.paused.remove(&paused)
        }
    }

    /// Drops what an earlier operator of that name did for parents of another type: permissions are for a type.
    pub(super) fn registered(&mut self, at: SystemTime, operator: &OperatorName, parent: &K8sType) {
        let before = self.types.insert(operator.clone(), parent.clone());
        if before.is_some_and(|before| before != *parent) {
            self.shelves.iter_mut().for_each(|kept| kept.remove(operator));
        }
        self.push(at, Some(operator), What::Registered);
    }

    pub(super) fn forget_operator(&mut self, operator: &OperatorName) {
        self.paused.retain(|(paused, _)| paused != operator);
    }

    pub(super) fn leader(
        &mut self,
        at: SystemTime,
        operators: &[OperatorName],
        lease: &str,
        (leads, holder): (bool, Option<&str>),
    ) {
        let before = self.leases.get(lease);
        let is_same = before.is_some_and(|(led, by)| *led == leads && by.as_deref() == holder);
        if operators.is_empty() || is_same {
            return;
        }
        let (led, to) = (before.is_some_and(|(led, _)| *led), holder.map(Arc::<str>::from));
        let is_known = before.is_some();
        self.leases.insert(lease.to_owned(), (leads, to.clone()));
        let change = match (led, leads) {
            (false, true) => LeaderChange::Gained,
            (true, false) => LeaderChange::Lost { to },
            (false, false) if is_known || to.is_some() => LeaderChange::Passed { to },
            (true, true) | (false, false) => return,
        };
        self.push(
            at,
            None,
            What::Leader { operators: operators.into(), lease: lease.into(), change },
        );
    }
}

impl Kept {
    fn push(&mut self, entry: Arc<Entry>) {
        self.bytes += entry.bytes;
        self.entries.push_back(entry);
    }

    fn take_alike(
        &mut self,
        at: SystemTime,
        operator: Option<&OperatorName>,
        what: &What,
    ) -> Option<Arc<Entry>> {
        let is_alike = |entry: &Arc<Entry>| {
            let age = at.duration_since(entry.last).unwrap_or_default();
            entry.operator.as_ref() == operator && entry.what.is_like(what) && age <= SAME_WITHIN
        };
        let ago = self.entries.iter().rev().take(LOOK_BACK).position(is_alike)?;
        let taken = self.entries.remove(self.entries.len() - 1 - ago)?;
        self.bytes -= taken.bytes;
        Some(taken)
    }

    fn trim(&mut self, limit: ActivityLimit, place: Shelf) {
        let part = |all: usize| all / 8 * place.eighths();
        while self.bytes > part(limit.bytes) || self.entries.len() > part(limit.entries) {
            let Some(oldest) = self.entries.pop_front() else { return };
            self.bytes -= oldest.bytes;
            self.dropped = self.dropped.max(Some(oldest.last));
        }
    }

    fn remove(&mut self, operator: &OperatorName) {
        self.entries.retain(|entry| entry.operator.as_ref() != Some(operator));
        self.bytes = self.entries.iter().map(|entry| entry.bytes).sum();
    }

    /// Adds who paused or resumed a parent, and why, where that was not known yet.
    fn add_user(
        &mut self,
        operator: &OperatorName,
        parent: &ObjectKey,
        is_paused: bool,
        (user, reason): Said,
    ) {
        let is_it = |entry: &&mut Arc<Entry>| {
            let (is_pause, of, is_known) = match &entry.what {
                What::Paused { parent, by, .. } => (true, parent.as_ref(), by.is_some()),
                What::Resumed { parent, by } => (false, parent.as_ref(), by.is_some()),
                _ => return false,
            };
            let is_of = entry.operator.as_ref() == Some(operator) && of == Some(parent);
            is_of && is_pause == is_paused && !is_known
        };
        let Some(entry) = self.entries.iter_mut().rev().take(LATE).find(is_it) else { return };
        let mut what = entry.what.clone();
        match &mut what {
            What::Paused { by, why, .. } => (*by, *why) = (user, reason.or_else(|| why.take())),
            What::Resumed { by, .. } => *by = user,
            _ => {}
        }
        let known = Entry { what, ..(**entry).clone() };
        *entry = Arc::new(known);
    }
}

#[cfg(test)]
mod tests;
