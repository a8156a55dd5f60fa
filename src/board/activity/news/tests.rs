//! The news of a history.

use std::time::Duration;

use super::*;
use crate::history::{AWAITS_APPROVAL, FailureKind, Verb, WriteRecord};

fn reconcile(outcome: Outcome, decisions: &[Decision]) -> Reconcile {
    let took = Duration::from_secs(1);
    let reconcile = Reconcile::new(SystemTime::UNIX_EPOCH, took, outcome);
    Reconcile { decisions: decisions.into(), ..reconcile }
}

fn failed() -> Reconcile {
    let message = "no".into();
    reconcile(Outcome::Failed { reason: FailureKind::HandlerFailed, message }, &[])
}

fn write(verb: Verb) -> Decision {
    let (child, paths) = ("Pod.v1 ns/c".to_owned(), Vec::new());
    WriteRecord { child, verb, paths, drift: None }.into()
}

fn held() -> Decision {
    Decision::stuck("Pod.v1 ns/c", Decided::Held, AWAITS_APPROVAL.to_owned())
}

/// The news of each reconcile, in one word each.
fn news_of(reconciles: Vec<Reconcile>) -> Vec<Vec<&'static str>> {
    let (mut history, key) = (History::default(), ObjectKey::namespaced("ns", "p"));
    let mut all = Vec::new();
    for reconcile in reconciles {
        let number = history.recorded();
        history.record(reconcile);
        all.push(of(&key, &history, number).iter().map(word).collect());
    }
    all
}

fn word(news: &News) -> &'static str {
    match news {
        News::Entry(_, What::Wrote { .. }) => "wrote",
        News::Entry(_, What::Held { .. }) => "held",
        News::Entry(_, What::Released { .. }) => "released",
        News::Entry(_, What::Failing { .. }) => "failing",
        News::Entry(_, What::Recovered { .. }) => "recovered",
        News::Pause { is_paused: true, .. } => "paused",
        News::Pause { is_paused: false, .. } => "resumed",
        News::Entry(_, other) => panic!("{other:?}"),
    }
}

const NOTHING: Vec<&str> = Vec::new();

#[test]
fn a_reconcile_that_wrote_nothing_is_no_news() {
    let waiting = Decision::stuck("Pod.v1 ns/c", Decided::Waiting, "not ready".to_owned());
    let quiet = vec![
        reconcile(Outcome::Ready, &[]),
        reconcile(Outcome::Waiting, &[waiting]),
        reconcile(Outcome::Ready, &[write(Verb::Unchanged)]),
        reconcile(Outcome::Gone, &[]),
    ];
    assert_eq!(news_of(quiet), vec![NOTHING; 4]);
}

#[test]
fn writes_are_news() {
    let wrote = vec![reconcile(Outcome::Wrote, &[write(Verb::Created)])];
    assert_eq!(news_of(wrote), [["wrote"]]);
}

#[test]
fn a_parent_begins_to_fail_and_recovers_once() {
    let wrote = || reconcile(Outcome::Wrote, &[write(Verb::Updated)]);
    let reconciles = vec![
        failed(),
        failed(),
        reconcile(Outcome::Paused, &[]),
        failed(),
        wrote(),
        failed(),
        wrote(),
        reconcile(Outcome::Ready, &[]),
        reconcile(Outcome::Ready, &[]),
        failed(),
    ];
    let expected = [
        vec!["failing"],
        vec![],
        vec!["paused"],
        vec!["resumed"],
        vec!["wrote"],
        vec![],
        vec!["wrote"],
        vec!["recovered"],
        vec![],
        vec!["failing"],
    ];
    assert_eq!(news_of(reconciles), expected);
}

#[test]
fn deletions_are_held_and_released_once() {
    let reconciles = vec![
        reconcile(Outcome::Waiting, &[held(), held()]),
        reconcile(Outcome::Waiting, &[held(), held()]),
        reconcile(Outcome::Wrote, &[write(Verb::Deleted), write(Verb::Deleted)]),
        reconcile(Outcome::Wrote, &[write(Verb::Deleted)]),
    ];
    let expected = [vec!["held"], vec![], vec!["wrote", "released"], vec!["wrote"]];
    assert_eq!(news_of(reconciles), expected);
}

#[test]
fn several_reconciles_at_once_are_read_in_their_order() {
    let (mut history, key) = (History::default(), ObjectKey::namespaced("ns", "p"));
    for reconcile in [failed(), reconcile(Outcome::Ready, &[]), failed()] {
        history.record(reconcile);
    }
    let words: Vec<_> = of(&key, &history, 1).iter().map(word).collect();
    assert_eq!(words, ["recovered", "failing"]);
}
