//! The metrics of reconciles.

use std::sync::mpsc;

use super::*;

/// Checks the metrics after this number of reconciles.
async fn assert_counted(world: scripted::World, reconciles: usize, expected: &[&str]) {
    let mut memory = Memory::default();
    for _ in 0..reconciles {
        memory = world.reconcile(memory).await.memory;
    }
    let metrics = world.context().metrics().render();
    for line in expected {
        assert!(metrics.lines().any(|counted| counted == *line), "{line}\n{metrics}");
    }
}

fn answering(write: Reply, live: Value) -> impl Fn(&scripted::Asked) -> Reply {
    move |asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => write.clone(),
        "GET" if asked.is_about("/apps/p") => (200, parent("3")),
        "GET" => (200, live.clone()),
        "DELETE" => done(),
        _ => taken(),
    }
}

fn pod_operator() -> Setup {
    Setup::new(pods(), ChildConfig::apply())
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_of_children_are_counted() {
    let noop = pod_operator().caching(child("5", 1)).desiring(desired("c"));
    let unchanged = [
        "operetta_noop_writes_total{operator=\"op\",type=\"pods\"} 1",
        "operetta_children_unchanged_total{operator=\"op\"} 1",
    ];
    let script = answering((200, child("5", 1)), Value::Null);
    assert_counted(noop.before(script), 2, &unchanged).await;

    let replaced = pod_operator().caching(child("5", 1)).desiring(desired("d"));
    let written = [
        "operetta_child_writes_total{operator=\"op\",type=\"pods\",verb=\"created\"} 1",
        "operetta_child_writes_total{operator=\"op\",type=\"pods\",verb=\"deleted\"} 1",
    ];
    assert_counted(replaced.before(answering((201, child("9", 2)), Value::Null)), 1, &written)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unchanged_children_are_counted_also_while_the_operator_is_paused() {
    let both = pod_operator().caching(child("5", 1)).desiring(desired("c")).and(desired("e"));
    let noop = answering((200, child("5", 1)), Value::Null);
    let world = both.before(move |asked| {
        if asked.is_about("/pods/e") { refusal(500, "InternalError") } else { noop(asked) }
    });
    let memory = world.reconcile(Memory::default()).await.memory;
    world.context().pause(std::sync::Arc::default());
    let report = world.reconcile(memory).await;
    assert!(report.paused.is_some() && report.unchanged == 1, "{report:?}");
    let metrics = world.context().metrics().render();
    assert!(
        metrics.contains("operetta_children_unchanged_total{operator=\"op\"} 1\n"),
        "{metrics}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn conflicts_are_counted() {
    let counted = ["operetta_conflicts_total{operator=\"op\",type=\"pods\"} 1"];
    let mut foreign = child("8", 1);
    foreign["metadata"]["ownerReferences"] = json!([]);
    let setup = pod_operator().desiring(desired("c"));
    let script = answering(refusal(409, "Conflict"), foreign);
    assert_counted(setup.before(script), 1, &counted).await;

    let cause = json!({
        "reason": "FieldManagerConflict", "field": ".spec.x", "message": "conflict with \"me\"",
    });
    let details = json!({"name": "c", "causes": [cause]});
    let held = (409, json!({"kind": "Status", "code": 409, "details": details}));
    let config = ChildConfig::apply().with_conflicts(ConflictPolicy::Report);
    let held_by_others = Setup::new(pods(), config).caching(child("5", 1)).desiring(desired("c"));
    assert_counted(held_by_others.before(answering(held, child("5", 1))), 1, &counted).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn panics_timeouts_and_status_writes_are_counted() {
    let panicking = pod_operator().while_called(|| panic!("index out of bounds"));
    let counted = [
        "operetta_handler_panics_total{operator=\"op\"} 1",
        "operetta_status_writes_total{operator=\"op\"} 1",
    ];
    assert_counted(panicking.before(answering(taken(), Value::Null)), 1, &counted).await;

    let (release, released) = mpsc::channel();
    let late = pod_operator().answering_after(released).before(move |asked| {
        // The timeout is reported while the handler still runs.
        let _ = release.send(());
        answering(taken(), Value::Null)(asked)
    });
    let counted = ["operetta_handler_timeouts_total{operator=\"op\"} 1"];
    assert_counted(late, 1, &counted).await;
}
