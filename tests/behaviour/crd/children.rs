//! The types as children and as related objects, on a server.

use kube::api::{Patch, PatchParams};

use super::*;
use crate::world::Operators;

async fn until_seen(world: &World, expected: &str) {
    let sees = |parent: &Value| parent["status"]["taste"] == expected;
    world.until(RECIPE, "r", &format!("`{expected}`"), sees).await;
}

async fn start(world: &World) -> Operators {
    install(world).await;
    let operators = world.start(register).await;
    world.apply(RECIPE, json!({"metadata": {"name": "r"}, "spec": {}})).await;
    operators
}

fn names(route: &Value) -> Vec<&str> {
    let rules = route["spec"]["rules"].as_array().into_iter().flatten();
    rules.filter_map(|rule| rule["name"].as_str()).collect()
}

/// Adds a rule as another field manager.
async fn add_rule(world: &World, rule: &str) {
    let rules = json!([{"name": rule, "backendRefs": [{"name": "other"}]}]);
    world.apply(ROUTE, json!({"metadata": {"name": "r"}, "spec": {"rules": rules}})).await;
}

#[operetta_harness::test(server)]
async fn children_and_related_objects_are_read_as_the_types_with_what_the_server_and_others_added()
{
    let world = World::new().await;
    let operators = start(&world).await;
    // The server has set the default of a field that the handler left out.
    until_seen(&world, "Issuer false web None").await;
    let created = world.get(CERTIFICATE, "r").await;
    let spec = json!({
        "secretName": "r-tls", "dnsNames": ["shop.example.dev"], "usages": ["digital signature"],
        "privateKey": {"algorithm": "ECDSA"}, "issuerRef": {"name": "ca", "kind": "Issuer"},
    });
    assert_eq!(created["spec"], spec);
    let endpoints =
        json!([{"port": "web", "targetPort": 9090, "relabelings": [{"action": "keep"}]}]);
    let monitor =
        json!({"metadata": {"name": "shared"}, "spec": {"selector": {}, "endpoints": endpoints}});
    world.apply(MONITOR, monitor).await;
    until_seen(&world, "Issuer false web Some(Int(9090))").await;
    let conditions = json!([{"type": "Ready", "status": "True"}]);
    let patch = Patch::Merge(json!({"status": {"conditions": conditions}}));
    world.api(CERTIFICATE).patch_status("r", &PatchParams::default(), &patch).await.unwrap();
    until_seen(&world, "Issuer true web Some(Int(9090))").await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_restart_over_children_of_the_types_writes_nothing_and_leaves_the_item_of_another_manager()
 {
    let world = World::that_logs_requests().await;
    let operators = start(&world).await;
    until_seen(&world, "Issuer false web None").await;
    add_rule(&world, "theirs").await;
    until_seen(&world, "Issuer false web,theirs None").await;
    operators.settled().await;
    operators.stop().await;
    let before = world.our_requests().await.len();
    let operators = world.start(register).await;
    operators.until_all_synced(1).await;
    operators.settled().await;
    operators.stop().await;
    let requests = world.our_requests().await.split_off(before);
    let writes: Vec<_> = requests.iter().filter(|request| request.is_write()).collect();
    assert!(writes.is_empty(), "{writes:?}");
    assert_eq!(names(&world.get(ROUTE, "r").await), ["web", "theirs"]);
}

/// The keys of a list are known from the managed fields of the first apply.
#[operetta_harness::test(server)]
async fn an_item_of_ours_that_somebody_changes_is_repaired_and_the_item_of_another_manager_stays() {
    let world = World::new().await;
    let operators = start(&world).await;
    until_seen(&world, "Issuer false web None").await;
    add_rule(&world, "theirs").await;
    until_seen(&world, "Issuer false web,theirs None").await;
    let theirs = world.get(ROUTE, "r").await["spec"]["rules"][1].clone();
    world.patch(ROUTE, "r", json!({"spec": {"rules": [{"name": "web"}, theirs]}})).await;
    let is_repaired = |route: &Value| route["spec"]["rules"][0]["backendRefs"][0]["port"] == 80;
    let route = world.until(ROUTE, "r", "our rule again", is_repaired).await;
    assert_eq!(names(&route), ["web", "theirs"]);
    assert_eq!(route["spec"]["rules"][1], theirs);
    operators.stop().await;
}
