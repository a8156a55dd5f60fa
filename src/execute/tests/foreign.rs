//! Foreign objects with the name of a child, and when they no longer count.

use std::sync::Mutex;

use super::*;

type Live = Arc<Mutex<Reply>>;

fn gone() -> Reply {
    (404, json!({"kind": "Status", "code": 404, "details": {"name": "c"}}))
}

fn owned_by(owners: Value) -> Reply {
    let mut live = child("8", 1);
    live["metadata"]["ownerReferences"] = owners;
    (200, live)
}

fn of_another_parent() -> Reply {
    owned_by(json!([{
        "apiVersion": "v1", "kind": "App", "name": "q", "uid": "qu", "controller": true,
    }]))
}

/// Built-in Kubernetes managers keep their fields during an adoption.
fn held() -> Reply {
    let message = "conflict with \"kube-controller-manager\" using v1";
    let cause = json!({"reason": "FieldManagerConflict", "field": ".spec.x", "message": message});
    let details = json!({"name": "c", "causes": [cause]});
    (409, json!({"kind": "Status", "code": 409, "reason": "Conflict", "details": details}))
}

/// A world with a foreign object, and a handle to change it.
fn blocked(config: ChildConfig, answer: Reply) -> (scripted::World, Live) {
    let live = Live::new(Mutex::new(of_another_parent()));
    let now = live.clone();
    let setup = Setup::new(pods(), config).desiring(desired("c"));
    let world = setup.before(move |asked| {
        let live = now.lock().unwrap().clone();
        match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if asked.is_about("dryRun=All") && asked.is_about("force=true") => live,
            "PATCH" if asked.is_about("dryRun=All") => held(),
            "PATCH" if live.0 == 200 => refusal(409, "Conflict"),
            "PATCH" => answer.clone(),
            "GET" if of_child(asked) => live,
            "GET" => (200, parent("3")),
            _ => taken(),
        }
    });
    (world, live)
}

fn in_conflict(reconciled: &Reconciled) -> usize {
    reconciled.gauges.in_conflict.len()
}

/// The user followed the advice; the next failure has another cause.
#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_foreign_object_no_longer_counts_although_the_child_is_refused() {
    for answer in [refusal(403, "Forbidden"), refusal(422, "Invalid")] {
        let (world, live) = blocked(ChildConfig::apply(), answer);
        let first = world.reconcile(Memory::default()).await;
        assert_eq!((first.memory.foreign().len(), in_conflict(&first)), (1, 1));
        *live.lock().unwrap() = gone();
        let second = world.reconcile(first.memory).await;
        assert_eq!(second.failure().map(Failure::reason), Some("WriteFailed"));
        assert_eq!((second.memory.foreign().len(), in_conflict(&second)), (0, 0));
        let reads = || world.asked("GET").iter().filter(|asked| of_child(asked)).count();
        let before = reads();
        world.reconcile(second.memory).await;
        assert_eq!(reads(), before, "it is not read any more");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_with_held_fields_is_one_conflict_when_it_has_no_controller_any_more() {
    let config = ChildConfig::apply().adopting().with_conflicts(ConflictPolicy::Report);
    let (world, live) = blocked(config, taken());
    let first = world.reconcile(Memory::default()).await;
    *live.lock().unwrap() = owned_by(json!([]));
    live.lock().unwrap().1["metadata"]["resourceVersion"] = json!("9");
    let second = world.reconcile(first.memory).await;
    assert_eq!(second.memory.last_applied().contested().len(), 1, "{second:?}");
    assert_eq!((second.memory.foreign().len(), in_conflict(&second)), (0, 1));
}

/// Its state is unknown.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_cannot_be_read_after_a_conflict_stays_foreign() {
    let looks = Arc::new(AtomicUsize::new(0));
    let setup = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c"));
    let world = setup.before(move |asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => refusal(409, "Conflict"),
        "GET" if of_child(asked) => match looks.fetch_add(1, Ordering::AcqRel) {
            0 => of_another_parent(),
            1 => gone(),
            _ => refusal(500, "InternalError"),
        },
        "GET" => (200, parent("3")),
        _ => taken(),
    });
    let first = world.reconcile(Memory::default()).await;
    let second = world.reconcile(first.memory).await;
    assert_eq!(second.failure().map(Failure::reason), Some("WriteFailed"), "{second:?}");
    assert_eq!(second.memory.foreign().len(), 1);
}
