//! The HTML of every view; its layout and script are tested in a browser.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use actix_web::http::{Method, header};

use super::{
    Answer, ask, request,
    world::{SENTINEL, World},
};
use crate::{
    board::{OperatorState, ParentPhase, ParentState, TypeError},
    history::{Decided, Decision, Outcome, Reconcile},
    object::{ObjectKey, Uid},
    operator::{OperatorName, Pause},
    plan::{FlappingReason, FlappingSummary},
};

const VIEWS: &[&str] = &[
    "/",
    "/ui/operators/echo-server",
    "/ui/operators/spaces",
    "/ui/operators/echo-server/namespaces/ns",
    "/ui/operators/echo-server/parents/ns/a",
    "/ui/operators/spaces/parents/n00000",
    "/ui/operators/echo-server/map/ns/a",
    "/ui/operators/echo-server/map/ns/a?at=pods%2Fns%2Fpod",
    "/ui/operators/echo-server/map/ns/a?at=secrets%2Fns%2Fsecret&diff=true",
    "/ui/operators/echo-server/map/ns/a?at=nothing",
    "/ui/operators/spaces/map/n00000",
    "/ui/activity",
    "/ui/cache",
    "/ui/cache/pods",
    "/ui/cache/secrets/ns/secret",
    "/ui/cache/namespaces/n00000",
    "/ui/search?q=a",
];

async fn visit(world: &World, path: &str) -> Answer {
    let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    let request = request(Method::GET, path).insert_header((header::ACCEPT, browser));
    ask(&world.state, request).await
}

pub(super) async fn page(world: &World, path: &str) -> String {
    let answer = visit(world, path).await;
    assert_eq!(answer.code, 200, "{path}: {}", answer.body);
    assert_eq!(answer.header(header::CONTENT_TYPE), "text/html; charset=utf-8");
    answer.body
}

fn world() -> World {
    World::running().with_parent().with_namespaces(1)
}

#[actix_web::test]
async fn every_view_is_a_page_without_inline_scripts_and_styles() {
    let world = world();
    for path in VIEWS {
        let answer = visit(&world, path).await;
        let (policy, html) = (answer.header(header::CONTENT_SECURITY_POLICY), &answer.body);
        assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
        assert!(html.starts_with("<!doctype html>") && html.contains("<h1>"), "{path}: {html}");
        assert_eq!(html.matches("<script").count(), 1, "{path}");
        assert!(!html.contains("style=") && !html.contains("<style"), "{path}");
        assert!(!html.contains(SENTINEL), "{path}: {html}");
    }
}

#[actix_web::test]
async fn the_assets_of_pages_are_served_and_cacheable() {
    let html = page(&world(), "/").await;
    for (file, kind) in [("page.css", "text/css"), ("page.js", "text/javascript")] {
        let from = html.find(&format!("/ui/assets/{file}")).unwrap();
        let path = html[from..].split('"').next().unwrap();
        let answer = visit(&world(), path).await;
        assert_eq!(answer.code, 200, "{path}");
        assert!(answer.header(header::CONTENT_TYPE).starts_with(kind));
        assert!(answer.header(header::CACHE_CONTROL).contains("immutable"));
    }
    assert_eq!(visit(&world(), "/ui/assets/..%2fmod.rs").await.code, 404);
}

#[actix_web::test]
async fn the_overview_shows_first_what_needs_attention() {
    let world = world();
    let reasons = vec!["no permission to list pods".to_owned()];
    world.set("spaces", OperatorState::Degraded { reasons });
    let html = page(&world, "/").await;
    let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("no `{text}` in {html}"));
    assert!(at("2 things need attention.") < at("no permission to list pods"));
    assert!(at("no permission to list pods") < at("no such image"));
    assert!(at("no such image") < at("id=\"operators\""));
    assert!(html.contains("href=\"/ui/operators/echo-server/parents/ns/a\""), "{html}");
    assert!(html.contains("href=\"/ui/operators/echo-server?phase=failing\""), "{html}");
}

#[actix_web::test]
async fn a_paused_operator_is_not_shown_as_running() {
    let world = world();
    world.pause("spaces");
    let overview = page(&world, "/").await;
    assert_eq!(overview.matches("</svg>running</span>").count(), 1, "the other one: {overview}");
    let of_operator = page(&world, "/ui/operators/spaces").await;
    assert!(of_operator.contains("</svg>paused</span>"), "{of_operator}");
    assert!(!of_operator.contains("</svg>running</span>"), "{of_operator}");
    // A problem takes precedence.
    world.set("spaces", OperatorState::Degraded { reasons: vec!["no such type".to_owned()] });
    assert!(page(&world, "/ui/operators/spaces").await.contains("</svg>degraded</span>"));
}

#[actix_web::test]
async fn a_parent_that_requires_manual_intervention_needs_attention_at_once() {
    let world = World::running();
    let operator = OperatorName::new("spaces").unwrap();
    let record = |name: &str, phase, decision: Option<Decision>| {
        let mut state = ParentState { phase, ..ParentState::pending(Uid::new(name), None) };
        let mut reconcile = Reconcile::new(SystemTime::now(), Duration::ZERO, Outcome::Waiting);
        reconcile.decisions = decision.into_iter().collect();
        state.history.record(reconcile);
        world.state.board.record(&operator, &ObjectKey::cluster(name), state);
    };
    let stuck = |what| Some(Decision::stuck("Pod.v1 ns/a", what, "ask somebody".to_owned()));
    record("patient", ParentPhase::Waiting, None);
    record("well", ParentPhase::Ready, None);
    record("held", ParentPhase::Waiting, stuck(Decided::Held));
    record("contested", ParentPhase::Waiting, stuck(Decided::Conflict));
    let html = page(&world, "/").await;
    assert!(html.contains("<title>(2) Overview"), "{html}");
    let listed = |name: &str| html.contains(&format!("/ui/operators/spaces/parents/{name}\""));
    assert!(listed("held") && listed("contested"), "{html}");
    assert!(!listed("patient") && !listed("well"), "{html}");
}

#[actix_web::test]
async fn a_flapping_parent_needs_attention_also_while_it_is_ready() {
    let (world, operator) = (world(), OperatorName::new("echo-server").unwrap());
    let message = "Pod.v1 ns/pod: `rival` reverts .spec repeatedly".to_owned();
    let fight =
        FlappingSummary { why: FlappingReason::FightingOverFields, message: message.clone() };
    let key = ObjectKey::namespaced("ns", "a");
    let record = |flapping_summary: Option<FlappingSummary>| {
        world.state.board.update_parent(&operator, &key, &Uid::new("p"), |parent| {
            parent.phase = ParentPhase::Ready;
            parent.history.record(Reconcile::new(
                SystemTime::now(),
                Duration::ZERO,
                Outcome::Ready,
            ));
            parent.flapping_summary = flapping_summary.map(Box::new);
        });
    };
    record(Some(fight));
    let path = "operators/echo-server/parents/ns/a";
    let why = |answer: Answer| answer.json()["why"].to_string();
    let explanation =
        why(ask(&world.state, request(Method::GET, &format!("/api/v1/{path}"))).await);
    assert!(explanation.contains(&message), "{explanation}");
    assert!(explanation.contains("Stop the other writer"), "{explanation}");
    assert!(page(&world, "/").await.contains(&format!("href=\"/ui/{path}\"")));
    for page in [page(&world, "/").await, page(&world, &format!("/ui/{path}")).await] {
        assert!(page.contains("reverts .spec repeatedly"), "{page}");
    }
    record(None);
    assert!(!page(&world, "/").await.contains(&format!("href=\"/ui/{path}\"")));
}

#[actix_web::test]
async fn a_parent_that_waits_for_long_needs_attention_however_often_it_was_reconciled() {
    for (phase, outcome) in
        [(ParentPhase::Waiting, Outcome::Waiting), (ParentPhase::Synced, Outcome::Synced)]
    {
        let (world, operator) = (World::running(), OperatorName::new("spaces").unwrap());
        let mut state = ParentState::pending(Uid::new("u"), None);
        state.phase = phase;
        for ago in (1..=30).rev().map(|number| Duration::from_secs(10 * number)) {
            let started = SystemTime::now() - ago;
            state.history.record(Reconcile::new(started, Duration::ZERO, outcome.clone()));
        }
        world.state.board.record(&operator, &ObjectKey::cluster("patient"), state);
        let html = page(&world, "/").await;
        assert!(html.contains("/ui/operators/spaces/parents/patient\""), "{html}");
    }
}

#[actix_web::test]
async fn a_cache_with_problems_is_listed_unless_an_operator_of_its_type_is() {
    let world = World::running();
    world.set("spaces", OperatorState::Degraded { reasons: vec!["no namespaces".to_owned()] });
    for cache in world.state.board.types() {
        let error = TypeError { message: "forbidden".to_owned(), permission: None };
        world.state.board.update_type(cache.store.ty(), |ty| ty.error = Some(error));
    }
    let html = page(&world, "/").await;
    let listed = |ty: &str| html.contains(&format!("data-key=\"cache /ui/cache/{ty}\""));
    assert!(listed("pods") && listed("secrets"), "their operator has no problem: {html}");
    assert!(!listed("namespaces"), "{html}");
}

/// The script matches cards by key, and would merge two with the same key.
#[actix_web::test]
async fn the_keys_of_the_cards_of_the_overview_are_unique() {
    let world = world();
    world.pause("spaces");
    world.set("spaces", OperatorState::Degraded { reasons: vec!["no such type".to_owned()] });
    let html = page(&world, "/").await;
    let keys = html.split("data-key=\"").skip(1).map(|key| key.split('"').next());
    let mut keys: Vec<_> = keys.collect();
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!((keys.len(), all), (5, 5), "three cards and two operators: {keys:?}");
}

#[actix_web::test]
async fn a_parent_can_be_resumed_only_if_it_is_paused_itself() {
    let offers = async |world: &World, verb: &str| {
        let html = page(world, "/ui/operators/echo-server/parents/ns/a").await;
        html.contains(&format!("/parents/ns/a/{verb}\""))
    };
    let world = world();
    world.pause("echo-server");
    let (operator, key) =
        (OperatorName::new("echo-server").unwrap(), ObjectKey::namespaced("ns", "a"));
    let pause = |parent: &mut ParentState| parent.phase = ParentPhase::Paused;
    world.state.board.update_parent(&operator, &key, &Uid::new("p"), pause);
    assert!(offers(&world, "pause").await && !offers(&world, "resume").await);
    world.annotate_parent("operetta.dev/paused", "true");
    assert!(offers(&world, "resume").await && !offers(&world, "pause").await);
}

#[actix_web::test]
async fn a_pause_shows_who_paused_it_and_why_and_that_of_an_operator_asks_first() {
    let world = world();
    let html = page(&world, "/ui/operators/spaces").await;
    assert!(html.contains("<input type=\"checkbox\" required>"), "{html}");
    let (operator, key) =
        (OperatorName::new("echo-server").unwrap(), ObjectKey::namespaced("ns", "a"));
    let begun = SystemTime::now() - Duration::from_hours(2);
    let until = begun + Duration::from_hours(9);
    let pause =
        Arc::new(Pause::begun(begun, Some("ann"), Some(until), Some("<the> volume is moved")));
    let of_operator = pause.clone();
    world.state.board.update_parent(&operator, &key, &Uid::new("p"), |parent| {
        (parent.phase, parent.pause) = (ParentPhase::Paused, Some(pause));
    });
    for path in ["/", "/ui/operators/echo-server/parents/ns/a"] {
        let html = page(&world, path).await;
        for words in ["paused by ann", " until ", "#60;the&#62; volume is moved"] {
            assert!(html.contains(words), "{path}: {words}: {html}");
        }
    }
    assert!(page(&world, "/").await.contains("2 h ago"));
    world.state.board.set_paused(&operator, Some(of_operator));
    let html = page(&world, "/ui/operators/echo-server").await;
    assert!(
        html.contains("ann paused this operator") && html.contains("volume is moved."),
        "{html}"
    );
}

#[actix_web::test]
async fn a_parent_shows_its_explanation_children_reconciles_and_conditions() {
    let html = page(&world(), "/ui/operators/echo-server/parents/ns/a").await;
    for shown in [
        "EchoServer ns/a fails",
        "no such image",
        "href=\"/ui/cache/pods/ns/pod\"",
        "href=\"/ui/cache/secrets/ns/secret\"",
        "the process started",
        "Pod.v1 ns/pod",
        "Ready",
        "Reconcile 2 took",
        "/api/v1/events?operator=echo-server&#38;namespace=ns&#38;name=a",
    ] {
        assert!(html.contains(shown), "no `{shown}` in {html}");
    }
}

#[actix_web::test]
async fn a_preview_is_requested_by_a_link_and_its_error_is_shown() {
    let (world, path) = (world(), "/ui/operators/echo-server/parents/ns/a");
    assert!(page(&world, path).await.contains(&format!("href=\"{path}?diff\"")));
    let html = page(&world, &format!("{path}?diff")).await;
    assert!(html.contains("The preview failed:"), "{html}");
    assert!(html.contains(&format!("href=\"{path}\"")) && html.contains("data-events=\"\""));
}

#[actix_web::test]
async fn ten_thousand_parents_come_in_pages_and_can_be_searched() {
    let world = World::running().with_namespaces(10_000);
    let path = "/ui/operators/spaces";
    let first = page(&world, path).await;
    assert!(first.contains("The first 50 of 10,000 parents"), "{first}");
    assert_eq!(first.matches("<tr role=\"row\" data-key").count(), 50 + 1, "and one cache");
    assert!(first.contains("href=\"/ui/operators/spaces?continue=9~n00049\" rel=\"next\""));
    let second = page(&world, &format!("{path}?continue=9~n00049")).await;
    assert!(second.contains(">n00050</a>") && second.contains("First page"));
    let found = page(&world, &format!("{path}?q=N0999&phase=pending")).await;
    assert!(found.contains("<p class=\"quiet\" data-announce>10 parents</p>"), "{found}");
    assert!(found.contains("value=\"N0999\"") && found.contains(">n09999</a>"));
    let none = page(&world, &format!("{path}?phase=failing")).await;
    assert!(none.contains("No parent matches."));
    let next = "href=\"/ui/cache/namespaces?continue=n00099\"";
    assert!(page(&world, "/ui/cache/namespaces").await.contains(next));
    let last = page(&world, "/ui/cache/namespaces?continue=n09899").await;
    assert!(last.contains("100 of 10,000 objects") && last.contains(">n09900</a>"), "{last}");
    assert!(last.contains(">n09999</a>") && !last.contains("rel=\"next\""), "{last}");
    let objects = page(&world, "/ui/cache/namespaces?q=n0999").await;
    assert!(objects.contains("10 of 10 objects") || objects.contains("10 objects"), "{objects}");
}

#[actix_web::test]
async fn text_from_the_cluster_is_escaped() {
    let world = world();
    let (operator, hostile) =
        (OperatorName::new("spaces").unwrap(), "\"><script>alert(1)</script>");
    let message = Some(format!("<img src=x onerror=alert(1)> & {hostile}"));
    let state = ParentState::pending(Uid::new(hostile), None);
    let state = ParentState { phase: ParentPhase::Waiting, message, ..state };
    world.state.board.record(&operator, &ObjectKey::cluster(hostile), state);
    let encoded = "%22%3E%3Cscript%3Ealert%281%29%3C%2Fscript%3E";
    let by_name = hostile.replace('/', "");
    world.state.board.record(
        &operator,
        &ObjectKey::cluster(&by_name),
        ParentState::pending(Uid::new("u"), None),
    );
    for path in [
        "/ui/operators/spaces".to_owned(),
        format!("/ui/operators/spaces?q={encoded}&phase={encoded}&namespace={encoded}"),
        format!("/ui/operators/spaces/parents/{}", encoded.replace("%2F", "")),
    ] {
        let html = page(&world, &path).await;
        assert_eq!(html.matches("<script").count(), 1, "{path}: {html}");
        assert!(!html.contains("<img"), "{path}: {html}");
        assert!(html.contains("alert(1)"), "{path}");
    }
}

#[actix_web::test]
async fn a_missing_object_is_a_page_with_the_error() {
    let world = world();
    for (path, code, text) in [
        ("/ui/operators/nobody", 404, "The operator `nobody` does not exist"),
        ("/ui/operators/echo-server/parents/ns/nobody", 404, "has no parent"),
        ("/ui/cache/widgets", 404, "The type `widgets` is not cached"),
        ("/ui/cache/pods/ns/nobody", 404, "is not in the cache"),
        ("/ui/cache/pods/nobody", 400, "namespaced"),
        ("/ui/operators/spaces?continue=a/b/c", 400, "the token is invalid"),
    ] {
        let answer = visit(&world, path).await;
        assert_eq!(answer.code, code, "{path}");
        assert!(answer.header(header::CONTENT_TYPE).starts_with("text/html"));
        assert!(answer.body.contains(text), "{path}: {}", answer.body);
    }
}

#[actix_web::test]
async fn programs_get_the_list_of_paths() {
    let world = world();
    let answer = ask(&world.state, request(Method::GET, "/")).await;
    assert!(answer.json()["paths"].is_array());
}

#[actix_web::test]
async fn an_api_server_that_does_not_answer_is_one_card() {
    let world = World::running();
    for cache in world.state.board.types() {
        let error = Some(TypeError { message: "unreachable".to_owned(), permission: None });
        let since = Some(SystemTime::UNIX_EPOCH);
        world.state.board.update_type(cache.store.ty(), |ty| {
            (ty.error, ty.unreachable_since) = (error, since);
        });
    }
    let html = page(&world, "/").await;
    assert_eq!(html.matches("data-key=\"unreachable /ui/cache\"").count(), 1, "{html}");
    assert!(!html.contains("data-key=\"cache "), "{html}");
    assert!(html.contains("The API server does not answer"), "{html}");
    assert!(html.contains("it has been unreachable since 1970-01-01T00:00:00Z"), "{html}");
}
