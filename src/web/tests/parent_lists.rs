//! The lists of parents on pages, and the search over all operators.

use std::time::{Duration, SystemTime};

use super::{
    access::with_token, ask_through, get, pages::page, request, reviewer::Reviewer, world::World,
};
use crate::{
    board::{ParentPhase, ParentState},
    history::{Outcome, Reconcile},
    object::{ObjectKey, Uid},
    operator::OperatorName,
    plan::{FlappingReason, FlappingSummary},
    web::search::ORDER,
};

const WEBS: &str = "/ui/operators/echo-server";

/// Records a parent that is in a phase since so many minutes.
fn record(world: &World, key: &str, phase: ParentPhase, minutes: u64) -> ObjectKey {
    let (operator, key) = (OperatorName::new("echo-server").unwrap(), key.parse().unwrap());
    let mut state = ParentState { phase, ..ParentState::pending(Uid::new("u"), None) };
    let began = SystemTime::now() - Duration::from_mins(minutes);
    state.history.record(Reconcile::new(began, Duration::ZERO, Outcome::Ready));
    world.state.board.record(&operator, &key, state);
    key
}

/// Parents of which one flaps and deletions of another are held.
fn world() -> World {
    let world = World::running();
    record(&world, "a/ready", ParentPhase::Ready, 9);
    record(&world, "a/failing", ParentPhase::Failing, 3);
    record(&world, "b/stalled", ParentPhase::Stalled, 2);
    let held = record(&world, "b/held", ParentPhase::Waiting, 5);
    let flaps = record(&world, "b/flaps", ParentPhase::Ready, 1);
    let (operator, uid) = (OperatorName::new("echo-server").unwrap(), Uid::new("u"));
    let board = &world.state.board;
    board.update_parent(&operator, &held, &uid, |it| it.approval = Some("c0de".into()));
    let (why, message) = (FlappingReason::FightingOverFields, "a rival".to_owned());
    let summary = Some(Box::new(FlappingSummary { why, message }));
    board.update_parent(&operator, &flaps, &uid, |it| it.flapping_summary = summary);
    world
}

/// The names in a table of parents, in its order.
fn names(html: &str) -> Vec<&str> {
    let table = html.split("aria-label=\"Parents\">").last().unwrap().split("</table>").next();
    let rows = table.unwrap().split("<th role=\"rowheader\"").skip(1);
    rows.map(|row| row.split("</a>").next().unwrap().rsplit('>').next().unwrap()).collect()
}

/// The chips with their numbers.
fn chips(html: &str) -> Vec<String> {
    let chips = html.split("<nav class=\"tabs\"").nth(1).unwrap().split("</nav>").next().unwrap();
    let chips = chips.split("<a href").skip(1);
    let text = |chip: &str| {
        let words = chip.split('>').nth(1).unwrap().split('<').next().unwrap().trim();
        let count = chip.split("class=\"number\">").nth(1).unwrap().split('<').next().unwrap();
        format!("{words} {count}")
    };
    chips.map(text).collect()
}

#[actix_web::test]
async fn parents_are_sorted_by_severity_unless_another_order_is_asked_for() {
    let world = world();
    let worst_first = ["stalled", "failing", "held", "flaps", "ready"];
    let reversed: Vec<_> = worst_first.iter().rev().copied().collect();
    for (query, expected) in [
        ("", worst_first.to_vec()),
        ("?sort=odd", worst_first.to_vec()),
        ("?sort=-severity", reversed),
        ("?sort=name", vec!["failing", "ready", "flaps", "held", "stalled"]),
        ("?sort=-name", vec!["stalled", "held", "flaps", "ready", "failing"]),
        ("?sort=since", vec!["ready", "held", "failing", "stalled", "flaps"]),
    ] {
        assert_eq!(names(&page(&world, &format!("{WEBS}{query}")).await), expected, "{query}");
    }
    let of_namespace = page(&world, &format!("{WEBS}/namespaces/b?sort=since")).await;
    assert_eq!(names(&of_namespace), ["held", "stalled", "flaps"]);
}

#[actix_web::test]
async fn the_heads_of_the_columns_sort_and_say_how_it_is_sorted() {
    let html = page(&world(), &format!("{WEBS}?sort=since&q=a&phase=not-ready")).await;
    let query = "q=a&#38;phase=not-ready&#38;sort=";
    assert!(
        html.contains(&format!("aria-sort=\"ascending\"><a href=\"{WEBS}?{query}-since")),
        "{html}"
    );
    assert!(html.contains(&format!("<a href=\"{WEBS}?{query}name\">Parent</a>")), "{html}");
    assert!(
        html.contains(&format!("<a href=\"{WEBS}?q=a&#38;phase=not-ready\">State</a>")),
        "{html}"
    );
    assert_eq!(html.matches("aria-sort").count(), 1, "{html}");
}

#[actix_web::test]
async fn chips_count_what_the_filter_by_name_and_namespace_leaves() {
    let world = world();
    let of = async |query: &str| chips(&page(&world, &format!("{WEBS}{query}")).await);
    let all = [
        "all 5",
        "not ready 3",
        "stalled 1",
        "failing 1",
        "waiting 1",
        "ready 2",
        "flapping 1",
        "deletions held 1",
    ];
    assert_eq!(of("").await, all);
    assert_eq!(of("?phase=held").await, all, "the selected chip restricts the rows alone");
    let of_a = ["all 2", "not ready 1", "failing 1", "ready 1"];
    assert_eq!(of("?namespace=a").await, of_a);
    assert_eq!(of("?q=A/").await, of_a);
    assert_eq!(of("?q=ready&phase=paused").await, ["all 1", "paused 0", "ready 1"]);
    for (query, expected) in [
        ("?phase=held", vec!["held"]),
        ("?phase=flapping", vec!["flaps"]),
        ("?phase=not-ready", vec!["stalled", "failing", "held"]),
        ("?phase=not-ready&namespace=a", vec!["failing"]),
        ("?phase=ready&q=flap", vec!["flaps"]),
        ("?phase=odd", vec![]),
    ] {
        let html = page(&world, &format!("{WEBS}{query}")).await;
        let found = if expected.is_empty() { vec![] } else { names(&html) };
        assert_eq!(found, expected, "{query}");
        assert_eq!(html.contains("No parent matches."), expected.is_empty(), "{query}");
    }
}

#[actix_web::test]
async fn pages_follow_each_other_in_the_order_of_severity() {
    let world = World::running().with_failing_parents(150);
    for number in 0..150 {
        record(&world, &format!("ns/{number:03}"), ParentPhase::Ready, 1);
    }
    record(&world, "zz/last", ParentPhase::Stalled, 1);
    let (mut path, mut seen) = (WEBS.to_owned(), Vec::new());
    loop {
        let html = page(&world, &path).await;
        seen.extend(names(&html).into_iter().map(str::to_owned));
        let Some(link) = html.split("\" rel=\"next\"").next().filter(|it| it.len() < html.len())
        else {
            break;
        };
        path = link.rsplit("href=\"").next().unwrap().replace("&#38;", "&");
    }
    assert_eq!((seen.len(), seen[0].as_str(), seen[1].as_str()), (301, "last", "p000"));
    assert_eq!(
        (seen[150].as_str(), seen[151].as_str(), seen[300].as_str()),
        ("p149", "000", "149")
    );
}

/// With the style and the script.
#[actix_web::test]
async fn the_longest_page_of_a_list_is_small() {
    let (world, operator) = (World::running(), OperatorName::new("echo-server").unwrap());
    for number in 0..100 {
        let key = format!("team-payments-production/checkout-frontend-{number:03}");
        let key = record(&world, &key, ParentPhase::Failing, 5);
        let message = Some("an error of a usual length ".repeat(6));
        let change = |parent: &mut ParentState| parent.message = message;
        world.state.board.update_parent(&operator, &key, &Uid::new("u"), change);
    }
    let html = page(&world, WEBS).await;
    let assets =
        include_str!("../ui/assets/page.css").len() + include_str!("../ui/assets/page.js").len();
    let all = html.len() + assets;
    assert!(all <= 120 << 10, "{all} bytes, of which {assets} are of style and script");
}

#[actix_web::test]
async fn the_parents_of_all_operators_are_searched() {
    let world = world().with_namespaces(60);
    let html = page(&world, "/ui/search?q=A").await;
    assert_eq!(names(&html)[..2], ["stalled", "failing"], "{html}");
    assert!(html.contains("href=\"/ui/operators/echo-server\">echo-server</a>"), "{html}");
    let found = get(&world.state, "/api/v1/search?q=a").await.json();
    let first = &found["items"][0];
    let shown = [&first["operator"], &first["kind"], &first["namespace"], &first["name"]];
    assert_eq!(shown, ["echo-server", "EchoServer", "b", "stalled"]);
    assert_eq!(found["metadata"].get("remainingItemCount"), None);
    let many = get(&world.state, "/api/v1/search?q=n0").await.json();
    assert_eq!(many["items"].as_array().unwrap().len(), ORDER.limit);
    assert_eq!(many["metadata"]["remainingItemCount"], 10);
    let html = page(&world, "/ui/search?q=n0").await;
    assert!(html.contains("The worst 50 of 60 parents"), "{html}");
    assert!(page(&world, "/ui/search?q=nothing").await.contains("No parent matches."));
    let here = get(&world.state, "/api/v1/search?operator=echo-server&namespace=a").await.json();
    assert_eq!(here["items"].as_array().unwrap().len(), 2);
    assert_eq!(get(&world.state, "/api/v1/search?operator=nobody").await.code, 404);
}

#[actix_web::test]
async fn who_may_see_one_namespace_searches_there() {
    let (world, rules) = (World::running().with_parent(), Reviewer::default().rules());
    let visit = async |path: &str, user: &str| {
        let asked =
            with_token(request(actix_web::http::Method::GET, path), &format!("token-of-{user}"));
        ask_through(rules.clone(), &world.state, asked).await
    };
    for path in ["/api/v1/search", "/ui/search"] {
        for (query, code) in [
            ("?operator=echo-server&namespace=ns", 200),
            ("?q=a&operator=echo-server&namespace=ns", 200),
            ("", 403),
            ("?q=a", 403),
            ("?namespace=ns", 403),
            ("?operator=echo-server", 403),
            ("?operator=echo-server&namespace=other", 403),
            ("?operator=spaces&namespace=ns", 403),
        ] {
            assert_eq!(visit(&format!("{path}{query}"), "tim").await.code, code, "{path}{query}");
        }
        assert_eq!(visit(path, "ann").await.code, 200);
    }
    let hidden = "<input type=\"hidden\" name=\"operator\" value=\"echo-server\"><input type=\"hidden\" name=\"namespace\" value=\"ns\">";
    for (path, user, is_limited) in [
        ("/ui/operators/echo-server/namespaces/ns", "tim", true),
        ("/ui/operators/echo-server/parents/ns/a", "tim", true),
        ("/ui/search?operator=echo-server&namespace=ns", "tim", true),
        ("/ui/operators/echo-server/parents/ns/a", "ann", false),
    ] {
        let html = visit(path, user).await.body;
        assert_eq!(html.contains(hidden), is_limited, "{path} {user}: {html}");
    }
}
