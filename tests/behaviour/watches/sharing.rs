//! Operators of one process share watches, and write nothing when nothing differs.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    cluster::Request,
    recipe::{self, RECIPE, config_map, recipe},
    world::{ECHO, POD, World},
};

#[operetta_harness::test]
async fn two_operators_with_pods_as_children_open_one_pod_watch() {
    let world = World::that_logs_requests().await;
    let before = world.our_requests().await.len();
    let operators = world
        .start(|builder| {
            let builder = operators::register_all(builder, operators::all());
            builder.register(recipe::config("cook"), recipe::handler())
        })
        .await;
    // Both operators see their pods through it.
    world.apply(ECHO, json!({"metadata": {"name": "a"}, "spec": {"serviceName": "x"}})).await;
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"},
        "spec": {"containers": [{"name": "c", "image": "example.dev/none:1"}]},
    });
    world.apply(RECIPE, recipe("r", &[pod])).await;
    world.until_synced(ECHO, "a").await;
    world.until_synced(RECIPE, "r").await;
    // Only the watch shows the deletion.
    let pod = world.get(POD, "b").await;
    world.delete(POD, "b").await;
    let is_another =
        |now: &Value| now.is_object() && now["metadata"]["uid"] != pod["metadata"]["uid"];
    world.until(POD, "b", "the pod created again", is_another).await;
    for (name, manager) in [("a", "echo-server"), ("b", "cook")] {
        let pod = world.get(POD, name).await;
        assert_eq!(pod["metadata"]["labels"]["app.kubernetes.io/managed-by"], manager);
    }
    operators.settled().await;
    operators.stop().await;
    let requests = world.our_requests().await.into_iter().skip(before);
    let of_pods: Vec<_> = requests.filter(|one| one.resource == "pods").collect();
    let asked = |verb: &str| of_pods.iter().filter(|one| one.verb == verb).count();
    assert_eq!((asked("list"), asked("watch")), (1, 1), "{of_pods:?}");
}

/// It also reads no single object, because lists contain all.
#[operetta_harness::test(server)]
async fn a_restart_over_200_converged_parents_writes_nothing() {
    let world = World::that_logs_requests().await;
    let register = |builder: operetta::supervisor::SupervisorBuilder| {
        let builder = operators::register_all(builder, operators::all());
        builder.register(recipe::config("cook"), recipe::handler())
    };
    let operators = world.start(register).await;
    for number in 0..100 {
        let name = format!("p{number}");
        let echo = json!({"metadata": {"name": name}, "spec": {"serviceName": "hello"}});
        world.apply(ECHO, echo).await;
        world.apply(RECIPE, recipe(&name, &[config_map(&name, json!({"a": "b"}))])).await;
    }
    for number in 0..100 {
        world.until_synced(ECHO, &format!("p{number}")).await;
        world.until_ready(RECIPE, &format!("p{number}")).await;
    }
    operators.settled().await;
    operators.stop().await;
    let before = world.our_requests().await.len();
    let operators = world.start(register).await;
    operators.until_all_synced(200).await;
    operators.settled().await;
    operators.stop().await;
    let again = world.our_requests().await.split_off(before);
    assert_reads_only_types(&again);
}

/// How many types the operators of that test have as parents and children.
fn declared() -> usize {
    let configs = operators::all().into_iter().map(|one| one.config().clone());
    let types = configs.chain([recipe::config("cook")]).flat_map(|config| {
        let children = config.child_types().iter().map(|child| child.ty.clone());
        children.chain([config.parent().clone()]).collect::<Vec<_>>()
    });
    types.collect::<std::collections::HashSet<_>>().len()
}

/// Asserts that the number of requests depends on the types and operators, not on the objects.
fn assert_reads_only_types(requests: &[Request]) {
    let is_schema = |request: &&Request| request.uri.starts_with("/openapi/v3/");
    let (schemas, others): (Vec<_>, Vec<_>) = requests.iter().partition(is_schema);
    let of = |verb: &str| {
        let asked = others.iter().filter(|request| request.verb == verb);
        asked.map(|request| &*request.resource).collect::<Vec<_>>()
    };
    let (lists, watches) = (of("list"), of("watch"));
    let types = |of: &[&str]| of.iter().collect::<BTreeSet<_>>().len();
    let all = declared();
    assert_eq!((lists.len(), types(&lists), types(&watches)), (all, all, all), "{others:?}");
    assert_eq!(lists.len() + watches.len(), others.len(), "lists and watches alone: {others:?}");
    // Each operator reads the schema of its parents' type, and each cache of custom resources reads its
    // own, again a few seconds later.
    assert!((1..=20).contains(&schemas.len()), "{schemas:?}");
}
