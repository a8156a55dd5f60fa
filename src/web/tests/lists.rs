//! Filters of lists, and their continue tokens.

use std::{pin::pin, sync::mpsc};

use actix_web::http::StatusCode;
use futures::poll;
use serde_json::Value;
use tokio::{
    runtime::Builder,
    task::{LocalSet, spawn_blocking},
};

use super::{get, is_status, world::World};

const PARENTS: &str = "/api/v1/operators/spaces/parents";

async fn list(world: &World, path: &str) -> Value {
    let answer = get(&world.state, path).await;
    assert_eq!(answer.code, 200, "{path}: {}", answer.body);
    answer.json()
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[actix_web::test]
async fn parents_are_found_by_phase_text_and_namespace() {
    let world = World::running().with_parent().with_namespaces(12);
    let spaces = |query: &str| format!("{PARENTS}?{query}");
    let echo = |query: &str| format!("/api/v1/operators/echo-server/parents?{query}");
    for (path, expected) in [
        (spaces("q=N0001"), vec!["n00010", "n00011"]),
        (spaces("q=00003&phase=pending,failing"), vec!["n00003"]),
        (spaces("phase=failing"), vec![]),
        (spaces("namespace=ns"), vec![]),
        (echo("phase=failing"), vec!["a"]),
        (echo("phase=ready,failing&namespace=ns&q=S/A"), vec!["a"]),
        (echo("namespace=other"), vec![]),
        (echo("phase=&q=&namespace="), vec!["a"]),
    ] {
        assert_eq!(names(&list(&world, &path).await), expected, "{path}");
    }
}

#[actix_web::test]
async fn objects_are_found_by_namespace_labels_and_name() {
    let world = World::running().with_parent().with_namespaces(3);
    for (path, expected) in [
        ("pods?namespace=ns", vec!["pod"]),
        ("pods?namespace=other", vec![]),
        ("pods?labelSelector=operetta.dev/parent-uid%3Dp", vec!["pod"]),
        ("pods?labelSelector=!operetta.dev/parent-uid", vec![]),
        ("namespaces?fieldSelector=metadata.name!%3Dn00001", vec!["n00000", "n00002"]),
        ("namespaces?fieldSelector=metadata.name%3Dn00001&limit=1", vec!["n00001"]),
    ] {
        let found = list(&world, &format!("/api/v1/cache/{path}")).await;
        assert_eq!(names(&found), expected, "{path}");
    }
}

#[actix_web::test]
async fn a_continue_token_is_valid_only_for_its_list_and_filter() {
    let world = World::running().with_namespaces(25);
    for (path, filter) in [
        (PARENTS, "q=n0001"),
        (PARENTS, "phase=pending&q=n0001"),
        ("/api/v1/cache/namespaces", "fieldSelector=metadata.name!%3Dn00001"),
    ] {
        let first = list(&world, &format!("{path}?{filter}&limit=4")).await;
        let token = first["metadata"]["continue"].as_str().unwrap();
        let second = list(&world, &format!("{path}?{filter}&limit=4&continue={token}")).await;
        assert!(names(&second)[0] > names(&first)[3], "{second}");
        for other in [
            format!("{path}?limit=4&continue={token}"),
            format!("{path}?{filter}0&limit=4&continue={token}"),
            format!("/api/v1/operators/echo-server/parents?{filter}&continue={token}"),
            format!("/api/v1/cache/pods?{filter}&continue={token}"),
        ] {
            let answer = get(&world.state, &other).await;
            let message = is_status(&answer, StatusCode::BAD_REQUEST, "BadRequest");
            assert!(message.starts_with("continue: "), "{other}: {message}");
        }
    }
}

#[actix_web::test]
async fn the_remaining_count_is_shown_only_where_it_is_known() {
    let world = World::running().with_namespaces(25);
    let remaining = async |query: &str| {
        let page = list(&world, &format!("{PARENTS}?limit=10&{query}")).await;
        page["metadata"]["remainingItemCount"].as_u64()
    };
    assert_eq!(remaining("").await, Some(15));
    assert_eq!(remaining("phase=pending").await, Some(15));
    assert_eq!(remaining("q=n").await, None);
}

#[actix_web::test]
async fn the_age_of_the_last_event_is_shown() {
    let world = World::running();
    let pods = list(&world, "/api/v1/cache/pods").await;
    let age = pods["cache"]["lastEventAgeSeconds"].as_u64().unwrap();
    assert!(age > 1_700_000_000, "since 1970: {age}");
}

/// All blocking threads are busy: a list waits, and other requests are answered.
#[test]
fn a_list_of_many_objects_does_not_block_other_requests() {
    let runtime =
        Builder::new_current_thread().max_blocking_threads(1).enable_all().build().unwrap();
    for path in ["/ui/cache/namespaces", "/api/v1/cache/namespaces", "/ui/search", "/api/v1/search"]
    {
        LocalSet::new().block_on(&runtime, async {
            let world = World::running().with_namespaces(3);
            let (release, held) = mpsc::channel::<()>();
            let taken = spawn_blocking(move || held.recv());
            let mut list = pin!(get(&world.state, path));
            for _ in 0..20 {
                assert!(poll!(&mut list).is_pending(), "{path}");
                assert_eq!(get(&world.state, "/version").await.code, 200);
            }
            drop(release);
            assert_eq!(list.await.code, 200);
            assert!(taken.await.unwrap().is_err());
        });
    }
}
