//! Which deletions are held, and what allows them.

use serde_json::{Value, json};

use super::*;
use crate::{
    object::{K8sType, KeptManagers},
    operator::Allowance,
    plan::{ChildId, WaitingChild, WaitingReason},
};

const LIMIT: DeletionLimit = DeletionLimit {
    reconcile: Allowance { percent: 50, at_least: 2 },
    minute: Allowance { percent: 100, at_least: 0 },
};

fn object(uid: &str, annotations: &Value) -> Object {
    let ty = K8sType::namespaced("v1", "Thing", "things");
    let value = json!({"metadata": {
        "name": uid, "namespace": "ns", "uid": uid, "resourceVersion": "1",
        "annotations": annotations,
    }});
    Object::from_value(&ty, &value, &KeptManagers::default()).unwrap()
}

fn allowing(code: &str) -> Object {
    object("parent", &json!({ALLOW_DELETION_ANNOTATION: code}))
}

/// The verdict about the deletion of children with these uids, of so many.
fn judged(memory: &mut DeletionGuard, parent: &Object, uids: &[&str], existing: usize) -> Verdict {
    let children = uids.iter().map(|uid| object(uid, &json!({})));
    let deletions: Vec<_> =
        children.map(|child| Deletion::new(&child, DeletionReason::Undesired)).collect();
    let deletions: Vec<_> = deletions.iter().collect();
    let is_part = false;
    let wanted = WantedDeletions { limit: LIMIT, parent, deletions: &deletions, existing, is_part };
    judge(wanted, memory, |_| Ok(()))
}

fn held(verdict: Verdict) -> HeldDeletions {
    match verdict {
        Verdict::Held(held) => held,
        other => panic!("{other:?}"),
    }
}

const SIX: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

#[test]
fn more_deletions_than_the_share_are_held_and_a_few_never_are() {
    let parent = object("parent", &json!({}));
    for (deletions, existing, is_held) in [
        (1, 1, false),
        (2, 2, false),
        (3, 3, true),
        (3, 5, true),
        (3, 6, false),
        (4, 6, true),
        (6, 12, false),
        (6, 11, true),
    ] {
        let verdict = judged(&mut DeletionGuard::default(), &parent, &SIX[..deletions], existing);
        let is_taken = verdict == Verdict::Reservation(deletions);
        assert_eq!(!is_taken, is_held, "{deletions} of {existing}: {verdict:?}");
    }
}

#[test]
fn children_created_meanwhile_do_not_count_for_the_share() {
    let (mut memory, parent) = (DeletionGuard::default(), object("parent", &json!({})));
    let first = held(judged(&mut memory, &parent, &SIX, 6));
    assert_eq!((first.deletions, first.of, first.is_new), (6, 6, true));
    assert_eq!(first.why, Exceeded::Reconcile { allowed: 3 });
    let second = held(judged(&mut memory, &parent, &SIX, 12));
    assert_eq!((second.of, second.is_new, memory.held()), (12, false, 6));
    assert_eq!(memory.code(), Some(second.code.as_str()));
    // The handler wants three of them again.
    assert_eq!(judged(&mut memory, &parent, &SIX[..3], 12), Verdict::Reservation(3));
    assert_eq!((memory.held(), memory.code()), (0, None));
    // In another process it is not known how many there were.
    let mut memory = DeletionGuard::default();
    memory.resume(0);
    held(judged(&mut memory, &parent, &SIX, 12));
    assert_eq!(judged(&mut memory, &parent, &SIX[..2], 12), Verdict::Reservation(2));
    assert_eq!(judged(&mut memory, &parent, &SIX, 12), Verdict::Reservation(6), "it was over");
}

/// As while the store of a type is not synced.
#[test]
fn allowing_a_part_does_not_end_the_hold_of_the_rest() {
    let (mut memory, parent) = (DeletionGuard::default(), object("parent", &json!({})));
    held(judged(&mut memory, &parent, &SIX, 6));
    let child = Deletion::new(&object("other", &json!({})), DeletionReason::Undesired);
    for deletions in [&[&child][..], &[]] {
        let (existing, is_part) = (13, true);
        let wanted =
            WantedDeletions { limit: LIMIT, parent: &parent, deletions, existing, is_part };
        let verdict = judge(wanted, &mut memory, |_| Ok(()));
        assert!(!matches!(verdict, Verdict::Held(_)) && memory.is_holding());
        assert_eq!(memory.held(), 6);
    }
    held(judged(&mut memory, &parent, &SIX, 12));
}

/// Otherwise everything could be replaced while the watch is interrupted, and deleted afterwards.
#[test]
fn children_created_before_all_can_be_judged_do_not_count_for_the_share() {
    let parent = object("parent", &json!({}));
    let child = Deletion::new(&object("other", &json!({})), DeletionReason::Undesired);
    for deletions in [&[][..], &[&child]] {
        let mut memory = DeletionGuard::default();
        let (existing, is_part) = (7, true);
        let part = WantedDeletions { limit: LIMIT, parent: &parent, deletions, existing, is_part };
        assert!(!matches!(judge(part, &mut memory, |_| Ok(())), Verdict::Held(_)));
        let rest = held(judged(&mut memory, &parent, &SIX, 13));
        assert_eq!(rest.why, Exceeded::Reconcile { allowed: 3 });
    }
}

#[test]
fn only_the_code_of_these_children_allows_their_deletion() {
    let mut memory = DeletionGuard::default();
    let code = held(judged(&mut memory, &object("parent", &json!({})), &SIX, 6)).code;
    for wrong in ["true", "", "6", "1", &code.to_uppercase()] {
        if wrong != code {
            held(judged(&mut memory, &allowing(wrong), &SIX, 6));
        }
    }
    let parent = allowing(&code);
    assert_eq!(judged(&mut memory, &parent, &SIX, 6), Verdict::Free);
    // The rest of them, after a part was deleted.
    assert_eq!(judged(&mut memory, &parent, &SIX[2..], 4), Verdict::Free);
    let others = ["c", "d", "e", "other"];
    held(judged(&mut memory, &parent, &others, 4));
    // Nothing was left to delete, and the annotation stays.
    assert_eq!(judged(&mut memory, &parent, &[], 0), Verdict::Free);
    held(judged(&mut memory, &parent, &["g", "h", "i", "j"], 4));
}

#[test]
fn removing_the_annotation_holds_the_deletions_again() {
    let (mut memory, bare) = (DeletionGuard::default(), object("parent", &json!({})));
    let code = held(judged(&mut memory, &bare, &SIX, 6)).code;
    assert_eq!(judged(&mut memory, &allowing(&code), &SIX, 6), Verdict::Free);
    held(judged(&mut memory, &bare, &SIX, 6));
}

#[test]
fn another_limit_releases_what_an_earlier_process_held() {
    let (mut memory, parent) = (DeletionGuard::default(), object("parent", &json!({})));
    memory.resume(6);
    held(judged(&mut memory, &parent, &SIX, 6));
    let children =
        SIX.map(|uid| Deletion::new(&object(uid, &json!({})), DeletionReason::Undesired));
    let deletions: Vec<_> = children.iter().collect();
    let limit = DeletionLimit { reconcile: LIMIT.minute, ..LIMIT };
    let wanted = WantedDeletions {
        limit,
        parent: &parent,
        deletions: &deletions,
        existing: 6,
        is_part: false,
    };
    assert_eq!(judge(wanted, &mut memory, |_| Ok(())), Verdict::Reservation(6));
    assert_eq!(memory.held(), 0);
}

#[test]
fn the_code_does_not_depend_on_the_order_and_differs_by_child() {
    let (mut memory, parent) = (DeletionGuard::default(), object("parent", &json!({})));
    let mut code = |uids: &[&str]| held(judged(&mut memory, &parent, uids, 0)).code;
    assert_eq!(code(&["a", "b", "c"]), code(&["c", "a", "b"]));
    assert_ne!(code(&["a", "b", "c"]), code(&["a", "b", "d"]));
    assert_ne!(code(&["a", "b", "c"]), code(&["ab", "c", "d"]));
}

#[test]
fn deletions_over_the_limit_per_minute_are_held_until_they_are_allowed_or_not_wanted() {
    let (bare, why) = (object("parent", &json!({})), Exceeded::Minute { allowed: 5, of: 10 });
    let children = ["a", "b", "c"]
        .map(|name| Deletion::new(&object(name, &json!({})), DeletionReason::Undesired));
    let judged = |memory: &mut DeletionGuard, parent: &Object, which: &[usize], is_over: bool| {
        let deletions: Vec<&Deletion> = which.iter().map(|at| &children[*at]).collect();
        let (deletions, existing, is_part) = (&deletions[..], 20, false);
        let wanted = WantedDeletions { limit: LIMIT, parent, deletions, existing, is_part };
        judge(wanted, memory, |_| if is_over { Ok(()) } else { Err(why) })
    };
    let refused = || {
        let mut memory = DeletionGuard::default();
        assert_eq!(held(judged(&mut memory, &bare, &[0, 1], false)).why, why);
        memory
    };
    let mut memory = refused();
    assert_eq!(held(judged(&mut memory, &bare, &[0, 1], true)).why, why, "the minute is over");
    assert_eq!(held(judged(&mut memory, &bare, &[1, 2], true)).why, why, "one of them is left");
    assert_eq!(judged(&mut memory, &bare, &[0], true), Verdict::Reservation(1), "of those none is");
    assert_eq!(judged(&mut memory, &bare, &[1, 2], true), Verdict::Reservation(2), "it was over");

    let (mut memory, nothing) = (refused(), &[][..]);
    assert_eq!(judged(&mut memory, &bare, nothing, true), Verdict::Free, "wanted again");
    assert_eq!(judged(&mut memory, &bare, &[0, 1], true), Verdict::Reservation(2));

    let mut memory = refused();
    let code = held(judged(&mut memory, &bare, &[0, 1], true)).code;
    assert_eq!(judged(&mut memory, &allowing(&code), &[0, 1], false), Verdict::Free);

    let mut memory = DeletionGuard::default();
    memory.resume_minute(why, [children[0].uid.clone()].into());
    assert_eq!(held(judged(&mut memory, &bare, &[0], true)).why, why, "in another process");
}

/// Otherwise the share of the others would be larger.
#[test]
fn children_that_are_being_deleted_do_not_count_as_existing() {
    let waiting = |uid: &str, why| {
        let id = ChildId::of(&object(uid, &json!({})));
        WaitingChild { id, why }
    };
    let waiting = vec![
        waiting("a", WaitingReason::deleting(&object("a", &json!({})))),
        waiting("b", WaitingReason::TypeNotSynced),
        waiting("c", WaitingReason::OnDelete { paths: Vec::new() }),
    ];
    let deletion = Deletion::new(&object("d", &json!({})), DeletionReason::Undesired);
    let plan = Plan { waiting, steps: vec![Step::Delete(deletion)], ..Plan::default() };
    assert_eq!(plan.existing(), 3);
}
