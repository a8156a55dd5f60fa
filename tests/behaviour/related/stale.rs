//! Related objects that were read, and whose watch fails since: those who read them are degraded until it works.

use operetta::testkit::TestCluster;
use operetta_apiserver::faults::{Armed, Fault, FaultPlan, Rule};
use std::time::Duration;

use super::*;

const MINUTE: Duration = Duration::from_mins(1);

async fn until_ready(operators: &Operators, expected: u16, words: &str) -> String {
    let path = format!("/readyz/{READER}?verbose");
    let is_it = |(code, body): &(u16, String)| *code == expected && body.contains(words);
    let what = format!("{path} is {expected} with `{words}`");
    eventually(&what, || operators.http(&path), is_it).await.1
}

async fn until_metric(operators: &Operators, line: &str) {
    let metrics = || operators.http("/metrics");
    eventually(line, metrics, |(_, body)| body.lines().any(|shown| shown == line)).await;
}

/// Ends the watch at its next event, and refuses its successors.
fn cut(plan: &FaultPlan, resource: &str, code: u16) -> Armed {
    plan.add(Rule::new(Fault::CloseWatch).verb("watch").resource(resource).times(1));
    plan.add(Rule::new(Fault::refuse(code)).verb("list").verb("watch").resource(resource))
}

#[operetta_harness::test]
async fn a_related_type_that_cannot_be_watched_for_two_minutes_degrades_its_readers_until_it_can() {
    let cluster = TestCluster::start();
    let world = World::of(cluster.server()).await;
    let plan = FaultPlan::new();
    let connector = world.cluster.connector_through(&plan);
    let set_up =
        |builder: SupervisorBuilder| register(builder.connect(connector).serve("127.0.0.1:0"));
    let (running, clock) = cluster.run_with_clock(set_up).await.unwrap();
    let operators = Operators::new(running);
    world.apply(SECRET, secret("ca", &["a"])).await;
    world.apply(RECIPE, reading("r", json!({"secrets": ["ca"]}))).await;
    until_seen(&world, "r", "ca=a").await;
    until_metric(&operators, "operetta_related_synced{type=\"secrets\"} 1").await;

    let refused = cut(&plan, "secrets", 503);
    world.apply(SECRET, secret("ca", &["a", "b"])).await;
    refused.until_hits(3).await;
    let body = until_ready(&operators, 200, "[+]related/secrets ok").await;
    assert!(body.contains("[+]operator/reader ok"), "a short outage: {body}");
    clock.advance(3 * MINUTE).await;
    let body = until_ready(&operators, 503, "[-]operator/reader degraded: related objects").await;
    for words in ["[-]related/secrets", "2 min"] {
        assert!(body.contains(words), "{words}: {body}");
    }
    let (code, body) = operators.http("/readyz?verbose").await;
    assert!(code == 200 && body.contains("[-]related/secrets"), "{body}");
    until_metric(&operators, "operetta_related_synced{type=\"secrets\"} 0").await;
    until_metric(&operators, "operetta_operator_up{operator=\"reader\"} 0").await;
    let (_, page) = operators.http(&format!("/ui/operators/{READER}")).await;
    assert!(page.contains("related objects"), "{page}");
    // The last known state is still read.
    world.apply(RECIPE, reading("later", json!({"secrets": ["ca"]}))).await;
    until_seen(&world, "later", "ca=a").await;

    refused.end();
    clock.advance(MINUTE).await;
    until_seen(&world, "r", "ca=a,b").await;
    until_seen(&world, "later", "ca=a,b").await;
    until_ready(&operators, 200, "[+]related/secrets ok").await;
    until_metric(&operators, "operetta_related_synced{type=\"secrets\"} 1").await;
    until_metric(&operators, "operetta_operator_up{operator=\"reader\"} 1").await;
    operators.stop().await;
}

/// An operator reads it from the watch of another one, whose parents they are.
#[operetta_harness::test]
async fn a_related_type_that_another_operator_watches_degrades_its_readers_too() {
    let world = World::new().await;
    let plan = FaultPlan::new();
    let whole = OperatorConfig::new("whole", K8sType::of::<ConfigMap>());
    let reader = OperatorConfig::new(READER, K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2))
        .child::<Secret>(ChildConfig::apply())
        .related::<ConfigMap>();
    let nothing = |_: &SyncRequest| -> Result<SyncResponse> { Ok(SyncResponse::new()) };
    let register = |builder: SupervisorBuilder| {
        builder.register(whole, nothing).register(reader, with_related(nothing, related))
    };
    let operators = world.start_over(world.cluster.connector_through(&plan), register).await;
    until_ready(&operators, 200, "").await;
    let refused = cut(&plan, "configmaps", 403);
    world.apply(CONFIG_MAP, config_map("a", json!({}))).await;
    until_ready(&operators, 503, "related objects: missing permission").await;
    refused.end();
    until_ready(&operators, 200, "").await;
    operators.stop().await;
}

/// What is asked for later is fetched while a broad watch is open.
#[operetta_harness::test]
async fn a_fetch_that_is_refused_degrades_the_readers_until_it_is_allowed_or_not_needed() {
    let world = World::new().await;
    let plan = FaultPlan::new();
    let operators = world.start_over(world.cluster.connector_through(&plan), register).await;
    let names: Vec<String> = (0..25).map(|number| format!("many-{number}")).collect();
    world.apply(RECIPE, reading("many", json!({"secrets": names}))).await;
    until_seen(&world, "many", "").await;
    world.apply(SECRET, secret("many-0", &["a"])).await;
    until_seen(&world, "many", "many-0=a").await;
    let refused = plan.add(Rule::new(Fault::refuse(403)).verb("list").resource("secrets"));
    world.apply(RECIPE, reading("r", json!({"secrets": ["late"]}))).await;
    until_ready(&operators, 503, "related objects: missing permission").await;
    // Nobody asks for it any more.
    world.apply(RECIPE, reading("r", json!({}))).await;
    until_ready(&operators, 200, "[+]related/secrets ok").await;
    world.apply(RECIPE, reading("r", json!({"secrets": ["late"]}))).await;
    until_ready(&operators, 503, "related objects: missing permission").await;
    refused.end();
    until_seen(&world, "r", "").await;
    until_ready(&operators, 200, "[+]related/secrets ok").await;
    operators.stop().await;
}
