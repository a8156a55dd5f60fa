//! Writing to the board, reading from it, and listening to it.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use super::*;
use crate::{operator::OperatorConfig, store::Store};

fn name() -> OperatorName {
    OperatorName::new("echo-server").unwrap()
}

fn pods() -> K8sType {
    K8sType::namespaced("v1", "Pod", "pods")
}

fn board() -> Board {
    let board = Board::new();
    let config = OperatorConfig::new("echo-server", pods());
    board.register(OperatorInfo { name: name(), config, has_finalizer: false });
    board
}

fn recorded(board: &Board, keys: &[&str]) {
    for key in keys {
        let state = ParentState::pending(Uid::new(key), Some(1));
        board.record(&name(), &key.parse().unwrap(), state);
    }
}

#[test]
fn parents_are_counted_by_phase() {
    let board = board();
    recorded(&board, &["a/1", "a/2", "a/3", "a/4"]);
    recorded(&board, &["a/2"]);
    for (of, uid) in [("1", "a/1"), ("3", "a namesake")] {
        let key = ObjectKey::namespaced("a", of);
        let failing = |state: &mut ParentState| state.phase = ParentPhase::Failing;
        board.update_parent(&name(), &key, &Uid::new(uid), failing);
    }
    board.forget(&name(), &ObjectKey::namespaced("a", "4"));
    let parents = board.operator("echo-server").unwrap().parents;
    assert_eq!((parents[&ParentPhase::Pending], parents[&ParentPhase::Failing]), (2, 1));
    assert_eq!(parents.len(), ParentPhase::ALL.len());
    assert_eq!(parents.values().sum::<usize>(), 3);
}

#[test]
fn records_for_unregistered_operators_and_types_are_dropped() {
    let board = Board::new();
    recorded(&board, &["a/1"]);
    board.set_operator(&name(), OperatorState::Running);
    board.set_type(&pods(), crate::board::TypeState::default());
    assert!(board.operators().is_empty() && board.types().is_empty());
    assert!(board.parent("echo-server", &ObjectKey::namespaced("a", "1")).is_none());
}

#[test]
fn the_watch_of_a_type_is_changed_in_place() {
    let board = board();
    board.add_store(Store::new(pods(), BTreeSet::new()).reader());
    board.update_type(&pods(), |state| state.restarts += 1);
    board.update_type(&pods(), |state| state.restarts += 1);
    assert_eq!(board.type_state(&pods()).unwrap().state.restarts, 2);
}

#[test]
fn a_degraded_operator_is_settled_only_with_reasons() {
    assert!(!OperatorState::Degraded { reasons: Vec::new() }.is_settled());
    assert!(OperatorState::Degraded { reasons: vec!["x".to_owned()] }.is_settled());
    assert!(!OperatorState::Starting { waiting_for: Vec::new() }.is_settled());
}

/// Notices follow the order of the changes on the board, across threads.
#[test]
fn no_notice_about_a_parent_follows_its_removal() {
    const LIVES: u64 = 3_000;
    let (board, key, life) = (board(), ObjectKey::namespaced("a", "1"), AtomicU64::new(0));
    let mut listener = board.subscribe().unwrap();
    let uid = |life: u64| Uid::new(&life.to_string());
    let change_often = || {
        for number in 1..=LIVES {
            while life.load(Ordering::Acquire) < number {
                thread::yield_now();
            }
            for phase in [ParentPhase::Running, ParentPhase::Ready].repeat(8) {
                board.update_parent(&name(), &key, &uid(number), |state| state.phase = phase);
            }
        }
    };
    let mut notices = Vec::new();
    thread::scope(|scope| {
        scope.spawn(change_often);
        scope.spawn(change_often);
        for number in 1..=LIVES {
            board.record(&name(), &key, ParentState::pending(uid(number), None));
            life.store(number, Ordering::Release);
            thread::yield_now();
            board.forget(&name(), &key);
            notices.extend(std::iter::from_fn(|| listener.try_next().ok()));
        }
    });
    notices.extend(std::iter::from_fn(|| listener.try_next().ok()));
    let mut gone = BTreeSet::new();
    for notice in notices {
        match &notice.change {
            Change::Gone { parent } => assert!(gone.insert(parent.uid.clone())),
            Change::Phase { parent, .. } => assert!(!gone.contains(&parent.uid), "{notice:?}"),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(gone.len() as u64, LIVES);
}

#[test]
fn a_listener_that_subscribes_before_a_change_receives_it() {
    let changes: [fn(&Board); 5] = [
        |board| board.set_operator(&name(), OperatorState::Running),
        |board| board.update_type(&pods(), |state| state.restarts += 1),
        |board| recorded(board, &["a/2"]),
        |board| {
            let (key, failing) = (ObjectKey::namespaced("a", "1"), ParentPhase::Failing);
            board.update_parent(&name(), &key, &Uid::new("a/1"), |state| state.phase = failing);
        },
        |board| board.forget(&name(), &ObjectKey::namespaced("a", "1")),
    ];
    for change in changes {
        let board = board();
        board.add_store(Store::new(pods(), BTreeSet::new()).reader());
        recorded(&board, &["a/1"]);
        let reading = board.read();
        thread::scope(|scope| {
            let changing = scope.spawn(|| change(&board));
            // No reader gets the lock once a writer waits.
            while board.contents.try_read().is_ok() {
                thread::yield_now();
            }
            let mut listener = board.subscribe().unwrap();
            drop(reading);
            changing.join().unwrap();
            assert!(listener.try_next().is_ok());
        });
    }
}
