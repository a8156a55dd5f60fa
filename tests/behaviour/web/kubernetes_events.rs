//! Kubernetes Events about a parent and its children, read on request.

use kube::api::ListParams;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, CORE_EVENT, EVENT, Kind, Operators, POD, World, eventually},
};

async fn start(world: &World) -> Operators {
    world.start(|builder| builder.register(recipe::config("cook"), recipe::handler())).await
}

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "example.com/none"}]},
    })
}

/// Creates an Event about an object, as the scheduler does.
async fn emit(world: &World, (kind, name): (Kind, &str), reason: &str, last: &str) {
    let about = world.get(kind, name).await;
    let event = json!({
        "metadata": {"name": format!("{name}.{}", reason.to_lowercase())},
        "involvedObject": {
            "apiVersion": kind.0, "kind": kind.1, "name": name, "namespace": world.namespace,
            "uid": about["metadata"]["uid"],
        },
        "type": "Warning", "reason": reason, "message": format!("message of {reason}"), "count": 4,
        "source": {"component": "default-scheduler"},
        "firstTimestamp": "2001-01-01T00:00:00Z", "lastTimestamp": last,
    });
    world.create(CORE_EVENT, event).await;
}

/// The Events about a parent, once they match.
async fn shown(
    world: &World,
    operators: &Operators,
    name: &str,
    matches: impl Fn(&Value) -> bool,
) -> Value {
    let path = format!("/api/v1/operators/cook/parents/{}/{name}?events=1", world.namespace);
    let events = || async {
        let (code, body) = operators.shown(&path).await;
        assert_eq!(code, 200, "{body}");
        serde_json::from_str::<Value>(&body).unwrap()["events"].clone()
    };
    eventually("the Events", events, matches).await
}

fn reasons(events: &Value) -> Vec<&str> {
    let items = events["items"].as_array().unwrap().iter();
    items.map(|item| item["reason"].as_str().unwrap()).collect()
}

#[operetta_harness::test(server)]
async fn events_about_a_parent_and_its_children_are_shown_newest_first() {
    let world = World::new().await;
    world.create(CONFIG_MAP, config_map("taken", json!({"theirs": "yes"}))).await;
    let operators = start(&world).await;
    world.apply(RECIPE, recipe("r", &[config_map("taken", json!({})), pod("p")])).await;
    world.until(POD, "p", "the pod", Value::is_object).await;
    world.create(POD, pod("stranger")).await;
    emit(&world, (POD, "p"), "FailedScheduling", "2099-01-01T00:00:00Z").await;
    emit(&world, (POD, "p"), "Pulled", "2001-01-01T00:00:00Z").await;
    emit(&world, (POD, "stranger"), "Killing", "2099-01-01T00:00:00Z").await;
    // The operator emits an Event about the conflict.
    let all = ["FailedScheduling", "Conflict", "Pulled"];
    let events = shown(&world, &operators, "r", |events| reasons(events) == all).await;
    let item = |at: usize| &events["items"][at];
    let object = json!({"kind": "Pod", "namespace": world.namespace, "name": "p"});
    assert_eq!(
        *item(0),
        json!({
            "type": "Warning", "reason": "FailedScheduling", "object": object, "count": 4,
            "message": "message of FailedScheduling", "source": "default-scheduler",
            "firstSeen": "2001-01-01T00:00:00.000Z", "lastSeen": "2099-01-01T00:00:00.000Z",
        })
    );
    assert_eq!([&item(1)["object"]["kind"], &item(1)["object"]["name"]], ["Recipe", "r"]);
    assert_eq!(item(1)["source"], "operetta.dev/cook");
    assert_eq!([&events["omitted"], &events["objectsOmitted"]], [0, 0]);
    assert_eq!(events.get("errors"), None, "{events}");
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn events_of_both_api_groups_are_selected_by_their_object() {
    let world = World::new().await;
    for name in ["p", "q"] {
        world.create(POD, pod(name)).await;
        emit(&world, (POD, name), "FailedScheduling", "2099-01-01T00:00:00Z").await;
    }
    emit(&world, (POD, "q"), "Pulled", "2099-01-01T00:00:00Z").await;
    let uid = world.get(POD, "p").await["metadata"]["uid"].as_str().unwrap().to_owned();
    let selected = |kind: Kind, selector: String| {
        let api = world.api(kind);
        async move {
            let list = api.list(&ListParams::default().fields(&selector)).await;
            list.map(|list| list.items.len()).map_err(|error| match error {
                kube::Error::Api(status) => (status.code, status.message),
                other => panic!("{other}"),
            })
        }
    };
    for (kind, selector, found) in [
        (CORE_EVENT, format!("involvedObject.uid={uid}"), 1),
        (CORE_EVENT, "involvedObject.kind=Pod,involvedObject.name=q".to_owned(), 2),
        (CORE_EVENT, "involvedObject.name=q,reason=Pulled,type=Warning".to_owned(), 1),
        (CORE_EVENT, "source=default-scheduler".to_owned(), 3),
        (CORE_EVENT, format!("involvedObject.uid!={uid}"), 2),
        (EVENT, format!("regarding.uid={uid}"), 1),
        (EVENT, "regarding.kind=Pod,regarding.name=q".to_owned(), 2),
        (EVENT, "reason=Pulled,type=Warning".to_owned(), 1),
    ] {
        assert_eq!(selected(kind, selector.clone()).await, Ok(found), "{selector}");
    }
    for (kind, field) in [(CORE_EVENT, "regarding.uid"), (EVENT, "involvedObject.uid")] {
        let refused = selected(kind, format!("{field}={uid}")).await.unwrap_err();
        assert_eq!(refused, (400, format!("field label not supported: {field}")));
    }
}
