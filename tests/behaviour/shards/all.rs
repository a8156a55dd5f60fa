//! Lists and counts that are those of all processes, whichever of them is asked.

use std::collections::BTreeSet;

use futures::future::join;
use operetta::{supervisor::SupervisorBuilder, web::PlanFilter};
use serde_json::Value;
use tokio::net::TcpListener;

use super::{
    PARENTS, alone, create_parents, names, parents, process, process_of, sharding, until_all_ready,
    until_shared,
};
use crate::{
    recipe,
    started::http,
    world::{LEASE, Operators, World, eventually},
};

const LIST: &str = "/api/v1/operators/cook/parents";

async fn json(process: &Operators, path: &str) -> Value {
    let (code, body) = process.http(path).await;
    assert_eq!(code, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

/// A page, as a browser asks for it.
async fn page(process: &Operators, path: &str) -> String {
    let address = process.running().web().unwrap();
    let (code, page) = http(address, &format!("GET {path}"), "Accept: text/html\r\n").await;
    assert_eq!(code, 200, "{path}: {page}");
    page
}

/// The links to parents on a page, each as often as it is there.
fn linked(page: &str, namespace: &str) -> Vec<String> {
    let path = format!("\"/ui/operators/cook/parents/{namespace}/");
    page.split(&path).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// All names, from pages of five, of which the processes answer one after the other.
async fn paged(processes: [&Operators; 2], path: &str) -> Vec<String> {
    let (mut all, mut path_of_page) = (Vec::new(), format!("{path}limit=5"));
    for process in processes.iter().cycle() {
        let page = json(process, &path_of_page).await;
        all.extend(names(&page));
        let Some(token) = page["metadata"]["continue"].as_str() else { break };
        path_of_page = format!("{path}limit=5&continue={token}");
    }
    all
}

/// Waits until a process counts all parents as ready.
async fn until_all_counted(process: &Operators) {
    let ready = || async {
        json(process, "/api/v1/operators").await["items"][0]["parents"]["ready"].as_u64()
    };
    let expected = u64::try_from(PARENTS).ok();
    eventually("all parents are counted as ready", ready, |ready| *ready == expected).await;
}

#[operetta_harness::test]
async fn each_process_lists_and_counts_the_parents_of_all() {
    let world = World::new().await;
    let (first, second) = join(process(&world, "first"), process(&world, "second")).await;
    until_shared(&[&first, &second]).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    let own = [parents(&first).await, parents(&second).await];
    assert!(own.iter().all(|own| !own.is_empty()), "each has some: {own:?}");
    let mut expected = own.concat();
    expected.sort();
    assert_eq!(expected.len(), PARENTS);
    for process in [&first, &second] {
        until_all_counted(process).await;
        let list = json(process, LIST).await;
        assert_eq!((names(&list), &list["metadata"]), (expected.clone(), &serde_json::json!({})));
        assert_eq!(names(&json(process, "/api/v1/search").await), expected, "all are well");
        let found = json(process, "/api/v1/search?q=r-1").await;
        let ones: Vec<_> = expected.iter().filter(|it| it.starts_with("r-1")).cloned().collect();
        assert_eq!(names(&found), ones);
        let first_two = json(process, &format!("{LIST}?limit=2&phase=ready")).await;
        assert_eq!(names(&first_two), expected[..2]);
        assert_eq!(first_two["metadata"]["remainingItemCount"], PARENTS - 2);
    }
    assert_eq!(paged([&first, &second], &format!("{LIST}?")).await, expected);
    assert_eq!(paged([&second, &first], &format!("{LIST}?q=r-&")).await, expected);
    let (code, _) = alone(&first, "GET /api/v1/search").await;
    assert_eq!(code, 200);
    for path in ["/ui/operators/cook", "/ui/operators/cook?sort=-name", "/ui/search?q=r-"] {
        let (one, other) = (page(&first, path).await, page(&second, path).await);
        let (one, other) = (linked(&one, &world.namespace), linked(&other, &world.namespace));
        assert_eq!(one, other, "{path}");
        assert_eq!(one.len(), PARENTS, "{path}: each once");
        assert_eq!(BTreeSet::from_iter(&one), BTreeSet::from_iter(&expected), "{path}");
    }
    let path = format!("/ui/operators/cook/namespaces/{}", world.namespace);
    assert_eq!(linked(&page(&second, &path).await, &world.namespace).len(), PARENTS);
    let overview = page(&first, "/").await;
    assert!(overview.contains(&format!("{PARENTS} parents")), "{overview}");
    first.stop().await;
    second.stop().await;
}

#[operetta_harness::test]
async fn a_process_that_does_not_answer_is_named_and_the_rest_is_shown() {
    let world = World::new().await;
    // It accepts connections, and answers nothing.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let second = sharding(&world).as_identity("second").reached_at(url);
    let second = process_of(&world, second, world.cluster.connector());
    let (first, second) = join(process(&world, "first"), second).await;
    until_shared(&[&first, &second]).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    let own = parents(&first).await;
    assert!(own.len() < PARENTS && !own.is_empty());
    let missing = async |why: &str| {
        let list = json(&first, LIST).await;
        assert_eq!(names(&list), own);
        let missing = &list["metadata"]["missing"];
        assert_eq!(missing.as_array().map(Vec::len), Some(1), "{missing}");
        assert!(missing[0]["member"].as_str().unwrap().contains("second"), "{missing}");
        assert!(missing[0]["why"].as_str().unwrap().contains(why), "{missing}");
        for path in ["/api/v1/operators", "/api/v1/search"] {
            assert_eq!(json(&first, path).await["metadata"]["missing"], *missing, "{path}");
        }
        assert_eq!(json(&first, "/api/v1/operators/cook").await["missing"], *missing);
    };
    missing("no answer within 2 s").await;
    // Nobody listens there any more.
    drop(silent);
    missing("did not answer").await;
    for path in ["/", "/ui/operators/cook", "/ui/search"] {
        let page = page(&first, path).await;
        assert!(page.contains("did not answer: its parents are not shown."), "{path}: {page}");
    }
    let (code, body) = first.post("/api/v1/operators/cook/pause").await;
    assert_eq!(code, 502, "{body}");
    assert!(body.contains("not in") && body.contains("Send the command again"), "{body}");
    // The other one sees all.
    assert_eq!(names(&json(&second, LIST).await).len(), PARENTS);
    second.stop().await;
    let whole = || async {
        let list = json(&first, LIST).await;
        (names(&list).len(), list["metadata"].clone())
    };
    let is_whole = |(count, metadata): &(usize, Value)| {
        *count == PARENTS && *metadata == serde_json::json!({})
    };
    eventually("all parents, and nobody is missing", whole, is_whole).await;
    first.stop().await;
}

#[operetta_harness::test]
async fn an_operator_is_paused_and_resumed_in_all_processes() {
    let world = World::new().await;
    let (first, second) = join(process(&world, "first"), process(&world, "second")).await;
    until_shared(&[&first, &second]).await;
    let is_paused = async |process: &Operators| {
        let (_, body) = alone(process, "GET /api/v1/operators/cook").await;
        serde_json::from_str::<Value>(&body).unwrap().get("pause").is_some()
    };
    for (command, expected) in [("pause", true), ("resume", false)] {
        let (code, body) = second.post(&format!("/api/v1/operators/cook/{command}")).await;
        assert_eq!(code, 200, "{body}");
        for process in [&first, &second] {
            assert_eq!(is_paused(process).await, expected, "{command}");
        }
    }
    first.stop().await;
    second.stop().await;
}

#[operetta_harness::test]
async fn a_plan_is_of_all_parents_and_its_process_joins_no_group() {
    let world = World::new().await;
    let first = process(&world, "first").await;
    until_shared(&[&first]).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    let sharding = sharding(&world).as_identity("planner");
    let register = |builder: SupervisorBuilder| {
        let builder = builder.sharded(sharding).plan_only();
        builder.register(recipe::config("cook"), recipe::handler())
    };
    let planner = world.start(register).await;
    let (operator, namespace) = (Some("cook".to_owned()), Some(world.namespace.clone()));
    let plans = planner.running().plans(&PlanFilter { operator, namespace }).await.unwrap();
    assert_eq!(serde_json::to_value(&plans).unwrap()["lookedAt"], PARENTS);
    assert_eq!(planner.http("/api/v1/shards").await.0, 404);
    let leases = world.list(LEASE).await;
    let are_of_first = leases.iter().all(|it| it["metadata"]["name"] == "cooks-first");
    assert!(leases.len() == 1 && are_of_first, "{leases:?}");
    planner.stop().await;
    first.stop().await;
}
