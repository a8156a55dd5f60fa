//! Operators of one process share watches, and write nothing when nothing differs.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operetta::prelude::*;
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
#[operetta_harness::test]
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
    let configs = operators::all().into_iter().map(|operator| operator.config);
    let types = configs.chain([recipe::config("cook")]).flat_map(|config| {
        let children = config.children.into_iter().map(|child| child.ty);
        children.chain([config.parent])
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

/// The CRD of a parent type with this number, which is like recipes.
fn numbered(number: usize) -> CustomResourceDefinition {
    let text = serde_json::to_string(&recipe::crd(Some(recipe::status()))).unwrap();
    let text = text.replace("Recipe", &format!("Recipe{number}"));
    serde_json::from_str(&text.replace("recipe", &format!("recipe{number}"))).unwrap()
}

fn of_number(number: usize) -> OperatorConfig {
    let plural = format!("recipe{number}s");
    let mut config = recipe::config(&format!("cook-{number}"));
    config.parent = K8sType::namespaced(RECIPE.0, &format!("Recipe{number}"), &plural);
    config
}

#[operetta_harness::test]
async fn many_operators_over_the_same_child_types_open_one_watch_per_type() {
    const MANY: usize = 12;
    let world = World::that_logs_requests().await;
    let crds: Vec<_> = (0..MANY).map(numbered).collect();
    operators::install::install(&world.client, &crds).await.unwrap();
    let register = |builder: operetta::supervisor::SupervisorBuilder| {
        (0..MANY)
            .fold(builder, |builder, number| builder.register(of_number(number), recipe::handler()))
    };
    let before = world.our_requests().await.len();
    let operators = world.start(register).await;
    for number in 0..MANY {
        let ty = of_number(number).parent;
        let resource = kube::api::ApiResource {
            group: ty.group().to_owned(),
            version: ty.version().to_owned(),
            api_version: ty.api_version().to_owned(),
            kind: ty.kind().to_owned(),
            plural: ty.plural().to_owned(),
        };
        let api: kube::Api<kube::api::DynamicObject> =
            kube::Api::namespaced_with(world.client.clone(), &world.namespace, &resource);
        let child = config_map(&format!("made-{number}"), json!({}));
        let mut parent = recipe("r", &[child]);
        parent["apiVersion"] = json!(ty.api_version());
        parent["kind"] = json!(ty.kind());
        let parent = serde_json::from_value(parent).unwrap();
        api.create(&kube::api::PostParams::default(), &parent).await.unwrap();
    }
    operators.until_all_synced(MANY).await;
    operators.settled().await;
    operators.stop().await;
    let requests = world.our_requests().await.split_off(before);
    let mut opened: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for it in requests.iter().filter(|it| ["list", "watch"].contains(&it.verb.as_str())) {
        *opened.entry((&it.verb, &it.resource)).or_default() += 1;
    }
    let types = of_number(0).children.len() + MANY;
    assert_eq!(opened.len(), 2 * types, "a list and a watch of each type: {opened:?}");
    assert!(opened.values().all(|count| *count == 1), "{opened:?}");
    let before = world.our_requests().await.len();
    let operators = world.start(register).await;
    operators.until_all_synced(MANY).await;
    operators.settled().await;
    operators.stop().await;
    let requests = world.our_requests().await.split_off(before);
    let writes: Vec<&Request> = requests.iter().filter(|it| it.is_write()).collect();
    assert!(writes.is_empty(), "{writes:?}");
}
