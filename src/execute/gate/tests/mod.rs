mod shared_permits;

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    time::Duration,
};

use futures::FutureExt;

use super::*;
use crate::{metrics::Metrics, operator::OperatorName, schedule::Priority};

struct World {
    gate: Gate,
    metrics: Metrics,
    admitted: Receiver<(&'static str, Permit)>,
    tell: Sender<(&'static str, Permit)>,
}

fn world(places: usize) -> World {
    let metrics = Metrics::new();
    let queue = metrics.queue(&OperatorName::new("op").unwrap());
    let (tell, admitted) = channel();
    let gate = Gate::new(places, SharedPermits::for_limits([places]), queue);
    World { gate, metrics, admitted, tell }
}

impl World {
    fn now(&self) -> Permit {
        match self.gate.enter(Priority::Change, |_| {}) {
            Entry::Now(permit) => permit,
            Entry::Later(_) => panic!("no place"),
        }
    }

    fn later(&self, priority: Priority, name: &'static str) -> Ticket {
        let tell = self.tell.clone();
        match self.gate.enter(priority, move |permit| tell.send((name, permit)).unwrap()) {
            Entry::Now(_) => panic!("a place was free"),
            Entry::Later(ticket) => ticket,
        }
    }

    /// Who was let in, and lets the next one in by it.
    fn next(&self) -> Option<&'static str> {
        self.admitted.try_recv().ok().map(|(name, _permit)| name)
    }

    fn shows(&self, line: &str) {
        let text = self.metrics.render();
        assert!(text.contains(line), "no {line} in\n{text}");
    }
}

#[test]
fn so_many_are_let_in_and_who_leaves_lets_in_the_most_urgent() {
    let world = world(2);
    let (first, _second) = (world.now(), world.now());
    let _tickets = [world.later(Priority::Background, "b"), world.later(Priority::Change, "a")];
    assert!(world.next().is_none());
    drop(first);
    assert_eq!([world.next(), world.next(), world.next()], [Some("a"), Some("b"), None]);
    assert_eq!(format!("{:?}", world.gate), "Gate(1 of 2 in flight)");
}

#[test]
fn who_is_raised_overtakes_and_who_gives_up_is_not_called() {
    let world = world(1);
    let first = world.now();
    let mut raised = world.later(Priority::Background, "raised");
    let _other = world.later(Priority::FollowUp, "other");
    let given_up = world.later(Priority::Deletion, "given up");
    raised.raise(Priority::Change);
    drop(given_up);
    drop(first);
    assert_eq!([world.next(), world.next(), world.next()], [Some("raised"), Some("other"), None]);
}

#[test]
fn a_permit_that_nobody_takes_goes_to_the_next() {
    let world = world(1);
    let first = world.now();
    let Entry::Later(_dead) = world.gate.enter(Priority::Deletion, drop) else { panic!() };
    let _ticket = world.later(Priority::Background, "alive");
    drop(first);
    assert_eq!(world.next(), Some("alive"));
}

#[test]
fn a_closed_gate_lets_nobody_in_and_is_idle_when_the_last_one_left() {
    let world = world(1);
    let first = world.now();
    let _waiting = world.later(Priority::Deletion, "waiting");
    world.gate.close();
    assert!(world.gate.idle().now_or_never().is_none(), "one is in flight");
    drop(first);
    assert!(world.next().is_none());
    assert!(world.gate.idle().now_or_never().is_some(), "who waits does not count");
    let _late = world.later(Priority::Deletion, "late");
    assert!(world.next().is_none());
}

#[test]
fn who_runs_and_who_waits_can_be_looked_at() {
    let world = world(1);
    let idle = world.gate.look();
    assert_eq!((idle.running, idle.limit, idle.longest_wait), (0, 1, None));
    let _first = world.now();
    let mut ticket = world.later(Priority::Background, "a");
    let _other = world.later(Priority::Change, "b");
    let before = world.gate.look().longest_wait;
    ticket.raise(Priority::Deletion);
    let look = world.gate.look();
    let waiting: Vec<usize> = look.waiting.into_values().collect();
    assert_eq!((look.running, waiting), (1, vec![1, 1, 0, 0]));
    assert!(before.is_some() && look.longest_wait >= before, "who is raised has waited as long");
}

#[tokio::test]
async fn who_waits_for_the_end_is_woken_by_it() {
    let world = world(1);
    let first = world.now();
    let gate = world.gate.clone();
    let idle = tokio::spawn(async move { gate.idle().await });
    tokio::task::yield_now().await;
    drop(first);
    tokio::time::timeout(Duration::from_secs(10), idle).await.unwrap().unwrap();
}

#[test]
fn deletions_and_changes_are_urgent() {
    for priority in Priority::ALL {
        let world = world(1);
        let _first = world.now();
        assert!(!world.gate.is_urgent());
        let ticket = world.later(priority, "a");
        assert_eq!(world.gate.is_urgent(), priority <= Priority::Change, "{priority:?}");
        drop(ticket);
        assert!(!world.gate.is_urgent());
    }
}

#[test]
fn depth_and_wait_are_counted_by_priority() {
    let world = world(1);
    let first = world.now();
    let mut ticket = world.later(Priority::Background, "a");
    world.shows(r#"operetta_queue_depth{operator="op",priority="background"} 1"#);
    ticket.raise(Priority::Deletion);
    world.shows(r#"operetta_queue_depth{operator="op",priority="background"} 0"#);
    world.shows(r#"operetta_queue_depth{operator="op",priority="deletion"} 1"#);
    drop(first);
    world.shows(r#"operetta_queue_depth{operator="op",priority="deletion"} 0"#);
    world.shows(r#"operetta_queue_wait_seconds_count{operator="op",priority="deletion"} 1"#);
    world.shows(r#"operetta_queue_wait_seconds_count{operator="op",priority="change"} 1"#);
    assert_eq!(world.next(), Some("a"));
}
