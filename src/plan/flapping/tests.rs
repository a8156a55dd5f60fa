//! When something is written too often, and what is said of it.

use super::*;
use crate::{
    object::{K8sType, ObjectKey},
    diff::path::MAX_PATHS,
    plan::ChildId,
    schedule::Backoff,
};

/// What is not too often counts for a minute, and what is for as long.
fn calm() -> Calm {
    let half = Duration::from_secs(30);
    Calm::new(Backoff { min: half, max: half })
}

const FIGHT: FlappingReason = FlappingReason::FightingOverFields;

fn child(name: &str) -> Subject {
    let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
    Subject::Child(ChildId { ty, key: ObjectKey::namespaced("ns", name) })
}

/// How often it was too often, after each write: seconds after the start, and paths.
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
fn the_same_field_three_times_within_the_window_is_too_often() {
    const A: &[&str] = &[".data.a"];
    const B: &[&str] = &[".data.b"];
    const BOTH: &[&str] = &[".data.b", ".data.a"];
    for (writes, expected) in [
        (vec![(0, A), (1, A), (2, A), (3, A)], vec![0, 0, 1, 2]),
        (vec![(0, A), (59, A), (118, A)], vec![0, 0, 1]),
        // As slow as nothing is to worry about.
        (vec![(0, A), (60, A), (120, A)], vec![0, 0, 0]),
        // Other fields are another matter.
        (vec![(0, A), (1, B), (2, A), (3, B)], vec![0, 0, 0, 0]),
        (vec![(0, A), (1, BOTH), (2, A), (3, B)], vec![0, 0, 1, 0]),
        // All of it.
        (vec![(0, &[][..]), (1, &[]), (2, &[])], vec![0, 0, 1]),
    ] {
        assert_eq!(counts(&writes), expected, "{writes:?}");
    }
}

#[test]
fn what_is_too_often_rests_longer_each_time() {
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
fn it_ends_a_window_after_the_last_time() {
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
fn it_is_said_who_does_what_to_which_fields_and_once() {
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
    let expected = "ConfigMap.v1 ns/a: `hpa` changes .data.x back again and again; \
        ConfigMap.v1 ns/b: somebody deletes it again and again; \
        ConfigMap.v1 ns/c: the handler answers differently to the same request at .data.y; \
        the status: somebody changes .status.z back again and again";
    assert_eq!(condition.message, expected);
    assert_eq!(flapping.news().len(), 4);
    flapping.announced();
    assert!(flapping.news().is_empty());
}

#[test]
fn what_was_repaired_once_hides_no_fight() {
    let (start, mut flapping) = (Instant::now(), Flapping::default());
    let at = |second| start + Duration::from_secs(second);
    for number in 0..MAX_SUBJECTS {
        flapping.again(&child(&number.to_string()), FIGHT, &[], start);
    }
    let fields: Vec<_> = (0..MAX_PATHS).map(|number| format!(".data.n{number}")).collect();
    flapping.again(&child("0"), FIGHT, &fields, at(1));
    assert_eq!(flapping.again(&child("new"), FIGHT, &[], at(9)), 0, "all may be fights yet");
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
fn a_thousand_children_and_fields_do_not_fill_the_memory() {
    let (now, mut flapping) = (Instant::now(), Flapping::default());
    for number in 0..1000 {
        flapping.again(&child(&number.to_string()), FIGHT, &[], now);
        flapping.again(&child("0"), FIGHT, &[format!(".data.n{number}")], now);
    }
    assert_eq!((flapping.0.len(), flapping.0[0].fields.len()), (MAX_SUBJECTS, MAX_PATHS));
}

#[test]
fn who_looks_is_told_some_of_very_much_and_the_worst_reason() {
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
    assert!(first.message.ends_with("differently to the same request at .data.a"), "{first:?}");
    for name in ["b", "c", "d"] {
        write(name, FIGHT, ".data.x");
    }
    let all = write("e", FIGHT, ".data.x");
    assert!(all.why == FIGHT && all.message.ends_with("; and 2 more"), "{all:?}");
}
