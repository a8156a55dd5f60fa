//! Whether a reconcile may delete as many children as it wants to. Decides; nothing is deleted here.
//!
//! ```text
//! few enough for a reconcile, and for the operator's minute -> Reservation
//! allowed by an administrator, by their code                -> Free
//! otherwise                                                 -> Held, with the numbers and the code
//! ```
//!
//! Deletions that exceed the limit per minute stay held when that minute is over: waiting is no
//! approval.
//!
//! Children that are created while deletions are held, or cannot be judged, do not count for the
//! share: replacing all children must not look like deleting few.

mod budget;

use std::collections::BTreeSet;

use super::{Deletion, DeletionReason, Plan, Step};
use crate::{
    object::{Object, Uid},
    operator::{ALLOW_DELETION_ANNOTATION, DeletionLimit},
};

pub(crate) use budget::{DeletionBudget, Exceeded, Reservation};

#[derive(Debug, Clone, Copy)]
pub(crate) struct WantedDeletions<'a> {
    pub(crate) limit: DeletionLimit,
    pub(crate) parent: &'a Object,
    pub(crate) deletions: &'a [&'a Deletion],
    /// How many children the parent has, those included.
    pub(crate) existing: usize,
    /// Whether there may be further deletions that are not known now: held ones stay held.
    pub(crate) is_part: bool,
}

/// What is remembered of a parent's deletions; nothing for most parents.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeletionGuard(Option<Box<Held>>);

#[derive(Debug, Clone, Default)]
struct Held {
    /// While deletions are held, or not all are known: how many children there were.
    of: Option<usize>,
    /// How many deletions were held when they were last judged.
    deletions: usize,
    /// The code that was last shown.
    shown: Option<String>,
    /// The deletions that exceeded the operator's limit per minute, and why.
    by_minute: Option<(Exceeded, BTreeSet<Uid>)>,
    /// The deletions that an administrator has allowed, with their code.
    allowed: Option<(String, BTreeSet<Uid>)>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// They may be carried out, and do not count.
    Free,
    /// They may be carried out; this many count for the operator's minute.
    Reservation(usize),
    /// None of them may be carried out.
    Held(HeldDeletions),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeldDeletions {
    pub(crate) deletions: usize,
    /// How many children the parent has.
    pub(crate) of: usize,
    pub(crate) why: Exceeded,
    /// The value of the annotation that allows them.
    pub(crate) code: String,
    /// Whether other deletions, or none, were held before.
    pub(crate) is_new: bool,
}

/// Decides about the deletions of a reconcile. `take` reserves them in the operator's
/// [`DeletionBudget`].
pub(crate) fn judge(
    wanted: WantedDeletions<'_>,
    memory: &mut DeletionGuard,
    take: impl FnOnce(usize) -> Result<(), Exceeded>,
) -> Verdict {
    let WantedDeletions { limit, parent, deletions, existing, is_part } = wanted;
    let uids: BTreeSet<Uid> = deletions.iter().map(|deletion| deletion.uid.clone()).collect();
    if uids.is_empty() && !is_part {
        *memory = DeletionGuard::default();
        return Verdict::Free;
    }
    let memory = memory.0.get_or_insert_default();
    let of = memory.of.map_or(existing, |of| of.min(existing));
    let code = code(&uids);
    if uids.is_empty() || memory.is_allowed(parent, &code, &uids) {
        memory.release(of, is_part);
        return Verdict::Free;
    }
    let allowed = limit.reconcile.of(of);
    let taken = match memory.refused_by_minute(&uids) {
        _ if uids.len() > allowed => Err(Exceeded::Reconcile { allowed }),
        Some(why) => Err(why),
        None => take(uids.len()),
    };
    let (deletions, of_all) = (uids.len(), existing);
    match taken {
        Ok(()) => {
            memory.release(of, is_part);
            Verdict::Reservation(deletions)
        }
        Err(why) => {
            let is_new = memory.shown.replace(code.clone()).as_ref() != Some(&code);
            memory.hold(of, why, uids);
            Verdict::Held(HeldDeletions { deletions, of: of_all, why, code, is_new })
        }
    }
}

impl DeletionGuard {
    /// Restores what an earlier process recorded: it may have held deletions, of so many children.
    pub(crate) fn resume(&mut self, of: usize) {
        self.0.get_or_insert_default().of = Some(of);
    }

    /// The same for deletions that exceeded the earlier process' limit per minute.
    pub(crate) fn resume_minute(&mut self, why: Exceeded, uids: BTreeSet<Uid>) {
        self.0.get_or_insert_default().by_minute = Some((why, uids));
    }

    /// Whether deletions were held when they were last judged, or may be: not all were known.
    pub(crate) fn is_holding(&self) -> bool {
        self.0.as_ref().is_some_and(|held| held.of.is_some())
    }

    pub(crate) fn held(&self) -> usize {
        self.0.as_ref().map_or(0, |held| held.deletions)
    }

    /// The code that allows the deletions that were held when they were last judged.
    pub(crate) fn code(&self) -> Option<&str> {
        self.0.as_ref().filter(|held| held.deletions > 0)?.shown.as_deref()
    }
}

impl Held {
    /// The judged deletions may be carried out, which ends the hold if they are all. Otherwise
    /// children that are created until the rest is judged must not count for its share.
    fn release(&mut self, of: usize, is_part: bool) {
        if is_part {
            self.of = Some(of);
        } else {
            *self = Self { allowed: self.allowed.take(), ..Self::default() };
        }
    }

    fn hold(&mut self, of: usize, why: Exceeded, uids: BTreeSet<Uid>) {
        (self.of, self.deletions) = (Some(of), uids.len());
        self.by_minute = matches!(why, Exceeded::Minute { .. }).then_some((why, uids));
    }

    /// Why they are held, as long as one of the refused deletions is still wanted.
    fn refused_by_minute(&self, uids: &BTreeSet<Uid>) -> Option<Exceeded> {
        let (why, refused) = self.by_minute.as_ref()?;
        uids.iter().any(|uid| refused.contains(uid)).then_some(*why)
    }

    /// Whether an administrator has allowed these deletions: by their code or, while the annotation
    /// stays, by the code of a larger set that has been carried out in part.
    fn is_allowed(&mut self, parent: &Object, code: &str, uids: &BTreeSet<Uid>) -> bool {
        let mut annotations = parent.annotations();
        let Some(given) = annotations.remove(ALLOW_DELETION_ANNOTATION) else { return false };
        if given == code {
            self.allowed = Some((given, uids.clone()));
            return true;
        }
        self.allowed.as_ref().is_some_and(|(code, all)| *code == given && uids.is_subset(all))
    }
}

impl Plan {
    /// How many children the parent has, as far as the plan knows, without those being deleted.
    pub(crate) fn existing(&self) -> usize {
        let stays = self.waiting.iter().filter(|waiting| !waiting.why.is_deleting());
        let is_there = |step: &&Step| !matches!(step, Step::Create(_));
        let known = self.last_applied.len() + self.last_applied.contested().len();
        known + stays.count() + self.steps.iter().filter(is_there).count()
    }
}

impl Step {
    /// The deletion of a child that will not be created again.
    pub(crate) fn final_deletion(&self) -> Option<&Deletion> {
        match self {
            Self::Delete(deletion) => match deletion.why {
                DeletionReason::Undesired => Some(deletion),
                DeletionReason::Recreate { .. } | DeletionReason::Immutable { .. } => None,
            },
            Self::Create(_) | Self::Update(_) => None,
        }
    }
}

/// A short name for a set of uids, the same in every process (FNV-1a, 32 bits).
fn code(uids: &BTreeSet<Uid>) -> String {
    let bytes = uids.iter().flat_map(|uid| format!("{uid}\n").into_bytes());
    let hash = bytes
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{hash:08x}")
}

#[cfg(test)]
mod tests;
