//! The endpoint without the feature `dashboard`, as a value: this build has the feature.

use actix_web::http::{Method, StatusCode, header};

use super::{
    access::with_token, ask_through, example_path, is_status, open_gate, reading, request,
    reviewer::Reviewer, world::World,
};
use crate::web::{endpoint::Method::Get, no_ui, request_rules::RequestRules, table};

const BROWSER: (header::HeaderName, &str) =
    (header::ACCEPT, "text/html,application/xhtml+xml,*/*;q=0.8");

fn without_page(rules: RequestRules) -> RequestRules {
    RequestRules { paths: table::with(&no_ui::PAGES), ..rules }
}

#[actix_web::test]
async fn without_the_page_the_endpoint_has_health_metrics_and_the_api() {
    let world = World::running().with_parent().with_namespaces(1);
    let (rules, mut answered) = (without_page(open_gate()), Vec::new());
    for endpoint in rules.paths.endpoints().filter(|endpoint| endpoint.method == Get) {
        let path = example_path(endpoint);
        let asked = request(reading(endpoint), &path).insert_header(BROWSER);
        let answer = ask_through(rules.clone(), &world.state, asked).await;
        let kind = answer.header(header::CONTENT_TYPE);
        assert!(!kind.starts_with("text/html"), "{path}: {kind}");
        answered.extend((answer.code == 200).then_some(endpoint.path));
    }
    for path in ["/livez", "/readyz", "/metrics", "/api/v1/operators", "/api/v1/openapi.json"] {
        assert!(answered.contains(&path), "{path} is not in {answered:?}");
    }
    for endpoint in table::PATHS.endpoints().filter(|endpoint| endpoint.path.starts_with("/ui")) {
        let asked = request(Method::GET, &example_path(endpoint));
        let answer = ask_through(rules.clone(), &world.state, asked).await;
        is_status(&answer, StatusCode::NOT_FOUND, "NotFound");
    }
}

#[actix_web::test]
async fn without_the_page_the_root_names_the_paths_and_the_feature() {
    let (world, rules) = (World::running(), without_page(open_gate()));
    let browser = request(Method::GET, "/").insert_header(BROWSER);
    let text = ask_through(rules.clone(), &world.state, browser).await;
    assert_eq!(text.header(header::CONTENT_TYPE), "text/plain; charset=utf-8");
    for part in ["feature `dashboard`", "/readyz", "/metrics", "/api/v1/operators"] {
        assert!(text.body.contains(part), "no {part} in {}", text.body);
    }
    assert!(!text.body.contains("/ui"), "{}", text.body);
    let index = ask_through(rules, &world.state, request(Method::GET, "/")).await.json();
    assert!(index["dashboard"].as_str().unwrap().contains("feature `dashboard`"), "{index}");
    assert!(index["paths"].as_array().unwrap().contains(&"/livez".into()), "{index}");
}

#[actix_web::test]
async fn without_the_page_a_browser_learns_how_to_send_a_token() {
    let (world, rules) = (World::running(), without_page(Reviewer::default().rules()));
    let browser = || request(Method::GET, "/").insert_header(BROWSER);
    let answer = ask_through(rules.clone(), &world.state, browser()).await;
    assert_eq!(answer.code, 401, "{}", answer.body);
    assert!(answer.header(header::WWW_AUTHENTICATE).starts_with("Bearer"));
    for part in ["Authorization: Bearer", "kubectl create token", "feature `dashboard`"] {
        assert!(answer.body.contains(part), "no {part} in {}", answer.body);
    }
    let program = ask_through(rules.clone(), &world.state, request(Method::GET, "/")).await;
    is_status(&program, StatusCode::UNAUTHORIZED, "Unauthorized");
    let known = with_token(browser(), "token-of-ann");
    assert_eq!(ask_through(rules, &world.state, known).await.code, 200);
}
