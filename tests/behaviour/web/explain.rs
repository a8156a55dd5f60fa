//! The preview of a parent over HTTP.

use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, eventually},
};

async fn start(world: &World) -> Operators {
    world.start(|builder| builder.register(recipe::config("cook"), recipe::sync)).await
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
    operators.shown(&path).await;
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
