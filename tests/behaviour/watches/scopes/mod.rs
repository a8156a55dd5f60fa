//! Operators that are restricted to namespaces share types and do not modify objects outside.

mod deleted_namespace;
mod forbidden;
mod one_of_two;
mod other_namespace;

use std::collections::BTreeSet;

use kube::api::PostParams;
use operetta::{prelude::*, supervisor::SupervisorBuilder};
use serde_json::{Value, json};

use crate::{
    cluster::Request,
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, ECHO, Kind, NAMESPACE, World, eventually, is_ready, is_synced, object},
};

/// Additional namespaces of the test: `a`, `b` and `outside`.
struct TestNamespaces {
    a: String,
    b: String,
    outside: String,
}

impl World {
    async fn create_namespaces(&self) -> TestNamespaces {
        let [a, b, outside] =
            ["a", "b", "outside"].map(|name| format!("{}-{name}", self.namespace));
        for name in [&a, &b, &outside] {
            self.create(NAMESPACE, json!({"metadata": {"name": name}})).await;
        }
        TestNamespaces { a, b, outside }
    }

    async fn create_in(&self, namespace: &str, kind: Kind, body: Value) {
        let api = self.api_in(kind, Some(namespace));
        api.create(&PostParams::default(), &object(kind, body)).await.unwrap();
    }

    async fn get_in(&self, namespace: &str, kind: Kind, name: &str) -> Value {
        let found = self.api_in(kind, Some(namespace)).get_opt(name).await.unwrap();
        serde_json::to_value(found).unwrap()
    }

    async fn until_in(
        &self,
        namespace: &str,
        kind: Kind,
        name: &str,
        is_right: impl Fn(&Value) -> bool,
    ) -> Value {
        let what = format!("{name} in {namespace} in the expected state");
        eventually(&what, || self.get_in(namespace, kind, name), is_right).await
    }
}

fn echo_server() -> Value {
    json!({"metadata": {"name": "e"}, "spec": {"serviceName": "x"}})
}

fn parent_with_child() -> Value {
    recipe("r", &[config_map("c", json!({"salt": "much"}))])
}

/// `echo-server` in `a`, and `cook` in `a` and `b`.
fn register(
    namespaces: &TestNamespaces,
) -> impl Fn(SupervisorBuilder) -> SupervisorBuilder + use<> {
    let (a, b) = (namespaces.a.clone(), namespaces.b.clone());
    move |builder| {
        let echo = operators::echo_server::config().within_namespace(&a);
        let cook = recipe::config("cook").within_namespaces([&a, &b].map(String::as_str));
        let handler = operators::echo_server::handler();
        builder.register(echo, handler).register(cook, recipe::handler())
    }
}

#[operetta_harness::test(server)]
async fn operators_of_different_namespaces_share_one_watch_per_namespace_and_leave_the_rest() {
    let world = World::that_logs_requests().await;
    let namespaces = world.create_namespaces().await;
    world.create_in(&namespaces.outside, ECHO, echo_server()).await;
    world.create_in(&namespaces.b, ECHO, echo_server()).await;
    world.create_in(&namespaces.outside, RECIPE, parent_with_child()).await;
    let before = world.our_requests().await.len();
    let operators = world.start(register(&namespaces)).await;
    world.create_in(&namespaces.a, ECHO, echo_server()).await;
    for namespace in [&namespaces.a, &namespaces.b] {
        world.create_in(namespace, RECIPE, parent_with_child()).await;
        world.until_in(namespace, RECIPE, "r", is_ready).await;
    }
    world.until_in(&namespaces.a, ECHO, "e", is_synced).await;
    operators.until_all_synced(3).await;
    operators.settled().await;
    operators.stop().await;

    let (label, TestNamespaces { a, b, outside }) = ("app.kubernetes.io/managed-by", &namespaces);
    let mut expected = BTreeSet::from([
        ("echoservers", a.as_str(), None),
        ("recipes", a, None),
        ("recipes", b, None),
    ]);
    let (both, cook) = (format!("{label} in (cook,echo-server)"), format!("{label} in (cook)"));
    for resource in ["pods", "services"] {
        expected.extend([(resource, a.as_str(), Some(both.as_str())), (resource, b, Some(&cook))]);
    }
    for resource in ["configmaps", "secrets", "endpointslices"] {
        expected.extend([(resource, a.as_str(), Some(cook.as_str())), (resource, b, Some(&cook))]);
    }
    let ours = world.our_requests().await.split_off(before);
    let selectors: Vec<Option<String>> = ours.iter().map(Request::selector).collect();
    let asked = |verb: &str| -> Vec<(&str, &str, Option<&str>)> {
        let asked = ours.iter().zip(&selectors).filter(|(one, _)| one.verb == verb);
        asked
            .map(|(one, by)| (&*one.resource, one.namespace().unwrap_or("*"), by.as_deref()))
            .collect()
    };
    for asked in [asked("list"), asked("watch")] {
        assert_eq!(asked.iter().copied().collect::<BTreeSet<_>>(), expected);
        assert_eq!(asked.len(), expected.len(), "each once");
    }
    let elsewhere = |one: &&Request| {
        !one.resource.is_empty() && ![Some(a.as_str()), Some(b)].contains(&one.namespace())
    };
    let elsewhere: Vec<&Request> = ours.iter().filter(elsewhere).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
    assert!(world.get_in(outside, RECIPE, "r").await["status"].is_null());
    assert!(world.get_in(b, ECHO, "e").await["status"].is_null(), "a namespace of the other");
}

#[operetta_harness::test]
async fn a_parent_outside_is_not_modified_although_another_operator_watches_all_namespaces() {
    let world = World::new().await;
    let namespaces = world.create_namespaces().await;
    // Recipes are watched in all namespaces because they are a child type of the other operator.
    let cook = recipe::config("cook").within_namespace(&namespaces.a);
    let recipes = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let echo = operators::echo_server::config().child_of_type(recipes, ChildConfig::apply());
    let handler = operators::echo_server::handler();
    world.create_in(&namespaces.outside, RECIPE, parent_with_child()).await;
    let operators =
        world.start(|all| all.register(echo, handler).register(cook, recipe::handler())).await;
    world.create_in(&namespaces.b, RECIPE, parent_with_child()).await;
    world.create_in(&namespaces.a, RECIPE, parent_with_child()).await;
    world.until_in(&namespaces.a, RECIPE, "r", is_ready).await;
    operators.until_all_synced(1).await;
    operators.settled().await;
    operators.stop().await;
    for namespace in [&namespaces.b, &namespaces.outside] {
        assert!(world.get_in(namespace, RECIPE, "r").await["status"].is_null());
        assert!(world.get_in(namespace, CONFIG_MAP, "c").await.is_null());
    }
}

/// A handler that returns a child in each of two namespaces.
fn spread(
    namespaces: &TestNamespaces,
) -> impl Fn(&SyncRequest) -> Result<SyncResponse> + Send + Sync + 'static {
    let namespaces = [namespaces.a.clone(), namespaces.b.clone()];
    move |_| {
        let children = namespaces.iter().map(|namespace| {
            let mut child = config_map("spread", json!({"salt": "much"}));
            child["metadata"]["namespace"] = json!(namespace);
            child
        });
        Ok(SyncResponse::new().children(children))
    }
}
