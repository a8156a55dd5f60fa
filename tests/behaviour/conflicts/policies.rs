//! Fields that other managers hold.

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Service};
use kube::api::{Patch, PatchParams};
use operetta::{
    board::{ParentState, ReconcileStage},
    object::ObjectKey,
    prelude::*,
    testkit::eventually,
};
use serde_json::{Value, json};

use super::{DEPLOYMENT, events, message, start};
use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, Operators, SERVICE, World, condition},
};

/// A field that somebody holds of a child, with another value than is desired.
async fn with_held_field(world: &World) {
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much", "oil": "a"}))])).await;
    world.until_ready(RECIPE, "r").await;
    world.patch(CONFIG_MAP, "c", json!({"data": {"salt": "none"}})).await;
}

/// An operator that yields to the holder of such a field.
async fn start_yielding(world: &World) -> Operators {
    let policy = ChildConfig::apply().with_conflicts(ConflictPolicy::Yield);
    let operators = start(world, policy).await;
    with_held_field(world).await;
    operators
}

#[operetta_harness::test]
async fn a_field_of_another_manager_is_left_to_it_and_taken_when_it_lets_go() {
    let world = World::new().await;
    let operators = start_yielding(&world).await;
    let says_so = |parent: &Value| message(parent).contains(".data.salt (`by-hand`)");
    let parent = world.until(RECIPE, "r", "who holds it", says_so).await;
    assert_eq!(condition(&parent, "Ready")["status"], "True");
    assert_eq!(world.get(CONFIG_MAP, "c").await["data"], json!({"salt": "none", "oil": "a"}));
    // The rest is applied.
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much", "oil": "b"}))])).await;
    let has_oil = |child: &Value| child["data"] == json!({"salt": "none", "oil": "b"});
    world.until(CONFIG_MAP, "c", "the field that nobody else holds", has_oil).await;
    world.until(RECIPE, "r", "it again", says_so).await;
    assert_eq!(events(&world, "Conflict").await.len(), 1, "said once");
    let (status, page) =
        operators.http(&format!("/api/v1/operators/cook/parents/{}/r", world.namespace)).await;
    assert!(status == 200 && page.contains(".data.salt (`by-hand`)"), "{page}");
    // The other lets go.
    world.patch(CONFIG_MAP, "c", json!({"data": {"salt": null}})).await;
    let is_ours = |child: &Value| child["data"] == json!({"salt": "much", "oil": "b"});
    world.until(CONFIG_MAP, "c", "our value", is_ours).await;
    let is_quiet = |parent: &Value| message(parent) == "all children are up to date";
    world.until(RECIPE, "r", "nothing to say", is_quiet).await;
    operators.stop().await;
}

/// What it held is what the server puts there when nobody says anything.
#[operetta_harness::test]
async fn a_field_is_taken_when_the_other_lets_go_and_it_looks_as_before() {
    let world = World::new().await;
    let policy = ChildConfig::apply().with_conflicts(ConflictPolicy::Yield);
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent).child::<Service>(policy);
    let operators = world.start(|builder| builder.register(config, recipe::sync)).await;
    let service = |spec: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "c"}, "spec": spec});
    let wanted = json!({"ports": [{"port": 80}], "internalTrafficPolicy": "Local"});
    world.apply(RECIPE, recipe("r", &[service(wanted)])).await;
    world.until_ready(RECIPE, "r").await;
    let ci = PatchParams::apply("ci").force();
    let apply = async |body: Value| {
        world.api(SERVICE).patch("c", &ci, &Patch::Apply(body)).await.unwrap();
    };
    apply(service(json!({"internalTrafficPolicy": "Cluster"}))).await;
    let says_so = |parent: &Value| message(parent).contains(".spec.internalTrafficPolicy (`ci`)");
    world.until(RECIPE, "r", "who holds it", says_so).await;
    apply(service(json!({}))).await;
    let is_ours = |child: &Value| child["spec"]["internalTrafficPolicy"] == "Local";
    world.until(SERVICE, "c", "our value", is_ours).await;
    operators.stop().await;
}

/// Of the new object nobody holds anything.
#[operetta_harness::test]
async fn a_child_with_an_immutable_field_is_recreated_although_others_hold_another() {
    let world = World::new().await;
    let how = ChildConfig::apply().with_conflicts(ConflictPolicy::Yield).recreate_if_immutable();
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent).child::<Deployment>(how);
    let operators = world.start(|builder| builder.register(config, recipe::sync)).await;
    let deployment = |dish: &str| {
        let container = json!({"name": "c", "image": "example.dev/c:1"});
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "c"}, "spec": {
            "replicas": 0, "minReadySeconds": 1, "selector": {"matchLabels": {"dish": dish}},
            "template": {
                "metadata": {"labels": {"dish": dish}}, "spec": {"containers": [container]},
            },
        }})
    };
    world.apply(RECIPE, recipe("r", &[deployment("soup")])).await;
    world.until_ready(RECIPE, "r").await;
    let patient = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "c"},
        "spec": {"minReadySeconds": 2}});
    let ci = PatchParams::apply("ci").force();
    world.api(DEPLOYMENT).patch("c", &ci, &Patch::Apply(patient)).await.unwrap();
    let says_so = |parent: &Value| message(parent).contains(".spec.minReadySeconds (`ci`)");
    world.until(RECIPE, "r", "who holds it", says_so).await;
    world.apply(RECIPE, recipe("r", &[deployment("stew")])).await;
    let is_new = |child: &Value| child["spec"]["selector"]["matchLabels"]["dish"] == "stew";
    let child = world.until(DEPLOYMENT, "c", "the new object", is_new).await;
    assert_eq!(child["spec"]["minReadySeconds"], 1);
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_child_with_a_field_of_another_manager_causes_no_request_per_reconcile() {
    let world = World::that_logs_requests().await;
    let operators = start_yielding(&world).await;
    let says_so = |parent: &Value| message(parent).contains(".data.salt");
    world.until(RECIPE, "r", "who holds it", says_so).await;
    operators.until_synced("cook", &world.namespace, "r").await;
    let asked = || {
        let requests = world.our_requests().into_iter();
        requests.filter(|request| request.uri.contains("/configmaps/c")).count()
    };
    let (before, runs) = (asked(), operators.runs("cook", &world.namespace, "r"));
    for taste in ["a", "b", "c"] {
        world.patch(RECIPE, "r", json!({"spec": {"status": {"taste": taste}}})).await;
        let tastes = |parent: &Value| parent["status"]["taste"] == taste;
        world.until(RECIPE, "r", "the new status", tastes).await;
    }
    assert!(operators.runs("cook", &world.namespace, "r") > runs);
    assert_eq!(asked(), before);
    operators.stop().await;
}

#[operetta_harness::test]
async fn what_ties_a_child_to_its_parent_is_not_left_to_others() {
    let world = World::new().await;
    let operators = start_yielding(&world).await;
    // Or the write that is under way takes the label along.
    let says_so = |parent: &Value| message(parent).contains(".data.salt (`by-hand`)");
    world.until(RECIPE, "r", "who holds a field", says_so).await;
    let label = json!({"metadata": {"labels": {"app.kubernetes.io/managed-by": "me"}}});
    world.patch(CONFIG_MAP, "c", label).await;
    let is_tied =
        |child: &Value| child["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "cook";
    let child = world.until(CONFIG_MAP, "c", "our label", is_tied).await;
    assert_eq!(child["data"]["salt"], "none");
    operators.stop().await;
}

/// How many `ConfigMaps` are counted as in conflict now.
async fn in_conflict(operators: &Operators) -> String {
    let (_, metrics) = operators.http("/metrics").await;
    let gauge = "operetta_children_in_conflict{operator=\"cook\",type=\"configmaps\"} ";
    metrics.lines().find_map(|line| line.strip_prefix(gauge)).unwrap_or("none").to_owned()
}

/// The parent as HTTP shows it when no reconcile is under way or to come.
async fn at_rest(world: &World, operators: &Operators) -> Value {
    let key = ObjectKey::namespaced(&world.namespace, "r");
    let parent = || async { operators.running().board().parent("cook", &key) };
    let is_at_rest = |parent: &Option<ParentState>| {
        parent
            .as_ref()
            .is_some_and(|it| it.stage == ReconcileStage::NotDue && it.next_wake.is_none())
    };
    eventually("the parent at rest", parent, is_at_rest).await;
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    serde_json::from_str(&operators.http(&path).await.1).unwrap()
}

#[operetta_harness::test]
async fn a_child_with_a_field_of_another_manager_is_reported_and_not_written() {
    let world = World::new().await;
    let policy = ChildConfig::apply().with_conflicts(ConflictPolicy::Report);
    let operators = start(&world, policy).await;
    with_held_field(&world).await;
    let says_so = |parent: &Value| {
        let ready = condition(parent, "Ready");
        ready["status"] == "False"
            && ready["reason"] == "Conflict"
            && message(parent).contains(".data.salt (`by-hand`)")
    };
    world.until(RECIPE, "r", "a conflict", says_so).await;
    let before = world.get(CONFIG_MAP, "c").await;
    // Nor is what nobody else holds.
    let children =
        [config_map("c", json!({"salt": "much", "oil": "b"})), config_map("d", json!({}))];
    world.apply(RECIPE, recipe("r", &children)).await;
    world.until(CONFIG_MAP, "d", "the other child", Value::is_object).await;
    let is_observed = |parent: &Value| {
        condition(parent, "Ready")["observedGeneration"] == parent["metadata"]["generation"]
    };
    world.until(RECIPE, "r", "a look at the change", |p| is_observed(p) && says_so(p)).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, before);
    assert_eq!(events(&world, "Conflict").await.len(), 1, "said once");
    // Who is not ready is not called synced elsewhere.
    let shown = at_rest(&world, &operators).await;
    assert_eq!(shown["phase"], "waiting", "{shown:#}");
    assert_eq!(in_conflict(&operators).await, "1");
    assert!(shown["why"].as_str().unwrap().starts_with("It waits: ConfigMap.v1 "), "{shown:#}");
    world.patch(CONFIG_MAP, "c", json!({"data": {"salt": null}})).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(message(&parent), "all children are up to date");
    assert_eq!(at_rest(&world, &operators).await["phase"], "synced");
    assert_eq!(in_conflict(&operators).await, "0");
    assert_eq!(world.get(CONFIG_MAP, "c").await["data"], json!({"salt": "much", "oil": "b"}));
    operators.stop().await;
}

/// What replaces it may be what is left to others.
#[operetta_harness::test]
async fn a_child_that_is_not_wanted_stays_while_fields_of_another_are_reported_and_then_goes() {
    let world = World::new().await;
    let policy = ChildConfig::apply().with_conflicts(ConflictPolicy::Report);
    let operators = start(&world, policy).await;
    let held = config_map("c", json!({"salt": "much"}));
    world
        .apply(RECIPE, recipe("r", &[config_map("c", json!({})), config_map("old", json!({}))]))
        .await;
    world.until_ready(RECIPE, "r").await;
    world.patch(CONFIG_MAP, "c", json!({"data": {"salt": "little"}})).await;
    world.apply(RECIPE, recipe("r", &[held])).await;
    let both = [".data.salt (`by-hand`)", "/old: its deletion waits until every write is accepted"];
    let tells_both = |parent: &Value| both.iter().all(|said| message(parent).contains(said));
    let parent = world.until(RECIPE, "r", "why the deletion waits", tells_both).await;
    assert_eq!(condition(&parent, "Ready")["reason"], "Conflict");
    assert_eq!(condition(&parent, "Stalled")["status"], "True", "only a hand helps");
    assert!(world.get(CONFIG_MAP, "old").await.is_object());
    assert_eq!(in_conflict(&operators).await, "1");
    world.patch(CONFIG_MAP, "c", json!({"data": {"salt": null}})).await;
    world.until(CONFIG_MAP, "old", "the child gone", Value::is_null).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

/// The server answers that others hold its fields before it looks whose it is.
#[operetta_harness::test]
async fn an_object_of_somebody_else_is_no_child_with_fields_of_others() {
    let world = World::new().await;
    for (name, policy) in [("y", ConflictPolicy::Yield), ("r", ConflictPolicy::Report)] {
        let before = world.apply(CONFIG_MAP, config_map(name, json!({"salt": "theirs"}))).await;
        let operators = start(&world, ChildConfig::apply().with_conflicts(policy)).await;
        world.apply(RECIPE, recipe(name, &[config_map(name, json!({"salt": "much"}))])).await;
        let says_so = |parent: &Value| {
            condition(parent, "Ready")["reason"] == "Conflict"
                && message(parent).contains("already exists and is not owned by this parent (it has no controller)")
        };
        world.until(RECIPE, name, "whose it is", says_so).await;
        assert_eq!(world.get(CONFIG_MAP, name).await, before);
        let counted = || in_conflict(&operators);
        eventually("a conflict", counted, |counted| counted == "1").await;
        world.delete(RECIPE, name).await;
        eventually("no conflict of who is gone", counted, |counted| counted == "0").await;
        operators.stop().await;
    }
}

/// What it had of others is theirs still, down to who manages it.
/// Theirs is one that controls nothing.
#[operetta_harness::test]
async fn what_ties_a_child_to_its_parent_is_taken_also_where_conflicts_are_only_reported() {
    let world = World::new().await;
    let policy = ChildConfig::apply().with_conflicts(ConflictPolicy::Report);
    let operators = start(&world, policy).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    world.until_ready(RECIPE, "r").await;
    let label = json!({"metadata": {"labels": {"app.kubernetes.io/managed-by": "me"}}});
    world.patch(CONFIG_MAP, "c", label).await;
    let is_tied =
        |child: &Value| child["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "cook";
    world.until(CONFIG_MAP, "c", "its label", is_tied).await;
    operators.stop().await;
}
