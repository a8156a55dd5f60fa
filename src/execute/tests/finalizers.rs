//! When our finalizer is added to a parent and removed.

use std::sync::OnceLock;

use super::*;

const OURS: &str = "operetta.dev/op";

fn of_parent(asked: &scripted::Asked) -> bool {
    asked.is_about("/apps/p") && !asked.is_about("/status")
}

/// An operator whose child type Kubernetes does not collect.
fn collecting() -> Setup {
    Setup::new(pods(), ChildConfig::apply().delete_with_finalizer())
}

fn list(items: &[Value]) -> Reply {
    (200, json!({"metadata": {"resourceVersion": "9"}, "items": items}))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_is_released_only_when_no_child_is_left() {
    for (what, listed, released) in [
        ("nothing is left", list(&[]), true),
        ("with the type its objects are gone", (404, json!({})), true),
        ("the server is unavailable", (500, json!({})), false),
        ("what is left cannot be read", list(&[uncollectable_child(json!(7))]), false),
    ] {
        let world = collecting().ending(&[OURS]).before(move |asked| match asked.method.as_str() {
            "GET" if asked.is_about("/api/v1/pods?") => listed.clone(),
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => (200, parent("10")),
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        assert_eq!(report.end == End::Finalized, released, "{what}: {report:?}");
        assert_eq!(world.asked("PATCH").iter().any(of_parent), released, "{what}");
    }
}

/// The deletion of a child would finalize it again until its watch event.
#[tokio::test(flavor = "multi_thread")]
async fn a_parent_without_other_finalizers_is_gone_with_ours() {
    for (others, is_gone) in [(&[][..], true), (&["example.com/other"], false)] {
        let mut reply = parent("10");
        reply["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        reply["metadata"]["finalizers"] = json!(others);
        let world = collecting().ending(&[OURS]).before(move |asked| match asked.method.as_str() {
            "GET" => list(&[]),
            "PATCH" => (200, reply.clone()),
            _ => taken(),
        });
        world.reconcile(Memory::default()).await;
        assert_eq!(world.parent().is_none(), is_gone, "{others:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finalizer_is_removed_from_a_changed_parent_but_not_from_another_of_its_name() {
    for (uid, expected) in [("pu", vec![json!([]), json!(["new"])]), ("other", vec![json!([])])] {
        let script = move |asked: &scripted::Asked| match asked.method.as_str() {
            "GET" if asked.is_about("/api/v1/pods?") => list(&[]),
            "PATCH" if asked.body["metadata"]["resourceVersion"] == "3" => refusal(409, "Conflict"),
            "PATCH" => (200, parent("10")),
            "GET" => {
                let mut live = parent("4");
                live["metadata"]["uid"] = json!(uid);
                live["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
                live["metadata"]["finalizers"] = json!(["new", OURS]);
                (200, live)
            }
            _ => taken(),
        };
        let world = collecting().ending(&[OURS]).before(script);
        let report = world.reconcile(Memory::default()).await;
        assert_eq!(report.end, End::Finalized);
        let patches = world.asked("PATCH").into_iter().filter(of_parent);
        let finalizers: Vec<_> =
            patches.map(|asked| asked.body["metadata"]["finalizers"].clone()).collect();
        assert_eq!(finalizers, expected, "{uid}");
    }
}

/// As after a restored backup.
#[tokio::test(flavor = "multi_thread")]
async fn an_outdated_parent_is_read_before_it_is_finalized() {
    let alive = || {
        let mut alive = parent("2");
        alive["metadata"]["finalizers"] = json!([OURS]);
        alive
    };
    let mut leaving = alive();
    leaving["metadata"]["resourceVersion"] = json!("3");
    leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let mut again = alive();
    again["metadata"]["resourceVersion"] = json!("3");
    let mut namesake = alive();
    namesake["metadata"]["uid"] = json!("other");
    for (what, live, end, is_failed) in [
        ("it is still terminating", (200, leaving), End::Finalized, false),
        ("it is alive", (200, alive()), End::Outdated, false),
        ("its version was reused", (200, again), End::Outdated, false),
        ("it was replaced", (200, namesake), End::Outdated, false),
        ("it is gone", refusal(404, "NotFound"), End::Outdated, false),
        ("the server is unavailable", refusal(503, "ServiceUnavailable"), End::Alive, true),
    ] {
        let script = move |asked: &scripted::Asked| match asked.method.as_str() {
            "GET" if asked.is_about("/api/v1/pods?") => list(&[uncollectable_child(json!("c"))]),
            "GET" if of_parent(asked) => live.clone(),
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => (200, parent("10")),
            "DELETE" => done(),
            _ => taken(),
        };
        let world = collecting().ending(&[OURS]).cut_off().before(script);
        let report = world.reconcile(Memory::default()).await;
        assert_eq!(
            (report.end, report.failure().is_some()),
            (end, is_failed),
            "{what}: {report:?}"
        );
        let is_ended = end == End::Finalized;
        assert_eq!(world.asked("DELETE").len(), usize::from(is_ended), "{what}");
        assert_eq!(world.asked("PATCH").iter().any(of_parent), is_ended, "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_that_stops_leaving_while_it_is_finalized_keeps_our_finalizer() {
    let world = collecting().ending(&[OURS]).before(|asked| match asked.method.as_str() {
        "GET" if asked.is_about("/api/v1/pods?") => list(&[]),
        "PATCH" => refusal(409, "Conflict"),
        _ => {
            let mut alive = parent("4");
            alive["metadata"]["finalizers"] = json!([OURS]);
            (200, alive)
        }
    });
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(report.end, End::Outdated, "{report:?}");
    assert_eq!(world.asked("PATCH").iter().filter(|asked| of_parent(asked)).count(), 1);
}

/// Nobody would remove the finalizer or the child.
#[tokio::test(flavor = "multi_thread")]
async fn a_parent_that_has_left_meanwhile_gets_neither_finalizer_nor_child() {
    type Change = fn(&mut Value);
    let table: [(&str, Change, usize, usize); 4] = [
        ("it stays", |_| {}, 2, 1),
        (
            "it is paused",
            |live| live["metadata"]["annotations"] = json!({"operetta.dev/paused": "true"}),
            1,
            0,
        ),
        (
            "it is being deleted",
            |live| {
                live["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            },
            1,
            0,
        ),
        ("it is not selected", |live| live["metadata"]["labels"] = json!({"tier": "tin"}), 1, 0),
    ];
    for (what, change, patches, creates) in table {
        let labelled = |version: &str| {
            let mut parent = parent(version);
            parent["metadata"]["labels"] = json!({"tier": "gold"});
            parent
        };
        let mut live = labelled("4");
        change(&mut live);
        let script = move |asked: &scripted::Asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if asked.is_about("/pods/c") => (201, child("9", 2)),
            "PATCH" if asked.body["metadata"]["resourceVersion"] == "3" => refusal(409, "Conflict"),
            "PATCH" => {
                let mut held = labelled("5");
                held["metadata"]["finalizers"] = json!([OURS]);
                (200, held)
            }
            _ => (200, live.clone()),
        };
        let setup = collecting().of(labelled("3")).desiring(desired("c"));
        let setup = setup.configured(|config| config.with_parent_selector("tier=gold"));
        let world = setup.before(script);
        world.reconcile(Memory::default()).await;
        let asked = world.asked("PATCH");
        let created = asked.iter().filter(|one| one.is_about("/pods/c")).count();
        let patched = asked.iter().filter(|one| of_parent(one)).count();
        assert_eq!((patched, created), (patches, creates), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_during_finalization_stops_deletions_and_the_release() {
    for items in [vec![], vec![uncollectable_child(json!("c"))]] {
        let paused = Arc::new(OnceLock::<Arc<Context>>::new());
        let (operator, listed) = (paused.clone(), list(&items));
        let world = collecting().ending(&[OURS]).before(move |asked| match asked.method.as_str() {
            "GET" if asked.is_about("/api/v1/pods?") => {
                operator.get().unwrap().pause();
                listed.clone()
            }
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "DELETE" => done(),
            _ => taken(),
        });
        let _ = paused.set(world.context());
        let report = world.reconcile(Memory::default()).await;
        assert!(report.end != End::Finalized, "{report:?}");
        assert!(world.asked("DELETE").is_empty() && !world.asked("PATCH").iter().any(of_parent));
    }
}

/// An earlier version of the operator had a `finalize`.
#[tokio::test(flavor = "multi_thread")]
async fn a_finalizer_that_is_no_longer_needed_is_removed() {
    let setup = Setup::new(pods(), ChildConfig::apply()).ending(&["example.com/other", OURS]);
    let world = setup.before(|asked| match asked.method.as_str() {
        "PATCH" => (200, parent("10")),
        _ => taken(),
    });
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(report.end, End::Finalized);
    let patch = &world.asked("PATCH")[0].body;
    assert_eq!(patch["metadata"]["finalizers"], json!(["example.com/other"]));
}
