//! Late handlers, the end of a process, and previews.

use std::sync::mpsc;

use super::*;
use crate::reply::EventKind;

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
            reconcile_in_a_row(
                &context,
                scripted::World::job(0, Memory::default()),
                tracing::Span::none()
            )
            .await
            .len(),
            reconciles
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_names_a_foreign_object_with_the_name_of_a_child() {
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => refusal(409, "Conflict"),
        _ => {
            let mut foreign = child("5", 1);
            foreign["metadata"]["ownerReferences"] = json!([]);
            (200, foreign)
        }
    };
    let world = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c")).before(script);
    let memory = world.reconcile(Memory::default()).await.memory;
    let job = scripted::World::job(0, memory.for_preview());
    let preview = preview(&world.context(), job, None).await.unwrap();
    let messages: Vec<_> = preview.foreign.values().collect();
    assert!(messages.len() == 1 && messages[0].contains("is not owned by this"), "{messages:?}");
}
