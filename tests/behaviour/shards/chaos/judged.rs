//! The judge finds what is wrong, and nothing else.

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    judge::{findings, miscounted},
    load::{Parents, Wanted},
    log::Write,
};

/// A request that is received so many tenths of a second after the beginning, and answered at once.
fn write(replica: &str, tenths: i64, (resource, name, body): (&str, &str, Value)) -> Write {
    let received = Timestamp::UNIX_EPOCH + SignedDuration::from_millis(tenths * 100);
    Write {
        replica: replica.to_owned(),
        verb: "patch".to_owned(),
        resource: resource.to_owned(),
        name: name.to_owned(),
        code: 200,
        received,
        answered: received + SignedDuration::from_millis(1),
        body,
    }
}

/// A Lease that says what its replica holds.
fn says(replica: &str, tenths: i64, holds: &str) -> Write {
    let said = json!({"holds": holds}).to_string();
    let body = json!({"metadata": {"annotations": {"operetta.dev/shard": said}}});
    write(replica, tenths, ("leases", &format!("chaos-{replica}"), body))
}

fn works(replica: &str, tenths: i64) -> Write {
    write(replica, tenths, ("configmaps", "r-1-0", Value::Null))
}

fn parents() -> Parents {
    [("r-1".to_owned(), Wanted::new("5f0c", Some(3)))].into()
}

fn found(writes: &[Write]) -> Vec<String> {
    findings(writes, &parents())
}

#[operetta_harness::test]
fn a_bucket_that_was_given_up_or_has_expired_may_be_worked_in_by_another() {
    let begin = [says("a", 0, "0-63"), works("a", 5), says("a", 20, "0-63"), works("a", 25)];
    let given = [says("a", 30, ""), says("b", 31, "0-63"), works("b", 32)];
    assert_eq!(found(&[&begin[..], &given].concat()), [""; 0]);
    let expired = [says("b", 61, "0-63"), works("b", 62)];
    assert_eq!(found(&[&begin[..], &expired].concat()), [""; 0]);
}

#[operetta_harness::test]
fn two_that_write_while_both_hold_a_bucket_are_found() {
    let begin = [says("a", 0, "0-63"), works("a", 5), says("a", 20, "0-63")];
    let other = [says("b", 21, "0-63"), works("b", 30)];
    let found = found(&[&begin[..], &other].concat());
    assert!(found.len() == 1 && found[0].starts_with("two wrote in bucket"), "{found:?}");
}

#[operetta_harness::test]
fn a_write_after_the_end_of_a_claim_is_found() {
    let late = [says("a", 0, "0-63"), works("a", 5), works("a", 45)];
    let after = [says("a", 0, "0-63"), says("a", 10, ""), works("a", 12)];
    for writes in [&late[..], &after] {
        let found = found(writes);
        assert!(found.len() == 1 && found[0].starts_with("written without a claim"), "{found:?}");
    }
}

#[operetta_harness::test]
fn a_child_that_was_created_twice_or_not_deleted_is_found() {
    let made = |name: &str| Write { code: 201, ..write("a", 0, ("configmaps", name, Value::Null)) };
    let once = [made("r-1-0"), made("r-1-1"), made("r-1-2")];
    assert_eq!(miscounted(&once, &parents()), [""; 0]);
    let twice = [&once[..], &[made("r-1-1")]].concat();
    assert_eq!(miscounted(&twice, &parents()), ["r-1-1: created 2 times, deleted 0 times"]);
    let shrunk = [("r-1".to_owned(), Wanted::new("5f0c", Some(2)))].into();
    assert_eq!(miscounted(&once, &shrunk), ["r-1-2: created 1 times, deleted 0 times"]);
}
