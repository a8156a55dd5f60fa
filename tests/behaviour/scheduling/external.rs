//! Parents that are reconciled because something outside of Kubernetes changed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Error;
use futures::{
    SinkExt,
    channel::mpsc::{self, Sender},
};
use operetta::{
    object::ObjectKey,
    prelude::*,
    supervisor::{SupervisorBuilder, TriggerError},
    testkit::internals::history::Cause,
};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, eventually},
};

/// A temperature that no object of Kubernetes has.
#[derive(Clone, Default)]
struct Thermometer(Arc<AtomicU64>);

/// What it shows when it is broken.
const BROKEN: u64 = u64::MAX;

impl Thermometer {
    fn shows(&self, degrees: u64) {
        self.0.store(degrees, Ordering::Release);
    }

    /// A handler that puts it into a child of the name of the parent.
    fn read(&self) -> impl Fn(&SyncRequest) -> Result<SyncResponse> + use<> {
        let temperature = self.0.clone();
        move |request| match temperature.load(Ordering::Acquire) {
            BROKEN => Err(Error::msg("the thermometer is broken")),
            degrees => {
                let data = json!({"degrees": degrees.to_string()});
                Ok(SyncResponse::new().child(config_map(request.parent.name(), data)))
            }
        }
    }
}

fn key(world: &World, name: &str) -> ObjectKey {
    ObjectKey::namespaced(&world.namespace, name)
}

async fn until_degrees(world: &World, name: &str, degrees: &str) {
    let shows = |child: &Value| child["data"]["degrees"] == degrees;
    world.until(CONFIG_MAP, name, degrees, shows).await;
}

/// The causes of the reconciles of a parent.
fn causes(operators: &Operators, key: &ObjectKey) -> Vec<Cause> {
    let parent = operators.running().board().parent("cook", key).unwrap();
    parent.history.newest_first().flat_map(|reconcile| reconcile.causes.clone()).collect()
}

/// A world with the parents `r` and `other`, which know ten degrees.
async fn cooking(
    thermometer: &Thermometer,
    add: impl FnOnce(SupervisorBuilder) -> SupervisorBuilder,
) -> (World, Operators) {
    let world = World::new().await;
    thermometer.shows(10);
    let hour = Duration::from_hours(1);
    let config = recipe::config("cook").with_error_backoff(hour, hour);
    let register = |all: SupervisorBuilder| add(all.register(config, thermometer.read()));
    let operators = world.start(register).await;
    for name in ["r", "other"] {
        world.apply(RECIPE, recipe(name, &[])).await;
        until_degrees(&world, name, "10").await;
        world.until_ready(RECIPE, name).await;
    }
    operators.settled().await;
    (world, operators)
}

#[operetta_harness::test(server)]
async fn a_triggered_parent_is_reconciled_alone_and_its_history_says_why() {
    let thermometer = Thermometer::default();
    let (world, operators) = cooking(&thermometer, |all| all).await;
    thermometer.shows(20);
    operators.running().trigger("cook", &key(&world, "r")).await.unwrap();
    until_degrees(&world, "r", "20").await;
    operators.settled().await;
    assert!(causes(&operators, &key(&world, "r")).contains(&Cause::External));
    assert_eq!(Cause::External.to_string(), "something outside of Kubernetes changed");
    assert!(!causes(&operators, &key(&world, "other")).contains(&Cause::External));
    until_degrees(&world, "other", "10").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_trigger_ends_a_backoff() {
    let thermometer = Thermometer::default();
    let (world, operators) = cooking(&thermometer, |all| all).await;
    thermometer.shows(BROKEN);
    operators.running().trigger("cook", &key(&world, "r")).await.unwrap();
    let failures = || async {
        operators.running().board().parent("cook", &key(&world, "r")).map(|it| it.failures)
    };
    eventually("a failure", failures, |failures| *failures == Some(1)).await;
    thermometer.shows(30);
    operators.running().trigger("cook", &key(&world, "r")).await.unwrap();
    until_degrees(&world, "r", "30").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_trigger_of_an_unknown_operator_or_parent_says_what_to_check() {
    let (world, operators) = cooking(&Thermometer::default(), |all| all).await;
    let unknown = operators.running().trigger("chef", &key(&world, "r")).await.unwrap_err();
    let expected = "there is no operator `chef`: name one that is registered (cook)";
    assert_eq!(unknown.to_string(), expected);
    let missing = key(&world, "missing");
    let unknown = operators.running().trigger("cook", &missing).await.unwrap_err();
    let operator = "cook".to_owned();
    assert_eq!(unknown, TriggerError::NoParent { operator, key: missing });
    assert!(unknown.to_string().contains("check its namespace and name"), "{unknown}");
    operators.stop().await;
}

async fn send(keys: &mut Sender<ObjectKey>, key: ObjectKey) {
    keys.send(key).await.unwrap();
}

#[operetta_harness::test(server)]
async fn a_stream_of_keys_reconciles_parents_and_survives_those_it_does_not_know() {
    let thermometer = Thermometer::default();
    let (mut keys, changed) = mpsc::channel(4);
    // Before there is a connection.
    send(&mut keys, ObjectKey::cluster("nobody")).await;
    let (world, operators) = cooking(&thermometer, |all| all.reconcile_on("cook", changed)).await;
    thermometer.shows(20);
    send(&mut keys, key(&world, "missing")).await;
    send(&mut keys, key(&world, "r")).await;
    until_degrees(&world, "r", "20").await;
    thermometer.shows(30);
    send(&mut keys, key(&world, "r")).await;
    until_degrees(&world, "r", "30").await;
    operators.settled().await;
    assert!(causes(&operators, &key(&world, "r")).contains(&Cause::External));
    until_degrees(&world, "other", "10").await;
    operators.stop().await;
    let is_dropped = || async { keys.is_closed() };
    eventually("the stream dropped", is_dropped, |is_dropped| *is_dropped).await;
}

#[operetta_harness::test]
async fn a_stream_that_ends_or_panics_ends_no_operator() {
    let thermometer = Thermometer::default();
    let panicking = futures::stream::poll_fn(|_| -> std::task::Poll<Option<ObjectKey>> {
        panic!("the queue of the program is broken")
    });
    let with_both = |all: SupervisorBuilder| {
        all.reconcile_on("cook", futures::stream::empty()).reconcile_on("cook", panicking)
    };
    let (world, operators) = cooking(&thermometer, with_both).await;
    thermometer.shows(20);
    operators.running().trigger("cook", &key(&world, "r")).await.unwrap();
    until_degrees(&world, "r", "20").await;
    operators.stop().await;
}

/// The stream of an operator that is registered later is followed from the beginning.
#[operetta_harness::test]
async fn keys_for_a_later_operator_take_effect_when_it_is_registered() {
    let world = World::new().await;
    let (mut keys, changed) = mpsc::channel(4);
    let add = |all: SupervisorBuilder| all.expect_registrations().reconcile_on("cook", changed);
    let operators = world.start(add).await;
    send(&mut keys, key(&world, "r")).await;
    let thermometer = Thermometer::default();
    let registrar = operators.running().registrar();
    registrar.register(recipe::config("cook"), thermometer.read()).await.unwrap();
    world.apply(RECIPE, recipe("r", &[])).await;
    until_degrees(&world, "r", "0").await;
    thermometer.shows(20);
    send(&mut keys, key(&world, "r")).await;
    until_degrees(&world, "r", "20").await;
    operators.stop().await;
}
