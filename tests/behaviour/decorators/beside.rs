//! Several decorators of one parent, and a decorator beside the operator that owns the type.

use super::*;
use crate::{
    recipe::{self, RECIPE, recipe},
    world::{condition, is_synced},
};

/// Returns a label and a child with the name of the decorator, and the label that both may return.
fn sync_as(name: &'static str) -> impl Fn(&SyncRequest) -> Result<DecoratorResponse> {
    move |request| {
        let both = request.parent.annotations().get("both").cloned();
        let decoration = Decoration::new().label(format!("test.operetta.dev/{name}"), "yes");
        let decoration = match both.as_deref() {
            Some("same") => decoration.label(LABEL, "blue"),
            Some("different") => decoration.label(LABEL, name),
            _ => decoration,
        };
        let child = config_map(&format!("of-{name}"), json!({}));
        Ok(SyncResponse::new().child(child).decorating(decoration))
    }
}

#[operetta_harness::test(server)]
async fn two_decorators_of_one_parent_keep_their_own_things() {
    let world = World::new().await;
    deployment(&world, "d", Some(json!({}))).await;
    let both = |value: &str| json!({"metadata": {"annotations": {"both": value}}});
    world.patch(DEPLOYMENT, "d", both("same")).await;
    let names = ["one", "two"];
    let [one, two] = names.map(|name| config(name, &world.namespace));
    let register = |builder: SupervisorBuilder| {
        builder.register(one, sync_as("one")).register(two, sync_as("two"))
    };
    let operators = world.start(register).await;
    let label = |name: &str| format!("test.operetta.dev/{name}");
    let has_all = |it: &Value| {
        let labels = &it["metadata"]["labels"];
        names.iter().all(|name| labels[label(name)] == "yes") && labels[LABEL] == "blue"
    };
    world.until(DEPLOYMENT, "d", "the labels of both", has_all).await;
    for name in names {
        world.until(CONFIG_MAP, &format!("of-{name}"), "a child", Value::is_object).await;
        operators.until_synced(name, &world.namespace, "d").await;
    }
    // Both want another value of the label: neither takes it from the other one.
    world.patch(DEPLOYMENT, "d", both("different")).await;
    let board = operators.running().board();
    let key = ObjectKey::namespaced(&world.namespace, "d");
    let message = || async {
        let of = |name: &str| board.parent(name, &key).and_then(|parent| parent.message);
        names.iter().filter_map(|name| of(name)).collect::<Vec<_>>().join(" ")
    };
    let is_conflict = |message: &String| message.contains("`one`") && message.contains("`two`");
    eventually("a conflict that names both", message, is_conflict).await;
    decorate(&world, "d", Value::Null).await;
    let has_none = |it: &Value| it["metadata"]["labels"] == json!({"app": "d"});
    world.until(DEPLOYMENT, "d", "no labels left", has_none).await;
    for name in names {
        world.until(CONFIG_MAP, &format!("of-{name}"), "no child", Value::is_null).await;
    }
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_decorator_and_the_operator_that_owns_the_type_share_a_parent() {
    let world = World::new().await;
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let decorator = OperatorConfig::decorating("decorator", parent)
        .with_parent_annotations(DECORATE)
        .with_status_fields()
        .child::<ConfigMap>(ChildConfig::apply());
    let operators = world
        .start(|builder| {
            let builder = builder.register(recipe::config("cook"), recipe::handler());
            builder.register(decorator, sync)
        })
        .await;
    let mut body = recipe("r", &[config_map("own", json!({}))]);
    body["spec"]["status"] = json!({"taste": "salty"});
    let wanted = json!({
        "labels": {LABEL: "blue"}, "children": ["extra"], "status": {"courses": [{"dish": "soup"}]},
    });
    body["metadata"]["annotations"] = json!({DECORATE: wanted.to_string()});
    world.apply(RECIPE, body).await;
    let has_both = |it: &Value| {
        it["status"]["taste"] == "salty"
            && it["status"]["courses"][0]["dish"] == "soup"
            && it["metadata"]["labels"][LABEL] == "blue"
            && is_synced(it)
    };
    world.until(RECIPE, "r", "what both write", has_both).await;
    for name in ["own", "extra"] {
        world.until(CONFIG_MAP, name, "a child", Value::is_object).await;
    }
    operators.until_synced("cook", &world.namespace, "r").await;
    operators.until_synced("decorator", &world.namespace, "r").await;
    let settled = world.get(RECIPE, "r").await;
    assert!(has_both(&settled), "{settled}");
    assert_eq!(condition(&settled, "decorator/Synced"), Value::Null);

    let deselected = json!({"metadata": {"annotations": {DECORATE: null}}});
    world.patch(RECIPE, "r", deselected).await;
    let has_left = |it: &Value| {
        it["status"].get("courses").is_none()
            && it["metadata"].get("labels").is_none_or(|labels| labels.get(LABEL).is_none())
            && it["status"]["taste"] == "salty"
    };
    world.until(RECIPE, "r", "what the decorator wrote is gone", has_left).await;
    world.until(CONFIG_MAP, "extra", "its child deleted", Value::is_null).await;
    assert!(world.get(CONFIG_MAP, "own").await.is_object());
    operators.stop().await;
}
