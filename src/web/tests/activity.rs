//! What happened, as JSON and as a page, and who may see it.

use std::time::{Duration, SystemTime};

use actix_web::http::{Method, header};
use serde_json::{Value, json};

use super::{
    Answer, access::with_token, ask, ask_through, get, request, reviewer::Reviewer, world::World,
};
use crate::{
    board::ParentState,
    history::{Decision, Drift, Outcome, Reconcile, Verb, WriteRecord},
    object::{ObjectKey, ResourceVersion, Uid},
    operator::OperatorName,
};

const API: &str = "/api/v1/activity";

fn operator() -> OperatorName {
    OperatorName::new("echo-server").unwrap()
}

/// Lets a parent write a child of its name, which others had removed if `is_removed`.
fn writes(world: &World, namespace: &str, parent: &str, is_removed: bool) {
    let (board, key) = (&world.state.board, ObjectKey::namespaced(namespace, parent));
    let uid = Uid::new(parent);
    board.record(&operator(), &key, ParentState::pending(uid.clone(), None));
    let drift = Drift { manager: None, from: ResourceVersion::new("1"), to: None };
    let write = WriteRecord {
        child: format!("Pod.v1 {namespace}/{parent}"),
        verb: Verb::Created,
        paths: Vec::new(),
        drift: is_removed.then(|| Box::new(drift)),
    };
    let mut reconcile = Reconcile::new(SystemTime::now(), Duration::ZERO, Outcome::Wrote);
    reconcile.decisions = [Decision::from(write)].into();
    board.update_parent(&operator(), &key, &uid, |state| {
        state.history.record(reconcile);
    });
}

fn messages(answer: &Answer) -> Vec<String> {
    let list = answer.json();
    let items = list["items"].as_array().unwrap_or_else(|| panic!("{list}")).iter();
    items.map(|item| item["message"].as_str().unwrap().to_owned()).collect()
}

async fn page(world: &World, path: &str) -> String {
    let browser = request(Method::GET, path).insert_header((header::ACCEPT, "text/html"));
    let answer = ask(&world.state, browser).await;
    assert_eq!(answer.code, 200, "{path}: {}", answer.body);
    answer.body
}

#[actix_web::test]
async fn what_others_removed_from_many_parents_is_one_entry() {
    let world = World::running();
    (0..12).for_each(|number| writes(&world, "ns", &format!("p{number:02}"), true));
    let answer = get(&world.state, &format!("{API}?kind=repaired")).await;
    let expected = "12 children of 12 parents were removed by others and created again";
    assert_eq!(messages(&answer), [expected]);
    let item = answer.json()["items"][0].clone();
    assert_eq!(item["parents"]["count"], 12);
    assert_eq!(item["parents"]["items"][0], json!({"namespace": "ns", "name": "p00"}));
    assert_eq!(item["operators"], json!({"count": 1, "names": ["echo-server"]}));
    let html = page(&world, "/ui/activity?kind=repaired").await;
    assert!(html.contains(expected), "{html}");
    assert!(html.contains("href=\"/ui/operators/echo-server/parents/ns/p00\""), "{html}");
    assert!(html.contains("and 2 more"), "{html}");
}

#[actix_web::test]
async fn the_newest_comes_first_and_pages_continue_with_the_same_filters() {
    let world = World::running();
    for parent in ["a", "b", "c"] {
        writes(&world, "ns", parent, false);
    }
    let first = get(&world.state, &format!("{API}?kind=created&limit=2")).await;
    let of = |parent: &str| format!("`Pod.v1 ns/{parent}` of `ns/{parent}` was created");
    assert_eq!(messages(&first), [of("c"), of("b")]);
    let metadata = first.json()["metadata"].clone();
    assert_eq!(metadata["remainingItemCount"], 1);
    let token = metadata["continue"].as_str().unwrap();
    let next = format!("{API}?kind=created&limit=2&continue={token}");
    let second = get(&world.state, &next).await;
    assert_eq!(messages(&second), [of("a")]);
    assert_eq!(second.json()["metadata"]["continue"], Value::Null);
    let other = get(&world.state, &format!("{API}?kind=deleted&continue={token}")).await;
    assert_eq!(other.code, 400, "{}", other.body);
}

#[actix_web::test]
async fn invalid_filters_are_refused() {
    let world = World::running();
    for query in ["kind=written", "since=yesterday", "limit=x", "continue=x"] {
        assert_eq!(get(&world.state, &format!("{API}?{query}")).await.code, 400, "{query}");
    }
    for query in ["kind=written", "since=yesterday", "continue=x"] {
        assert_eq!(get(&world.state, &format!("/ui/activity?{query}")).await.code, 400, "{query}");
    }
}

#[actix_web::test]
async fn a_user_of_one_namespace_sees_its_entries_and_nothing_else() {
    let (world, rules) = (World::running(), Reviewer::default().rules());
    writes(&world, "ns", "mine", false);
    writes(&world, "other", "theirs", false);
    let visit = |path: &str| {
        let request = with_token(request(Method::GET, path), "token-of-tim");
        ask_through(rules.clone(), &world.state, request)
    };
    for path in [
        API,
        "/api/v1/activity?namespace=ns",
        "/api/v1/activity?operator=echo-server",
        "/api/v1/activity?operator=echo-server&namespace=other",
        "/api/v1/activity?operator=echo-server&namespace=ns&namespace=other",
        "/ui/activity",
        "/ui/activity?operator=echo-server&namespace=other",
    ] {
        assert_eq!(visit(path).await.code, 403, "{path}");
    }
    let seen = visit("/api/v1/activity?operator=echo-server&namespace=ns").await;
    assert_eq!(messages(&seen), ["`Pod.v1 ns/mine` of `ns/mine` was created"]);
    let html = visit("/ui/activity?operator=echo-server&namespace=ns").await.body;
    assert!(html.contains("ns/mine") && !html.contains("theirs"), "{html}");
    assert!(!html.contains("spaces"), "not even the names of other operators: {html}");
}

#[actix_web::test]
async fn denials_are_shown_to_those_who_may_see_all() {
    let (world, rules) = (World::running(), Reviewer::default().rules());
    let visit = |path: &'static str, user: &str| {
        let request = with_token(request(Method::GET, path), &format!("token-of-{user}"));
        ask_through(rules.clone(), &world.state, request)
    };
    assert_eq!(visit("/api/v1/operators?secret=1", "bob").await.code, 403);
    let path = "/api/v1/activity?kind=denied";
    let expected = r#"The user "bob" was denied: get path "/operetta/api/v1/operators""#;
    assert_eq!(messages(&visit(path, "ann").await), [expected]);
    // Nobody knows who sends an invalid token.
    let guessed = with_token(request(Method::GET, "/api/v1/operators"), "guessed");
    assert_eq!(ask_through(rules.clone(), &world.state, guessed).await.code, 401);
    assert_eq!(messages(&visit(path, "ann").await), [expected]);
}

#[actix_web::test]
async fn a_pause_shows_who_paused_the_operator() {
    let world = World::running();
    world.pause("spaces");
    world.state.board.resume_operator(&OperatorName::new("spaces").unwrap(), Some("ann"));
    let answer = get(&world.state, &format!("{API}?kind=paused,resumed")).await;
    let expected =
        ["The operator `spaces` was resumed by \"ann\"", "The operator `spaces` was paused"];
    assert_eq!(messages(&answer), expected);
    assert_eq!(answer.json()["items"][0]["by"], "ann");
}

#[actix_web::test]
async fn it_is_said_when_older_entries_were_dropped() {
    let world = World::running();
    let limit = crate::board::ActivityLimit { bytes: 1_000_000, entries: 8 };
    world.state.board.limit_activity(limit);
    (0..10).for_each(|number| writes(&world, "ns", &format!("p{number}"), false));
    let answer = get(&world.state, API).await;
    let dropped = answer.json()["dropped"].clone();
    assert_eq!(dropped[0]["about"], "writes and failures", "{dropped}");
    let html = page(&world, "/ui/activity").await;
    assert!(html.contains("Older entries about writes and failures were dropped at "), "{html}");
}

#[actix_web::test]
async fn the_overview_shows_how_busy_each_operator_was() {
    let world = World::running();
    let start = std::time::Instant::now();
    assert!(!page(&world, "/").await.contains("class=\"sparks\""), "nothing is known yet");
    world.state.board.sample(start);
    writes(&world, "ns", "a", false);
    world.state.board.sample(start + Duration::from_secs(5));
    let html = page(&world, "/").await;
    assert!(html.contains("now 0.2 reconciles/s, 0 errors/s"), "{html}");
    assert!(html.contains("at most 3 waiting"), "{html}");
}
