use std::time::Duration;

use serde_json::{Value, json};

use super::*;

const TIMING: Timing = Timing {
    lease: Duration::from_secs(15),
    renew_deadline: Duration::from_secs(10),
    retry: Duration::from_secs(2),
};

fn at(seconds: u64) -> Now {
    let duration = Duration::from_secs(seconds);
    Now { boot: SinceBoot(duration), wall: SystemTime::UNIX_EPOCH + duration }
}

fn boot(seconds: u64) -> SinceBoot {
    at(seconds).boot
}

fn election() -> Election {
    Election::new(("ns", "operators"), "me", TIMING)
}

/// A Lease on the server.
fn lease(version: u64, spec: &Value) -> Lease {
    let metadata =
        json!({"name": "operators", "namespace": "ns", "resourceVersion": version.to_string()});
    Lease::of(json!({"metadata": metadata, "spec": spec}))
}

fn held_by(holder: &str, version: u64, renewed: u64) -> Lease {
    lease(
        version,
        &json!({"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed}),
    )
}

/// An election that leads since a write at 100 s.
fn leader() -> Election {
    let mut election = election();
    assert_eq!(election.step(Input::Due, at(100)), Act::Read);
    assert!(matches!(election.step(Input::Read(None), at(100)), Act::Write(_)));
    let written = Input::Written { sent: boot(100), lease: held_by("me", 7, 100) };
    assert_eq!(election.step(written, at(101)), Act::Wait(boot(102)));
    assert_eq!(election.leads_until(), Some(boot(110)));
    election
}

fn written(act: Act) -> Lease {
    let Act::Write(lease) = act else { panic!("it does not write, but {act:?}") };
    lease
}

#[test]
fn a_lease_that_does_not_exist_is_created_as_client_go_does() {
    let mut election = election();
    assert_eq!(election.step(Input::Due, at(5)), Act::Read);
    let lease = written(election.step(Input::Read(None), at(5)));
    assert!(!lease.exists());
    let time = "1970-01-01T00:00:05.000000Z";
    let spec = json!({"holderIdentity": "me", "leaseDurationSeconds": 15, "acquireTime": time,
        "renewTime": time, "leaseTransitions": 0});
    assert_eq!(lease.body()["spec"], spec);
    assert_eq!(election.leads_until(), None, "not before it is accepted");
}

#[test]
fn the_lease_of_another_is_taken_when_it_was_not_renewed_for_its_duration() {
    let mut election = election();
    election.step(Input::Due, at(100));
    let read = Input::Read(Some(held_by("other", 3, 1)));
    assert_eq!(election.step(read, at(100)), Act::Wait(boot(115)));
    let renewed = Input::Seen(Some(held_by("other", 4, 2)));
    assert_eq!(election.step(renewed, at(108)), Act::Wait(boot(123)));
    assert_eq!(election.step(Input::Due, at(123)), Act::Read);
    let lease = written(election.step(Input::Read(Some(held_by("other", 4, 2))), at(123)));
    assert_eq!(lease.body()["metadata"]["resourceVersion"], "4");
    assert_eq!(lease.body()["spec"]["holderIdentity"], "me");
    assert_eq!(lease.body()["spec"]["leaseTransitions"], 1);
}

#[test]
fn a_change_that_is_no_renewal_does_not_prolong_a_lease() {
    let mut election = election();
    election.step(Input::Due, at(100));
    election.step(Input::Read(Some(held_by("other", 3, 1))), at(100));
    let labelled = Input::Seen(Some(held_by("other", 9, 1)));
    assert_eq!(election.step(labelled, at(110)), Act::Wait(boot(115)));
}

#[test]
fn a_lease_without_a_holder_is_taken_at_once_after_it_is_read() {
    for spec in
        [json!({"leaseTransitions": 4}), json!({"holderIdentity": ""}), json!(null), json!("odd")]
    {
        let mut election = election();
        election.step(Input::Due, at(1));
        election.step(Input::Read(Some(held_by("other", 3, 1))), at(1));
        let seen = Input::Seen(Some(lease(5, &spec)));
        assert_eq!(election.step(seen, at(2)), Act::Wait(boot(2)), "{spec}");
        assert_eq!(election.step(Input::Due, at(2)), Act::Read);
        let taken = written(election.step(Input::Read(Some(lease(5, &spec))), at(2)));
        assert_eq!(taken.holder(), Some("me"));
    }
}

#[test]
fn a_lease_without_a_duration_is_valid_for_the_own_one() {
    for duration in [json!(null), json!(0), json!(-5), json!("15")] {
        let mut election = election();
        election.step(Input::Due, at(1));
        let odd = lease(3, &json!({"holderIdentity": "other", "leaseDurationSeconds": duration}));
        assert_eq!(election.step(Input::Read(Some(odd)), at(1)), Act::Wait(boot(16)));
    }
}

#[test]
fn a_leader_renews_without_reading_and_leads_from_the_time_of_sending() {
    let mut election = leader();
    let renewal = written(election.step(Input::Due, at(102)));
    assert_eq!(renewal.body()["metadata"]["resourceVersion"], "7");
    assert_eq!(renewal.body()["spec"]["renewTime"], "1970-01-01T00:01:42.000000Z");
    assert!(renewal.body()["spec"]["leaseTransitions"].is_null(), "it is no transition");
    let accepted = Input::Written { sent: boot(102), lease: held_by("me", 8, 102) };
    assert_eq!(election.step(accepted, at(105)), Act::Wait(boot(104)));
    assert_eq!(election.leads_until(), Some(boot(112)));
}

#[test]
fn a_leader_without_answers_leads_until_its_deadline() {
    let mut election = leader();
    for (now, next) in [(102, 104), (104, 106), (107, 109), (109, 110)] {
        assert!(matches!(election.step(Input::Due, at(now)), Act::Write(_)));
        assert_eq!(election.step(Input::Failed, at(now)), Act::Wait(boot(next)));
        assert!(election.leads_until().is_some());
    }
    assert_eq!(election.step(Input::Due, at(110)), Act::Read);
    assert_eq!(election.leads_until(), None);
}

#[test]
fn a_leader_that_was_stopped_past_its_deadline_leads_no_more_whatever_comes_first() {
    for input in [
        Input::Due,
        Input::Failed,
        Input::Outrun,
        Input::Read(None),
        Input::Seen(Some(held_by("me", 7, 100))),
        Input::Written { sent: boot(102), lease: held_by("me", 8, 102) },
    ] {
        let mut election = leader();
        election.step(Input::Due, at(102));
        election.step(input, at(130));
        assert_eq!(election.leads_until(), None);
    }
}

#[test]
fn a_leader_whose_lease_another_holds_stops_at_once() {
    for seen in [Input::Seen as fn(_) -> _, Input::Read] {
        let mut election = leader();
        assert_eq!(
            election.step(seen(Some(held_by("other", 9, 1))), at(103)),
            Act::Wait(boot(118))
        );
        assert_eq!((election.leads_until(), election.holder()), (None, Some("other")));
    }
}

#[test]
fn a_leader_whose_lease_was_emptied_by_hand_stops_and_takes_it_again() {
    let mut election = leader();
    assert_eq!(
        election.step(Input::Seen(Some(lease(9, &json!({})))), at(103)),
        Act::Wait(boot(103))
    );
    assert_eq!(election.leads_until(), None);
    election.step(Input::Due, at(103));
    assert_eq!(
        written(election.step(Input::Read(Some(lease(9, &json!({})))), at(103))).holder(),
        Some("me")
    );
}

#[test]
fn a_leader_whose_lease_is_gone_creates_it_again_and_goes_on() {
    let mut election = leader();
    assert!(!written(election.step(Input::Seen(None), at(103))).exists());
    assert_eq!(election.leads_until(), Some(boot(110)));
    let mut election = leader();
    election.step(Input::Due, at(102));
    assert_eq!(election.step(Input::Outrun, at(102)), Act::Read);
    assert!(!written(election.step(Input::Read(None), at(102))).exists());
}

#[test]
fn what_the_watch_shows_late_changes_nothing() {
    let mut election = leader();
    assert_eq!(
        election.step(Input::Seen(Some(held_by("other", 6, 1))), at(102)),
        Act::Wait(boot(102))
    );
    assert_eq!(election.leads_until(), Some(boot(110)));
}

#[test]
fn the_watch_asks_for_nothing_while_a_request_is_on_its_way() {
    let mut election = election();
    assert_eq!(election.step(Input::Due, at(1)), Act::Read);
    assert_eq!(election.step(Input::Seen(None), at(1)), Act::Await);
    assert!(matches!(election.step(Input::Read(None), at(1)), Act::Write(_)));
    assert_eq!(election.step(Input::Seen(Some(held_by("other", 2, 1))), at(1)), Act::Await);
    assert_eq!(election.step(Input::Outrun, at(1)), Act::Read);
}

#[test]
fn a_leader_gives_its_lease_back_and_a_standby_gives_back_nothing() {
    let mut election = leader();
    let lease = election.release(at(103)).expect("it leads");
    assert_eq!((lease.holder(), election.leads_until()), (None, None));
    assert_eq!(lease.body()["metadata"]["resourceVersion"], "7");
    assert_eq!(lease.body()["spec"]["leaseDurationSeconds"], 1);
    assert_eq!(election.release(at(103)), None);
}

#[test]
fn a_process_with_the_identity_of_the_holder_continues() {
    let mut election = election();
    election.step(Input::Due, at(1));
    let renewal = written(election.step(Input::Read(Some(held_by("me", 3, 1))), at(1)));
    assert!(renewal.body()["spec"]["acquireTime"].is_null(), "it was acquired before");
}
