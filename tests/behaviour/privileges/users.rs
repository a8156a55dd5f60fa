//! The roles of users of the web endpoint: each of their rules lets a user do something that nobody may without it.

use operetta::{supervisor::SupervisorBuilder, web::Auth};
use serde_json::{Value, json};

use super::{account, grant, life::ask};
use crate::world::{Operators, World, eventually};

/// The roles that are bound to nobody, with their rules.
fn roles() -> Vec<(String, Vec<Value>)> {
    let is_of_users = |role: &&Value| {
        let mut rules = role["rules"].as_array().into_iter().flatten();
        rules.any(|rule| rule["nonResourceURLs"].is_array())
    };
    let role = |role: &Value| {
        let name = role["metadata"]["name"].as_str().unwrap().to_owned();
        (name, role["rules"].as_array().unwrap().iter().flat_map(one_by_one).collect())
    };
    grant::manifests().iter().filter(is_of_users).map(role).collect()
}

/// A rule for each verb.
fn one_by_one(rule: &Value) -> Vec<Value> {
    let (paths, verbs) = (&rule["nonResourceURLs"], rule["verbs"].as_array().unwrap());
    verbs.iter().map(|verb| json!({"nonResourceURLs": paths, "verbs": [verb]})).collect()
}

/// Whether the user of this token may do what the rule allows.
async fn is_allowed(operators: &Operators, token: &str, rule: &Value) -> bool {
    let path = match rule["nonResourceURLs"][0].as_str().unwrap() {
        "/operetta/*" => "/api/v1/operators/echo-server/sync",
        other => other,
    };
    let method = rule["verbs"][0].as_str().unwrap().to_uppercase();
    let (code, answer) = ask(operators, &method, path, token).await;
    assert_ne!(code, 401, "{answer}");
    code != 403
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
            let allowed = || is_allowed(&operators, &whole, rule);
            eventually(&format!("{role}: {rule}"), allowed, |allowed| *allowed).await;
            assert!(!is_allowed(&operators, &token, rule).await, "{role} without {rule}");
            removed += 1;
        }
    }
    assert!(removed > 5, "{removed}");
    operators.stop().await;
}
