//! The explanation of a parent over HTTP: the reason, the object and what to do.

use std::time::Duration;

use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, Operators, POD, World, eventually},
};

async fn start(world: &World) -> Operators {
    start_with(world, recipe::config("cook")).await
}

async fn start_with(world: &World, config: OperatorConfig) -> Operators {
    world.start(|builder| builder.register(config, recipe::sync)).await
}

/// The details of a parent, once they match.
async fn explained(
    world: &World,
    operators: &Operators,
    name: &str,
    matches: impl Fn(&Value) -> bool,
) -> Value {
    let path = format!("/api/v1/operators/cook/parents/{}/{name}", world.namespace);
    let shown = || async {
        let (_, body) = operators.http(&path).await;
        serde_json::from_str::<Value>(&body).unwrap_or_default()
    };
    eventually("the explanation", shown, matches).await
}

/// Whether the explanation has all these parts.
fn explains(shown: &Value, parts: &[&str]) -> bool {
    let why = shown["why"].as_str().unwrap_or_default();
    parts.iter().all(|part| why.contains(part))
}

#[operetta_harness::test]
async fn an_existing_object_that_is_not_owned_is_named_with_what_to_do() {
    let world = World::new().await;
    world.create(CONFIG_MAP, config_map("c", json!({"theirs": "yes"}))).await;
    let operators = start(&world).await;
    world
        .apply(RECIPE, recipe("r", &[config_map("c", json!({})), config_map("d", json!({}))]))
        .await;
    let child = format!("ConfigMap.v1 {}/c", world.namespace);
    let parts = [
        "already exists and is not owned",
        &child,
        "give the child another name, delete that object, or adopt it",
    ];
    // While it is retried there is no next time.
    let waits = |shown: &Value| explains(shown, &parts) && shown["nextWake"]["at"].is_string();
    let shown = explained(&world, &operators, "r", waits).await;
    assert_eq!(shown["phase"], "failing");
    let nodes = shown["children"].as_array().unwrap();
    let node = |name: &str| nodes.iter().find(|node| node["name"] == name).unwrap();
    assert_eq!(node("c")["readiness"]["state"], "Missing");
    assert_eq!(node("c")["decision"]["decision"], "Conflict");
    assert_eq!(node("d")["readiness"]["state"], "Exists", "the other child is written");
    let reconcile = &shown["history"][0];
    assert_eq!(
        [&reconcile["decisions"][0]["child"], &reconcile["decisions"][0]["decision"]],
        [&json!(child), &json!("Conflict")]
    );
    operators.stop().await;
}

#[operetta_harness::test]
async fn the_error_of_a_handler_is_shown_with_the_duration_of_each_step() {
    let world = World::new().await;
    let operators = start(&world).await;
    world.apply(RECIPE, acting("r", "fail")).await;
    let parts = ["the handler returned an error", "the oven is cold", "use the command sync"];
    let shown = explained(&world, &operators, "r", |shown| explains(shown, &parts)).await;
    let steps = &shown["history"][0]["stepMilliseconds"];
    assert!(steps["sync"].as_f64().is_some_and(|took| took > 0.0), "{steps}");
    assert_eq!(steps.get("apply"), None, "the step was not reached");
    world.apply(RECIPE, acting("p", "permanent")).await;
    let parts = ["no such dish", "not retried before that"];
    let shown = explained(&world, &operators, "p", |shown| explains(shown, &parts)).await;
    assert_eq!(shown["phase"], "stalled");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_missing_type_is_named_for_a_parent_whose_handler_was_never_called() {
    let world = World::new().await;
    let widgets = K8sType::namespaced("test.operetta.dev/v1", "Widget", "widgets");
    let config = recipe::config("cook").child_of_type(widgets, ChildConfig::apply());
    world.apply(RECIPE, recipe("r", &[])).await;
    let operators = start_with(&world, config).await;
    let parts = ["degraded", "widgets", "the handler is not called", "install the type"];
    let shown = explained(&world, &operators, "r", |shown| explains(shown, &parts)).await;
    assert_eq!(shown["phase"], "failing");
    operators.stop().await;
}

#[operetta_harness::test]
async fn unready_children_are_named_and_objects_of_a_child_are_below_it() {
    let world = World::new().await;
    let operators = start(&world).await;
    let containers = json!([{"name": "c", "image": "example.com/none"}]);
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": containers},
    });
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({})), pod])).await;
    world.until(POD, "p", "the pod", Value::is_object).await;
    let owner = world.until(CONFIG_MAP, "c", "the child", Value::is_object).await;
    let mut below = config_map("below", json!({}));
    below["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "cook"});
    below["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "c", "controller": true,
        "uid": owner["metadata"]["uid"],
    }]);
    world.create(CONFIG_MAP, below).await;
    let pod = format!("Pod.v1 {}/p", world.namespace);
    let matches = |shown: &Value| {
        let nodes = shown["children"].as_array().cloned().unwrap_or_default();
        let has_below = nodes.iter().any(|node| node["children"][0]["name"] == "below");
        has_below && explains(shown, &["it is not ready", &pod])
    };
    let shown = explained(&world, &operators, "r", matches).await;
    let nodes = shown["children"].as_array().unwrap();
    assert_eq!(nodes.len(), 2, "an object below is not a sibling: {nodes:#?}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_preview_compares_desired_and_live_without_writes_and_secrets() {
    let world = World::new().await;
    let operators = start(&world).await;
    let secret = |value: &str| {
        json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
            "stringData": {"password": value},
        })
    };
    let menu = |salt: &str| config_map("c", json!({"salt": salt}));
    world.apply(RECIPE, recipe("r", &[menu("much"), secret("old-sentinel")])).await;
    world.until_ready(RECIPE, "r").await;
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    let (code, _) = operators.post(&format!("{path}/pause")).await;
    assert_eq!(code, 200);
    let children = [menu("little"), secret("new-sentinel"), config_map("new", json!({"a": "b"}))];
    let mut parent = recipe("r", &children);
    parent["metadata"]["annotations"] = json!({"operetta.dev/paused": "true"});
    world.apply(RECIPE, parent).await;
    let diff = || async {
        let (_, body) = operators.http(&format!("{path}?diff=1")).await;
        // In clear text and in base64.
        for secret in ["old-sentinel", "new-sentinel", "b2xkLXNlbnRpbmVs", "bmV3LXNlbnRpbmVs"] {
            assert!(!body.contains(secret), "{secret}: {body}");
        }
        serde_json::from_str::<Value>(&body).unwrap_or_default()
    };
    let preview = |shown: &Value, name: &str| {
        let nodes = shown["children"].as_array().cloned().unwrap_or_default();
        let node = nodes.into_iter().find(|node| node["name"] == name);
        node.unwrap_or_default()["preview"].clone()
    };
    let shown = eventually("the diff", diff, |shown| {
        preview(shown, "new")["action"] == "Create" && preview(shown, "c")["action"] == "Update"
    })
    .await;
    let expected = json!([{"path": ".data.salt", "desired": "little", "live": "much"}]);
    assert_eq!(preview(&shown, "c")["differences"], expected);
    let hidden = "(redacted)";
    let expected = json!([{"path": ".data.password", "desired": hidden, "live": hidden}]);
    assert_eq!(preview(&shown, "s")["differences"], expected);
    assert_eq!(world.get(CONFIG_MAP, "new").await, Value::Null, "nothing was written");
    assert_eq!(world.get(CONFIG_MAP, "c").await["data"]["salt"], "much");
    // A parent that is up to date has no preview, and one whose handler fails has an error.
    world.apply(RECIPE, recipe("fine", &[config_map("fine", json!({}))])).await;
    world.until_ready(RECIPE, "fine").await;
    operators.settled().await;
    world.apply(RECIPE, acting("bad", "permanent")).await;
    let asked = |name: &'static str| {
        let (operators, namespace) = (&operators, &world.namespace);
        async move {
            let path = format!("/api/v1/operators/cook/parents/{namespace}/{name}?diff=1");
            let (_, body) = operators.http(&path).await;
            serde_json::from_str::<Value>(&body).unwrap_or_default()
        }
    };
    assert_eq!(asked("fine").await["children"][0].get("preview"), None);
    let has_error = |shown: &Value| {
        shown["previewError"].as_str().is_some_and(|it| it.contains("no such dish"))
    };
    eventually("the error of the preview", || asked("bad"), has_error).await;
    operators.stop().await;
}

/// Returns one more child with each call.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn one_more(request: &SyncRequest) -> Result<SyncResponse> {
    let names = (0..=request.children.len()).map(|number| number.to_string());
    Ok(SyncResponse::new().children(names.map(|name| config_map(&name, json!({})))))
}

#[operetta_harness::test]
async fn a_parent_whose_children_are_written_by_each_reconcile_is_waiting() {
    let world = World::new().await;
    let an_hour = Duration::from_hours(1);
    let config = recipe::config("cook").with_error_backoff(an_hour, an_hour);
    let operators = world.start(|builder| builder.register(config, one_more)).await;
    world.create(RECIPE, recipe("r", &[])).await;
    let waits = |shown: &Value| shown["nextWake"]["why"] == "Unsettled";
    let shown = explained(&world, &operators, "r", waits).await;
    assert_eq!((&shown["phase"], &shown["failures"]), (&json!("waiting"), &json!(0)), "{shown:#}");
    assert!(explains(&shown, &["because each reconcile had to write its children"]), "{shown:#}");
    let (_, metrics) = operators.http("/metrics").await;
    assert!(metrics.contains("operetta_backoffs_total{operator=\"cook\"} 0\n"), "{metrics}");
    world.patch(RECIPE, "r", json!({"metadata": {"annotations": {"look": "again"}}})).await;
    let is_reconciled = |shown: &Value| shown["history"][0]["number"] == 4;
    let shown = explained(&world, &operators, "r", is_reconciled).await;
    let causes: Vec<_> = shown["history"][0]["causes"].as_array().unwrap().iter().collect();
    assert!(causes.iter().any(|cause| cause["reason"] == "OwnWrites"), "{shown:#}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn flapping_is_explained_with_its_fields_and_what_to_do() {
    let world = World::new().await;
    // Flapping is forgotten after two seconds.
    let config = recipe::config("cook")
        .with_error_backoff(Duration::from_millis(50), Duration::from_secs(1));
    let operators = start_with(&world, config).await;
    world.apply(RECIPE, acting("r", "dice")).await;
    let parts = ["returns different values for the same request at .data.throw", "Fix the handler"];
    explained(&world, &operators, "r", |shown| explains(shown, &parts)).await;
    // With a stable response the flapping ends.
    world.apply(RECIPE, recipe("r", &[config_map("dice", json!({"throw": "six"}))])).await;
    let is_over = |shown: &Value| shown["phase"] == "ready" && !explains(shown, &["flapping"]);
    explained(&world, &operators, "r", is_over).await;
    operators.stop().await;
}
