//! The delays of a parent.

use super::*;

#[test]
fn no_delay_of_a_handler_causes_reconciles_without_a_pause() {
    let after = Duration::ZERO;
    for chosen in [
        Finished::Settled { resync: Some(after) },
        Finished::Recheck { after },
        Finished::FailedUntil { after },
    ] {
        let parent = Parent::after(&[CHILD, Input::Finished(chosen)]);
        let Phase::Waiting(wake) = parent.schedule.phase() else { panic!("{chosen:?}") };
        assert_eq!(wake.at - parent.start, Duration::from_millis(100), "{chosen:?}");
    }
}

#[test]
fn parents_that_wait_for_the_same_reason_do_not_retry_together() {
    for (why, finished) in [("failed", FAILED), ("asked", ASKED), ("throttled", THROTTLED)] {
        let start = Instant::now();
        let wake = |seed| {
            let mut schedule = Schedule::new(seed);
            for input in [CHILD, Input::Admitted] {
                schedule.step(input, &POLICY, start);
            }
            schedule.step(finished, &POLICY, start)
        };
        assert!(matches!(wake(1), Action::WakeAt(_)), "{why}");
        assert_eq!(wake(1), wake(1), "{why}");
        assert_ne!(wake(1), wake(2), "{why}");
    }
}

#[test]
fn failures_in_a_row_wait_longer_and_success_resets_them() {
    let delay = |failures: usize| {
        let inputs = [PARENT, FAILED].repeat(failures);
        Parent::after(&inputs).wakes_in().unwrap()
    };
    assert!(delay(2) < delay(4) && delay(4) < delay(6), "{} {} {}", delay(2), delay(4), delay(6));
    let fixed = Parent::after(&[PARENT, FAILED, PARENT, SETTLED]);
    assert_eq!(fixed.schedule.failures(), 0);
}

#[test]
fn a_failure_beside_a_terminating_child_waits_longer_each_time_up_to_a_limit() {
    let at_most = Duration::from_secs(20);
    let failing = |is_passing| Finished::FailedUntilGone { is_passing, at_most };
    let parent = |is_passing, failures: usize| {
        Parent::after(&[PARENT, Input::Finished(failing(is_passing))].repeat(failures))
    };
    let delay = |failures| parent(true, failures).wakes_in().unwrap();
    assert!(delay(1) < delay(3) && delay(3) < delay(5), "{} {} {}", delay(1), delay(3), delay(5));
    assert_eq!(delay(20), 20);
    assert!(
        (20..22).contains(&parent(false, 1).wakes_in().unwrap()),
        "a permanent failure is not retried before"
    );
    for is_passing in [false, true] {
        assert_eq!(parent(is_passing, 3).schedule.failures(), 3);
        let Phase::Waiting(wake) = parent(is_passing, 3).schedule.phase() else { panic!("idle") };
        assert_eq!(wake.why, WakeReason::Retry);
    }
    // A deletion does not end the wait after a later failure that does not wait for one.
    let inputs = [PARENT, Input::Finished(failing(true)), PARENT, FAILED];
    assert!(matches!(Parent::after(&inputs).step(GONE, 0), Action::WakeAt(_)));
    assert_eq!(last(&[PARENT, GONE, Input::Finished(failing(false))]), enqueue(Priority::FollowUp));
}

#[test]
fn a_delay_beyond_the_clock_is_capped() {
    let after = Duration::MAX;
    for finished in [
        Finished::Settled { resync: Some(after) },
        Finished::Recheck { after },
        Finished::FailedUntil { after },
        Finished::Throttled { after },
    ] {
        let command = last(&[PARENT, Input::Finished(finished)]);
        assert!(matches!(command, Action::WakeAt(_)), "{command:?}");
    }
    let mut parent = Parent::new(Policy { debounce: Duration::MAX, ..POLICY });
    assert!(matches!(parent.step(CHILD, 0), Action::WakeAt(_)));
}

#[test]
fn flapping_waits_ever_longer_and_is_no_failure() {
    for (times, [least, most]) in [(1, [0, 1]), (3, [2, 4]), (9, [30, 60])] {
        let mut parent = Parent::after(&[CHILD]);
        parent.step(CHILD, 0);
        parent.step(Input::Finished(Finished::Slowed { times, at_most: Duration::MAX }), 0);
        let wakes = parent.wakes_in().unwrap();
        assert!((least..=most).contains(&wakes), "{times}: {wakes}");
        assert_eq!(parent.schedule.failures(), 0);
    }
}

#[test]
fn flapping_with_a_failure_has_the_longer_wait_up_to_the_limit() {
    let (none, ever) = (Duration::ZERO, Duration::MAX);
    let asked = Duration::from_mins(5);
    for (failures, times, at_least, at_most, [least, most]) in [
        (1, 3, none, ever, [2, 4]),
        (3, 1, none, ever, [2, 4]),
        (1, 1, asked, ever, [300, 330]),
        (1, 9, none, Duration::from_secs(20), [20, 20]),
    ] {
        let failed = Finished::FailedSlowed { times, at_least, at_most };
        let parent = Parent::after(&[PARENT, Input::Finished(failed)].repeat(failures));
        let wakes = parent.wakes_in().unwrap();
        assert!((least..=most).contains(&wakes), "{failures} {times}: {wakes}");
        assert_eq!(usize::try_from(parent.schedule.failures()).unwrap(), failures);
    }
}

/// The child would be missing as long as that.
#[test]
fn a_recreated_child_does_not_wait_after_reconciles_in_a_row() {
    let mut inputs = vec![PARENT, WROTE, WROTE, WROTE, Input::TimerFired];
    inputs.push(Input::Finished(Finished::Recreating));
    assert_eq!(last(&inputs), enqueue(Priority::FollowUp));
    inputs.push(WROTE);
    assert!(matches!(last(&inputs), Action::WakeAt(Wake { why: WakeReason::Unsettled, .. })));
}

/// Whatever its reconcile ended with, also one that nothing else would retry.
#[test]
fn a_parent_is_reconciled_when_its_pause_ends() {
    let ends = |after| Input::PauseEnds { after: Some(Duration::from_secs(after)) };
    let resync = Input::Finished(Finished::Settled { resync: Some(Duration::from_mins(1)) });
    let soon = Input::Finished(Finished::Settled { resync: Some(Duration::from_secs(3)) });
    for (finished, end) in [(SETTLED, 30), (STUCK, 30), (resync, 30), (SLOWED, 0)] {
        let mut parent = Parent::after(&[PARENT, ends(end)]);
        let action = parent.step(finished, 0);
        let Action::WakeAt(wake) = action else { panic!("{finished:?}: {action:?}") };
        assert_eq!(wake.why, WakeReason::PauseEnds, "{finished:?}");
        assert_eq!(parent.schedule.next_wake(), Some(wake));
        assert_eq!(parent.step(Input::TimerFired, end + 1), enqueue(Priority::Change));
        assert_eq!(parent.schedule.next_wake(), None);
    }
    // An earlier timer comes first, and the next reconcile says again when the pause ends.
    let mut parent = Parent::after(&[PARENT, ends(30), soon]);
    assert_eq!(parent.wakes_in(), Some(3));
    assert_eq!(parent.step(Input::TimerFired, 3), enqueue(Priority::Background));
    parent.step(Input::Admitted, 3);
    assert_eq!(parent.step(SETTLED, 3), Action::Rest);
}

#[test]
fn the_end_of_a_pause_ends_no_throttling_and_waits_with_other_changes() {
    let ends = Input::PauseEnds { after: Some(Duration::from_secs(1)) };
    let mut parent = Parent::after(&[PARENT, ends, THROTTLED]);
    let Action::WakeAt(wake) = parent.step(Input::TimerFired, 1) else { panic!() };
    assert_eq!(wake.why, WakeReason::Throttled);
    assert_eq!(parent.step(Input::TimerFired, 6), enqueue(Priority::Change));
    // A change of a child while the parent is paused.
    let mut parent = Parent::after(&[PARENT, ends, SETTLED]);
    assert_eq!(parent.step(CHILD, 0), enqueue(Priority::FollowUp));
    let mut parent = Parent { policy: DEBOUNCED, ..Parent::after(&[PARENT, ends, SETTLED]) };
    let Action::WakeAt(wake) = parent.step(CHILD, 0) else { panic!() };
    assert_eq!(wake.why, WakeReason::PauseEnds, "it is earlier");
    assert_eq!(parent.step(Input::TimerFired, 1), enqueue(Priority::Change));
}
