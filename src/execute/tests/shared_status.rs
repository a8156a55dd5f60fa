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

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_reconcile_writes_nothing_into_a_shared_status() {
    let setup = shared().showing(json!({"conditions": [{"type": "Ready", "status": "True"}]}));
    let world = setup.failing_for_good().before(|_| taken());
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(report.finished(world.config()), Finished::FailedForGood);
    world.until_asked("POST", "/events").await;
    assert_eq!(world.asked("POST")[0].body["reason"], "HandlerFailed");
    assert!(world.asked("PATCH").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_refusal_of_a_shared_status_is_not_written_into_it() {
    let setup = shared().returning(json!({"phase": "x"}));
    let world = setup.before(|asked| match asked.method.as_str() {
        "PATCH" => refusal(422, "Invalid"),
        _ => taken(),
    });
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(report.failure().map(Failure::reason), Some("WriteFailed"));
    assert_eq!(world.asked("PATCH").len(), 1, "{:?}", world.asked("PATCH"));
}

/// Others write this status before the first patch.
fn overtaken(status: Value) -> impl Fn(&scripted::Asked) -> Reply + Send + Sync {
    let (live, tries) = (with_writers(8, status, &[]), AtomicUsize::new(0));
    move |asked| match asked.method.as_str() {
        "PATCH" if tries.fetch_add(1, Ordering::AcqRel) == 0 => refusal(409, "Conflict"),
        "PATCH" => with_status(&asked.body),
        "GET" => (200, live.clone()),
        _ => taken(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_keeps_fields_that_others_changed_and_the_handler_only_read() {
    let script = overtaken(json!({"theirs": 2}));
    let setup = shared().showing(json!({"theirs": 1}));
    let world = setup.returning(json!({"theirs": 1, "mine": 1})).before(script);
    world.reconcile(Memory::default()).await;
    let written: Vec<_> =
        world.asked("PATCH").iter().map(|asked| asked.body["status"].clone()).collect();
    assert_eq!(written, [json!({"mine": 1}), json!({"mine": 1})]);
}

/// Lists are replaced as a whole: the handler's list would revert the change.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_others_changed_is_left_to_the_next_reconcile() {
    let script = overtaken(json!({"parents": [{"a": 2}], "phase": "x"}));
    let setup = shared().showing(json!({"parents": [{"a": 1}], "phase": "x"}));
    let world = setup.returning(json!({"parents": [{"a": 1}, {"mine": 1}]})).before(script);
    let report = world.reconcile(Memory::default()).await;
    assert_eq!((world.asked("PATCH").len(), report.wrote_status), (1, false));
    assert!(world.notified_the_parent_too(), "otherwise no reconcile would follow");
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
