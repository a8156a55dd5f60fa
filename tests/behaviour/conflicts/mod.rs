//! Other managers of the same object: which fields they keep, conflict policies, and flapping.

mod adoption;
mod collisions;
mod drift;
mod flapping;
mod immutable;
mod policies;
mod words;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use operetta::{
    object::ObjectKey,
    prelude::*,
    testkit::{eventually, internals::history::Verb},
};
use serde_json::Value;

use crate::{
    recipe::{self, RECIPE},
    world::{EVENT, Operators, World, condition},
};

/// The operator of the recipes, with other policies for `ConfigMaps`.
async fn start(world: &World, config_maps: ChildConfig) -> Operators {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent)
        .child::<ConfigMap>(config_maps)
        .child::<Secret>(ChildConfig::apply())
        .with_error_backoff(
            std::time::Duration::from_millis(100),
            std::time::Duration::from_hours(1),
        );
    world.start(|builder| builder.register(config, recipe::handler())).await
}

/// All writes of children in the history of the parent, once nothing is left to do: its status can be read before the
/// end of the reconcile, and another one may follow.
async fn verbs(world: &World, operators: &Operators) -> Vec<Verb> {
    operators.settled().await;
    let key = ObjectKey::namespaced(&world.namespace, "r");
    let parent = operators.running().board().parent("cook", &key).unwrap();
    let mut reconciles: Vec<_> = parent.history.newest_first().cloned().collect();
    reconciles.reverse();
    let decisions = reconciles.iter().flat_map(|reconcile| reconcile.decisions.iter());
    decisions.filter_map(|decision| decision.what.verb()).collect()
}

/// The Events with a reason; waits for the first.
async fn events(world: &World, reason: &str) -> Vec<Value> {
    let events = || async {
        let events = world.list(EVENT).await.into_iter();
        events.filter(|event| event["reason"] == reason).collect::<Vec<_>>()
    };
    eventually(reason, events, |events| !events.is_empty()).await
}

/// The message of the condition Synced.
fn message(parent: &Value) -> String {
    condition(parent, "Synced")["message"].as_str().unwrap_or_default().to_owned()
}
