//! Delegated access.

use std::sync::atomic::Ordering;

use actix_web::{
    ResponseError,
    http::{Method, StatusCode, header},
    test::TestRequest,
};
use futures::future::join_all;

use super::{Answer, ask_through, command, is_status, request, reviewer::Reviewer, world::World};
use crate::{
    board::{OperatorState, WebRequest as Asked},
    web::{request_rules::RequestRules, status::Refused},
};

const PATH: &str = "/api/v1/operators";

pub(super) fn with_token(request: TestRequest, token: &str) -> TestRequest {
    request.insert_header((header::AUTHORIZATION, format!("Bearer {token}")))
}

async fn get_as(rules: &RequestRules, world: &World, path: &str, token: &str) -> Answer {
    let request = with_token(request(Method::GET, path), token);
    ask_through(rules.clone(), &world.state, request).await
}

#[actix_web::test]
async fn a_request_without_a_valid_token_is_refused_with_a_challenge() {
    let (world, rules) = (World::running().with_parent(), Reviewer::default().rules());
    for path in [PATH, "/metrics", "/", "/nonsense", "/readyz/echo-server"] {
        let plain = ask_through(rules.clone(), &world.state, request(Method::GET, path)).await;
        let basic = request(Method::GET, path).insert_header(("Authorization", "Basic YTpi"));
        let basic = ask_through(rules.clone(), &world.state, basic).await;
        for answer in [plain, basic] {
            let message = is_status(&answer, StatusCode::UNAUTHORIZED, "Unauthorized");
            assert!(message.contains("Authorization: Bearer"), "{message}");
            assert_eq!(answer.header(header::WWW_AUTHENTICATE), "Bearer realm=\"operetta\"");
        }
        let answer = get_as(&rules, &world, path, "guessed").await;
        let message = is_status(&answer, StatusCode::UNAUTHORIZED, "Unauthorized");
        assert!(!message.contains("guessed"), "{message}");
        assert!(answer.header(header::WWW_AUTHENTICATE).contains("invalid_token"));
    }
}

#[actix_web::test]
async fn a_user_without_permission_is_refused_with_the_missing_permission() {
    let (world, rules) = (World::running(), Reviewer::default().rules());
    assert_eq!(get_as(&rules, &world, PATH, "token-of-ann").await.code, 200);
    assert_eq!(get_as(&rules, &world, "/metrics", "token-of-bob").await.code, 200);
    let answer = get_as(&rules, &world, PATH, "token-of-bob").await;
    let message = is_status(&answer, StatusCode::FORBIDDEN, "Forbidden");
    let expected = r#"User "bob" cannot get path "/operetta/api/v1/operators": no rule"#;
    assert!(message.contains(expected), "{message}");
    // The decoded path is reviewed, because it selects the route.
    let answer = get_as(&rules, &world, "/%61pi/v1/operators", "token-of-bob").await;
    let message = is_status(&answer, StatusCode::FORBIDDEN, "Forbidden");
    assert!(message.contains(expected), "{message}");
    let head = with_token(request(Method::HEAD, PATH), "token-of-ann");
    assert_eq!(ask_through(rules.clone(), &world.state, head).await.code, 200);
    let post = with_token(command(Method::POST, PATH), "token-of-ann");
    let answer = ask_through(rules, &world.state, post).await;
    let message = is_status(&answer, StatusCode::FORBIDDEN, "Forbidden");
    assert!(message.contains("cannot post path"), "{message}");
}

#[actix_web::test]
async fn permissions_for_the_parents_of_a_namespace_suffice_for_them_and_nothing_else() {
    let (world, rules) = (World::running().with_parent(), Reviewer::default().rules());
    let get = |path: &'static str| get_as(&rules, &world, path, "token-of-tim");
    for path in [
        "/api/v1/operators/echo-server/parents?namespace=ns",
        "/api/v1/operators/echo-server/parents/ns/a?diff",
        "/ui/operators/echo-server/namespaces/ns",
        "/ui/operators/echo-server/parents/ns/a",
    ] {
        assert_eq!(get(path).await.code, 200, "{path}");
    }
    for path in [
        "/",
        "/metrics",
        PATH,
        "/api/v1/operators/echo-server/parents",
        "/api/v1/operators/echo-server/parents?namespace=other",
        "/api/v1/operators/echo-server/parents?namespace=",
        "/api/v1/operators/echo-server/parents?namespace=ns&namespace=other",
        "/api/v1/operators/echo-server/parents/other/a",
        "/api/v1/operators/echo-server/parents/other/a?namespace=ns",
        "/api/v1/operators/spaces/parents/ns",
        "/api/v1/operators/spaces/parents?namespace=ns",
        "/api/v1/operators/nobody/parents?namespace=ns",
        "/api/v1/events?namespace=ns",
        "/api/v1/events?operator=echo-server&namespace=other",
        "/api/v1/plans?namespace=ns",
        "/api/v1/cache/pods?namespace=ns",
        "/ui/operators/echo-server?namespace=ns",
        "/ui/operators/echo-server/namespaces/other",
        "/ui/operators/echo-server/parents/other/a",
        "/ui/cache/pods/ns/a",
        "/readyz/echo-server?namespace=ns",
    ] {
        assert_eq!(get(path).await.code, 403, "{path}");
    }
    let answer = get("/ui/operators/echo-server/namespaces/ns").await;
    assert!(answer.body.contains("/ui/operators/echo-server/parents/ns/a"), "{}", answer.body);
    let answer = get("/api/v1/operators/echo-server/parents/other/a").await;
    let message = is_status(&answer, StatusCode::FORBIDDEN, "Forbidden");
    let expected =
        r#"/parents/other/a", nor get echoservers.example.com/operetta in the namespace "other""#;
    assert!(message.contains(expected), "{message}");
    let sync = |path| with_token(command(Method::POST, path), "token-of-tim");
    let path = "/api/v1/operators/echo-server/parents/ns/a/sync";
    // Nobody carries it out here.
    assert_eq!(ask_through(rules.clone(), &world.state, sync(path)).await.code, 503);
    for path in
        ["/api/v1/operators/echo-server/pause", "/api/v1/operators/echo-server/parents/x/a/sync"]
    {
        assert_eq!(ask_through(rules.clone(), &world.state, sync(path)).await.code, 403, "{path}");
    }
}

#[actix_web::test]
async fn the_permission_for_one_parent_does_not_open_the_others_of_its_namespace() {
    let (world, rules) = (World::running().with_parent(), Reviewer::default().rules());
    for (path, code) in [
        ("/api/v1/operators/echo-server/parents/ns/a", 200),
        ("/api/v1/operators/echo-server/parents/ns/b", 403),
        ("/api/v1/operators/echo-server/parents/ns/b?name=a", 403),
        ("/api/v1/operators/echo-server/parents?namespace=ns&name=a", 403),
        ("/ui/operators/echo-server/namespaces/ns?name=a", 403),
        ("/api/v1/plans?operator=echo-server&namespace=ns&name=a", 403),
        ("/api/v1/events?operator=echo-server&namespace=ns", 403),
    ] {
        assert_eq!(get_as(&rules, &world, path, "token-of-una").await.code, code, "{path}");
    }
}

#[actix_web::test]
async fn many_requests_share_one_pair_of_reviews() {
    let (world, reviewer) = (World::running(), Reviewer::default());
    let rules = reviewer.rules();
    let at_once = (0..20).map(|_| get_as(&rules, &world, PATH, "token-of-ann"));
    assert!(join_all(at_once).await.iter().all(|answer| answer.code == 200));
    assert_eq!(get_as(&rules, &world, PATH, "token-of-ann").await.code, 200);
    assert_eq!(reviewer.asked(), (1, 1));
    // Refusals are cached too, for each token.
    for (token, code) in [("guessed", 401), ("token-of-bob", 403)] {
        for _ in 0..3 {
            assert_eq!(get_as(&rules, &world, PATH, token).await.code, code);
        }
    }
    assert_eq!(reviewer.asked(), (3, 2));
    assert_eq!(get_as(&rules, &world, "/metrics", "token-of-ann").await.code, 200);
    assert_eq!(reviewer.asked(), (3, 3));
}

#[actix_web::test]
async fn a_group_that_a_user_has_left_counts_no_longer_than_the_review_of_the_token() {
    let (world, reviewer) = (World::running(), Reviewer::default());
    let rules = reviewer.rules();
    assert_eq!(get_as(&rules, &world, PATH, "token-of-gus").await.code, 200);
    reviewer.has_left.store(true, Ordering::SeqCst);
    rules.access.as_ref().unwrap().forget_users();
    assert_eq!(get_as(&rules, &world, PATH, "token-of-gus").await.code, 403);
}

#[actix_web::test]
async fn access_is_denied_while_the_api_server_cannot_review() {
    let (world, reviewer) = (World::running(), Reviewer::default());
    let rules = reviewer.rules();
    reviewer.is_down.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        let answer = get_as(&rules, &world, PATH, "token-of-ann").await;
        let code = StatusCode::SERVICE_UNAVAILABLE;
        let message = is_status(&answer, code, "ServiceUnavailable");
        assert!(message.contains("all access is denied"), "{message}");
        assert!(!message.contains("s3cret-reason"), "the reason is only logged: {message}");
        assert_eq!(answer.header(header::RETRY_AFTER), "5");
    }
    reviewer.is_down.store(false, Ordering::SeqCst);
    assert_eq!(get_as(&rules, &world, PATH, "token-of-ann").await.code, 200);
}

#[test]
fn too_many_reviews_are_refused_with_retry_after() {
    let answer = Refused::ReviewsBusy.error_response();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.headers().get(header::RETRY_AFTER).unwrap(), "5");
}

#[actix_web::test]
async fn health_is_open_but_shows_only_the_outcome() {
    let (world, rules) = (World::running(), Reviewer::default().rules());
    let waiting_for = vec!["pods".to_owned()];
    for (path, well) in
        [("/livez", true), ("/healthz", true), ("/readyz", true), ("/readyz", false)]
    {
        if !well {
            world.set("echo-server", OperatorState::Starting { waiting_for: waiting_for.clone() });
        }
        let expected = if well { (200, "ok") } else { (503, "not ok") };
        for path in [path.to_owned(), format!("{path}?verbose")] {
            let open = ask_through(rules.clone(), &world.state, request(Method::GET, &path)).await;
            assert_eq!((open.code, open.body.as_str()), expected, "{path}");
            // The same for a user without permission.
            let bob = get_as(&rules, &world, &path, "token-of-bob").await;
            assert_eq!((bob.code, bob.body.as_str()), expected, "{path}");
        }
        let all = get_as(&rules, &world, &format!("{path}?verbose"), "token-of-ann").await;
        assert!(all.code == expected.0 && all.body.contains("check"), "{path}: {}", all.body);
    }
}

#[actix_web::test]
async fn a_probe_needs_no_review() {
    let (world, reviewer) = (World::running(), Reviewer::default());
    let rules = reviewer.rules();
    for _ in 0..3 {
        let answer = ask_through(rules.clone(), &world.state, request(Method::GET, "/livez")).await;
        assert_eq!(answer.code, 200);
    }
    assert_eq!(reviewer.asked(), (0, 0));
}

#[actix_web::test]
async fn a_command_names_its_user() {
    let (world, rules) = (World::running(), Reviewer::default().rules());
    let mut commands = world.state.board.take_commands();
    let request =
        with_token(command(Method::POST, &format!("{PATH}/spaces/pause")), "token-of-eve");
    let executing = async {
        let Some(Asked::Command(command)) = commands.recv().await else { panic!() };
        command.answer.give(Ok(()));
        command.by
    };
    let (answer, by) = tokio::join!(ask_through(rules, &world.state, request), executing);
    assert_eq!((answer.code, by.as_deref()), (200, Some("eve")), "{}", answer.body);
}
