//! Writes that a reconcile omits, because they would be wrong or without effect.

use std::sync::mpsc;

use super::*;
use crate::reply::EventKind;

/// The garbage collector may have deleted it, and the watch of the parent may be late.
#[tokio::test(flavor = "multi_thread")]
async fn a_missing_child_is_created_only_if_the_live_parent_is_unchanged() {
    let live = |field: &str, value: Value| {
        let mut live = parent("4");
        live["metadata"][field] = value;
        (200, live)
    };
    for (what, answer, creates) in [
        ("its status or labels changed", live("labels", json!({"a": "b"})), 1),
        ("it is being deleted", live("deletionTimestamp", json!("2026-01-01T00:00:00Z")), 0),
        ("it is paused", live("annotations", json!({"operetta.dev/paused": "true"})), 0),
        ("it has left the selection", live("labels", json!({"tier": "tin"})), 0),
        ("its spec changed", live("generation", json!(2)), 0),
        ("it is another one", live("uid", json!("other")), 0),
        ("it is gone", refusal(404, "NotFound"), 0),
        ("the server is unavailable", refusal(500, "InternalError"), 0),
    ] {
        let script = move |asked: &scripted::Asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => (201, child("9", 2)),
            "GET" if asked.is_about("/apps/p") => answer.clone(),
            _ => taken(),
        };
        let setup = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c"));
        let world = setup.configured(|it| it.with_parent_selector("tier!=tin")).before(script);
        let mut memory = Memory::default();
        memory.learn_now(&Fact::WritesHeld(1));
        world.reconcile(memory).await;
        assert_eq!(
            world.asked("PATCH").iter().filter(|one| of_child(one)).count(),
            creates,
            "{what}"
        );
    }
}

/// Only a parent that never had a child needs no live read.
#[tokio::test(flavor = "multi_thread")]
async fn the_parent_is_read_before_a_child_is_created_if_it_ever_had_one() {
    let mut after_a_restart = parent("3");
    after_a_restart["status"] = json!({});
    for (what, parent_then, cached, expected) in [
        ("it is new", parent("3"), None, 0),
        ("an earlier process may have created it", after_a_restart, None, 1),
        ("it existed in an earlier reconcile", parent("3"), Some(child("5", 2)), 1),
    ] {
        let live = parent_then.clone();
        let script = move |asked: &scripted::Asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => (201, child("9", 2)),
            "GET" if asked.is_about("/apps/p") => (200, live.clone()),
            _ => taken(),
        };
        let setup = Setup::new(pods(), ChildConfig::apply()).of(parent_then).desiring(desired("c"));
        let world = cached.into_iter().fold(setup, Setup::caching).before(script);
        let reads = || world.asked("GET").iter().filter(|it| it.is_about("/apps/p")).count();
        let mut memory = Memory::default();
        if world.is_cached("c") {
            memory = world.reconcile(memory).await.memory;
            assert_eq!(reads(), 0, "{what}");
            world.went("c");
        }
        world.reconcile(memory).await;
        assert_eq!(reads(), expected, "{what}");
    }
}

/// Its watch event is older than the read, and will be ignored.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_read_after_a_conflict_is_cached_and_published() {
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => refusal(409, "Conflict"),
        "GET" if of_child(asked) => {
            let mut ending = child("8", 2);
            ending["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            (200, ending)
        }
        _ => taken(),
    };
    let world = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c")).before(script);
    world.reconcile(Memory::default()).await;
    assert!(world.is_cached("c") && world.notified_the_parent_too());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_object_is_not_written_again_before_it_changes() {
    let version = Arc::new(AtomicUsize::new(5));
    let now = version.clone();
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => refusal(409, "Conflict"),
        "GET" if of_child(asked) => {
            let mut foreign = child(&now.load(Ordering::Acquire).to_string(), 1);
            foreign["metadata"]["ownerReferences"] = json!([]);
            (200, foreign)
        }
        "GET" => (200, parent("3")),
        _ => taken(),
    };
    let world = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c")).before(script);
    let tries = || world.asked("PATCH").iter().filter(|one| of_child(one)).count();
    let first = world.reconcile(Memory::default()).await;
    assert_eq!((first.failure().map(Failure::reason), tries()), (Some("Conflict"), 1));
    let second = world.reconcile(first.memory).await;
    assert_eq!((second.failure().map(Failure::reason), tries()), (Some("Conflict"), 1));
    let job = scripted::World::job(0, second.memory.for_preview());
    let preview = preview(&world.context(), job).await.unwrap();
    let messages: Vec<_> = preview.foreign.values().collect();
    assert!(messages.len() == 1 && messages[0].contains("is not owned by this"), "{messages:?}");
    version.store(6, Ordering::Release);
    world.reconcile(second.memory).await;
    assert_eq!(tries(), 2, "its owner may have changed");
}

/// As with an admission policy that reverts every write.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_changed_nothing_is_not_sent_again() {
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => (200, child("5", 1)),
        _ => taken(),
    };
    let world = Setup::new(pods(), ChildConfig::apply())
        .caching(child("5", 1))
        .desiring(desired("c"))
        .before(script);
    let first = world.reconcile(Memory::default()).await;
    assert_eq!((first.writes.len(), first.noop_writes.len()), (0, 1));
    let second = world.reconcile(first.memory).await;
    assert_eq!((second.unchanged, second.noop_writes.len()), (1, 0));
    assert_eq!(world.asked("PATCH").iter().filter(|one| of_child(one)).count(), 1);
}

/// Its permit and its parent stay occupied until then: reconciles of one parent never overlap.
#[tokio::test(flavor = "multi_thread")]
async fn a_reconcile_does_not_end_before_its_handler_returns() {
    let (release, released) = mpsc::channel();
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        _ => taken(),
    };
    let setup = Setup::new(pods(), ChildConfig::apply()).answering_after(released);
    let world = Arc::new(setup.before(script));
    let asked = world.clone();
    let running = tokio::spawn(async move { world.reconcile(Memory::default()).await });
    asked.until_asked("PATCH", "/status").await;
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert!(!running.is_finished(), "only the timeout is reported");
    assert_eq!(asked.shown(), ["HandlerTimeout"], "at once");
    release.send(()).unwrap();
    let report = running.await.unwrap();
    assert_eq!(report.failure().map(Failure::reason), Some("HandlerTimeout"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_response_after_a_timeout_is_dropped() {
    let (release, released) = mpsc::channel();
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => {
            // The timeout is reported while the handler still runs. Nobody receives the second signal.
            let _ = release.send(());
            with_status(&asked.body)
        }
        "PATCH" => (201, child("9", 2)),
        _ => taken(),
    };
    let world = Setup::new(pods(), ChildConfig::apply())
        .desiring(desired("c"))
        .answering_after(released)
        .before(script);
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(report.failure().map(Failure::reason), Some("HandlerTimeout"));
    assert!(!world.asked("PATCH").iter().any(of_child), "{report:?}");
}

/// At once, and not again at the end of the reconcile.
#[tokio::test(flavor = "multi_thread")]
async fn a_handler_timeout_is_one_event() {
    let (release, released) = mpsc::channel();
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => {
            let _ = release.send(());
            with_status(&asked.body)
        }
        _ => taken(),
    };
    let setup = Setup::new(pods(), ChildConfig::apply()).answering_after(released);
    let world = setup.before(script);
    world.reconcile(Memory::default()).await;
    // Events are sent one by one.
    let last = (EventKind::Warning, "Last", String::new());
    world.context().announce_once(&world.parent().unwrap(), last);
    let reasons = || world.asked("POST").into_iter().map(|asked| asked.body["reason"].clone());
    world.until(|| reasons().any(|reason| reason == "Last")).await;
    assert_eq!(reasons().collect::<Vec<_>>(), ["HandlerTimeout", "Last"]);
    assert!(!world.asked("PATCH").iter().any(|asked| asked.is_about("/events")), "counted up");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconcile_that_wrote_leaves_the_status_to_the_next_up_to_a_limit() {
    for (after_writes, writes_status) in [(0, false), (1, false), (2, true)] {
        let script = |asked: &scripted::Asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => (201, child("9", 2)),
            _ => taken(),
        };
        let world = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c")).before(script);
        let report = world.reconcile_after(after_writes, Memory::default()).await;
        assert_eq!((report.writes.len(), report.wrote_status), (1, writes_status));
    }
}

/// It would begin during the shutdown.
#[tokio::test(flavor = "multi_thread")]
async fn a_reconcile_that_wrote_is_not_repeated_after_the_gate_closed() {
    for (is_closed, reconciles) in [(false, 2), (true, 1)] {
        let script = |asked: &scripted::Asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => (201, child("9", 2)),
            _ => taken(),
        };
        let world = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c")).before(script);
        let context = world.context();
        if is_closed {
            context.gate().close();
        }
        assert_eq!(
            reconcile_in_a_row(&context, scripted::World::job(0, Memory::default())).await.len(),
            reconciles
        );
    }
}

/// The watch with the selector reported it as deleted: the drift is that of the labels.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_lost_its_labels_counts_as_drifted_and_not_as_deleted() {
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.body["metadata"]["uid"].is_null() => refusal(409, "Conflict"),
        "PATCH" => (200, child("9", 2)),
        "GET" if of_child(asked) => {
            let mut unlabelled = child("8", 2);
            unlabelled["metadata"]["labels"] = json!({});
            (200, unlabelled)
        }
        "GET" => (200, parent("9")),
        _ => taken(),
    };
    let world = Setup::new(pods(), ChildConfig::apply())
        .caching(child("5", 2))
        .desiring(desired("c"))
        .before(script);
    let first = world.reconcile(Memory::default()).await;
    world.went("c");
    let second = world.reconcile(first.memory).await;
    assert_eq!(second.writes.len(), 1, "{second:?}");
    let metrics = world.context().metrics().render();
    let drift = metrics.lines().find(|line| line.starts_with("operetta_drift_repaired_total{"));
    assert!(drift.is_some_and(|line| line.ends_with(" 2")), "{drift:?}: both labels");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undecodable_parent_is_not_confused_with_another_of_its_name() {
    for (uid, end) in [("pu", End::Alive), ("other", End::Gone)] {
        let script = move |asked: &scripted::Asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => (201, child("9", 2)),
            _ => {
                let mut live = parent("8");
                live["metadata"]["uid"] = json!(uid);
                (200, live)
            }
        };
        let setup = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c"));
        let world = setup.with_unreadable_parent().before(script);
        let report = world.reconcile(Memory::default()).await;
        assert_eq!((report.end, report.writes.is_empty()), (end, end == End::Gone), "{uid}");
    }
}

/// The watch continues during the handler call.
#[tokio::test(flavor = "multi_thread")]
async fn changes_of_the_parent_during_the_handler_call_count() {
    let changed = |field: &str, value: Value| {
        let mut changed = parent("4");
        changed["metadata"][field] = value;
        changed
    };
    for (what, meanwhile, writes) in [
        ("its labels changed", changed("labels", json!({"a": "b"})), 1),
        ("it is being deleted", changed("deletionTimestamp", json!("2026-01-01T00:00:00Z")), 0),
        ("it is another one", changed("uid", json!("other")), 0),
    ] {
        let world = Setup::new(pods(), ChildConfig::apply())
            .desiring(desired("c"))
            .meanwhile(meanwhile)
            .before(|asked| match asked.method.as_str() {
                "PATCH" if asked.is_about("/status") => with_status(&asked.body),
                "PATCH" => (201, child("9", 2)),
                _ => taken(),
            });
        let report = world.reconcile(Memory::default()).await;
        let expected = if writes == 0 { End::Outdated } else { End::Alive };
        assert_eq!((report.writes.len(), report.end), (writes, expected), "{what}");
    }
}
