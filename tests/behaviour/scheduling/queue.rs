//! The order of queued reconciles: fair between operators, by priority within one.

use std::{
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use k8s_openapi::api::core::v1::Service;
use kube::api::Patch;
use operetta::{
    object::{K8sType, Object, ObjectKey},
    prelude::*,
    testkit::internals::{history::Cause, schedule::Priority},
};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, recipe},
    world::{ECHO, Operators, SERVICE, World, eventually},
};

/// A handler that records its calls, and blocks them while it is closed.
#[derive(Clone, Default)]
struct HeldHandler(Arc<(Mutex<Calls>, Condvar)>);

#[derive(Default)]
struct Calls {
    is_shut: bool,
    served: Vec<String>,
}

impl HeldHandler {
    fn shut() -> Self {
        let handler = Self::default();
        handler.close();
        handler
    }

    fn close(&self) {
        self.0.0.lock().unwrap().is_shut = true;
    }

    fn open(&self) {
        self.0.0.lock().unwrap().is_shut = false;
        self.0.1.notify_all();
    }

    /// The parents of all calls in order, including the blocked one.
    fn served(&self) -> Vec<String> {
        self.0.0.lock().unwrap().served.clone()
    }

    fn serve(&self, request: &SyncRequest) {
        let (calls, opened) = &*self.0;
        let mut calls = calls.lock().unwrap();
        calls.served.push(request.parent.name().to_owned());
        drop(opened.wait_while(calls, |calls| calls.is_shut).unwrap());
    }
}

impl Handler for HeldHandler {
    type Parent = Object;
    type Response = SyncResponse;

    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        self.serve(request);
        recipe::sync(request)
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(&self, request: &SyncRequest) -> Result<FinalizeResponse> {
        self.serve(request);
        Ok(FinalizeResponse::done())
    }
}

/// One reconcile at a time, with a long handler deadline.
fn config() -> OperatorConfig {
    recipe::config("cook")
        .with_max_concurrent_reconciles(1)
        .with_handler_deadline(Duration::from_mins(10))
}

async fn start(world: &World, config: OperatorConfig, handler: &HeldHandler) -> Operators {
    let handler = handler.clone();
    world.start(|builder| builder.register(config, handler)).await
}

/// How many parents of the operator wait with this priority.
fn waiting(operators: &Operators, priority: Priority) -> usize {
    let labels = format!(r#"{{operator="cook",priority="{}"}} "#, priority.name());
    let text = operators.running().metrics().render();
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("operetta_queue_depth"));
    lines.find_map(|line| line.strip_prefix(&labels)).unwrap().parse().unwrap()
}

/// Waits until at least so many parents wait; other tests may have left some on the cluster.
async fn until_waiting(operators: &Operators, priority: Priority, count: usize) {
    let now = || async { waiting(operators, priority) };
    eventually("so many parents in the queue", now, |waiting| *waiting >= count).await;
}

#[operetta_harness::test]
async fn many_parents_that_wait_for_one_operator_delay_no_other() {
    let world = World::new().await;
    let handler = HeldHandler::shut();
    let registered = handler.clone();
    let operators = world
        .start(|builder| {
            let builder = operators::register_all(builder, operators::all());
            builder.register(config(), registered)
        })
        .await;
    for number in 0..50 {
        world.create(RECIPE, recipe(&format!("r-{number}"), &[])).await;
    }
    until_waiting(&operators, Priority::Change, 49).await;
    world.apply(ECHO, json!({"metadata": {"name": "a"}, "spec": {"serviceName": "x"}})).await;
    world.until_synced(ECHO, "a").await;
    assert!(waiting(&operators, Priority::Change) >= 49, "none was reconciled");
    handler.open();
    for number in 0..50 {
        world.until_ready(RECIPE, &format!("r-{number}")).await;
    }
    operators.stop().await;
}

#[operetta_harness::test]
async fn deletions_and_fresh_changes_overtake_what_a_restart_has_to_look_at() {
    let world = World::new().await;
    let listed: Vec<String> = (0..6).map(|number| format!("listed-{number}")).collect();
    for name in &listed {
        world.create(RECIPE, recipe(name, &[])).await;
    }
    let earlier = start(&world, config(), &HeldHandler::default()).await;
    for name in &listed {
        world.until_ready(RECIPE, name).await;
    }
    earlier.stop().await;
    world.patch(RECIPE, "listed-4", json!({"spec": {"status": {"taste": "sour"}}})).await;
    let handler = HeldHandler::shut();
    let operators = start(&world, config(), &handler).await;
    let all = || async {
        waiting(&operators, Priority::Background) + waiting(&operators, Priority::Change)
    };
    eventually("all but one wait", all, |waiting| *waiting >= 5).await;
    let served = || async { handler.served() };
    let blocked = eventually("one is blocked", served, |served| !served.is_empty()).await;
    // It changed while nobody worked for it. Reconcilers begin in no order: it may not be the first.
    let missed = "listed-4";
    let waits = usize::from(blocked[0] != missed);
    until_waiting(&operators, Priority::Change, waits).await;
    // A change of a listed parent raises its priority, and a new parent follows it.
    let is_routine = |name: &&String| **name != blocked[0] && *name != missed;
    let changed = listed.iter().find(is_routine).unwrap();
    world.patch(RECIPE, changed, json!({"spec": {"status": {"taste": "salty"}}})).await;
    until_waiting(&operators, Priority::Change, waits + 1).await;
    for change in 0..3 {
        let mut fresh = recipe("fresh", &[]);
        fresh["spec"]["status"]["taste"] = json!(change.to_string());
        world.apply(RECIPE, fresh).await;
    }
    until_waiting(&operators, Priority::Change, waits + 2).await;
    let dying = listed.iter().rfind(|name| is_routine(name) && *name != changed).unwrap();
    let finalizers = json!({"metadata": {"finalizers": ["operetta.dev/cook"]}});
    world.patch(RECIPE, dying, finalizers).await;
    world.delete(RECIPE, dying).await;
    until_waiting(&operators, Priority::Deletion, 1).await;
    handler.open();
    world.until(RECIPE, dying, "gone", Value::is_null).await;
    let are_all = |served: &Vec<String>| {
        listed.iter().map(String::as_str).chain(["fresh"]).all(|it| served.iter().any(|s| s == it))
    };
    let served = eventually("each is served", served, are_all).await;
    let turn = |name: &str| served.iter().position(|served| served == name).expect("it was served");
    let urgent = [dying.as_str(), changed, "fresh"];
    assert!(urgent.map(turn).is_sorted(), "{served:?}");
    let routine = |name: &&String| is_routine(name) && !urgent.contains(&name.as_str());
    for name in listed.iter().filter(routine) {
        assert!(turn("fresh") < turn(name), "{name}: {served:?}");
        assert!(turn(missed) < turn(name), "{name}: {served:?}");
    }
    operators.stop().await;
}

// === debounce ===

#[operetta_harness::test]
async fn a_change_of_nothing_but_the_status_is_no_reason_to_run_where_that_is_asked_for() {
    let world = World::new().await;
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent)
        .child::<Service>(ChildConfig::apply().ignoring_status());
    let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"clusterIP": "None", "ports": [{"port": 80}]},
    });
    world.apply(RECIPE, recipe("r", &[service])).await;
    world.until_ready(RECIPE, "r").await;
    operators.settled().await;
    let reconciles = operators.reconciles("cook", &world.namespace, "r");
    let well = json!({
        "type": "Well", "status": "True", "reason": "Fine", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    let patch = Patch::Merge(json!({"status": {"conditions": [well]}}));
    world.api(SERVICE).patch_status("s", &<_>::default(), &patch).await.unwrap();
    let from = world.get(SERVICE, "s").await["metadata"]["resourceVersion"].clone();
    world.patch(SERVICE, "s", json!({"metadata": {"labels": {"look": "here"}}})).await;
    operators.until_reconciles("cook", &world.namespace, "r", reconciles + 1).await;
    operators.settled().await;
    let key = ObjectKey::namespaced(&world.namespace, "r");
    let shown = operators.running().board().parent("cook", &key).unwrap();
    let reconcile = shown.history.newest_first().next().unwrap();
    let [Cause::ChildChanged(change)] = &reconcile.causes[..] else { panic!("{reconcile:?}") };
    assert_eq!(change.from.as_ref().map(ToString::to_string).as_deref(), from.as_str());
    assert_eq!(shown.history.recorded(), reconciles + 1, "none for the status");
    operators.stop().await;
}
