//! The tables of the module's documentation, and properties over several steps.

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
const REQUESTED: Input = Input::Touched(Trigger::Asked);
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

/// A schedule. A permit is free at once, so that a reconcile starts when it may.
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

    /// The action at this number of seconds after the start.
    fn step(&mut self, input: Input, second: u64) -> Action {
        self.schedule.step(input, &self.policy, self.start + Duration::from_secs(second))
    }

    fn admitted(&mut self, input: Input, second: u64) -> Action {
        let action = self.step(input, second);
        if let Action::Enqueue(_) = action {
            assert!(matches!(self.step(Input::Admitted, second), Action::Reconcile { .. }));
        }
        action
    }

    /// The seconds until it wakes, rounded down.
    fn wakes_in(&self) -> Option<u64> {
        match self.schedule.phase() {
            Phase::Waiting(wake) => Some((wake.at - self.start).as_secs()),
            _ => None,
        }
    }
}

/// The last action after these inputs.
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
    // Earlier than a child is followed.
    let soon = Input::Finished(Finished::FailedUntil { after: Duration::from_millis(200) });
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
            "a delay of the handler",
            &[CHILD, soon],
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
    for (name, before, expected) in table {
        let inputs =
            [LISTED, CHILD, PARENT, DELETION, Input::TimerFired, Input::Admitted, Input::Retired];
        for (input, expected) in inputs.into_iter().zip(expected) {
            assert_eq!(Parent::after(before).step(input, 0), expected, "{name} {input:?}");
        }
        // The deletion of a child counts as its change, except for a parent that waits for it.
        let expected = if name == "replacing" { go(FollowUp) } else { expected[1] };
        assert_eq!(Parent::after(before).step(GONE, 0), expected, "{name}");
    }
}

#[test]
fn a_queued_parent_becomes_more_urgent_never_less() {
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
fn an_input_before_a_reconcile_starts_causes_no_other_reconcile() {
    let mut parent = Parent::new(POLICY);
    for input in [CHILD, PARENT, CHILD, DELETION, Input::Admitted] {
        parent.step(input, 0);
    }
    assert_eq!(parent.step(SETTLED, 0), Action::Rest);
}

#[test]
fn a_parent_that_is_deleted_while_it_waits_for_a_permit_stops_at_once() {
    let mut parent = Parent::new(POLICY);
    parent.step(PARENT, 0);
    assert_eq!(parent.step(Input::Retired, 0), Action::Stop);
    assert_eq!(parent.step(Input::Admitted, 0), STAY, "the permit is not used");
}

#[test]
fn inputs_during_a_reconcile_cause_one_further_reconcile() {
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

/// A child that is refused for ten minutes does not keep the status from following the others.
#[test]
fn a_child_is_followed_after_a_failure_and_the_retry_comes_when_it_was_due() {
    let after = Duration::from_mins(10);
    for finished in [
        Finished::FailedUntil { after },
        Finished::FailedUntilGone { is_passing: false, at_most: after },
    ] {
        let (mut parent, failed) = (Parent::after(&[CHILD]), Input::Finished(finished));
        parent.step(failed, 0);
        let retry = parent.wakes_in();
        assert!(retry >= Some(600), "{retry:?}");
        assert_eq!(parent.admitted(CHILD, 60), enqueue(Priority::FollowUp));
        parent.step(failed, 60);
        assert_eq!((parent.wakes_in(), parent.schedule.failures()), (retry, 1));
        // Many changes in a row are followed ever more slowly.
        let mut delays = Vec::new();
        let mut now = 60;
        for _ in 0..8 {
            assert!(matches!(parent.step(CHILD, now), Action::WakeAt(_)));
            assert_eq!(parent.step(CHILD, now), STAY, "another change");
            let at = parent.wakes_in().unwrap() + 1;
            parent.admitted(Input::TimerFired, at);
            parent.step(failed, at);
            assert_eq!(parent.wakes_in(), retry);
            delays.push(at - now);
            now = at;
        }
        assert!(delays[0] <= 3 && delays[7] > 10 && delays[7] <= 32, "{delays:?}");
        // The retry itself counts.
        parent.admitted(Input::TimerFired, 700);
        parent.step(failed, 700);
        assert_eq!(parent.schedule.failures(), 2);
        assert!(parent.wakes_in() >= Some(1300));
    }
}

#[test]
fn a_change_of_the_parent_counts_the_next_failure_again() {
    let mut parent = Parent::after(&[CHILD, FAILED, CHILD]);
    parent.admitted(PARENT, 1);
    parent.step(FAILED, 1);
    assert_eq!(parent.schedule.failures(), 2);
}

#[test]
fn a_throttled_parent_waits_whatever_changes() {
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

/// Otherwise very many parents keep a server busy that asks each for a short delay.
#[test]
fn repeated_short_throttling_gets_longer_delays() {
    let mut parent = Parent::after(&[CHILD, THROTTLED]);
    assert_eq!(parent.wakes_in(), Some(5));
    for _ in 0..20 {
        parent.admitted(Input::TimerFired, 0);
        parent.admitted(THROTTLED, 0);
    }
    assert!(parent.wakes_in() > Some(20), "{:?}", parent.wakes_in());
    // Earlier failures for other reasons do not lengthen the delay.
    let mut parent = Parent::after(&[CHILD]);
    for _ in 0..20 {
        parent.admitted(FAILED, 0);
        parent.admitted(Input::TimerFired, 0);
    }
    parent.admitted(THROTTLED, 0);
    assert_eq!(parent.wakes_in(), Some(5));
}

/// Otherwise the operator might reconcile one parent forever.
#[test]
fn a_parent_that_is_deleted_during_a_reconcile_stops_after_it() {
    assert_eq!(last(&[CHILD, Input::Retired, SETTLED]), Action::Stop);
    assert_eq!(last(&[CHILD, Input::Retired, PARENT, FAILED]), Action::Stop);
    assert_eq!(last(&[CHILD, Input::Retired, WROTE]), Action::Stop);
}

#[test]
fn a_reconcile_that_wrote_is_repeated_at_once_up_to_a_limit() {
    let mut parent = Parent::after(&[PARENT]);
    for after_writes in [1, 2] {
        // As urgent as the reconcile that it completes.
        assert_eq!(parent.step(WROTE, 0), enqueue(Priority::Change));
        assert_eq!(parent.step(Input::Admitted, 0), Action::Reconcile { after_writes });
    }
    let why = |action| match action {
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
fn a_continued_reconcile_forgets_only_the_inputs_that_the_next_one_saw() {
    let continued = |saw_all| Input::Continued { saw_all };
    let begun = [CHILD, CHILD];
    let after = |input| begun.into_iter().chain([input, SETTLED]).collect::<Vec<_>>();
    assert_eq!(last(&after(continued(true))), Action::Rest);
    assert_eq!(last(&after(continued(false))), enqueue(Priority::FollowUp));
    let written = [PARENT, continued(true), continued(true), WROTE];
    assert!(matches!(last(&written), Action::WakeAt(_)), "the third in a row waits");
    let gone = [PARENT, Input::Retired, continued(true), SETTLED];
    assert_eq!(last(&gone), Action::Stop);
    assert_eq!(last(&[continued(true)]), Action::Continue);
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
fn a_request_ends_a_backoff_and_a_rest_but_no_throttling() {
    let go = enqueue(Priority::Change);
    for (ended, expected) in
        [(FAILED, go), (ASKED, go), (SLOWED, go), (STUCK, go), (SETTLED, go), (THROTTLED, STAY)]
    {
        assert_eq!(last(&[CHILD, ended, REQUESTED]), expected, "{ended:?}");
    }
    let mut running = Parent::after(&[CHILD, REQUESTED]);
    assert_eq!(running.step(FAILED, 0), go, "a request during the reconcile is processed after it");
}

#[test]
fn changes_of_a_throttled_parent_keep_their_urgency() {
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

/// The user waits for it, and earlier failures concern `sync`.
#[test]
fn a_deletion_resets_the_failures() {
    let mut parent = Parent::after(&[LISTED, FAILED, Input::TimerFired, FAILED, PARENT, FAILED]);
    assert_eq!(parent.schedule.failures(), 3);
    parent.admitted(DELETION, 1);
    assert_eq!(parent.schedule.failures(), 0);
    parent.admitted(FAILED, 2);
    parent.admitted(DELETION, 3);
    parent.admitted(FAILED, 4);
    assert_eq!(parent.schedule.failures(), 2, "once");
}
