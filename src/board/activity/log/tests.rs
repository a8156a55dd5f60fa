//! What is kept, what is merged, and what is dropped.

use super::*;
use crate::history::{Decision, FailureKind, Verb, WriteRecord};

fn name(text: &str) -> OperatorName {
    OperatorName::new(text).unwrap()
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn wrote(parent: &str) -> What {
    let (child, paths) = ("Pod.v1 ns/c".to_owned(), vec![".spec".to_owned()]);
    let write = WriteRecord { child, verb: Verb::Updated, paths, drift: None };
    let decisions = [Decision::from(write)].into();
    What::Wrote { parent: ObjectKey::namespaced("ns", parent), decisions, omitted: 0 }
}

fn denied(user: &str) -> What {
    What::Denied { user: user.into(), access: "get path \"/\"".into() }
}

/// How often each entry happened, and when the last time, the oldest first.
fn shown(log: &Log) -> Vec<(u64, SystemTime)> {
    log.entries().iter().map(|entry| (entry.times, entry.last)).collect()
}

#[test]
fn an_entry_that_repeats_a_recent_one_is_counted_and_becomes_the_newest() {
    let (mut log, cook) = (Log::default(), name("cook"));
    for (second, parent) in [(0, "a"), (1, "b"), (20, "a"), (46, "a")] {
        log.push(at(second), Some(&cook), wrote(parent));
    }
    assert_eq!(shown(&log), [(1, at(1)), (3, at(46))]);
    assert_eq!(log.entries()[1].first, at(0));
    // Another operator, and a long time later.
    log.push(at(47), Some(&name("baker")), wrote("a"));
    log.push(at(46 + 601), Some(&cook), wrote("a"));
    assert_eq!(shown(&log)[1..], [(3, at(46)), (1, at(47)), (1, at(647))]);
}

#[test]
fn a_failure_with_another_message_is_another_entry() {
    let mut log = Log::default();
    for message in ["no oven", "no salt", "no salt"] {
        let (parent, reason) = (ObjectKey::cluster("p"), FailureKind::HandlerFailed);
        log.push(at(0), None, What::Failing { parent, reason, message: message.into() });
    }
    assert_eq!(shown(&log), [(1, at(0)), (2, at(0))]);
}

#[test]
fn the_memory_and_the_number_of_entries_are_limited() {
    for limit in [
        ActivityLimit { bytes: 40_000, entries: 1_000_000 },
        ActivityLimit { bytes: 1_000_000_000, entries: 80 },
    ] {
        let (mut log, cook) = (Log::default(), name("cook"));
        log.limit(limit);
        for number in 0..10_000 {
            log.push(at(number), Some(&cook), wrote(&format!("p{number}")));
        }
        let entries = log.entries();
        let bytes: usize = entries.iter().map(|entry| entry.bytes).sum();
        assert!(bytes <= limit.bytes / 8 * 6 && entries.len() <= limit.entries / 8 * 6);
        assert!(entries.len() > 50, "{}", entries.len());
        let last = 10_000 - entries.len() as u64 - 1;
        assert_eq!(log.dropped(), [(Shelf::Reconciles, at(last))], "the newest dropped one");
    }
}

#[test]
fn a_smaller_limit_drops_at_once_and_zero_keeps_nothing() {
    let mut log = Log::default();
    for number in 0..100 {
        log.push(at(number), None, wrote(&format!("p{number}")));
    }
    log.limit(ActivityLimit { bytes: 0, entries: 0 });
    assert_eq!((shown(&log).len(), log.dropped()), (0, vec![(Shelf::Reconciles, at(99))]));
    log.push(at(100), None, denied("eve"));
    assert!(shown(&log).is_empty());
}

#[test]
fn bursts_of_writes_and_denials_displace_nothing_rare() {
    let (mut log, cook) = (Log::default(), name("cook"));
    log.limit(ActivityLimit { bytes: 20_000, entries: 1000 });
    log.push(at(0), Some(&cook), What::Registered);
    for number in 0..1000 {
        log.push(at(number), Some(&cook), wrote(&format!("p{number}")));
        log.push(at(number), None, denied(&format!("eve{number}")));
    }
    assert!(matches!(log.entries()[0].what, What::Registered));
    let dropped: Vec<_> = log.dropped().into_iter().map(|(shelf, _)| shelf).collect();
    assert_eq!(dropped, [Shelf::Reconciles, Shelf::Denials]);
}

/// Who paused and resumed, the oldest first.
fn pauses(log: &Log) -> Vec<(bool, Option<Arc<str>>)> {
    let pause = |entry: &Arc<Entry>| match &entry.what {
        What::Paused { by, .. } => (true, by.clone()),
        What::Resumed { by, .. } => (false, by.clone()),
        other => panic!("{other:?}"),
    };
    log.entries().iter().map(pause).collect()
}

#[test]
fn a_pause_is_recorded_once_with_its_user_whoever_reports_it_first() {
    let (cook, key) = (name("cook"), ObjectKey::namespaced("ns", "p"));
    let ann = || Some(Arc::from("ann"));
    for is_command_first in [true, false] {
        let mut log = Log::default();
        for is_paused in [true, false] {
            let reports = if is_command_first { [ann(), None] } else { [None, ann()] };
            for by in reports {
                log.parent_paused(at(0), (&cook, &key), is_paused, (by, None));
            }
        }
        assert_eq!(pauses(&log), [(true, ann()), (false, ann())]);
    }
}

#[test]
fn a_pause_has_the_reason_that_the_command_gives_or_the_reconcile_finds() {
    let (cook, key) = (name("cook"), ObjectKey::namespaced("ns", "p"));
    let text = |text: &str| Some(Arc::from(text));
    for (found, given) in [(None, text("no salt")), (text("no salt"), None)] {
        let mut log = Log::default();
        log.parent_paused(at(0), (&cook, &key), true, (None, found));
        log.parent_paused(at(1), (&cook, &key), true, (text("ann"), given));
        let What::Paused { by, why, .. } = &log.entries()[0].what else { panic!() };
        assert_eq!((by.clone(), why.clone()), (text("ann"), text("no salt")));
    }
}

#[test]
fn a_parent_that_was_paused_from_the_start_is_news_when_it_is_resumed() {
    let (mut log, cook, key) = (Log::default(), name("cook"), ObjectKey::cluster("p"));
    assert!(log.is_new(&cook, &key, true));
    log.parent_paused(at(0), (&cook, &key), true, (None, None));
    log.parent_paused(at(1), (&cook, &key), false, (None, None));
    log.parent_paused(at(2), (&cook, &key), false, (None, None));
    assert_eq!(pauses(&log), [(false, None)]);
    log.parent_paused(at(3), (&cook, &key), true, (None, None));
    log.forget_operator(&cook);
    log.parent_paused(at(4), (&cook, &key), false, (None, None));
    assert_eq!(pauses(&log).len(), 2, "that operator is gone");
}

#[test]
fn only_changes_of_the_leader_are_recorded() {
    let (mut log, operators) = (Log::default(), [name("cook")]);
    for (second, leads, holder) in [
        (0, false, None),
        (1, false, Some("b")),
        (2, false, Some("b")),
        (3, true, Some("a")),
        (4, true, Some("a")),
        (5, false, Some("b")),
        (6, false, None),
    ] {
        log.leader(at(second), &operators, "ns/lease", (leads, holder));
    }
    log.leader(at(7), &[], "ns/other", (true, Some("a")));
    let change = |entry: &Arc<Entry>| match &entry.what {
        What::Leader { change, .. } => change.clone(),
        other => panic!("{other:?}"),
    };
    let changes: Vec<_> = log.entries().iter().map(change).collect();
    let to = || Some(Arc::from("b"));
    assert_eq!(
        changes,
        [
            LeaderChange::Passed { to: to() },
            LeaderChange::Gained,
            LeaderChange::Lost { to: to() },
            LeaderChange::Passed { to: None },
        ]
    );
}
