//! Parents with a shared status.

use super::*;
use crate::operator::OperatorConfig;

/// An operator whose parents have a shared status with any fields.
fn shared() -> Setup {
    let mut document = openapi();
    document["components"]["schemas"]["App"]["properties"]["status"] =
        json!({"x-kubernetes-preserve-unknown-fields": true});
    Setup::new(pods(), ChildConfig::apply())
        .configured(OperatorConfig::sharing_status)
        .publishing((200, document))
}

/// The parent at a version with a status, and the managers and times of its fields.
fn with_writers(version: usize, status: Value, writers: &[(&str, u8, &str)]) -> Value {
    let entry = |(manager, second, field): &(&str, u8, &str)| {
        let time = format!("2026-01-01T00:00:0{second}Z");
        let fields = json!({"f:status": {format!("f:{field}"): {}}});
        json!({"manager": manager, "operation": "Update", "time": time, "subresource": "status",
            "fieldsV1": fields})
    };
    let mut parent = parent(&version.to_string());
    parent["status"] = status;
    parent["metadata"]["managedFields"] = writers.iter().map(entry).collect();
    parent
}

/// Kubelets write their nodes repeatedly; only a manager of fields that the handler returns is a rival.
#[tokio::test(flavor = "multi_thread")]
async fn a_manager_of_other_fields_of_a_shared_status_is_no_rival() {
    let version = Arc::new(AtomicUsize::new(10));
    let now = version.clone();
    let theirs = |phase: &str, beat: usize| json!({"phase": phase, "beat": beat});
    let writers = [("op", 1, "phase"), ("rival", 2, "phase"), ("kubelet", 3, "beat")];
    let script = move |asked: &scripted::Asked| {
        let version = now.fetch_add(1, Ordering::AcqRel) + 1;
        let live = with_writers(version, theirs("Ours", version), &writers);
        (if asked.method == "POST" { 201 } else { 200 }, live)
    };
    let world = shared().returning(json!({"phase": "Ours"})).before(script);
    let mut memory = world.reconcile(Memory::default()).await.memory;
    for beat in 0..6 {
        let next = version.fetch_add(1, Ordering::AcqRel) + 1;
        world.changed_parent(&with_writers(next, theirs("Ours", beat), &writers));
        memory = world.reconcile(memory).await.memory;
    }
    assert_eq!(world.asked("PATCH").len(), 1);
    for count in 0..3 {
        assert!(memory.flapping().condition().is_none(), "after {count} reconciles");
        let next = version.fetch_add(1, Ordering::AcqRel) + 1;
        world.changed_parent(&with_writers(next, theirs("Theirs", count), &writers));
        memory = world.reconcile(memory).await.memory;
    }
    let message = memory.flapping().condition().unwrap().message;
    assert!(message.contains("`rival`") && message.contains(".status.phase"), "{message}");
    let patches = world.asked("PATCH").into_iter().filter(|asked| asked.is_about("/status"));
    let ours = json!({"phase": "Ours"});
    let others = patches.filter(|asked| asked.body["status"] != ours).count();
    assert_eq!(others, 0, "the flapping is reported only by an Event");
}
