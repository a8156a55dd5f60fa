//! `/api/v1` and `/`.

use std::time::SystemTime;

use actix_web::http::{Method, header};
use serde_json::{Value, json};

use super::{
    ask, get, request,
    world::{SENTINEL, World},
};
use crate::web::table::PATHS;

async fn json_at(world: &World, path: &str) -> Value {
    let answer = get(&world.state, path).await;
    assert_eq!(answer.code, 200, "{path}: {}", answer.body);
    answer.json()
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[actix_web::test]
async fn operators_show_their_types_limits_and_parents_by_phase() {
    let world = World::running().with_parent();
    let list = json_at(&world, "/api/v1/operators").await;
    assert_eq!(names(&list), ["echo-server", "spaces"]);
    let echo = &list["items"][0];
    assert_eq!(echo["state"], "running");
    assert_eq!(echo["parent"]["type"], "echoservers.example.com");
    assert_eq!(
        echo["children"][0],
        json!({
            "type": "pods", "apiVersion": "v1", "kind": "Pod", "namespaced": true,
            "updateStrategy": "Recreate", "conflicts": "Force", "propagation": "Background",
            "adopt": false, "recreateIfImmutable": false, "deleteWithFinalizer": false,
            "orphanOnDelete": false, "ignoresStatus": false, "ignoresReadiness": false,
        })
    );
    assert_eq!(echo["limits"]["handlerDeadlineSeconds"], 30.0);
    assert_eq!(echo["limits"]["deletions"]["percentPerReconcile"], 50);
    assert_eq!(echo["parents"]["failing"], 1);
    assert_eq!(
        echo["queue"],
        json!({
            "running": 16, "limit": 16, "longestWaitSeconds": 1.5,
            "waiting": {"deletion": 0, "change": 2, "follow-up": 0, "background": 1},
        })
    );
}

#[actix_web::test]
async fn an_operator_shows_the_caches_that_it_uses() {
    let world = World::running().with_parent();
    let operator = json_at(&world, "/api/v1/operators/echo-server").await;
    let caches = operator["caches"].as_array().unwrap();
    let types: Vec<&Value> = caches.iter().map(|cache| &cache["type"]).collect();
    assert_eq!(types, ["echoservers.example.com", "pods", "secrets"]);
    assert_eq!(caches[1]["lastEvent"], "1970-01-01T00:00:01.000Z");
}

#[actix_web::test]
async fn a_parent_shows_its_failure_history_and_children() {
    let world = World::running().with_parent();
    let parent = json_at(&world, "/api/v1/operators/echo-server/parents/ns/a").await;
    assert_eq!([&parent["phase"], &parent["message"]], ["failing", "no such image"]);
    assert_eq!(
        parent["conditions"],
        json!([{
            "type": "Ready", "status": "False", "message": "cannot log in with (redacted)",
        }])
    );
    let history = parent["history"].as_array().unwrap();
    assert_eq!(history[0]["outcome"]["reason"], "HandlerFailed");
    assert_eq!(history[1]["causes"][0]["reason"], "Restarted");
    assert_eq!(history[1]["decisions"], json!([{"child": "Pod.v1 ns/pod", "decision": "Created"}]));
    let children = parent["children"].as_array().unwrap();
    let kinds: Vec<&Value> = children.iter().map(|child| &child["kind"]).collect();
    assert_eq!(kinds, ["Pod", "Secret"]);
    assert_eq!([&children[0]["owned"], &children[0]["deleting"]], [true, false]);
}

#[actix_web::test]
async fn a_cluster_scoped_parent_has_no_namespace_in_its_path() {
    let world = World::running().with_namespaces(1);
    let parent = json_at(&world, "/api/v1/operators/spaces/parents/n00000").await;
    assert_eq!(parent["phase"], "pending");
    assert_eq!(parent.get("namespace"), None);
}

#[actix_web::test]
async fn the_pages_of_a_list_contain_every_item_once() {
    let world = World::running().with_namespaces(25);
    for path in ["/api/v1/operators/spaces/parents", "/api/v1/cache/namespaces"] {
        let (mut seen, mut token) = (Vec::new(), String::new());
        loop {
            let page = json_at(&world, &format!("{path}?limit=10&continue={token}")).await;
            seen.extend(names(&page).into_iter().map(ToOwned::to_owned));
            match page["metadata"]["continue"].as_str() {
                Some(next) => next.clone_into(&mut token),
                None => break,
            }
            assert_eq!(page["metadata"]["remainingItemCount"], 25 - seen.len());
        }
        let all: Vec<String> = (0..25).map(|number| format!("n{number:05}")).collect();
        assert_eq!(seen, all, "{path}");
    }
}

#[actix_web::test]
async fn the_cache_shows_types_keys_and_objects() {
    let world = World::running().with_parent();
    let types = json_at(&world, "/api/v1/cache").await;
    assert_eq!(types["items"].as_array().unwrap().len(), 4);
    for name in ["pods", "pods.v1."] {
        let pods = json_at(&world, &format!("/api/v1/cache/{name}")).await;
        assert_eq!((names(&pods), &pods["cache"]["objects"]), (vec!["pod"], &json!(1)));
    }
    let pod = json_at(&world, "/api/v1/cache/pods/ns/pod").await;
    assert_eq!([&pod["kind"], &pod["metadata"]["uid"]], ["Pod", "pod"]);
}

#[actix_web::test]
async fn an_object_is_returned_as_yaml_on_request() {
    let world = World::running().with_parent();
    let path = "/api/v1/cache/secrets/ns/secret";
    let json = json_at(&world, path).await;
    let by_header = request(Method::GET, path).insert_header((header::ACCEPT, "application/yaml"));
    let by_query = request(Method::GET, "/api/v1/cache/secrets/ns/secret?output=yaml");
    for asked in [by_header, by_query] {
        let answer = ask(&world.state, asked).await;
        assert_eq!(answer.header(header::CONTENT_TYPE), "application/yaml");
        let read: Value = serde_yaml_ng::from_str(&answer.body).unwrap();
        assert_eq!(read, json);
    }
    let both = request(Method::GET, "/api/v1/cache/secrets/ns/secret?output=json")
        .insert_header((header::ACCEPT, "application/yaml"));
    assert_eq!(ask(&world.state, both).await.json(), json);
}

#[actix_web::test]
async fn no_path_shows_the_values_of_a_secret() {
    let world = World::running().with_parent();
    for path in [
        "/api/v1/cache",
        "/api/v1/cache/secrets",
        "/api/v1/cache/secrets/ns/secret",
        "/api/v1/cache/pods/ns/pod",
        "/api/v1/operators",
        "/api/v1/operators/echo-server",
        "/api/v1/operators/echo-server/parents",
        "/api/v1/operators/echo-server/parents/ns/a",
        "/metrics",
        "/readyz?verbose",
    ] {
        let answer = get(&world.state, path).await;
        assert_eq!(answer.code, 200, "{path}");
        assert!(!answer.body.contains(SENTINEL), "{path}: {}", answer.body);
    }
    let secret = json_at(&world, "/api/v1/cache/secrets/ns/secret").await;
    assert_eq!(secret["data"], json!({"password": "(redacted)"}));
}

#[actix_web::test]
async fn the_index_lists_every_path_for_programs() {
    let world = World::running();
    let index = json_at(&world, "/").await;
    assert_eq!(index["paths"], json!(PATHS.each()));
    let livez = json!({"methods": "GET, HEAD", "path": "/livez", "summary": "Whether the process is alive"});
    assert!(index["endpoints"].as_array().unwrap().contains(&livez), "{index}");
}

#[actix_web::test]
async fn an_api_server_that_does_not_answer_begins_each_explanation() {
    let world = World::running().with_parent();
    let path = "/api/v1/operators/echo-server/parents/ns/a";
    let before = json_at(&world, path).await["why"].take();
    for cache in world.state.board.types() {
        let since = Some(SystemTime::UNIX_EPOCH);
        world.state.board.update_type(cache.store.ty(), |ty| ty.unreachable_since = since);
    }
    let parent = json_at(&world, path).await;
    assert_eq!(parent["why"]["what"], "The API server does not answer");
    let since = "it has been unreachable since 1970-01-01T00:00:00Z";
    assert_eq!(parent["why"]["because"][0], since);
    assert_eq!(parent["otherProblems"][0], before, "what was known is still shown");
    let operators = json_at(&world, "/api/v1/operators").await;
    assert_eq!(operators["items"][0]["unreachableSince"], "1970-01-01T00:00:00.000Z");
    // One cache that is answered is enough.
    let answered = world.state.board.types().swap_remove(0);
    world.state.board.update_type(answered.store.ty(), |ty| ty.unreachable_since = None);
    assert_eq!(json_at(&world, path).await["why"], before);
}
