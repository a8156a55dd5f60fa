//! An actor that panics is restarted, and its operators with it; nobody else notices.

use operetta::{election::LeaderElection, supervisor::SupervisorBuilder};
use serde_json::{Value, json};

use crate::{
    cluster::Request,
    recipe::{self, RECIPE, config_map, recipe},
    related,
    world::{CONFIG_MAP, ECHO, LEASE, Operators, SECRET, World},
};

/// Two operators, of which one may panic.
fn both(builder: SupervisorBuilder) -> SupervisorBuilder {
    let echo = vec![operators::echo_server::operator()];
    let builder = operators::register_all(builder, echo);
    builder.register(recipe::config("cook"), recipe::handler())
}

/// A world with a parent of each operator, both up to date.
async fn settled() -> (World, Operators) {
    let world = World::that_logs_requests().await;
    let operators = world.start(both).await;
    world.apply(ECHO, json!({"metadata": {"name": "e"}, "spec": {"serviceName": "x"}})).await;
    world.apply(RECIPE, recipe("r", &[config_map("made", json!({"salt": "little"}))])).await;
    world.until_synced(ECHO, "e").await;
    world.until_ready(RECIPE, "r").await;
    operators.until_all_synced(2).await;
    operators.settled().await;
    (world, operators)
}

fn let_panic(operators: &Operators, actor: &str) {
    operators.running().board().let_panic(actor, 1);
}

/// Waits until a new parent is up to date, whose events are what the actor panics at.
async fn until_another_is_made(world: &World) {
    world.apply(RECIPE, recipe("other", &[config_map("made-other", json!({}))])).await;
    world.until_ready(RECIPE, "other").await;
}

async fn shown(operators: &Operators, operator: &str) -> Value {
    let (_, body) = operators.http(&format!("/api/v1/operators/{operator}")).await;
    serde_json::from_str(&body).unwrap()
}

/// What the operators wrote of the parent and the child that were up to date.
fn repeated(requests: &[Request]) -> Vec<&Request> {
    let is_old = |it: &&Request| {
        let path = it.uri.split('?').next().unwrap_or_default();
        path.ends_with("/made") || path.ends_with("/r") || path.ends_with("/r/status")
    };
    requests.iter().filter(|it| it.is_write()).filter(is_old).collect()
}

#[operetta_harness::test]
async fn an_operator_that_panics_is_restarted_without_writes_and_watches_and_others_go_on() {
    let (world, operators) = settled().await;
    let before = world.our_requests().await.len();
    let of_others = operators.reconciles("echo-server", &world.namespace, "e");
    let_panic(&operators, "the operator cook");
    until_another_is_made(&world).await;
    operators.until_all_synced(3).await;
    operators.settled().await;
    assert_eq!(operators.reconciles("echo-server", &world.namespace, "e"), of_others);
    let cook = shown(&operators, "cook").await;
    assert_eq!((&cook["state"], &cook["restarts"]["count"]), (&json!("running"), &json!(1)));
    assert_eq!(cook["restarts"]["why"], "the operator cook panicked (as the test asks for)");
    assert!(shown(&operators, "echo-server").await.get("restarts").is_none());
    let (_, ready) = operators.http("/readyz?verbose").await;
    assert!(ready.contains("[+]restarts/cook 1 after a panic, the last "), "{ready}");
    let (_, page) = operators.http("/ui/operators/cook").await;
    assert!(page.contains("the operator cook panicked"), "{page}");
    let (_, metrics) = operators.http("/metrics").await;
    let counted = r#"operetta_operator_restarts_total{operator="cook"} 1"#;
    assert!(metrics.contains(counted), "{metrics}");
    // The watches are those of before.
    world.patch(CONFIG_MAP, "made", json!({"data": {"salt": "much"}})).await;
    let is_repaired = |map: &Value| map["data"]["salt"] == "little";
    world.until(CONFIG_MAP, "made", "the drift repaired", is_repaired).await;
    operators.settled().await;
    let requests = world.our_requests().await.split_off(before);
    let opened = requests.iter().filter(|it| ["list", "watch"].contains(&it.verb.as_str()));
    assert_eq!(opened.count(), 0, "{requests:?}");
    // The repair is the only write.
    assert_eq!(repeated(&requests).len(), 1, "{requests:?}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_reflector_that_panics_lists_its_type_once_more_and_nothing_else_is_repeated() {
    let (world, operators) = settled().await;
    let before = world.our_requests().await.len();
    let of_others = operators.reconciles("echo-server", &world.namespace, "e");
    let_panic(&operators, "the reflector of configmaps");
    // The reflector panics at this change, of which no operator hears.
    world.patch(CONFIG_MAP, "made", json!({"data": {"salt": "much"}})).await;
    let is_repaired = |map: &Value| map["data"]["salt"] == "little";
    world.until(CONFIG_MAP, "made", "the drift repaired", is_repaired).await;
    let cook = shown(&operators, "cook").await;
    assert_eq!((&cook["state"], &cook["restarts"]["count"]), (&json!("running"), &json!(1)));
    let why = "the reflector of configmaps panicked (as the test asks for)";
    assert_eq!(cook["restarts"]["why"], why);
    until_another_is_made(&world).await;
    operators.until_all_synced(3).await;
    operators.settled().await;
    assert_eq!(operators.reconciles("echo-server", &world.namespace, "e"), of_others);
    let requests = world.our_requests().await.split_off(before);
    let opened = |verb: &str| {
        let opened = requests.iter().filter(|it| it.verb == verb);
        opened.map(|it| it.resource.as_str()).collect::<Vec<_>>()
    };
    assert_eq!((opened("list"), opened("watch")), (vec!["configmaps"], vec!["configmaps"]));
    assert_eq!(repeated(&requests).len(), 1, "{requests:?}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn related_objects_are_read_again_after_a_panic_of_their_reflector() {
    let world = World::new().await;
    let secret = |key: &str| json!({"metadata": {"name": "spice"}, "stringData": {key: "x"}});
    world.apply(SECRET, secret("heat")).await;
    let reads = json!({"metadata": {"name": "r"}, "spec": {"secrets": ["spice"], "status": {}}});
    world.apply(RECIPE, reads).await;
    let operators = world.start(related::register).await;
    let sees = |expected: &'static str| {
        move |child: &Value| child["data"]["seen"].as_str().is_some_and(|it| it.contains(expected))
    };
    world.until(CONFIG_MAP, "r-seen", "the secret seen", sees("heat")).await;
    let_panic(&operators, "the reflector of related secrets");
    world.apply(SECRET, secret("salt")).await;
    world.until(CONFIG_MAP, "r-seen", "the change seen", sees("salt")).await;
    world.apply(SECRET, secret("oil")).await;
    world.until(CONFIG_MAP, "r-seen", "the next change seen", sees("oil")).await;
    assert_eq!(shown(&operators, related::READER).await["restarts"]["count"], 1);
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_leader_whose_election_panics_leads_again_by_the_same_lease() {
    let world = World::new().await;
    let election = LeaderElection::new("cooks").in_namespace(&world.namespace);
    let election = election.as_identity("first");
    let register = |builder: SupervisorBuilder| {
        let builder = builder.leader_election(election);
        builder.register(recipe::config("cook"), recipe::handler())
    };
    let operators = world.start(register).await;
    until_another_is_made(&world).await;
    let lease = world.get(LEASE, "cooks").await;
    let_panic(&operators, &format!("the leader election by {}/cooks", world.namespace));
    let is_renewed = |now: &Value| now["spec"]["renewTime"] != lease["spec"]["renewTime"];
    let restarts = || async { shown(&operators, "cook").await["restarts"]["count"].clone() };
    crate::world::eventually("the restart", restarts, |count| *count == 1).await;
    let now = world.until(LEASE, "cooks", "the Lease renewed", is_renewed).await;
    assert_eq!(now["spec"]["leaseTransitions"], lease["spec"]["leaseTransitions"]);
    assert_eq!(now["spec"]["holderIdentity"], "first");
    world.apply(RECIPE, recipe("r", &[config_map("made", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}
