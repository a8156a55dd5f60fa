//! The timeline as a whole: filters, which are also the rights of readers, and pages.

use std::time::Duration;

use super::*;
use crate::{
    board::{Board, OperatorInfo, ParentState},
    history::{Decision, Outcome, Reconcile, Verb, WriteRecord},
    object::{K8sType, Uid},
    operator::{OperatorConfig, Pause},
};

fn name(text: &str) -> OperatorName {
    OperatorName::new(text).unwrap()
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn board(operators: &[&str]) -> Board {
    let board = Board::new();
    for operator in operators {
        let config = OperatorConfig::new(operator, K8sType::namespaced("v1", "Pod", "pods"));
        board.register(OperatorInfo { name: name(operator), config, has_finalizer: false });
    }
    board
}

/// Lets a parent create a child of its name at this second.
fn creates(board: &Board, operator: &str, key: &str, second: u64) {
    let (operator, key, uid) = (name(operator), key.parse().unwrap(), Uid::new(key));
    if board.parent(operator.as_str(), &key).is_none() {
        board.record(&operator, &key, ParentState::pending(uid.clone(), None));
    }
    let (child, paths) = (format!("Pod.v1 {key}"), Vec::new());
    let write = WriteRecord { child, verb: Verb::Created, paths, drift: None };
    let mut reconcile = Reconcile::new(at(second), Duration::ZERO, Outcome::Wrote);
    reconcile.decisions = [Decision::from(write)].into();
    board.update_parent(&operator, &key, &uid, |parent| {
        parent.history.record(reconcile);
    });
}

/// The parents of each line, or its kind, the newest first.
fn seen(board: &Board, filter: &ActivityFilter) -> Vec<String> {
    let shown = |line: &Line| match line.parents.kept.first() {
        Some(parent) => parent.to_string(),
        None => line.kind.name().to_owned(),
    };
    board.activity(filter, None, 100).lines.iter().map(shown).collect()
}

fn in_namespace(operator: &str, namespace: &str) -> ActivityFilter {
    let (operator, namespace) = (Some(operator.to_owned()), Some(namespace.to_owned()));
    ActivityFilter { operator, namespace, ..ActivityFilter::default() }
}

#[test]
fn a_reader_of_one_namespace_sees_nothing_about_others() {
    let board = board(&["cook", "baker"]);
    for (second, (operator, key)) in
        [("cook", "a/1"), ("cook", "b/1"), ("baker", "a/2"), ("cook", "a/3")].iter().enumerate()
    {
        creates(&board, operator, key, second as u64 * 100);
    }
    board.record_denial("eve", "get path \"/\"");
    let pause = Pause::begun(at(500), Some("ann"), None, None);
    board.set_paused(&name("cook"), Some(pause.into()));
    assert_eq!(seen(&board, &in_namespace("cook", "a")), ["a/3", "a/1"]);
    let of_baker = ActivityFilter { operator: Some("baker".to_owned()), ..<_>::default() };
    assert_eq!(seen(&board, &of_baker), ["a/2", "registered"]);
    assert_eq!(seen(&board, &ActivityFilter::default()).len(), 7);
}

#[test]
fn a_folded_line_counts_only_what_its_reader_may_see() {
    let board = board(&["cook"]);
    for number in 0..30 {
        let namespace = if number % 3 == 0 { "a" } else { "b" };
        creates(&board, "cook", &format!("{namespace}/{number}"), number);
    }
    let page = board.activity(&in_namespace("cook", "a"), None, 100);
    assert_eq!((page.lines.len(), page.lines[0].parents.count), (1, 10));
    assert!(page.lines[0].parents.kept.iter().all(|key| key.namespace.as_deref() == Some("a")));
}

#[test]
fn filters_find_by_kind_text_and_time_together() {
    let board = board(&["cook"]);
    creates(&board, "cook", "a/web", 100);
    creates(&board, "cook", "a/db", 200);
    let filter = |kind: ActivityKind, text: &str, since: u64| ActivityFilter {
        kinds: [kind].into(),
        text: Some(text.to_owned()).filter(|text| !text.is_empty()),
        since: Some(at(since)),
        ..ActivityFilter::default()
    };
    for (kind, text, since, expected) in [
        (ActivityKind::Created, "", 0, vec!["a/db", "a/web"]),
        (ActivityKind::Created, "WEB", 0, vec!["a/web"]),
        (ActivityKind::Created, "pod.v1", 150, vec!["a/db"]),
        (ActivityKind::Created, "web", 150, vec![]),
        (ActivityKind::Deleted, "", 0, vec![]),
        (ActivityKind::Registered, "coo", 0, vec!["registered"]),
    ] {
        let found = seen(&board, &filter(kind, text, since));
        assert_eq!(found, expected, "{kind:?} {text} {since}");
    }
}

#[test]
fn lines_come_in_pages_and_a_later_entry_repeats_none() {
    let board = board(&["cook"]);
    for number in 0..5 {
        creates(&board, "cook", &format!("a/{number}"), number * 100);
    }
    let filter = in_namespace("cook", "a");
    let first = board.activity(&filter, None, 2);
    assert_eq!((first.lines.len(), first.remaining, first.total), (2, 3, 5));
    creates(&board, "cook", "a/9", 900);
    let second = board.activity(&filter, first.lines.last().map(|line| line.number), 10);
    let names: Vec<_> = second.lines.iter().map(|line| line.parents.kept[0].to_string()).collect();
    assert_eq!((names, second.remaining), (vec!["a/2".into(), "a/1".into(), "a/0".into()], 0));
}

#[test]
fn parents_held_by_the_pause_of_their_operator_are_not_paused_themselves() {
    let board = board(&["cook"]);
    creates(&board, "cook", "a/1", 0);
    let key = "a/1".parse().unwrap();
    let ends = |outcome| {
        board.update_parent(&name("cook"), &key, &Uid::new("a/1"), |parent| {
            parent.history.record(Reconcile::new(at(10), Duration::ZERO, outcome));
        });
    };
    let pause = Pause::begun(at(5), Some("ann"), None, None);
    board.set_paused(&name("cook"), Some(pause.into()));
    ends(Outcome::Paused);
    board.resume_operator(&name("cook"), Some("bob"));
    ends(Outcome::Ready);
    let kinds = [ActivityKind::Paused, ActivityKind::Resumed].into();
    let lines = board.activity(&ActivityFilter { kinds, ..<_>::default() }, None, 9).lines;
    let shown: Vec<_> = lines.iter().map(|it| (it.kind.name(), it.who.as_deref())).collect();
    assert_eq!(shown, [("resumed", Some("bob")), ("paused", Some("ann"))]);
    // Paused on its own.
    ends(Outcome::Paused);
    let pause = Pause::begun(at(20), Some("cat"), None, Some("no salt"));
    board.record_pause((&name("cook"), &key), Some(&pause), Some("cat"));
    let paused = ActivityFilter { kinds: [ActivityKind::Paused].into(), ..<_>::default() };
    let line = board.activity(&paused, None, 1).lines.remove(0);
    assert_eq!((line.parents.count, line.who.as_deref()), (1, Some("cat")));
    assert_eq!(line.details.kept, ["no salt"]);
}

#[test]
fn an_operator_that_is_replaced_is_not_registered_again() {
    let board = board(&["cook", "cook"]);
    board.unregister(&name("cook"));
    board.unregister(&name("cook"));
    let lines = board.activity(&ActivityFilter::default(), None, 9).lines;
    let kinds: Vec<_> = lines.iter().map(|line| line.kind.name()).collect();
    assert_eq!(kinds, ["unregistered", "registered"]);
}

#[test]
fn an_operator_of_another_type_shows_nothing_of_its_namesake() {
    let board = board(&["cook"]);
    creates(&board, "cook", "a/1", 0);
    let again = |ty: K8sType| {
        board.unregister(&name("cook"));
        let config = OperatorConfig::new("cook", ty);
        board.register(OperatorInfo { name: name("cook"), config, has_finalizer: false });
    };
    again(K8sType::namespaced("v1", "Pod", "pods"));
    assert_eq!(seen(&board, &in_namespace("cook", "a")), ["a/1"]);
    again(K8sType::namespaced("v1", "Secret", "secrets"));
    assert!(seen(&board, &in_namespace("cook", "a")).is_empty());
}

#[test]
fn the_trend_counts_reconciles_between_two_samples() {
    let (board, now) = (board(&["cook"]), std::time::Instant::now());
    board.sample(now);
    for number in 0..10 {
        creates(&board, "cook", "a/1", number);
    }
    board.sample(now + Duration::from_secs(5));
    let rates: Vec<_> = board.trend("cook").iter().map(|point| point.reconciles).collect();
    assert_eq!(rates, [2.0]);
}
