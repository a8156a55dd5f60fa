//! When repeated writes are flapping, and how that is reported.

use super::*;
use crate::{
    diff::path::MAX_PATHS,
    object::{K8sType, ObjectKey},
    plan::ChildId,
    schedule::Backoff,
};

/// Writes count for a minute, above the limit as below it.
fn calm() -> Calm {
    let half = Duration::from_secs(30);
    Calm::new(Backoff { min: half, max: half })
}

const FIGHT: FlappingReason = FlappingReason::FightingOverFields;

fn child(name: &str) -> Subject {
    let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
    Subject::Child(ChildId { ty, key: ObjectKey::namespaced("ns", name) })
}

/// How many writes were above the limit, after each write: seconds after the start, and paths.
fn counts(writes: &[(u64, &[&str])]) -> Vec<u32> {
    let (start, mut flapping) = (Instant::now(), Flapping::default());
    let write = |(second, paths): &(u64, &[&str])| {
        let now = start + Duration::from_secs(*second);
        let paths: Vec<_> = paths.iter().map(|path| (*path).to_owned()).collect();
        flapping.forget_before(now, calm());
        flapping.again(&child("c"), FIGHT, &paths, now)
    };
    writes.iter().map(write).collect()
}

#[test]
fn the_same_field_written_three_times_within_the_window_is_flapping() {
    const A: &[&str] = &[".data.a"];
    const B: &[&str] = &[".data.b"];
    const BOTH: &[&str] = &[".data.b", ".data.a"];
    for (writes, expected) in [
        (vec![(0, A), (1, A), (2, A), (3, A)], vec![0, 0, 1, 2]),
        (vec![(0, A), (59, A), (118, A)], vec![0, 0, 1]),
        // Too slow to count.
        (vec![(0, A), (60, A), (120, A)], vec![0, 0, 0]),
        // Fields are counted separately.
        (vec![(0, A), (1, B), (2, A), (3, B)], vec![0, 0, 0, 0]),
        (vec![(0, A), (1, BOTH), (2, A), (3, B)], vec![0, 0, 1, 0]),
        // The whole object.
        (vec![(0, &[][..]), (1, &[]), (2, &[])], vec![0, 0, 1]),
    ] {
        assert_eq!(counts(&writes), expected, "{writes:?}");
    }
}

#[test]
fn each_write_above_the_limit_is_delayed_longer() {
    const FINALIZER: (&Subject, FlappingReason) =
        (&Subject::Finalizers, FlappingReason::FightingOverFinalizer);
    let (start, mut flapping) = (Instant::now(), Flapping::default());
    let rests = |flapping: &Flapping, after| {
        let now = start + Duration::from_secs(after);
        flapping.rests(FINALIZER, now, |times| Duration::from_secs(times.into()))
    };
    for expected in [(None, None), (None, None), (Some(1), None), (Some(2), Some(2))] {
        flapping.again(FINALIZER.0, FINALIZER.1, &[], start);
        assert_eq!((rests(&flapping, 0), rests(&flapping, 1)), expected);
    }
    assert_eq!(rests(&flapping, 2), None);
}

#[test]
fn flapping_ends_a_window_after_the_last_write() {
    let (start, mut flapping) = (Instant::now(), Flapping::default());
    let at = |second| start + Duration::from_secs(second);
    for second in 0..3 {
        assert!(flapping.condition().is_none() && flapping.calms_in(start, calm()).is_none());
        flapping.again(&child("c"), FIGHT, &[".data.a".to_owned()], at(second));
    }
    assert_eq!(flapping.calms_in(at(12), calm()), Some(Duration::from_secs(50)));
    flapping.forget_before(at(61), calm());
    assert!(flapping.condition().is_some());
    flapping.forget_before(at(62), calm());
    assert!(flapping.condition().is_none() && flapping.0.is_empty());
}

#[test]
fn the_message_names_the_writer_and_the_fields_and_is_announced_once() {
    let (now, mut flapping) = (Instant::now(), Flapping::default());
    for (subject, why, path, rival) in [
        (child("a"), FIGHT, ".data.x", Some("hpa")),
        (child("b"), FIGHT, "", None),
        (child("c"), FlappingReason::UnstableHandler, ".data.y", None),
        (Subject::Status, FlappingReason::FightingOverStatus, ".status.z", None),
    ] {
        for time in 1..=LIMIT {
            assert_eq!(flapping.is_about_to_begin(&subject, why), time == LIMIT, "{why:?}");
            if time == LIMIT {
                flapping.blame(&subject, why, rival.map(str::to_owned));
            }
            flapping.again(&subject, why, &[path.to_owned()], now);
        }
    }
    let condition = flapping.condition().unwrap();
    assert_eq!((&*condition.ty, &*condition.reason), ("Flapping", "FightingOverFields"));
    let expected = "ConfigMap.v1 ns/a: `hpa` reverts .data.x repeatedly; \
        ConfigMap.v1 ns/b: another client deletes it repeatedly; \
        ConfigMap.v1 ns/c: the handler returns different values for the same request at .data.y; \
        the status: another client reverts .status.z repeatedly";
    assert_eq!(condition.message, expected);
    assert_eq!(flapping.news().len(), 4);
    flapping.announced();
    assert!(flapping.news().is_empty());
}

#[test]
fn a_single_repair_does_not_hide_flapping() {
    let (start, mut flapping) = (Instant::now(), Flapping::default());
    let at = |second| start + Duration::from_secs(second);
    for number in 0..MAX_SUBJECTS {
        flapping.again(&child(&number.to_string()), FIGHT, &[], start);
    }
    let fields: Vec<_> = (0..MAX_PATHS).map(|number| format!(".data.n{number}")).collect();
    flapping.again(&child("0"), FIGHT, &fields, at(1));
    assert_eq!(flapping.again(&child("new"), FIGHT, &[], at(9)), 0, "each may still begin to flap");
    let mut fight = |subject: &str, path: &str| {
        let paths = [path.to_owned()];
        let times =
            (20..23).map(|second| flapping.again(&child(subject), FIGHT, &paths, at(second)));
        times.collect::<Vec<_>>()
    };
    assert_eq!(fight("new", ""), [0, 0, 1]);
    assert_eq!(fight("0", ".data.new"), [0, 0, 1]);
    assert_eq!((flapping.0.len(), flapping.0[0].fields.len()), (MAX_SUBJECTS, MAX_PATHS));
}

#[test]
fn the_number_of_counters_is_limited() {
    let (now, mut flapping) = (Instant::now(), Flapping::default());
    for number in 0..1000 {
        flapping.again(&child(&number.to_string()), FIGHT, &[], now);
        flapping.again(&child("0"), FIGHT, &[format!(".data.n{number}")], now);
    }
    assert_eq!((flapping.0.len(), flapping.0[0].fields.len()), (MAX_SUBJECTS, MAX_PATHS));
}

#[test]
fn a_summary_names_some_subjects_and_the_first_reason() {
    let (now, mut flapping) = (Instant::now(), Flapping::default());
    assert_eq!(flapping.flapping_summary(), None);
    let mut write = |name: &str, why, path: &str| {
        for _ in 0..3 {
            flapping.again(&child(name), why, &[path.to_owned()], now);
        }
        flapping.flapping_summary().unwrap()
    };
    let first = write("a", FlappingReason::UnstableHandler, ".data.a");
    assert_eq!(first.why, FlappingReason::UnstableHandler);
    assert!(
        first.message.ends_with("different values for the same request at .data.a"),
        "{first:?}"
    );
    for name in ["b", "c", "d"] {
        write(name, FIGHT, ".data.x");
    }
    let all = write("e", FIGHT, ".data.x");
    assert!(all.why == FIGHT && all.message.ends_with("; and 2 more"), "{all:?}");
}
