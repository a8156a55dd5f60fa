//! `/livez`, `/readyz` and `/metrics`.

use actix_web::http::{Method, header};

use super::{
    ask, get, request,
    world::{World, pods},
};
use crate::{
    board::{CredentialState, NamespaceState, OperatorState, TypeError, TypeState},
    plan::UndeclaredField,
};

const FORBIDDEN: &str =
    r#"forbidden: User "x" cannot list resource "pods" in API group "" at the cluster scope"#;

fn forbid_pods(world: &World) {
    let permission = Some("get, list, watch on pods".to_owned());
    let error = Some(TypeError { message: FORBIDDEN.to_owned(), permission });
    world.state.board.set_type(&pods(), TypeState { error, ..TypeState::default() });
}

fn degraded(reason: &str) -> OperatorState {
    OperatorState::Degraded { reasons: vec![reason.to_owned()] }
}

#[actix_web::test]
async fn a_process_that_answers_is_alive() {
    let world = World::new();
    for path in ["/livez", "/healthz"] {
        let answer = get(&world.state, path).await;
        assert_eq!((answer.code, answer.body.as_str()), (200, "ok"), "{path}");
    }
}

#[actix_web::test]
async fn a_process_is_ready_when_every_operator_is_running() {
    let world = World::running();
    let answer = get(&world.state, "/readyz").await;
    assert_eq!((answer.code, answer.body.as_str()), (200, "ok"));
    let verbose = get(&world.state, "/readyz?verbose").await;
    for line in ["[+]operator/echo-server ok", "[+]type/pods ok", "readyz check passed"] {
        assert!(verbose.body.lines().any(|shown| shown == line), "{line} in\n{}", verbose.body);
    }
}

#[actix_web::test]
async fn the_process_is_not_ready_while_its_credentials_are_not_accepted() {
    let (world, credentials) = (World::running(), CredentialState::default());
    world.state.board.show_credentials(credentials.clone());
    assert_eq!(get(&world.state, "/readyz").await.code, 200);
    credentials.set(Some("the credentials of user \"u\" are not accepted".to_owned()));
    let answer = get(&world.state, "/readyz").await;
    let line = "[-]credentials the credentials of user \"u\" are not accepted\n";
    assert!(answer.code == 503 && answer.body.contains(line), "{}", answer.body);
    credentials.set(None);
    assert_eq!(get(&world.state, "/readyz").await.code, 200);
}

#[actix_web::test]
async fn the_process_is_not_ready_while_an_operator_starts() {
    let world = World::running();
    let waiting_for = vec!["pods".to_owned(), "services".to_owned()];
    world.set("echo-server", OperatorState::Starting { waiting_for });
    let answer = get(&world.state, "/readyz").await;
    assert_eq!(answer.code, 503);
    let line = "[-]operator/echo-server starting: waiting for pods, services\n";
    assert!(answer.body.contains(line), "{}", answer.body);
    assert!(answer.body.ends_with("readyz check failed\n"));
    assert_eq!(get(&world.state, "/readyz/spaces").await.code, 200);
}

/// All are counted, although only some are listed, and the operator stays ready.
#[actix_web::test]
async fn undecodable_objects_are_reported_for_operators_that_use_the_type() {
    let world = World::running().with_undecodable_pods(101);
    let line = "[-]type/pods 101 objects cannot be decoded and are ignored: see /api/v1/cache/pods";
    for (path, is_expected) in [
        ("/readyz?verbose", true),
        ("/readyz/echo-server?verbose", true),
        ("/readyz/spaces?verbose", false),
    ] {
        let answer = get(&world.state, path).await;
        let is_shown = answer.body.lines().any(|shown| shown == line);
        assert_eq!((answer.code, is_shown), (200, is_expected), "{path}: {}", answer.body);
    }
}

#[actix_web::test]
async fn held_deletions_are_reported_and_do_not_affect_readiness() {
    let world = World::running();
    let state = TypeState { deletions_held: true, ..TypeState::default() };
    world.state.board.set_type(&pods(), state);
    let answer = get(&world.state, "/readyz?verbose").await;
    let line = "[-]type/pods the API server returned an earlier resourceVersion";
    assert!(answer.code == 200 && answer.body.contains(line), "{}", answer.body);
}

/// Fields that only the framework writes are not a problem.
#[actix_web::test]
async fn undeclared_status_fields_are_reported_and_do_not_affect_readiness() {
    let world = World::running();
    let (own, odd) = (UndeclaredField::own("conditions"), ".status.odd".to_owned());
    world.lacks("spaces", std::slice::from_ref(&own));
    world.lacks("echo-server", &[UndeclaredField::returned(odd), own]);
    let (ours, theirs) = (
        "[+]status/spaces not written, because namespaces does not declare them: .status.conditions",
        "[-]status/echo-server not written, because echoservers.example.com does not declare them: \
         .status.odd (returned by the handler), .status.conditions",
    );
    for (path, expected) in [
        ("/readyz?verbose", vec![theirs, ours]),
        ("/readyz/echo-server?verbose", vec![theirs]),
        ("/readyz/spaces?verbose", vec![ours]),
    ] {
        let answer = get(&world.state, path).await;
        let shown: Vec<&str> = answer.body.lines().filter(|it| it.contains("]status/")).collect();
        assert_eq!((answer.code, shown), (200, expected), "{path}");
    }
    let page = get(&world.state, "/ui/operators/echo-server").await.body;
    assert!(page.contains(".status.odd (returned by the handler), .status.conditions"), "{page}");
    let metrics = get(&world.state, "/metrics").await.body;
    for (labels, fields) in [
        (r#"operator="echo-server",wanted_by="handler""#, 1),
        (r#"operator="echo-server",wanted_by="framework""#, 1),
        (r#"operator="spaces",wanted_by="handler""#, 0),
    ] {
        let line = format!("operetta_undeclared_status_fields{{{labels}}} {fields}");
        assert!(metrics.lines().any(|shown| shown == line), "{line} in\n{metrics}");
    }
}

#[actix_web::test]
async fn a_degraded_operator_with_a_reason_is_not_ready_and_the_process_is() {
    let world = World::running();
    forbid_pods(&world);
    world.set("echo-server", degraded("missing permission: get, list, watch on pods"));
    assert_eq!(get(&world.state, "/readyz").await.code, 200);
    let verbose = get(&world.state, "/readyz?verbose").await.body;
    for line in [
        "[-]operator/echo-server degraded: missing permission: get, list, watch on pods".to_owned(),
        format!("[-]type/pods failed: {FORBIDDEN} (permission needed: get, list, watch on pods)"),
        "[+]operator/spaces ok".to_owned(),
    ] {
        assert!(verbose.lines().any(|shown| shown == line), "{line} in\n{verbose}");
    }
    let itself = get(&world.state, "/readyz/echo-server").await;
    assert_eq!(itself.code, 503);
    assert!(itself.body.contains("get, list, watch on pods"), "{}", itself.body);
    assert!(!itself.body.contains("namespaces"), "{}", itself.body);
}

#[actix_web::test]
async fn the_namespace_whose_watch_fails_is_named() {
    let world = World::running();
    let of = |namespace: &str, error: Option<TypeError>| {
        let namespace = Some(namespace.to_owned());
        NamespaceState { namespace, synced: error.is_none(), error }
    };
    let error = Some(TypeError { message: FORBIDDEN.to_owned(), permission: None });
    let namespaces = vec![of("a", None), of("b", error.clone())];
    world.state.board.set_type(&pods(), TypeState { error, namespaces, ..TypeState::default() });
    let verbose = get(&world.state, "/readyz?verbose").await.body;
    let line = format!("[-]type/pods namespace b: failed: {FORBIDDEN}");
    assert!(verbose.lines().any(|shown| shown == line), "{line} in\n{verbose}");
    let cache = get(&world.state, "/api/v1/cache/pods").await.body;
    assert!(cache.contains(r#""namespaces":[{"namespace":"a","synced":true},"#), "{cache}");
}

#[actix_web::test]
async fn a_degraded_operator_without_a_reason_is_not_settled() {
    let world = World::running();
    world.set("spaces", OperatorState::Degraded { reasons: Vec::new() });
    assert_eq!(get(&world.state, "/readyz").await.code, 503);
}

#[actix_web::test]
async fn a_stopping_process_is_alive_and_not_ready() {
    let world = World::running();
    world.state.board.begin_stopping();
    for path in ["/readyz", "/readyz/spaces"] {
        let answer = get(&world.state, path).await;
        assert_eq!(answer.code, 503);
        assert!(answer.body.contains("[-]shutdown the process is stopping"), "{}", answer.body);
    }
    assert_eq!(get(&world.state, "/livez").await.code, 200);
}

#[actix_web::test]
async fn a_reason_with_a_line_break_stays_on_one_line() {
    let world = World::running();
    world.set("spaces", degraded("x\n[+]operator/echo-server ok"));
    let verbose = get(&world.state, "/readyz?verbose").await.body;
    assert_eq!(verbose.lines().filter(|line| line.starts_with("[+]operator/echo")).count(), 1);
}

#[actix_web::test]
async fn metrics_show_the_current_state() {
    let world = World::running().with_parent();
    world.pause("spaces");
    let answer = get(&world.state, "/metrics").await;
    assert!(answer.header(header::CONTENT_TYPE).starts_with("text/plain; version=0.0.4"));
    for line in [
        r#"operetta_operator_up{operator="spaces"} 1"#,
        r#"operetta_operator_paused{operator="spaces"} 1"#,
        r#"operetta_operator_paused{operator="echo-server"} 0"#,
        r#"operetta_parents{operator="echo-server",phase="failing"} 1"#,
        r#"operetta_parents{operator="echo-server",phase="ready"} 0"#,
        r#"operetta_cache_objects{type="pods"} 1"#,
        r#"operetta_cache_synced{type="secrets"} 1"#,
        r#"operetta_watch_last_event_timestamp_seconds{type="pods"} 1"#,
    ] {
        assert!(answer.body.lines().any(|shown| shown == line), "{line} in\n{}", answer.body);
    }
}

#[actix_web::test]
async fn metrics_are_openmetrics_for_who_prefers_it() {
    let world = World::running().with_parent();
    let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,\
        application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";
    let openmetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let text = "text/plain; version=0.0.4";
    for (accept, media_type) in [
        (prometheus, openmetrics),
        ("application/openmetrics-text", openmetrics),
        ("application/openmetrics-text;q=0.2,text/plain;version=0.0.4;q=0.9", text),
        ("application/openmetrics-text;q=0,*/*", text),
        ("text/html,*/*;q=0.8", text),
        ("*/*", text),
    ] {
        let asked = request(Method::GET, "/metrics").insert_header((header::ACCEPT, accept));
        let answer = ask(&world.state, asked).await;
        assert_eq!((answer.code, answer.header(header::CONTENT_TYPE)), (200, media_type));
        assert_eq!(answer.body.ends_with("\n# EOF\n"), media_type == openmetrics, "{accept}");
        let line = r#"operetta_parents{operator="echo-server",phase="failing"} 1"#;
        assert!(answer.body.lines().any(|shown| shown == line), "{accept}: {}", answer.body);
    }
}
