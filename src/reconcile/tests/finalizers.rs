//! What puts our finalizer on a parent, what takes it off, and what must not.

use std::sync::OnceLock;

use super::*;

const OURS: &str = "operetta.dev/op";

fn of_parent(asked: &scripted::Asked) -> bool {
    asked.is_about("/apps/p") && !asked.is_about("/status")
}

/// An operator whose child type Kubernetes does not collect.
fn collecting() -> Setup {
    Setup::new(pods(), ChildConfig::apply().uncollectable())
}

fn list(items: &[Value]) -> Reply {
    (200, json!({"metadata": {"resourceVersion": "9"}, "items": items}))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_goes_only_when_it_is_known_that_nothing_is_left() {
    for (what, listed, released) in [
        ("nothing is left", list(&[]), true),
        ("with the type its objects are gone", (404, json!({})), true),
        ("the server does not say", (500, json!({})), false),
        ("what is left cannot be read", list(&[uncollectable_child(json!(7))]), false),
    ] {
        let world = collecting().ending(&[OURS]).before(move |asked| match asked.method.as_str() {
            "GET" if asked.is_about("/api/v1/pods?") => listed.clone(),
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => (200, parent("10")),
            _ => taken(),
        });
        let report = world.run(Memory::default()).await;
        assert_eq!(report.end == End::Finalized, released, "{what}: {report:?}");
        assert_eq!(world.asked("PATCH").iter().any(of_parent), released, "{what}");
    }
}

/// A child that goes would finalize it again until its event comes.
#[tokio::test(flavor = "multi_thread")]
async fn a_parent_that_waited_only_for_us_is_gone_with_our_finalizer() {
    for (others, is_gone) in [(&[][..], true), (&["example.com/other"], false)] {
        let mut reply = parent("10");
        reply["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        reply["metadata"]["finalizers"] = json!(others);
        let world = collecting().ending(&[OURS]).before(move |asked| match asked.method.as_str() {
            "GET" => list(&[]),
            "PATCH" => (200, reply.clone()),
            _ => taken(),
        });
        world.run(Memory::default()).await;
        assert_eq!(world.parent().is_none(), is_gone, "{others:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finalizer_is_taken_off_a_parent_that_has_changed_but_not_off_its_namesake() {
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
        let report = world.run(Memory::default()).await;
        assert_eq!(report.end, End::Finalized);
        let patches = world.asked("PATCH").into_iter().filter(of_parent);
        let finalizers: Vec<_> =
            patches.map(|asked| asked.body["metadata"]["finalizers"].clone()).collect();
        assert_eq!(finalizers, expected, "{uid}");
    }
}

/// Nobody would take the finalizer off, or what is created would be late.
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
        world.run(Memory::default()).await;
        let asked = world.asked("PATCH");
        let created = asked.iter().filter(|one| one.is_about("/pods/c")).count();
        let patched = asked.iter().filter(|one| of_parent(one)).count();
        assert_eq!((patched, created), (patches, creates), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_paused_while_a_parent_ends_stays_as_it_is() {
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
        let report = world.run(Memory::default()).await;
        assert!(report.end != End::Finalized, "{report:?}");
        assert!(world.asked("DELETE").is_empty() && !world.asked("PATCH").iter().any(of_parent));
    }
}

/// It is from a time when there was a `finalize`.
#[tokio::test(flavor = "multi_thread")]
async fn a_finalizer_that_nobody_needs_any_more_holds_no_parent() {
    let setup = Setup::new(pods(), ChildConfig::apply()).ending(&["example.com/other", OURS]);
    let world = setup.before(|asked| match asked.method.as_str() {
        "PATCH" => (200, parent("10")),
        _ => taken(),
    });
    let report = world.run(Memory::default()).await;
    assert_eq!(report.end, End::Finalized);
    let patch = &world.asked("PATCH")[0].body;
    assert_eq!(patch["metadata"]["finalizers"], json!(["example.com/other"]));
}
