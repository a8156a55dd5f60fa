//! The roles of users of the web endpoint: each of their rules lets a user do something that nobody may without it.

use operetta::{supervisor::SupervisorBuilder, web::Auth};
use serde_json::{Value, json};

use super::{account, grant, life::ask};
use crate::world::{Operators, World, eventually};

/// The roles that are bound to nobody, with their rules.
fn roles() -> Vec<(String, Vec<Value>)> {
    let role = |role: &Value| {
        let name = role["metadata"]["name"].as_str().unwrap().to_owned();
        (name, role["rules"].as_array().unwrap().iter().flat_map(one_by_one).collect())
    };
    grant::manifests().iter().filter(|it| grant::is_of_users(it)).map(role).collect()
}

/// A rule for each verb, and for each resource.
fn one_by_one(rule: &Value) -> Vec<Value> {
    let verbs = rule["verbs"].as_array().unwrap();
    let of_verb = |verb: &Value| match rule["resources"].as_array() {
        None => vec![json!({"nonResourceURLs": rule["nonResourceURLs"], "verbs": [verb]})],
        Some(all) => {
            let groups = &rule["apiGroups"];
            let of = |it| json!({"apiGroups": groups, "resources": [it], "verbs": [verb]});
            all.iter().map(of).collect()
        }
    };
    verbs.iter().flat_map(of_verb).collect()
}

/// A request that a rule for the parents of a type allows, and its method.
fn of_parents(world: &World, resource: &str, verb: &str) -> (&'static str, String) {
    let plural = resource.strip_suffix("/operetta").unwrap();
    let operators = operators::all();
    let operator = operators.iter().find(|it| it.config().parent().plural() == plural).unwrap();
    let (name, namespace) = (operator.config().name(), &world.namespace);
    let parent = format!("/api/v1/operators/{name}/parents/{namespace}/x");
    match verb {
        "create" => ("POST", format!("{parent}/sync")),
        _ => ("GET", parent),
    }
}

/// Whether the user of this token may do what the rule allows.
async fn is_allowed(world: &World, operators: &Operators, token: &str, rule: &Value) -> bool {
    let verb = rule["verbs"][0].as_str().unwrap();
    let (method, path) = match (rule["resources"][0].as_str(), rule["nonResourceURLs"][0].as_str())
    {
        (Some(resource), _) => of_parents(world, resource, verb),
        (None, Some("/operetta/*")) => {
            (upper(verb), "/api/v1/operators/echo-server/sync".to_owned())
        }
        (None, other) => (upper(verb), other.unwrap().to_owned()),
    };
    let (code, answer) = ask(operators, method, &path, token).await;
    assert_ne!(code, 401, "{answer}");
    code != 403
}

fn upper(verb: &str) -> &'static str {
    match verb {
        "get" => "GET",
        "post" => "POST",
        "put" => "PUT",
        other => panic!("no method {other}"),
    }
}

#[operetta_harness::test(server)]
async fn each_rule_of_a_role_for_users_is_needed() {
    let world = World::with_roles().await;
    account::grant_without(&world, &[]).await;
    let register = |builder: SupervisorBuilder| {
        operators::register_all(builder.auth(Auth::delegated()), operators::all())
    };
    let operators = world.start(register).await;
    let mut removed = 0;
    for (role, rules) in roles() {
        let whole = account::user(&world, &role, &role).await;
        for (number, rule) in rules.iter().enumerate() {
            let name = format!("{}-{role}-{number}", world.namespace);
            let mut others = rules.clone();
            others.remove(number);
            let partial = json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": {"name": name}, "rules": others,
            });
            account::apply(&world, partial).await;
            let token = account::user(&world, &name, &name).await;
            let allowed = || is_allowed(&world, &operators, &whole, rule);
            eventually(&format!("{role}: {rule}"), allowed, |allowed| *allowed).await;
            assert!(!is_allowed(&world, &operators, &token, rule).await, "{role} without {rule}");
            removed += 1;
        }
    }
    assert!(removed > 5, "{removed}");
    operators.stop().await;
}
