//! Several operators for one parent type: in one process, and in two that declare each other.

use kube::api::{DeleteParams, Patch, PatchParams};
use operetta::{
    operator::with_finalizer, prelude::*, supervisor::SupervisorBuilder,
    testkit::internals::board::ParentPhase,
};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map},
    world::{CONFIG_MAP, EVENT, Operators, World, condition, eventually},
};

const NAMES: [&str; 2] = ["cook", "chef"];

/// Returns what the parent says for one operator: `spec.cook` and `spec.chef` with `children` and `status`.
fn handler_of(name: &'static str) -> impl Fn(&SyncRequest) -> Result<SyncResponse> {
    move |request| {
        let spec = request.parent.field("spec").unwrap_or_default();
        let children = spec[name]["children"].as_array().cloned().unwrap_or_default();
        // Some versions of Kubernetes make null of a map that an apply empties.
        let status = spec[name]["status"].as_object().cloned().unwrap_or_default();
        Ok(SyncResponse::status(Value::Object(status)).children(children))
    }
}

fn register(name: &'static str, builder: SupervisorBuilder) -> SupervisorBuilder {
    builder.register(recipe::config(name), handler_of(name))
}

async fn start_both(world: &World) -> Operators {
    world.start(|builder| register("chef", register("cook", builder))).await
}

fn maps(names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| config_map(name, json!({"k": "v"}))).collect()
}

fn parent(cook: Value, chef: Value) -> Value {
    json!({"metadata": {"name": "r"}, "spec": {"cook": cook, "chef": chef}})
}

fn is_synced_for(parent: &Value, operator: &str) -> bool {
    let generation = &parent["metadata"]["generation"];
    ["Synced", "Ready"].iter().all(|ty| {
        let condition = condition(parent, &format!("{operator}/{ty}"));
        condition["status"] == "True" && condition["observedGeneration"] == *generation
    })
}

async fn until_both_are_synced(world: &World) -> Value {
    let are_synced = |parent: &Value| NAMES.iter().all(|name| is_synced_for(parent, name));
    world.until(RECIPE, "r", "both operators are synced", are_synced).await
}

fn types_of(parent: &Value) -> Vec<String> {
    let conditions = parent["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let types = conditions.iter().filter_map(|it| it["type"].as_str().map(str::to_owned));
    let mut types: Vec<_> = types.collect();
    types.sort_unstable();
    types
}

/// Both have their children, status fields and conditions, and neither changes those of the other.
async fn check_that_each_keeps_its_own(world: &World) {
    let cook = json!({"children": maps(&["a", "b"]), "status": {"taste": "salty"}});
    let chef = json!({"children": maps(&["c"]), "status": {"courses": [{"dish": "soup"}]}});
    world.apply(RECIPE, parent(cook, chef)).await;
    for name in ["a", "b", "c"] {
        world.until(CONFIG_MAP, name, "a child", Value::is_object).await;
    }
    let both = until_both_are_synced(world).await;
    let expected = ["chef/Ready", "chef/Synced", "cook/Ready", "cook/Synced"];
    assert_eq!(types_of(&both), expected);
    assert_eq!(both["status"]["taste"], "salty");
    assert_eq!(both["status"]["courses"][0]["dish"], "soup");
    assert_eq!(both["status"].get("observedGeneration"), None);

    // One drops a child and its field: what the other one has stays.
    let cook = json!({"children": maps(&["a"]), "status": {}});
    let chef = json!({"children": maps(&["c"]), "status": {"courses": [{"dish": "soup"}]}});
    world.apply(RECIPE, parent(cook, chef)).await;
    world.until(CONFIG_MAP, "b", "the undesired child deleted", Value::is_null).await;
    let dropped = |parent: &Value| parent["status"].get("taste").is_none();
    world.until(RECIPE, "r", "the field removed", dropped).await;
    let synced = until_both_are_synced(world).await;
    assert_eq!(synced["status"]["courses"][0]["dish"], "soup");
}

/// The version of the parent, once nothing is left to do.
async fn version(world: &World, all: &[&Operators]) -> Value {
    for operators in all {
        operators.settled().await;
    }
    world.get(RECIPE, "r").await["metadata"]["resourceVersion"].take()
}

#[operetta_harness::test(server)]
async fn two_operators_of_a_process_have_children_status_fields_and_conditions_of_their_own() {
    let world = World::new().await;
    let operators = start_both(&world).await;
    check_that_each_keeps_its_own(&world).await;
    let before = version(&world, &[&operators]).await;
    operators.stop().await;
    let operators = start_both(&world).await;
    for name in NAMES {
        operators.until_synced(name, &world.namespace, "r").await;
    }
    assert_eq!(version(&world, &[&operators]).await, before, "a restart writes nothing");
    operators.stop().await;
}

#[operetta_harness::test]
async fn two_processes_that_declare_each_other_behave_as_one() {
    let world = World::new().await;
    let start = async |name: &'static str, other: &str| {
        let config = recipe::config(name).beside(other);
        world.start(|builder| builder.register(config, handler_of(name))).await
    };
    let cook = start("cook", "chef").await;
    let chef = start("chef", "cook").await;
    check_that_each_keeps_its_own(&world).await;
    let before = version(&world, &[&cook, &chef]).await;
    cook.stop().await;
    let cook = start("cook", "chef").await;
    cook.until_synced("cook", &world.namespace, "r").await;
    assert_eq!(version(&world, &[&cook, &chef]).await, before, "a restart writes nothing");
    cook.stop().await;
    chef.stop().await;
}

/// Waits until the parent is stalled with a message that has these parts. Before that, a status may have been refused because
/// the other operator has just written it.
async fn until_stalled(world: &World, operators: &Operators, name: &str, parts: &[&str]) {
    let (board, key) = (
        operators.running().board(),
        operetta::object::ObjectKey::namespaced(&world.namespace, "r"),
    );
    let shown = || async {
        let parent = board.parent(name, &key)?;
        (parent.phase == ParentPhase::Stalled).then_some(parent.message).flatten()
    };
    let has_all = |message: &str| parts.iter().all(|part| message.contains(part));
    eventually("it is stalled", shown, |message| message.as_deref().is_some_and(has_all)).await;
}

#[operetta_harness::test(server)]
async fn a_child_of_two_operators_is_a_conflict_that_names_both() {
    let world = World::new().await;
    let operators = start_both(&world).await;
    let of_cook = json!({"children": maps(&["a"])});
    world.apply(RECIPE, parent(of_cook.clone(), json!({}))).await;
    let before = world.until(CONFIG_MAP, "a", "the child", Value::is_object).await;
    world.apply(RECIPE, parent(of_cook, json!({"children": maps(&["a", "b"])}))).await;
    let is_reported = |parent: &Value| {
        let synced = condition(parent, "chef/Synced");
        let message = synced["message"].as_str().unwrap_or_default();
        synced["reason"] == "Conflict" && message.contains("`cook`") && message.contains("`chef`")
    };
    let reported = world.until(RECIPE, "r", "the conflict", is_reported).await;
    assert_eq!(condition(&reported, "Flapping"), Value::Null);
    world.until(CONFIG_MAP, "b", "its other child", Value::is_object).await;
    until_stalled(&world, &operators, "chef", &["`cook`", "`chef`"]).await;
    operators.settled().await;
    assert_eq!(world.get(CONFIG_MAP, "a").await, before, "it is not modified");
    operators.until_synced("cook", &world.namespace, "r").await;

    // The first one gives it up: the second one creates it.
    world.apply(RECIPE, parent(json!({}), json!({"children": maps(&["a", "b"])}))).await;
    let is_of_chef =
        |child: &Value| child["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "chef";
    world.until(CONFIG_MAP, "a", "the child of the second", is_of_chef).await;
    until_both_are_synced(&world).await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_status_field_of_two_operators_is_reported_with_its_path() {
    let world = World::new().await;
    let operators = start_both(&world).await;
    let salty = json!({"status": {"taste": "salty"}});
    world.apply(RECIPE, parent(salty.clone(), json!({}))).await;
    let has = |taste: &'static str| move |parent: &Value| parent["status"]["taste"] == taste;
    world.until(RECIPE, "r", "the first value", has("salty")).await;
    // A change by hand is repaired, as for an operator that is alone.
    let params = PatchParams { field_manager: Some("by-hand".to_owned()), ..<_>::default() };
    let patch = Patch::Merge(json!({"status": {"taste": "burnt"}}));
    world.api(RECIPE).patch_status("r", &params, &patch).await.unwrap();
    world.until(RECIPE, "r", "the first value again", has("salty")).await;
    let sweet = json!({"status": {"taste": "sweet", "courses": [{"dish": "soup"}]}});
    world.apply(RECIPE, parent(salty, sweet.clone())).await;
    until_stalled(&world, &operators, "chef", &[".status.taste", "`cook`", "`chef`"]).await;
    let is_reported = |events: &Vec<Value>| {
        let is_it = |event: &Value| {
            let message = event["note"].as_str().unwrap_or_default();
            event["reason"] == "Conflict" && message.contains(".status.taste")
        };
        events.iter().any(is_it)
    };
    eventually("an Event", || world.list(EVENT), is_reported).await;
    let now = world.get(RECIPE, "r").await;
    assert_eq!(now["status"]["taste"], "salty", "the first value stays");
    assert_eq!(now["status"]["courses"][0]["dish"], "soup", "other fields are written");
    world.apply(RECIPE, parent(json!({"status": {}}), sweet)).await;
    world.until(RECIPE, "r", "the second value", has("sweet")).await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_parent_with_two_finalizers_is_deleted_once_both_are_done() {
    let world = World::new().await;
    let finalize = |name: &'static str| {
        move |request: &SyncRequest| {
            let labels = request.parent.labels();
            Ok(match labels.get(name) {
                Some(_) => FinalizeResponse::done(),
                None => FinalizeResponse::retry_after(std::time::Duration::from_hours(1)),
            })
        }
    };
    let of = |name| with_finalizer(handler_of(name), finalize(name));
    let operators = world
        .start(|builder| {
            let builder = builder.register(recipe::config("cook"), of("cook"));
            builder.register(recipe::config("chef"), of("chef"))
        })
        .await;
    let maps = |name| json!({"children": maps(&[name])});
    world.apply(RECIPE, parent(maps("a"), maps("c"))).await;
    let both = until_both_are_synced(&world).await;
    let mut finalizers: Vec<_> = both["metadata"]["finalizers"].as_array().unwrap().clone();
    finalizers.sort_by_key(ToString::to_string);
    assert_eq!(finalizers, ["operetta.dev/chef", "operetta.dev/cook"]);
    world.api(RECIPE).delete("r", &DeleteParams::background()).await.unwrap();
    world.patch(RECIPE, "r", json!({"metadata": {"labels": {"chef": "done"}}})).await;
    let is_of_cook =
        |parent: &Value| parent["metadata"]["finalizers"] == json!(["operetta.dev/cook"]);
    world.until(RECIPE, "r", "the other finalizer", is_of_cook).await;
    world.patch(RECIPE, "r", json!({"metadata": {"labels": {"cook": "done"}}})).await;
    world.until(RECIPE, "r", "the parent deleted", Value::is_null).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_operator_that_stays_alone_writes_its_conditions_without_a_prefix_again() {
    let world = World::new().await;
    let operators = world.start(|builder| register("cook", builder)).await;
    let cook = json!({"children": maps(&["a"]), "status": {"taste": "salty"}});
    let chef = json!({"children": maps(&["c"]), "status": {"courses": [{"dish": "soup"}]}});
    world.apply(RECIPE, parent(cook, chef)).await;
    let alone = world.until_ready(RECIPE, "r").await;
    assert_eq!(types_of(&alone), ["Ready", "Synced"]);
    operators.stop().await;
    let operators = start_both(&world).await;
    let both = until_both_are_synced(&world).await;
    assert_eq!(types_of(&both).len(), 4, "those without a prefix are gone: {both}");
    operators.stop().await;

    let operators = world.start(|builder| register("cook", builder)).await;
    let is_alone = |parent: &Value| {
        condition(parent, "Ready")["status"] == "True"
            && !types_of(parent).iter().any(|ty| ty.starts_with("cook/"))
    };
    world.until(RECIPE, "r", "conditions without a prefix", is_alone).await;
    assert!(world.get(CONFIG_MAP, "c").await.is_object(), "the child of the other one stays");
    operators.stop().await;
}
