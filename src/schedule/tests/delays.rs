//! How long a parent waits.

use super::*;

#[test]
fn no_time_that_a_handler_chooses_makes_a_parent_run_without_a_pause() {
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
fn parents_that_wait_for_the_same_reason_do_not_come_back_together() {
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
fn failures_in_a_row_wait_longer_and_success_forgets_them() {
    let delay = |failures: usize| {
        let way = [PARENT, FAILED].repeat(failures);
        Parent::after(&way).wakes_in().unwrap()
    };
    assert!(delay(2) < delay(4) && delay(4) < delay(6), "{} {} {}", delay(2), delay(4), delay(6));
    let mended = Parent::after(&[PARENT, FAILED, PARENT, SETTLED]);
    assert_eq!(mended.schedule.failures(), 0);
}

#[test]
fn a_failure_beside_a_child_that_goes_waits_longer_each_time_but_never_long() {
    let at_most = Duration::from_secs(20);
    let failing = |is_passing| Finished::FailedUntilGone { is_passing, at_most };
    let parent = |is_passing, failures: usize| {
        Parent::after(&[PARENT, Input::Finished(failing(is_passing))].repeat(failures))
    };
    let delay = |failures| parent(true, failures).wakes_in().unwrap();
    assert!(delay(1) < delay(3) && delay(3) < delay(5), "{} {} {}", delay(1), delay(3), delay(5));
    assert_eq!(delay(20), 20);
    assert!((20..22).contains(&parent(false, 1).wakes_in().unwrap()), "it would be in vain before");
    for is_passing in [false, true] {
        assert_eq!(parent(is_passing, 3).schedule.failures(), 3);
        let Phase::Waiting(wake) = parent(is_passing, 3).schedule.phase() else { panic!("idle") };
        assert_eq!(wake.why, WakeReason::Retry);
    }
    // Who fails later, and waits for nothing any more, is not woken by ends.
    let ways = [PARENT, Input::Finished(failing(true)), PARENT, FAILED];
    assert_eq!(Parent::after(&ways).step(GONE, 0), STAY);
    assert_eq!(last(&[PARENT, GONE, Input::Finished(failing(false))]), enqueue(Priority::FollowUp));
}

#[test]
fn a_time_that_no_clock_can_hold_is_a_long_one() {
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
fn what_is_written_again_and_again_waits_ever_longer_and_is_no_failure() {
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
fn what_fails_and_is_written_again_and_again_has_the_longer_wait_but_no_longer_than_may_be() {
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

/// It would be away as long as that.
#[test]
fn a_child_that_was_deleted_to_be_created_anew_waits_for_no_reconcile_of_those_in_a_row() {
    let mut way = vec![PARENT, WROTE, WROTE, WROTE, Input::TimerFired];
    way.push(Input::Finished(Finished::Recreating));
    assert_eq!(last(&way), enqueue(Priority::FollowUp));
    way.push(WROTE);
    assert!(matches!(last(&way), Action::WakeAt(Wake { why: WakeReason::Unsettled, .. })));
}
