//! Limits the deletions of a reconcile: too many require approval.

use std::collections::HashSet;

use crate::{
    journal::Fact,
    object::{Object, Uid},
    operator::{Allowance, DeletionLimit},
    plan::{Deletion, DeletionGuard, Exceeded, Step, Verdict, WantedDeletions, judge},
    report::deletions_held::{self, ExceededLimit},
    run::module_view::View,
};

#[derive(Debug)]
pub(in crate::run) enum Judgement {
    /// This number must be reserved from the operator's budget first.
    Reserve(Allowance, usize),
    Free(Option<Fact>),
    /// None of them may be carried out.
    Held(Fact),
}

/// Judges the deletions of some steps. `existing` is the number of children, `is_part` means that further
/// deletions are unknown, and `reserved` is the answer of the budget, if it was asked.
pub(in crate::run) fn judged(
    view: &View<'_>,
    steps: &[Step],
    (existing, is_part): (usize, bool),
    reserved: Option<Result<(), Exceeded>>,
) -> Judgement {
    let known = view.memory.deletion_guard();
    let Some(limit) = view.settings.config().deletion_limit else {
        return Judgement::Free(Some(judged_as(DeletionGuard::default())));
    };
    let deletions: Vec<&Deletion> = steps.iter().filter_map(Step::final_deletion).collect();
    if is_part && deletions.is_empty() && known.is_none() {
        // Only known deletions can restore the state of an earlier process.
        return Judgement::Free(None);
    }
    let wanted =
        WantedDeletions { limit, parent: view.parent, deletions: &deletions, existing, is_part };
    let mut deletion_guard = match known {
        Some(known) => known.clone(),
        None => resumed(view, limit, &deletions),
    };
    let mut asked = None;
    let verdict = judge(wanted, &mut deletion_guard, |count| {
        asked = Some(count);
        reserved.unwrap_or(Ok(()))
    });
    match (verdict, asked) {
        (_, Some(count)) if reserved.is_none() => Judgement::Reserve(limit.minute, count),
        (Verdict::Free | Verdict::Reservation(_), _) => {
            Judgement::Free(Some(judged_as(deletion_guard)))
        }
        (Verdict::Held(held), _) => {
            let held = deletions_held::unapproved(view.parent, held, &deletions);
            Judgement::Held(Fact::Judged { deletion_guard, held: Some(held.into()) })
        }
    }
}

fn judged_as(deletion_guard: DeletionGuard) -> Fact {
    Fact::Judged { deletion_guard, held: None }
}

/// Restores the state of an earlier process. The condition may be missing: not every parent has conditions,
/// and the process may have ended early. Children newer than all those to delete may be their replacements,
/// and do not reduce the share.
fn resumed(view: &View<'_>, limit: DeletionLimit, deletions: &[&Deletion]) -> DeletionGuard {
    let mut deletion_guard = DeletionGuard::default();
    let parent = view.condition_names().alone(view.parent);
    let shown = deletions_held::shown_limit(&parent);
    let is_of_minute = shown == Some(ExceededLimit::Minute);
    if is_of_minute && limit.minute.percent < 100 {
        let of = view.count_children();
        let why = Exceeded::Minute { allowed: limit.minute.of(of), of };
        let uids = deletions.iter().map(|deletion| deletion.uid.clone()).collect();
        deletion_guard.resume_minute(why, uids);
    }
    if shown.is_some() && !is_of_minute {
        deletion_guard.resume(0);
    } else if !deletions.is_empty() {
        let going: HashSet<&Uid> = deletions.iter().map(|deletion| &deletion.uid).collect();
        let children = view.children();
        let children: Vec<&Object> = children.iter().filter(|child| !child.is_deleting()).collect();
        let goes = |child: &&&Object| going.contains(child.uid());
        let newest = children.iter().filter(goes).map(|child| child.created()).max();
        let old = children.iter().filter(|child| Some(child.created()) <= newest).count();
        deletion_guard.resume(old);
    }
    deletion_guard
}
