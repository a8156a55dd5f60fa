//! Another configuration takes effect in place, and concerns only the parents that it changes.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use operetta::{object::ObjectKey, supervisor::OnRemoval};

use super::*;
use crate::world::{NAMESPACE, eventually};

pub(super) fn config() -> OperatorConfig {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new("cook", parent).child::<ConfigMap>(ChildConfig::apply())
}

pub(super) async fn start(world: &World, config: OperatorConfig) -> Operators {
    world.start(|builder| builder.register(config, recipe::handler())).await
}

pub(super) async fn reconfigure(operators: &Operators, config: OperatorConfig) {
    operators.running().registrar().reconfigure(config).await.unwrap();
    operators.running().settled().await;
}

pub(super) fn labelled(name: &str, tier: &str) -> Value {
    let mut parent = recipe(name, &[config_map(name, json!({"a": "b"}))]);
    parent["metadata"]["labels"] = json!({"tier": tier});
    parent
}

#[operetta_harness::test]
async fn another_selector_concerns_the_parents_that_enter_or_leave_the_selection() {
    let world = World::new().await;
    let operators = start(&world, config().with_parent_selector("tier in (gold,silver)")).await;
    for (name, tier) in [("g", "gold"), ("s", "silver"), ("t", "tin")] {
        world.apply(RECIPE, labelled(name, tier)).await;
    }
    for name in ["g", "s"] {
        world.until_ready(RECIPE, name).await;
    }
    operators.running().settled().await;
    let before = operators.reconciles("cook", &world.namespace, "g");
    reconfigure(&operators, config().with_parent_selector("tier in (gold,tin)")).await;
    world.until_ready(RECIPE, "t").await;
    operators.running().settled().await;
    let shown = |name: &str| {
        let key = ObjectKey::namespaced(&world.namespace, name);
        operators.running().board().parent("cook", &key).is_some()
    };
    assert_eq!(["g", "s", "t"].map(shown), [true, false, true]);
    assert_eq!(operators.reconciles("cook", &world.namespace, "g"), before);
    // The one that left stays as it is.
    world.patch(RECIPE, "s", json!({"spec": {"children": []}})).await;
    operators.running().settled().await;
    assert!(world.get(CONFIG_MAP, "s").await.is_object());
    operators.stop().await;
}

#[operetta_harness::test]
async fn more_namespaces_are_watched_besides_and_fewer_no_longer() {
    let world = World::that_logs_requests().await;
    let other = format!("{}-other", world.namespace);
    world.apply(NAMESPACE, json!({"metadata": {"name": other}})).await;
    let elsewhere = world.api_in(RECIPE, Some(&other));
    let parent = crate::world::object(RECIPE, recipe("o", &[config_map("o", json!({}))]));
    elsewhere.create(&kube::api::PostParams::default(), &parent).await.unwrap();
    let before = world.our_requests().await.len();
    let here = || config().within_namespace(&world.namespace);
    let operators = start(&world, here()).await;
    cooked(&world, "r").await;
    operators.running().settled().await;
    let reconciles = operators.reconciles("cook", &world.namespace, "r");
    let both = config().within_namespaces([world.namespace.as_str(), other.as_str()]);
    reconfigure(&operators, both).await;
    operators.until_synced("cook", &other, "o").await;
    reconfigure(&operators, here()).await;
    let gone = || async {
        operators.running().board().parent("cook", &ObjectKey::namespaced(&other, "o")).is_none()
    };
    eventually("the parent elsewhere gone", gone, |is_gone| *is_gone).await;
    operators.settled().await;
    let (_, cache) = operators.http("/api/v1/cache").await;
    assert!(!cache.contains(&other), "{cache}");
    assert_eq!(operators.reconciles("cook", &world.namespace, "r"), reconciles);
    let requests = world.our_requests().await.split_off(before);
    let of_here = requests.iter().filter(|it| {
        it.verb == "watch" && it.resource == "recipes" && it.namespace() == Some(&world.namespace)
    });
    assert_eq!(of_here.count(), 1);
    operators.stop().await;
    world.delete(NAMESPACE, &other).await;
}

#[operetta_harness::test]
async fn another_child_type_concerns_all_parents_and_one_that_goes_leaves_its_children() {
    let world = World::new().await;
    let operators = start(&world, config()).await;
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}});
    world.apply(RECIPE, recipe("r", &[config_map("r", json!({"a": "b"})), secret])).await;
    let is_refused = |it: &Value| it["status"]["conditions"].to_string().contains("Secret");
    world.until(RECIPE, "r", "the undeclared type refused", is_refused).await;
    reconfigure(&operators, config().child::<Secret>(ChildConfig::apply())).await;
    world.until_ready(RECIPE, "r").await;
    assert!(world.get(crate::world::Kind("v1", "Secret", "secrets"), "s").await.is_object());
    reconfigure(&operators, config()).await;
    let (_, cache) = operators.http("/api/v1/cache").await;
    assert!(!cache.contains("secrets"), "{cache}");
    assert!(world.get(crate::world::Kind("v1", "Secret", "secrets"), "s").await.is_object());
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_configuration_with_a_missing_type_degrades_the_operator_which_works_as_before() {
    let world = World::new().await;
    let operators = start(&world, config()).await;
    cooked(&world, "r").await;
    let missing = K8sType::namespaced("test.operetta.dev/v1", "Nothing", "nothings");
    let registrar = operators.running().registrar();
    registrar.reconfigure(config().child_of_type(missing, ChildConfig::apply())).await.unwrap();
    let ready = || operators.http("/readyz/cook?verbose");
    let is_degraded = |(code, body): &(u16, String)| *code == 503 && body.contains("nothings");
    eventually("the operator degraded", ready, is_degraded).await;
    cooked(&world, "q").await;
    registrar.reconfigure(config()).await.unwrap();
    eventually("the operator healed", ready, |(code, _)| *code == 200).await;
    operators.running().settled().await;
    assert!(!operators.http("/api/v1/cache").await.1.contains("nothings"));
    registrar.deregister("cook", OnRemoval::Leave).await.unwrap();
    operators.stop().await;
}
