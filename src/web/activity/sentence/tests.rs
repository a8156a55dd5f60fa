//! The sentence of each kind.

use std::time::SystemTime;

use super::*;
use crate::{object::ObjectKey, operator::OperatorName};

fn names<T>(kept: Vec<T>, count: usize) -> Names<T> {
    Names { kept, count }
}

fn strings(texts: &[&str]) -> Names<String> {
    names(texts.iter().map(|text| (*text).to_owned()).collect(), texts.len())
}

/// A line about one child `ns/c` of the parent `ns/p`.
fn line(kind: ActivityKind) -> Line {
    let at = SystemTime::UNIX_EPOCH;
    Line {
        number: 1,
        began: 1,
        kind,
        first: at,
        last: at,
        times: 1,
        operators: names(vec![OperatorName::new("cook").unwrap()], 1),
        parents: names(vec![ObjectKey::namespaced("ns", "p")], 1),
        children: strings(&["Pod.v1 ns/c"]),
        fields: strings(&[]),
        details: strings(&[]),
        who: None,
        is_removed: false,
        leader: None,
    }
}

fn of_operator(kind: ActivityKind) -> Line {
    Line { parents: names(vec![], 0), children: strings(&[]), ..line(kind) }
}

fn of_many(kind: ActivityKind) -> Line {
    let parents = names(vec![ObjectKey::namespaced("ns", "p")], 12);
    Line { parents, children: names(vec!["Pod.v1 ns/c".to_owned()], 40), ..line(kind) }
}

#[test]
fn one_write_names_the_child_and_its_parent_and_many_are_counted() {
    assert_eq!(sentence(&line(ActivityKind::Created)), "`Pod.v1 ns/c` of `ns/p` was created");
    assert_eq!(sentence(&of_many(ActivityKind::Deleted)), "40 children of 12 parents were deleted");
    let fields = names(["a", "b", "c", "d"].map(str::to_owned).to_vec(), 7);
    let updated = Line { fields, ..line(ActivityKind::Updated) };
    assert_eq!(
        sentence(&updated),
        "`Pod.v1 ns/c` of `ns/p` was updated at `a`, `b`, `c` and 4 more"
    );
}

#[test]
fn an_approval_says_whose_it_is() {
    let allowed = Line { children: strings(&[]), ..line(ActivityKind::Allowed) };
    assert_eq!(sentence(&allowed), "Deletions of `ns/p` that are held were allowed");
    let allowed = Line { who: Some("ann".to_owned()), ..allowed };
    assert_eq!(sentence(&allowed), "Deletions of `ns/p` that are held were allowed by \"ann\"");
}

#[test]
fn a_repair_says_who_had_changed_what() {
    let changed = Line {
        who: Some("by-hand".to_owned()),
        fields: strings(&[".data.salt"]),
        ..line(ActivityKind::Repaired)
    };
    assert_eq!(
        sentence(&changed),
        "`Pod.v1 ns/c` of `ns/p` was changed by `by-hand` at `.data.salt` and written again"
    );
    let removed = Line { is_removed: true, ..of_many(ActivityKind::Repaired) };
    assert_eq!(
        sentence(&removed),
        "40 children of 12 parents were removed by others and created again"
    );
}

#[test]
fn pauses_say_by_whom_and_why() {
    let who = || Some("ann".to_owned());
    let pause =
        Line { who: who(), details: strings(&["a move"]), ..of_operator(ActivityKind::Paused) };
    assert_eq!(sentence(&pause), "The operator `cook` was paused by \"ann\": a move");
    assert_eq!(sentence(&line(ActivityKind::Resumed)), "`ns/p` was resumed");
    let many = Line { who: who(), ..of_many(ActivityKind::Resumed) };
    assert_eq!(sentence(&many), "12 parents were resumed by \"ann\"");
}

#[test]
fn a_change_of_the_leader_says_who_leads() {
    let of = |change| {
        let (leader, details) = (Some(change), strings(&["ns/lease"]));
        sentence(&Line { details, leader, ..of_operator(ActivityKind::Leader) })
    };
    assert_eq!(of(LeaderChange::Gained), "This process leads now, by the Lease `ns/lease`");
    let lost = LeaderChange::Lost { to: Some("b".into()) };
    assert_eq!(of(lost), "This process leads no more, `b` leads now, by the Lease `ns/lease`");
    let passed = LeaderChange::Passed { to: None };
    assert_eq!(of(passed), "Nobody leads now, by the Lease `ns/lease`");
}

#[test]
fn failures_denials_and_held_deletions_have_their_reasons() {
    let details = |kind| Line { details: strings(&["no oven"]), ..line(kind) };
    assert_eq!(sentence(&details(ActivityKind::Failing)), "`ns/p` began to fail: no oven");
    assert_eq!(
        sentence(&details(ActivityKind::Held)),
        "Deletions of `Pod.v1 ns/c` of `ns/p` are held: no oven"
    );
    let who = Some("eve".to_owned());
    let denied = Line { who: who.clone(), ..details(ActivityKind::Denied) };
    assert_eq!(sentence(&denied), "The user \"eve\" was denied: no oven");
    let denied = Line { who, details: names(vec![], 9), ..line(ActivityKind::Denied) };
    assert_eq!(sentence(&denied), "The user \"eve\" was denied 9 different requests");
}

#[test]
fn operators_that_come_together_are_counted() {
    assert_eq!(
        sentence(&of_operator(ActivityKind::Registered)),
        "The operator `cook` was registered"
    );
    let many = Line { operators: names(vec![], 12), ..of_operator(ActivityKind::Unregistered) };
    assert_eq!(sentence(&many), "12 operators were removed");
}

#[test]
fn it_is_said_up_to_when_entries_were_dropped() {
    let text = dropped((Shelf::Denials, SystemTime::UNIX_EPOCH));
    assert_eq!(text, "Older entries about denials were dropped at 1970-01-01T00:00:00Z");
}
