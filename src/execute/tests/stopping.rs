//! Concurrent writes of children, and what stops them early.

use std::sync::OnceLock;

use super::*;
use crate::{
    operator::OperatorConfig,
    plan::{Deletion, Step, Write},
};

/// A child of the parent with a name of its own.
fn named(name: &str, version: &str, x: u64) -> Value {
    let mut named = child(version, x);
    named["metadata"]["name"] = json!(name);
    named["metadata"]["uid"] = json!(format!("{name}-uid"));
    named
}

fn four(setup: Setup) -> Setup {
    let setup =
        ["a", "b", "c", "d"].iter().fold(setup, |setup, name| setup.caching(named(name, "5", 1)));
    setup.desiring(desired("a")).and(desired("b")).and(desired("c")).and(desired("d"))
}

fn name_of(asked: &scripted::Asked) -> String {
    let path = asked.path.split('?').next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Sorted: the order of concurrent writes is random.
fn writes(world: &scripted::World) -> Vec<String> {
    let asked = world.asked("PATCH");
    let asked = asked.iter().filter(|asked| asked.is_about("/pods/"));
    let mut names: Vec<String> = asked.map(name_of).collect();
    names.sort_unstable();
    names
}

/// A pause counts before a retry as before the first write.
#[tokio::test(flavor = "multi_thread")]
async fn children_with_a_conflict_are_not_written_again_after_the_operator_was_paused() {
    let context = Arc::new(OnceLock::<Arc<Context>>::new());
    let operator = context.clone();
    let world =
        four(Setup::new(pods(), ChildConfig::apply()).one_by_one()).before(
            move |asked| match asked.method.as_str() {
                "PATCH" if asked.is_about("/status") => with_status(&asked.body),
                "PATCH" if asked.is_about("/pods/a") => (200, named("a", "9", 2)),
                "PATCH" => refusal(409, "Conflict"),
                "GET" if asked.is_about("/pods/") => {
                    operator.get().unwrap().pause();
                    (200, named(&name_of(asked), "8", 1))
                }
                _ => taken(),
            },
        );
    let _ = context.set(world.context());
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(writes(&world), ["a", "b"], "{report:?}");
    let held = report.paused.map(|pause| (pause.by, pause.held));
    assert_eq!(held, Some((PausedBy::Operator, Held::Writes(3))));
}

/// The pause may end before the deletions.
#[tokio::test(flavor = "multi_thread")]
async fn a_held_write_makes_the_children_incomplete() {
    let write = || Write {
        id: ChildId { ty: pods(), key: ObjectKey::namespaced("ns", "c") },
        body: desired("c"),
        desired_hash: 0,
        paths: Vec::new(),
    };
    let object = Object::from_value(&pods(), &child("5", 1), &<_>::default()).unwrap();
    let undesired = || Step::Delete(Deletion::undesired(&object));
    for (step, is_incomplete) in
        [(Step::Create(write()), true), (Step::Update(write()), true), (undesired(), false)]
    {
        let mut journal = Journal::default();
        let stop = StopReason::Paused(PausedBy::Operator);
        stop.hold_after(&step, 0, true).into_iter().for_each(|fact| journal.append(fact));
        assert_eq!(journal.progress().is_incomplete(), is_incomplete, "{step:?}");
    }
}

/// Throttling counts whatever the concurrent requests are answered.
#[tokio::test(flavor = "multi_thread")]
async fn throttling_is_remembered_beside_another_failure() {
    for details in [json!({"retryAfterSeconds": 30}), json!({})] {
        let mut busy = refusal(429, "TooManyRequests");
        busy.1["details"] = details;
        let world = four(Setup::new(pods(), ChildConfig::apply())).before(move |asked| match asked
            .method
            .as_str()
        {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if asked.is_about("/pods/a") => (200, named("a", "9", 2)),
            "PATCH" if asked.is_about("/pods/b") => busy.clone(),
            _ => refusal(422, "Invalid"),
        });
        let report = world.reconcile(Memory::default()).await;
        let throttled: Vec<_> = report.memory.throttled().iter().map(|id| &*id.key.name).collect();
        assert_eq!(throttled, ["b"]);
        let why = report.failure().map(ToString::to_string).unwrap_or_default();
        assert!(why.contains("Pod.v1 ns/b") && why.contains("Pod.v1 ns/c"), "{why}");
    }
}

/// The garbage collector deleted it, and the watch of the parent is late.
#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_child_is_created_again_only_if_the_live_parent_is_unchanged() {
    let mut ending = parent("4");
    ending["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    for (live, expected) in [(parent("4"), 2), (ending, 1)] {
        let setup = Setup::new(pods(), ChildConfig::apply()).caching(child("5", 1));
        let world = setup.desiring(desired("c")).before(move |asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if asked.body["metadata"].get("uid").is_some() => refusal(409, "Conflict"),
            "PATCH" => (201, child("9", 2)),
            "GET" if asked.is_about("/apps/p") => (200, live.clone()),
            "GET" => refusal(404, "NotFound"),
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        assert_eq!(writes(&world).len(), expected, "{report:?}");
        assert_eq!(report.end == End::Outdated, expected == 1, "{report:?}");
    }
}

/// Another reconcile decides what it wants now.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_after_the_parent_has_left() {
    let living = |tier: &str| {
        let mut living = parent("3");
        living["metadata"]["labels"] = json!({"tier": tier});
        living["metadata"]["finalizers"] = json!(["operetta.dev/op"]);
        living
    };
    let (mut ending, mut unselected) = (living("gold"), living("tin"));
    ending["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    for left in [&mut ending, &mut unselected] {
        left["metadata"]["resourceVersion"] = json!("4");
    }
    for (what, left) in
        [("ends", Some(ending)), ("is out of the selection", Some(unselected)), ("is gone", None)]
    {
        let operator = Arc::new(OnceLock::<Arc<Context>>::new());
        let context = operator.clone();
        let selected = |config: OperatorConfig| config.with_parent_selector("tier=gold");
        let setup = Setup::new(pods(), ChildConfig::apply().delete_with_finalizer());
        let setup = setup.one_by_one().of(living("gold"));
        let world = four(setup.configured(selected)).before(move |asked| {
            let context = context.get().unwrap();
            match (asked.method.as_str(), &left) {
                ("PATCH", Some(left)) => {
                    let left = Object::from_value(&app(), left, &<_>::default()).unwrap();
                    context.cache(None, Cache::Saw(left));
                }
                ("PATCH", None) => {
                    let (key, uid) = (ObjectKey::namespaced("ns", "p"), Uid::new("pu"));
                    context.cache(None, Cache::Absent(ChildId { ty: app(), key }, uid));
                }
                _ => {}
            }
            (200, named(&name_of(asked), "9", 2))
        });
        let _ = operator.set(world.context());
        let report = world.reconcile(Memory::default()).await;
        assert_eq!(writes(&world), ["a"], "{what}: {report:?}");
        assert_eq!(report.end, End::Outdated, "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writes_are_bounded_by_the_request_permits() {
    let setup = Setup::new(pods(), ChildConfig::apply()).one_by_one();
    let world = four(setup).before(|asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.is_about("/pods/b") => refusal(429, "TooManyRequests"),
        "PATCH" => (200, named(&name_of(asked), "9", 2)),
        _ => taken(),
    });
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(writes(&world), ["a", "b"], "nothing was sent beside them: {report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn throttling_stops_deletions_too() {
    let world =
        ["a", "b", "c"].iter().fold(Setup::new(pods(), ChildConfig::apply()), |setup, name| {
            setup.caching(named(name, "5", 1))
        });
    let world = world.before(|asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "DELETE" if asked.is_about("/pods/a") => done(),
        "DELETE" => {
            let mut busy = refusal(429, "TooManyRequests");
            busy.1["details"] = json!({"retryAfterSeconds": 3});
            busy
        }
        _ => taken(),
    });
    let report = world.reconcile(Memory::default()).await;
    let asked: Vec<_> = world.asked("DELETE").iter().map(name_of).collect();
    assert_eq!(asked, ["a", "b"], "{report:?}");
    let after = std::time::Duration::from_secs(3);
    assert_eq!(report.finished(world.config()), Finished::Throttled { after });
    let failure = report.failure().unwrap().to_string();
    assert!(failure.ends_with("1 other write waits"), "{failure}");
}

/// It was not read, and still exists.
#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_object_stays_known_after_a_reconcile_that_stopped_before_it() {
    let mut theirs = child("8", 1);
    theirs["metadata"]["ownerReferences"] = json!([]);
    let mut busy = refusal(429, "TooManyRequests");
    busy.1["details"] = json!({"retryAfterSeconds": 3});
    let is_busy = Arc::new(AtomicBool::new(false));
    let now = is_busy.clone();
    let setup = Setup::new(pods(), ChildConfig::apply()).desiring(desired("a")).and(desired("c"));
    let world = setup.before(move |asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.is_about("/pods/a") && now.load(Ordering::Acquire) => busy.clone(),
        "PATCH" => refusal(409, "Conflict"),
        "GET" if asked.is_about("/apps/p") => (200, parent("3")),
        "GET" if asked.is_about("/pods/c") => (200, theirs.clone()),
        "GET" => (404, json!({"kind": "Status", "code": 404, "details": {"name": "a"}})),
        _ => taken(),
    });
    let first = world.reconcile(Memory::default()).await;
    let known = |report: &Reconciled| {
        let foreign = report.memory.foreign().keys().map(|id| id.key.name.to_string());
        foreign.collect::<Vec<_>>()
    };
    assert_eq!(known(&first), ["c"], "{first:?}");
    is_busy.store(true, Ordering::Release);
    let second = world.reconcile(first.memory).await;
    assert_eq!(known(&second), ["c"], "{second:?}");
}
