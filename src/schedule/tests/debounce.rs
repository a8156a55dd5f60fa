//! Which changes a debounce window collects, and which are reconciled at once.

use super::*;

#[test]
fn changes_of_children_are_collected_for_one_window_from_the_first() {
    let mut parent = Parent::new(DEBOUNCED);
    assert!(matches!(parent.step(CHILD, 1), Action::WakeAt(_)));
    for second in 2..=10 {
        assert_eq!(parent.step(CHILD, second), STAY);
    }
    assert_eq!(parent.wakes_in(), Some(11), "later ones do not put it off");
    assert_eq!(parent.step(Input::TimerFired, 11), enqueue(Priority::FollowUp));
}

#[test]
fn the_first_change_of_a_parent_is_reconciled_at_once_and_later_ones_once_per_window() {
    let mut parent = Parent::new(DEBOUNCED);
    assert_eq!(parent.admitted(PARENT, 0), enqueue(Priority::Change));
    assert_eq!(parent.step(SETTLED, 1), Action::Rest);
    assert!(matches!(parent.step(PARENT, 2), Action::WakeAt(_)));
    assert_eq!(parent.step(PARENT, 9), STAY);
    assert_eq!(parent.wakes_in(), Some(10));
    assert_eq!(parent.admitted(Input::TimerFired, 10), enqueue(Priority::Change));
    // A change during a reconcile belongs to the next window.
    parent.step(PARENT, 11);
    assert!(matches!(parent.step(SETTLED, 12), Action::WakeAt(_)));
    assert_eq!(parent.wakes_in(), Some(20));
    assert_eq!(parent.admitted(Input::TimerFired, 20), enqueue(Priority::Change));
    parent.step(SETTLED, 21);
    assert_eq!(parent.step(PARENT, 40), enqueue(Priority::Change), "quiet for long enough");
}

#[test]
fn an_urgent_change_does_not_wait_for_collected_ones() {
    let collecting = || {
        let mut parent = Parent::new(DEBOUNCED);
        assert!(matches!(parent.step(CHILD, 0), Action::WakeAt(_)));
        parent
    };
    assert_eq!(collecting().step(PARENT, 1), enqueue(Priority::Change));
    assert_eq!(collecting().step(DELETION, 1), enqueue(Priority::Deletion));
    assert_eq!(Parent::new(DEBOUNCED).step(LISTED, 0), enqueue(Priority::Background));
}

#[test]
fn a_window_keeps_the_strongest_change_and_the_earliest_time() {
    let mut parent = Parent::new(DEBOUNCED);
    parent.admitted(PARENT, 0);
    parent.step(SETTLED, 1);
    parent.step(CHILD, 3);
    assert_eq!(parent.wakes_in(), Some(13));
    parent.step(PARENT, 4);
    assert_eq!(parent.wakes_in(), Some(10));
    parent.step(CHILD, 5);
    assert_eq!(parent.step(Input::TimerFired, 10), enqueue(Priority::Change));
}

#[test]
fn a_debounce_delays_neither_own_follow_ups_nor_an_earlier_timer() {
    let mut parent = Parent::new(DEBOUNCED);
    parent.admitted(PARENT, 0);
    parent.step(CHILD, 1);
    assert_eq!(parent.admitted(WROTE, 2), enqueue(Priority::Change));
    let resync = Finished::Settled { resync: Some(Duration::from_secs(5)) };
    parent.step(Input::Finished(resync), 3);
    parent.step(CHILD, 4);
    assert_eq!(parent.wakes_in(), Some(8));
}

#[test]
fn a_debounce_does_not_cut_an_error_backoff_short() {
    let mut parent = Parent::new(DEBOUNCED);
    parent.admitted(CHILD, 0);
    assert_eq!(parent.wakes_in(), Some(10));
    parent.admitted(Input::TimerFired, 10);
    parent.step(ASKED, 10);
    assert_eq!(parent.step(CHILD, 11), STAY);
    assert_eq!(parent.wakes_in(), Some(15));
}

#[test]
fn a_requested_reconcile_does_not_wait_for_collected_changes() {
    let mut parent = Parent::new(DEBOUNCED);
    parent.admitted(PARENT, 0);
    parent.step(SETTLED, 1);
    assert!(matches!(parent.step(PARENT, 2), Action::WakeAt(_)));
    assert_eq!(parent.step(REQUESTED, 3), enqueue(Priority::Change));
}

#[test]
fn a_change_that_waits_for_an_earlier_timer_is_as_urgent_as_without_it() {
    let resync = Input::Finished(Finished::Settled { resync: Some(Duration::from_secs(2)) });
    for (change, expected) in [(CHILD, Priority::FollowUp), (PARENT, Priority::Change)] {
        let mut parent = Parent::new(DEBOUNCED);
        parent.admitted(PARENT, 0);
        parent.step(resync, 1);
        assert_eq!(parent.step(change, 2), STAY);
        assert_eq!(parent.admitted(Input::TimerFired, 3), enqueue(expected), "{change:?}");
        parent.step(resync, 4);
        assert_eq!(parent.step(Input::TimerFired, 6), enqueue(Priority::Background), "once");
    }
}
