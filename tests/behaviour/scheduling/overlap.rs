//! Changes during a reconcile are reconciled afterwards, and no two reconciles of a parent overlap.

use std::{
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use operetta::{object::Object, prelude::*};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, eventually},
};

/// A handler that blocks one call for the parent `r`.
#[derive(Clone)]
struct Slow(Arc<(Mutex<Calls>, Condvar)>);

#[derive(Default)]
struct Calls {
    held: usize,
    is_released: bool,
    begun: usize,
    in_progress: usize,
    most_at_once: usize,
}

impl Slow {
    /// Blocks the call with this number, counted from 1.
    fn holding(held: usize) -> Self {
        let calls = Calls { held, ..Calls::default() };
        Self(Arc::new((Mutex::new(calls), Condvar::new())))
    }

    fn begin(&self) {
        let (calls, released) = &*self.0;
        let mut calls = calls.lock().unwrap();
        calls.begun += 1;
        calls.in_progress += 1;
        calls.most_at_once = calls.most_at_once.max(calls.in_progress);
        if calls.begun == calls.held {
            calls = released.wait_while(calls, |calls| !calls.is_released).unwrap();
        }
        calls.in_progress -= 1;
    }

    fn release(&self) {
        self.0.0.lock().unwrap().is_released = true;
        self.0.1.notify_all();
    }

    async fn until_held(&self) {
        let is_held = || async {
            let calls = self.0.0.lock().unwrap();
            calls.begun >= calls.held
        };
        eventually("the blocked call", is_held, |is_held| *is_held).await;
    }

    fn most_at_once(&self) -> usize {
        self.0.0.lock().unwrap().most_at_once
    }
}

impl Handler for Slow {
    type Parent = Object;
    type Response = SyncResponse;

    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        if request.parent.name() == "r" {
            self.begin();
        }
        recipe::sync(request)
    }
}

/// Selects parents by a label, so that they can be deselected.
fn config() -> OperatorConfig {
    recipe::config("cook").with_parent_selector("in").with_handler_deadline(Duration::from_mins(10))
}

fn selected(mut parent: Value) -> Value {
    parent["metadata"]["labels"] = json!({"in": "yes"});
    parent
}

async fn start(world: &World, handler: &Slow) -> Operators {
    let handler = handler.clone();
    world.start(|all| all.register(config(), handler)).await
}

/// Waits until the operator has received all events of its parents so far.
async fn until_received(world: &World) {
    world.create(RECIPE, selected(recipe("later", &[]))).await;
    world.until_ready(RECIPE, "later").await;
}

/// The reconcile that writes the child is followed by another with the same permit, which is blocked after
/// it has taken its snapshot.
#[operetta_harness::test]
async fn a_change_during_a_reconcile_is_not_missed() {
    let world = World::new().await;
    let handler = Slow::holding(2);
    let operators = start(&world, &handler).await;
    let wanted = |salt: &str| json!([config_map("c", json!({"salt": salt}))]);
    world.create(RECIPE, selected(recipe("r", wanted("little").as_array().unwrap()))).await;
    handler.until_held().await;
    world.patch(RECIPE, "r", json!({"spec": {"children": wanted("much")}})).await;
    until_received(&world).await;
    handler.release();
    world.until_ready(RECIPE, "r").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await["data"]["salt"], "much");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_parent_that_is_deselected_and_selected_during_a_reconcile_is_not_reconciled_twice_at_once()
 {
    let world = World::new().await;
    let handler = Slow::holding(1);
    let operators = start(&world, &handler).await;
    world.create(RECIPE, selected(recipe("r", &[config_map("c", json!({}))]))).await;
    handler.until_held().await;
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    let shown = async |code: u16| {
        let what = format!("the parent over HTTP: {code}");
        eventually(&what, || operators.http(&path), |(now, _)| *now == code).await;
    };
    for (label, code) in [(json!(null), 404), (json!("again"), 200), (json!(null), 404)] {
        world.patch(RECIPE, "r", json!({"metadata": {"labels": {"in": label}}})).await;
        shown(code).await;
    }
    let spec = json!({"children": [config_map("c", json!({"salt": "much"}))]});
    let back = json!({"metadata": {"labels": {"in": "at-last"}}, "spec": spec});
    world.patch(RECIPE, "r", back).await;
    until_received(&world).await;
    handler.release();
    world.until_ready(RECIPE, "r").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await["data"]["salt"], "much");
    assert_eq!(handler.most_at_once(), 1, "concurrent reconciles of one parent");
    operators.stop().await;
}

/// The phase must not change with each retry, because alerts count it.
#[operetta_harness::test]
async fn a_failing_parent_is_shown_as_failing_during_the_retry() {
    let world = World::new().await;
    let handler = Slow::holding(2);
    let operators = start(&world, &handler).await;
    world.create(RECIPE, selected(acting("r", "fail"))).await;
    handler.until_held().await;
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    let shown: Value = serde_json::from_str(&operators.http(&path).await.1).unwrap();
    assert_eq!(shown["phase"], "failing");
    let what = shown["why"]["what"].as_str().unwrap();
    assert!(what.ends_with("has an error of its handler: the oven is cold"), "{what}");
    handler.release();
    operators.stop().await;
}
