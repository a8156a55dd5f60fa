//! The tables of the module's documentation, and what must hold over several steps.

mod debounce;
mod delays;
mod model;

use std::time::{Duration, Instant};

use super::*;

const POLICY: Policy = Policy {
    backoff: Backoff { min: Duration::from_secs(1), max: Duration::from_mins(1) },
    debounce: Duration::ZERO,
};
const DEBOUNCED: Policy = Policy { debounce: Duration::from_secs(10), ..POLICY };
const LISTED: Input = Input::Touched(Trigger::Listed);
const CHILD: Input = Input::Touched(Trigger::ChildOrStatus);
const PARENT: Input = Input::Touched(Trigger::Parent);
const BY_HAND: Input = Input::Touched(Trigger::Asked);
const DELETION: Input = Input::Touched(Trigger::Deletion);
const STAY: Action = Action::Continue;
const SETTLED: Input = Input::Finished(Finished::Settled { resync: None });
const FAILED: Input = Input::Finished(Finished::Failed);
const STUCK: Input = Input::Finished(Finished::FailedForGood);
const WROTE: Input = Input::Finished(Finished::Wrote);
const THROTTLED: Input = Input::Finished(Finished::Throttled { after: Duration::from_secs(5) });
const SLOWED: Input = Input::Finished(Finished::Slowed { times: 1, at_most: Duration::MAX });
const GONE: Input = Input::Touched(Trigger::ChildGone);
const ASKED: Input = Input::Finished(Finished::FailedUntil { after: Duration::from_secs(5) });

fn enqueue(priority: Priority) -> Action {
    Action::Enqueue(priority)
}

/// A schedule and the last command. A place is free at once, so that a reconcile starts when it may.
struct Parent {
    schedule: Schedule,
    policy: Policy,
    start: Instant,
}

impl Parent {
    fn new(policy: Policy) -> Self {
        Self { schedule: Schedule::new(7), policy, start: Instant::now() }
    }

    fn after(inputs: &[Input]) -> Self {
        let mut parent = Self::new(POLICY);
        for input in inputs {
            parent.admitted(*input, 0);
        }
        parent
    }

    /// The command at so many seconds after the start.
    fn step(&mut self, input: Input, second: u64) -> Action {
        self.schedule.step(input, &self.policy, self.start + Duration::from_secs(second))
    }

    fn admitted(&mut self, input: Input, second: u64) -> Action {
        let command = self.step(input, second);
        if let Action::Enqueue(_) = command {
            assert!(matches!(self.step(Input::Admitted, second), Action::Reconcile { .. }));
        }
        command
    }

    /// In how many seconds it wakes, rounded down.
    fn wakes_in(&self) -> Option<u64> {
        match self.schedule.phase() {
            Phase::Waiting(wake) => Some((wake.at - self.start).as_secs()),
            _ => None,
        }
    }
}

/// The last command after these inputs.
fn last(inputs: &[Input]) -> Action {
    let (last, before) = inputs.split_last().unwrap();
    Parent::after(before).admitted(*last, 0)
}

#[test]
fn the_table_holds() {
    use Action::Stop;
    use Priority::{Background, Change, Deletion, FollowUp};
    let after = Duration::from_secs(5);
    let resync = Input::Finished(Finished::Settled { resync: Some(after) });
    let recheck = Input::Finished(Finished::Recheck { after });
    let (go, stay) = (enqueue, STAY);
    let replacing = Finished::FailedUntilGone { is_passing: true, at_most: after };
    let slowed =
        Finished::FailedSlowed { times: 1, at_least: Duration::ZERO, at_most: Duration::MAX };
    let table: [(&str, &[Input], [Action; 7]); 15] = [
        // Listed, child, parent, deletion; TimerFired, Admitted, Retired
        ("idle", &[], [go(Background), go(FollowUp), go(Change), go(Deletion), stay, stay, Stop]),
        (
            "resync",
            &[CHILD, resync],
            [go(Background), go(FollowUp), go(Change), go(Deletion), go(Background), stay, Stop],
        ),
        (
            "recheck",
            &[CHILD, recheck],
            [go(Background), go(FollowUp), go(Change), go(Deletion), go(FollowUp), stay, Stop],
        ),
        (
            "error",
            &[CHILD, FAILED],
            [stay, stay, go(Change), go(Deletion), go(FollowUp), stay, Stop],
        ),
        (
            "replacing",
            &[CHILD, Input::Finished(replacing)],
            [stay, stay, go(Change), go(Deletion), go(FollowUp), stay, Stop],
        ),
        (
            "the handler's wish",
            &[CHILD, ASKED],
            [stay, stay, go(Change), go(Deletion), go(FollowUp), stay, Stop],
        ),
        (
            "unsettled",
            &[CHILD, WROTE, WROTE, WROTE],
            [stay, stay, go(Change), go(Deletion), go(FollowUp), stay, Stop],
        ),
        (
            "slowed",
            &[CHILD, SLOWED],
            [stay, stay, go(Change), go(Deletion), go(FollowUp), stay, Stop],
        ),
        (
            "slowed, and failed",
            &[CHILD, Input::Finished(slowed)],
            [stay, stay, go(Change), go(Deletion), go(FollowUp), stay, Stop],
        ),
        (
            "calming",
            &[CHILD, Input::Finished(Finished::Calming { after })],
            [go(Background), go(FollowUp), go(Change), go(Deletion), go(Background), stay, Stop],
        ),
        ("throttled", &[CHILD, THROTTLED], [stay, stay, stay, stay, go(FollowUp), stay, Stop]),
        ("resting", &[CHILD, STUCK], [stay, stay, go(Change), go(Deletion), stay, stay, Stop]),
        ("running", &[CHILD], [stay; 7]),
        ("running, retired", &[CHILD, Input::Retired], [stay; 7]),
        ("stopped", &[Input::Retired], [stay; 7]),
    ];
    for (name, way, expected) in table {
        let inputs =
            [LISTED, CHILD, PARENT, DELETION, Input::TimerFired, Input::Admitted, Input::Retired];
        for (input, expected) in inputs.into_iter().zip(expected) {
            assert_eq!(Parent::after(way).step(input, 0), expected, "{name} {input:?}");
        }
        // The end of a child is one of its changes, but for who waits for just that.
        let expected = if name == "replacing" { go(FollowUp) } else { expected[1] };
        assert_eq!(Parent::after(way).step(GONE, 0), expected, "{name}");
    }
}

#[test]
fn who_waits_for_a_place_becomes_more_urgent_never_less() {
    use Priority::{Background, Change, Deletion, FollowUp};
    for (input, expected) in [
        (LISTED, [STAY; 4]),
        (CHILD, [STAY, STAY, STAY, Action::Raise(FollowUp)]),
        (PARENT, [STAY, STAY, Action::Raise(Change), Action::Raise(Change)]),
        (
            DELETION,
            [STAY, Action::Raise(Deletion), Action::Raise(Deletion), Action::Raise(Deletion)],
        ),
    ] {
        for (queued, expected) in [DELETION, PARENT, CHILD, LISTED].into_iter().zip(expected) {
            let mut parent = Parent::new(POLICY);
            parent.step(queued, 0);
            assert_eq!(parent.step(input, 0), expected, "{queued:?} {input:?}");
            assert_eq!(parent.step(Input::Admitted, 0), Action::Reconcile { after_writes: 0 });
        }
    }
    assert_eq!(Priority::ALL, [Deletion, Change, FollowUp, Background]);
}

#[test]
fn what_arrives_before_a_reconcile_starts_is_seen_by_it_and_makes_no_other() {
    let mut parent = Parent::new(POLICY);
    for input in [CHILD, PARENT, CHILD, DELETION, Input::Admitted] {
        parent.step(input, 0);
    }
    assert_eq!(parent.step(SETTLED, 0), Action::Rest);
}

#[test]
fn a_parent_that_goes_while_it_waits_for_a_place_stops_at_once() {
    let mut parent = Parent::new(POLICY);
    parent.step(PARENT, 0);
    assert_eq!(parent.step(Input::Retired, 0), Action::Stop);
    assert_eq!(parent.step(Input::Admitted, 0), STAY, "the place is for somebody else");
}

#[test]
fn what_arrives_during_a_reconcile_makes_one_further_reconcile() {
    assert_eq!(last(&[CHILD, CHILD, CHILD, SETTLED]), enqueue(Priority::FollowUp));
    assert_eq!(last(&[CHILD, CHILD, PARENT, SETTLED]), enqueue(Priority::Change));
    assert_eq!(last(&[CHILD, CHILD, SETTLED, SETTLED]), Action::Rest);
}

#[test]
fn a_failed_reconcile_is_not_repeated_for_a_child_but_for_the_parent() {
    assert!(matches!(last(&[CHILD, CHILD, FAILED]), Action::WakeAt(_)));
    assert_eq!(last(&[CHILD, PARENT, FAILED]), enqueue(Priority::Change));
    assert_eq!(last(&[CHILD, PARENT, STUCK]), enqueue(Priority::Change));
    assert_eq!(last(&[CHILD, DELETION, ASKED]), enqueue(Priority::Deletion));
}

#[test]
fn a_server_that_asked_for_less_is_not_asked_earlier_whatever_changed() {
    for trigger in [CHILD, PARENT, DELETION] {
        assert!(matches!(last(&[CHILD, trigger, THROTTLED]), Action::WakeAt(_)), "{trigger:?}");
    }
    let mut parent = Parent::after(&[CHILD, THROTTLED, DELETION]);
    assert_eq!(parent.wakes_in(), Some(5));
    assert_eq!(parent.step(Input::TimerFired, 5), enqueue(Priority::Deletion));
    let day = Finished::Throttled { after: Duration::from_hours(24) };
    let forgotten = Parent::after(&[CHILD, Input::Finished(day)]);
    assert!(forgotten.wakes_in().unwrap() < 12 * 60, "{:?}", forgotten.wakes_in());
}

/// Or very many parents keep a server busy that asks each to come back soon.
#[test]
fn a_server_that_goes_on_asking_for_little_is_asked_ever_more_slowly() {
    let mut parent = Parent::after(&[CHILD, THROTTLED]);
    assert_eq!(parent.wakes_in(), Some(5));
    for _ in 0..20 {
        parent.admitted(Input::TimerFired, 0);
        parent.admitted(THROTTLED, 0);
    }
    assert!(parent.wakes_in() > Some(20), "{:?}", parent.wakes_in());
    // What failed before for other reasons is no reason to keep anybody waiting.
    let mut parent = Parent::after(&[CHILD]);
    for _ in 0..20 {
        parent.admitted(FAILED, 0);
        parent.admitted(Input::TimerFired, 0);
    }
    parent.admitted(THROTTLED, 0);
    assert_eq!(parent.wakes_in(), Some(5));
}

/// Or an operator would do nothing but run one parent.
#[test]
fn a_parent_that_goes_during_a_reconcile_stops_after_it() {
    assert_eq!(last(&[CHILD, Input::Retired, SETTLED]), Action::Stop);
    assert_eq!(last(&[CHILD, Input::Retired, PARENT, FAILED]), Action::Stop);
    assert_eq!(last(&[CHILD, Input::Retired, WROTE]), Action::Stop);
}

#[test]
fn a_reconcile_that_wrote_runs_again_at_once_but_not_for_ever() {
    let mut parent = Parent::after(&[PARENT]);
    for after_writes in [1, 2] {
        // As urgent as the reconcile that it completes.
        assert_eq!(parent.step(WROTE, 0), enqueue(Priority::Change));
        assert_eq!(parent.step(Input::Admitted, 0), Action::Reconcile { after_writes });
    }
    let why = |command| match command {
        Action::WakeAt(wake) => Some(wake.why),
        _ => None,
    };
    assert_eq!(why(parent.step(WROTE, 0)), Some(WakeReason::Unsettled), "it is no failure");
    assert_eq!(last(&[LISTED, WROTE]), enqueue(Priority::Background));
    assert_eq!(last(&[LISTED, DELETION, WROTE]), enqueue(Priority::Deletion));
    let mut settled = Parent::after(&[PARENT, WROTE, WROTE, SETTLED]);
    settled.step(PARENT, 0);
    assert_eq!(settled.step(Input::Admitted, 0), Action::Reconcile { after_writes: 0 });
}

#[test]
fn a_reconcile_that_goes_on_at_once_forgets_only_what_the_next_one_saw() {
    let went_on = |saw_all| Input::WentOn { saw_all };
    let begun = [CHILD, CHILD];
    let after = |input| begun.into_iter().chain([input, SETTLED]).collect::<Vec<_>>();
    assert_eq!(last(&after(went_on(true))), Action::Rest);
    assert_eq!(last(&after(went_on(false))), enqueue(Priority::FollowUp));
    let written = [PARENT, went_on(true), went_on(true), WROTE];
    assert!(matches!(last(&written), Action::WakeAt(_)), "the third in a row waits");
    let gone = [PARENT, Input::Retired, went_on(true), SETTLED];
    assert_eq!(last(&gone), Action::Stop);
    assert_eq!(last(&[went_on(true)]), Action::Continue);
}

#[test]
fn a_resync_is_superseded_by_a_newer_reconcile() {
    let mut parent = Parent::new(POLICY);
    parent.admitted(CHILD, 0);
    let resync = Finished::Settled { resync: Some(Duration::from_secs(5)) };
    parent.step(Input::Finished(resync), 0);
    assert_eq!(parent.wakes_in(), Some(5));
    parent.admitted(CHILD, 1);
    assert_eq!(parent.step(SETTLED, 2), Action::Rest);
    assert_eq!(parent.step(Input::TimerFired, 5), STAY);
}

#[test]
fn who_asks_ends_a_backoff_and_a_rest_but_not_the_patience_that_the_server_asked_for() {
    let go = enqueue(Priority::Change);
    for (way, expected) in
        [(FAILED, go), (ASKED, go), (SLOWED, go), (STUCK, go), (SETTLED, go), (THROTTLED, STAY)]
    {
        assert_eq!(last(&[CHILD, way, BY_HAND]), expected, "{way:?}");
    }
    let mut running = Parent::after(&[CHILD, BY_HAND]);
    assert_eq!(running.step(FAILED, 0), go, "what was asked for meanwhile comes after it");
}

#[test]
fn what_a_throttled_parent_has_to_keep_waiting_is_urgent_when_the_time_is_over() {
    for (change, expected) in [
        (CHILD, Priority::FollowUp),
        (PARENT, Priority::Change),
        (DELETION, Priority::Deletion),
        (LISTED, Priority::FollowUp),
    ] {
        let mut parent = Parent::after(&[CHILD, THROTTLED]);
        assert_eq!([parent.step(change, 1), parent.step(CHILD, 2)], [STAY, STAY]);
        assert_eq!(parent.step(Input::TimerFired, 6), enqueue(expected), "{change:?}");
    }
}

/// A person waits for it, and what came before was another task.
#[test]
fn a_deletion_begins_a_new_row_of_failures() {
    let mut parent = Parent::after(&[LISTED, FAILED, Input::TimerFired, FAILED, PARENT, FAILED]);
    assert_eq!(parent.schedule.failures(), 3);
    parent.admitted(DELETION, 1);
    assert_eq!(parent.schedule.failures(), 0);
    parent.admitted(FAILED, 2);
    parent.admitted(DELETION, 3);
    parent.admitted(FAILED, 4);
    assert_eq!(parent.schedule.failures(), 2, "once");
}
