//! Reconciles against a scripted API server.

mod caches;
mod calls;
mod event_reading;
mod handler;
mod metrics;
mod objects;
mod pause;
mod request;
mod scripted;
mod secrets;
mod setup;
mod shared_status;
mod status;
mod stopping;

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use objects::{
    Reply, app, child, desired, openapi, parent, refusal, uncollectable_child, with_status,
};
use serde_json::{Value, json};
use setup::Setup;

use super::{drive::reconcile, *};
use crate::{
    journal::{End, Failure, Journal, PausedBy},
    object::{K8sType, Object, ObjectKey, Uid, Undecodable},
    operator::{ChildConfig, ConflictPolicy, Handler, Propagation, SyncRequest, SyncResponse},
    plan::ChildId,
    run::{Cache, Job, Memory, Snapshot, StopReason},
    schedule::Finished,
};

fn of_child(asked: &scripted::Asked) -> bool {
    asked.is_about("/pods/c")
}

fn pods() -> K8sType {
    K8sType::namespaced("v1", "Pod", "pods")
}

fn secrets() -> K8sType {
    K8sType::namespaced("v1", "Secret", "secrets")
}

fn done() -> Reply {
    (200, json!({"kind": "Status", "status": "Success"}))
}

fn taken() -> Reply {
    (201, json!({}))
}

/// A handler may give up after a number of its own failures; those of the server do not count.
#[tokio::test(flavor = "multi_thread")]
async fn a_handler_gets_the_number_of_its_failures_for_this_generation() {
    type Seen = Arc<std::sync::Mutex<Vec<u32>>>;
    let world = |setup: Setup, seen: &Seen| {
        let seen = seen.clone();
        let setup = setup.asking(move |request| seen.lock().unwrap().push(request.failures));
        setup.before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            _ => refusal(403, "Forbidden"),
        })
    };
    let setup = || Setup::new(pods(), ChildConfig::apply());
    let (failing, refused) = (Seen::default(), Seen::default());
    let handler = world(setup().failing_for_good(), &failing);
    let mut memory = Memory::default();
    for generation in [1, 1, 1, 2, 2] {
        let mut now = parent("3");
        now["metadata"]["generation"] = json!(generation);
        now["metadata"]["resourceVersion"] = json!((generation + 10).to_string());
        handler.changed_parent(&now);
        memory = handler.reconcile(memory).await.memory;
    }
    assert_eq!(*failing.lock().unwrap(), [0, 1, 2, 0, 1]);
    let handler = world(setup().desiring(desired("c")), &refused);
    for _ in 0..2 {
        let report = handler.reconcile(memory).await;
        assert!(report.failure().is_some(), "{report:?}");
        memory = report.memory;
    }
    assert_eq!(*refused.lock().unwrap(), [0, 0], "another spec, and then no failure of its own");
}

/// As with a CRD that requires fields which only a successful reconcile sets.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_status_of_a_failed_reconcile_is_announced() {
    let world = Setup::new(pods(), ChildConfig::apply()).failing_for_good().before(|asked| {
        match asked.method.as_str() {
            "PATCH" => refusal(422, "Invalid"),
            _ => taken(),
        }
    });
    world.reconcile(Memory::default()).await;
    let is_it = |asked: &scripted::Asked| asked.body["reason"] == "StatusRefused";
    world.until(|| world.asked("POST").iter().any(is_it)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_status_is_announced() {
    let world =
        Setup::new(pods(), ChildConfig::apply()).before(|asked| match asked.method.as_str() {
            "PATCH" => refusal(422, "Invalid"),
            _ => taken(),
        });
    world.reconcile(Memory::default()).await;
    world.reconcile(Memory::default()).await;
    world.until_asked("POST", "/events").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_event_does_not_affect_its_reconcile() {
    let world = Setup::new(pods(), ChildConfig::apply()).failing_for_good().before(|asked| {
        match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            _ => refusal(403, "Forbidden"),
        }
    });
    let report = world.reconcile(Memory::default()).await;
    world.until_asked("POST", "/events").await;
    assert!(report.wrote_status);
    assert_eq!(report.finished(world.config()), Finished::FailedForGood);
    assert!(matches!(report.failure(), Some(Failure::Handler { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconcile_that_panics_fails_and_is_no_longer_in_flight() {
    let called = Arc::new(OnceLock::new());
    let call = called.clone();
    let world = Setup::new(pods(), ChildConfig::apply())
        .desiring(desired("c"))
        .while_called(move || call.set(Instant::now()).unwrap())
        .panicking()
        .before(|_| (201, child("6", 1)));
    let report = world.reconcile(Memory::default()).await;
    assert!(matches!(report.failure(), Some(Failure::InternalError)), "{report:?}");
    assert!(report.began <= *called.get().unwrap(), "it has not seen later changes");
    assert_eq!(report.finished(world.config()), Finished::Failed);
    let metrics = world.context().metrics().render();
    assert!(metrics.contains("operetta_reconciles_in_flight{operator=\"op\"} 0"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_is_sent_with_its_preconditions_and_a_propagation_policy() {
    let orphaning = ChildConfig::apply().with_propagation(Propagation::Orphan);
    for (config, expected) in [(ChildConfig::apply(), "Background"), (orphaning, "Orphan")] {
        let setup = Setup::new(pods(), config).caching(child("5", 1));
        let world = setup.before(|asked| match asked.method.as_str() {
            "PATCH" => with_status(&asked.body),
            "DELETE" => done(),
            _ => taken(),
        });
        world.reconcile(Memory::default()).await;
        let sent = &world.asked("DELETE")[0].body;
        assert_eq!(sent["propagationPolicy"], expected);
        assert_eq!(sent["preconditions"], json!({"uid": "cu", "resourceVersion": "5"}));
    }
}
