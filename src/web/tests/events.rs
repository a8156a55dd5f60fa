//! `/api/v1/events`.

use std::{
    sync::atomic::Ordering,
    time::{Duration, SystemTime},
};

use actix_web::{
    body::to_bytes,
    http::{
        Method, StatusCode,
        header::{self, HeaderMap},
    },
    test::{call_service, init_service},
};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{ask, get, is_status, open_gate, request, reviewer::Reviewer, world::World};
use crate::{
    board::{MAX_LISTENERS, OperatorState, ParentPhase, ParentState},
    history::{FailureKind, Outcome, Reconcile},
    object::{ObjectKey, Uid},
    operator::OperatorName,
    web::{
        WebState, access::Target, origin::Protocol, request_rules::RequestRules, server::app, ui,
    },
};

/// An event without its number.
fn events(text: &str) -> Vec<(String, Value)> {
    let event = |block: &str| {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
        let data = serde_json::from_str(field("data: ").unwrap_or("null")).unwrap();
        field("event: ").map(|kind| (kind.to_owned(), data))
    };
    text.split("\n\n").filter_map(event).collect()
}

fn kinds(text: &str) -> Vec<String> {
    events(text).into_iter().map(|(kind, _)| kind).collect()
}

/// Listens, lets something happen, and returns everything that a reader received until the end.
pub(super) async fn received(world: &World, path: &str, happens: impl FnOnce()) -> String {
    let service = init_service(app(open_gate(), world.state.clone())).await;
    let response = call_service(&service, request(Method::GET, path).to_request()).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers().get(header::CONTENT_TYPE).unwrap(), "text/event-stream");
    happens();
    world.state.board.begin_stopping();
    let Ok(body) = to_bytes(response.into_body()).await else { panic!("the body is incomplete") };
    String::from_utf8(body.to_vec()).unwrap()
}

fn name(operator: &str) -> OperatorName {
    OperatorName::new(operator).unwrap()
}

/// Reconciles the parent `ns/a`, and changes another operator and a type.
fn something_happens(state: &WebState) {
    let (key, uid) = (ObjectKey::namespaced("ns", "a"), Uid::new("p"));
    let board = &state.board;
    board.record(&name("echo-server"), &key, ParentState::pending(uid.clone(), None));
    board.update_parent(&name("echo-server"), &key, &uid, |parent| {
        let outcome =
            Outcome::Failed { reason: FailureKind::HandlerFailed, message: "a\nb".into() };
        let took = Duration::from_micros(1500);
        parent.history.record(Reconcile::new(SystemTime::UNIX_EPOCH, took, outcome));
        parent.phase = ParentPhase::Failing;
    });
    let reasons = vec!["no CRD".to_owned()];
    board.set_operator(&name("spaces"), OperatorState::Degraded { reasons });
    board.update_type(&super::world::pods(), |ty| ty.restarts = 1);
    board.forget(&name("echo-server"), &key);
}

#[actix_web::test]
async fn a_reader_receives_all_changes() {
    let world = World::running();
    let text = received(&world, "/api/v1/events", || something_happens(&world.state)).await;
    let parent = json!({"operator": "echo-server", "namespace": "ns", "name": "a", "uid": "p"});
    let with = |more: Value| {
        let mut all = parent.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let reconcile = json!({
        "number": 1, "durationMilliseconds": 1.5, "writes": 0,
        "outcome": {"result": "Failed", "reason": "HandlerFailed", "message": "a\nb"},
    });
    let expected = [
        ("hello", json!({})),
        ("phase", with(json!({"phase": "pending"}))),
        ("reconcile", with(json!({"phase": "failing", "reconcile": reconcile}))),
        ("operator", json!({"operator": "spaces", "state": "degraded", "reasons": ["no CRD"]})),
        (
            "type",
            json!({"type": "pods", "synced": true, "restarts": 1, "undecodable": 0,
                   "deletionsHeld": false}),
        ),
        ("gone", parent),
        ("stopping", json!({"message": "the process is stopping"})),
    ];
    assert_eq!(events(&text), expected.map(|(kind, data)| (kind.to_owned(), data)));
    let numbers: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    assert_eq!(numbers, ["1", "2", "3", "4", "5", "6"]);
    assert!(text.starts_with("retry: "), "{text}");
}

#[actix_web::test]
async fn a_reader_receives_only_the_selected_changes() {
    for (query, expected) in [
        ("operator=spaces", vec!["operator"]),
        ("operator=echo-server", vec!["phase", "reconcile", "type", "gone"]),
        ("operator=echo-server&namespace=ns&name=a", vec!["phase", "reconcile", "gone"]),
        ("operator=spaces&name=n", vec!["operator"]),
        ("operator=spaces&name=n&kind=reconcile", vec![]),
        ("namespace=ns&name=a&kind=reconcile", vec!["reconcile"]),
        ("namespace=other", vec![]),
        ("name=a&kind=type,gone", vec!["gone"]),
        ("kind=type", vec!["type"]),
    ] {
        let world = World::running();
        let path = format!("/api/v1/events?{query}");
        let text = received(&world, &path, || something_happens(&world.state)).await;
        let expected = [vec!["hello"], expected, vec!["stopping"]].concat();
        assert_eq!(kinds(&text), expected, "{query}");
    }
}

#[actix_web::test]
async fn a_slow_reader_is_informed_and_disconnected_and_blocks_nothing() {
    let world = World::running();
    let service = init_service(app(open_gate(), world.state.clone())).await;
    let asked = request(Method::GET, "/api/v1/events").to_request();
    let response = call_service(&service, asked).await;
    for number in 0..20_000_u64 {
        world.state.board.update_type(&super::world::pods(), |ty| ty.restarts = number + 1);
    }
    let Ok(body) = to_bytes(response.into_body()).await else { panic!("the body is incomplete") };
    let events = events(std::str::from_utf8(&body).unwrap());
    let (kind, data) = events.last().unwrap();
    assert_eq!((events.len(), kind.as_str()), (2, "dropped"));
    assert!(data["missed"].as_u64().unwrap() > 10_000, "{data}");
}

/// What a reader with this header receives until the end of the stream, of whatever `happens` meanwhile.
async fn received_by(
    (world, rules): (&World, RequestRules),
    credential: (&str, &str),
    happens: impl AsyncFnOnce(),
) -> Vec<String> {
    let service = init_service(app(rules, world.state.clone())).await;
    let asked = request(Method::GET, "/api/v1/events").insert_header(credential).to_request();
    let response = call_service(&service, asked).await;
    assert_eq!(response.status(), StatusCode::OK);
    happens().await;
    let Ok(body) = to_bytes(response.into_body()).await else { panic!("the body is incomplete") };
    kinds(str::from_utf8(&body).unwrap())
}

#[actix_web::test]
async fn a_stream_ends_with_the_access_of_its_reader() {
    tokio::time::pause();
    let ann = ("Authorization", "Bearer token-of-ann");
    let gus = ("Authorization", "Bearer token-of-gus");
    for (reader, lost) in [(ann, "the token"), (gus, "the group"), (ann, "the reviews")] {
        let (world, reviewer) = (World::running(), Reviewer::default());
        let since = Instant::now();
        let is_lost = match lost {
            "the token" => &reviewer.is_revoked,
            "the group" => &reviewer.has_left,
            _ => &reviewer.is_down,
        };
        let happens = async || is_lost.store(true, Ordering::SeqCst);
        let kinds = received_by((&world, reviewer.rules()), reader, happens).await;
        assert_eq!(kinds, ["hello"]);
        assert!(since.elapsed() <= Duration::from_secs(30), "{:?}", since.elapsed());
    }
    let (world, reviewer) = (World::running(), Reviewer::default());
    let happens = async || {
        tokio::time::sleep(Duration::from_mins(5)).await;
        world.state.board.begin_stopping();
    };
    let kinds = received_by((&world, reviewer.rules()), ann, happens).await;
    assert_eq!(kinds, ["hello", "stopping"], "access that is kept");
}

#[actix_web::test]
async fn a_stream_ends_with_the_session_of_its_reader() {
    tokio::time::pause();
    let (world, reviewer) = (World::running(), Reviewer::default());
    let rules = reviewer.rules();
    let access = rules.access.clone().unwrap();
    let log_in = ui::open_session(
        &access,
        "token-of-ann".into(),
        vec![Target::path("/")],
        [127, 0, 0, 1].into(),
    );
    let (session, _) = log_in.await.unwrap();
    let since = Instant::now();
    let cookie = format!("operetta={session}");
    let headers = HeaderMap::from_iter([(header::COOKIE, cookie.parse().unwrap())]);
    let happens = async || access.logins().end_of(&headers, Protocol::Http);
    let kinds = received_by((&world, rules), ("Cookie", &cookie), happens).await;
    assert_eq!((kinds, since.elapsed()), (Vec::new(), Duration::ZERO));
}

#[actix_web::test]
async fn a_thousand_readers_receive_the_same() {
    let world = World::running();
    let service = init_service(app(open_gate(), world.state.clone())).await;
    let mut bodies = Vec::new();
    for _ in 0..1000 {
        let asked = request(Method::GET, "/api/v1/events?kind=operator").to_request();
        bodies.push(call_service(&service, asked).await.into_body());
    }
    something_happens(&world.state);
    world.state.board.begin_stopping();
    for body in bodies {
        let Ok(body) = to_bytes(body).await else { panic!("the body is incomplete") };
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert_eq!(kinds(&text), ["hello", "operator", "stopping"]);
    }
}

#[actix_web::test]
async fn readers_beyond_the_limit_are_refused_until_others_leave() {
    let world = World::running();
    let board = &world.state.board;
    let listeners: Vec<_> = (0..MAX_LISTENERS).map(|_| board.subscribe().unwrap()).collect();
    let answer = get(&world.state, "/api/v1/events").await;
    is_status(&answer, StatusCode::TOO_MANY_REQUESTS, "TooManyRequests");
    assert_eq!(answer.header(header::RETRY_AFTER), "5");
    drop(listeners);
    assert_eq!(kinds(&received(&world, "/api/v1/events", || ()).await), ["hello", "stopping"]);
}

#[actix_web::test]
async fn a_disconnected_reader_is_removed() {
    let world = World::running();
    let service = init_service(app(open_gate(), world.state.clone())).await;
    for _ in 0..2 * MAX_LISTENERS {
        let asked = request(Method::GET, "/api/v1/events").to_request();
        assert_eq!(call_service(&service, asked).await.status(), StatusCode::OK);
    }
}

#[actix_web::test]
async fn an_invalid_filter_is_refused() {
    let world = World::running();
    let nobody = get(&world.state, "/api/v1/events?operator=nobody").await;
    is_status(&nobody, StatusCode::NOT_FOUND, "NotFound");
    let kind = get(&world.state, "/api/v1/events?kind=reconcile,birth").await;
    let message = is_status(&kind, StatusCode::BAD_REQUEST, "BadRequest");
    assert!(message.contains("`birth`") && message.contains("phase"), "{message}");
    let head = ask(&world.state, request(Method::HEAD, "/api/v1/events")).await;
    assert_eq!((head.code, head.body.as_str()), (200, ""));
    world.state.board.begin_stopping();
    let late = get(&world.state, "/api/v1/events").await;
    is_status(&late, StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable");
}
