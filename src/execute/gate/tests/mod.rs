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
    sender: Sender<(&'static str, Permit)>,
}

fn world(limit: usize) -> World {
    let metrics = Metrics::new();
    let queue = metrics.queue(&OperatorName::new("op").unwrap());
    let (sender, admitted) = channel();
    let gate = Gate::new(limit, SharedPermits::for_limits([limit]), queue);
    World { gate, metrics, admitted, sender }
}

impl World {
    fn now(&self) -> Permit {
        match self.gate.enter(Priority::Change, |_| {}) {
            Entry::Now(permit) => permit,
            Entry::Later(_) => panic!("no permit is free"),
        }
    }

    fn later(&self, priority: Priority, name: &'static str) -> Ticket {
        let sender = self.sender.clone();
        match self.gate.enter(priority, move |permit| sender.send((name, permit)).unwrap()) {
            Entry::Now(_) => panic!("a permit was free"),
            Entry::Later(ticket) => ticket,
        }
    }

    /// The name of the admitted entry; its permit is released.
    fn next(&self) -> Option<&'static str> {
        self.admitted.try_recv().ok().map(|(name, _permit)| name)
    }

    fn shows(&self, line: &str) {
        let text = self.metrics.render();
        assert!(text.contains(line), "no {line} in\n{text}");
    }
}

#[test]
fn the_limit_is_kept_and_a_released_permit_goes_to_the_most_urgent() {
    let world = world(2);
    let (first, _second) = (world.now(), world.now());
    let _tickets = [world.later(Priority::Background, "b"), world.later(Priority::Change, "a")];
    assert!(world.next().is_none());
    drop(first);
    assert_eq!([world.next(), world.next(), world.next()], [Some("a"), Some("b"), None]);
    assert_eq!(format!("{:?}", world.gate), "Gate(1 of 2 in flight)");
}

#[test]
fn a_raised_entry_overtakes_and_a_dropped_one_is_not_called() {
    let world = world(1);
    let first = world.now();
    let mut raised = world.later(Priority::Background, "raised");
    let _other = world.later(Priority::FollowUp, "other");
    let dropped = world.later(Priority::Deletion, "dropped");
    raised.raise(Priority::Change);
    drop(dropped);
    drop(first);
    assert_eq!([world.next(), world.next(), world.next()], [Some("raised"), Some("other"), None]);
}

#[test]
fn a_permit_that_is_dropped_by_its_waiter_goes_to_the_next() {
    let world = world(1);
    let first = world.now();
    let Entry::Later(_dead) = world.gate.enter(Priority::Deletion, drop) else { panic!() };
    let _ticket = world.later(Priority::Background, "alive");
    drop(first);
    assert_eq!(world.next(), Some("alive"));
}

#[test]
fn a_closed_gate_admits_nobody_and_is_idle_after_the_last_release() {
    let world = world(1);
    let first = world.now();
    let _waiting = world.later(Priority::Deletion, "waiting");
    world.gate.close();
    assert!(world.gate.idle().now_or_never().is_none(), "one is in flight");
    drop(first);
    assert!(world.next().is_none());
    assert!(world.gate.idle().now_or_never().is_some(), "waiters do not count");
    let _late = world.later(Priority::Deletion, "late");
    assert!(world.next().is_none());
}

#[test]
fn the_state_of_the_gate_shows_running_and_waiting_entries() {
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
    assert!(
        before.is_some() && look.longest_wait >= before,
        "a raised entry keeps its waiting time"
    );
}

#[tokio::test]
async fn idle_returns_after_the_last_release() {
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
