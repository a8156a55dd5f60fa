//! Children that are written together, and what ends the writing before all of them are through.

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

/// Sorted: which of those that are sent together comes first is chance.
fn writes(world: &scripted::World) -> Vec<String> {
    let asked = world.asked("PATCH");
    let asked = asked.iter().filter(|asked| asked.is_about("/pods/"));
    let mut names: Vec<String> = asked.map(name_of).collect();
    names.sort_unstable();
    names
}

/// What is meanwhile decided by others holds for the second look as for the first.
#[tokio::test(flavor = "multi_thread")]
async fn children_that_meet_a_conflict_are_not_written_again_once_the_operator_is_paused() {
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
    let report = world.run(Memory::default()).await;
    assert_eq!(writes(&world), ["a", "b"], "{report:?}");
    let held = report.paused.map(|pause| (pause.by, pause.held));
    assert_eq!(held, Some((PausedBy::Operator, Held::Writes(3))));
}

/// The pause may be over before it comes to the deletions.
#[tokio::test(flavor = "multi_thread")]
async fn what_replaces_a_child_is_not_there_if_its_write_was_held() {
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

/// The server's wish counts whatever it answers to those that were sent beside.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_asks_for_patience_is_not_forgotten_for_the_failure_beside_it() {
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
        let report = world.run(Memory::default()).await;
        let throttled: Vec<_> = report.memory.throttled().iter().map(|id| &*id.key.name).collect();
        assert_eq!(throttled, ["b"]);
        let why = report.failure().map(ToString::to_string).unwrap_or_default();
        assert!(why.contains("Pod.v1 ns/b") && why.contains("Pod.v1 ns/c"), "{why}");
    }
}

/// The garbage collector took it, and the watch of the parent is late.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_was_there_is_created_again_only_if_the_live_parent_is_as_planned_for() {
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
        let report = world.run(Memory::default()).await;
        assert_eq!(writes(&world).len(), expected, "{report:?}");
        assert_eq!(report.end == End::Outdated, expected == 1, "{report:?}");
    }
}

/// What is wanted of it by now is for another reconcile to say, if anything is.
#[tokio::test(flavor = "multi_thread")]
async fn once_the_parent_has_left_nothing_more_is_written() {
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
        let report = world.run(Memory::default()).await;
        assert_eq!(writes(&world), ["a"], "{what}: {report:?}");
        assert_eq!(report.end, End::Outdated, "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_children_are_written_together_than_requests_may_be_sent() {
    let setup = Setup::new(pods(), ChildConfig::apply()).one_by_one();
    let world = four(setup).before(|asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.is_about("/pods/b") => refusal(429, "TooManyRequests"),
        "PATCH" => (200, named(&name_of(asked), "9", 2)),
        _ => taken(),
    });
    let report = world.run(Memory::default()).await;
    assert_eq!(writes(&world), ["a", "b"], "nothing was sent beside them: {report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_the_children_that_are_not_wanted_too_no_more_go_once_the_server_asks_for_patience() {
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
    let report = world.run(Memory::default()).await;
    let asked: Vec<_> = world.asked("DELETE").iter().map(name_of).collect();
    assert_eq!(asked, ["a", "b"], "{report:?}");
    let after = std::time::Duration::from_secs(3);
    assert_eq!(report.finished(world.config()), Finished::Throttled { after });
    let said = report.failure().unwrap().to_string();
    assert!(said.ends_with("1 other write waits"), "{said}");
}

/// It is not looked at, and stands there as before.
#[tokio::test(flavor = "multi_thread")]
async fn what_stands_in_the_way_is_known_also_after_a_reconcile_that_was_halted_before_it() {
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
    let first = world.run(Memory::default()).await;
    let known = |report: &Reconciled| {
        let foreign = report.memory.foreign().keys().map(|id| id.key.name.to_string());
        foreign.collect::<Vec<_>>()
    };
    assert_eq!(known(&first), ["c"], "{first:?}");
    is_busy.store(true, Ordering::Release);
    let second = world.run(first.memory).await;
    assert_eq!(known(&second), ["c"], "{second:?}");
}
