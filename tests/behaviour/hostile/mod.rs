//! Whoever quotes a secret, nobody sees it: each case plants one in a parent, a child or a related object, and has it
//! quoted by the handler, a policy, the server or a copy. Then every answer of the endpoint, every Event, condition and
//! line of the log is searched for it.
//!
//! `OPERETTA_PLANTED_SECRETS` says how many cases there are.

mod case;
mod users;

use std::{env, time::Duration};

use anyhow::Error;
use futures::future::join_all;
use k8s_openapi::api::core::v1::Secret;
use operetta::{object::Object, operator::with_related, prelude::*};
use operetta_apiserver::faults::{Fault, FaultPlan, Refusal, Rule};
use serde_json::json;

use self::case::{Case, Place, Quote};
use crate::{
    logged::{leaked, leaks, watch_logs},
    recipe::RECIPE,
    started::http,
    world::{EVENT, Kind, Operators, SECRET, World, condition},
};

/// Each place with each quote, at once and later.
const CASES: u64 = 72;
/// How many are in the cluster at a time.
const AT_ONCE: usize = 250;

const POLICY: Kind = Kind(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicy",
    "validatingadmissionpolicies",
);
const BINDING: Kind = Kind(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicyBinding",
    "validatingadmissionpolicybindings",
);

fn related_name(case: Case) -> String {
    format!("related-{}", case.0)
}

fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let (case, level) = of(&request.parent);
    let value = case.value(level);
    let is_quoting = case.is_quoted_at_once() || level > 1;
    let mut secret = case.secret(level);
    let labels = match case.quote() {
        Quote::Error if is_quoting && is_known(case, request) => {
            return Err(Error::msg(format!("the handler quotes {value}")));
        }
        Quote::Panic if is_quoting && is_known(case, request) => {
            panic!("the handler quotes {value}")
        }
        // No label may end so.
        Quote::Label if is_quoting => json!({"quoted": format!("{value}!")}),
        Quote::Policy if is_quoting => json!({"refused": "yes"}),
        _ => json!({}),
    };
    // The Secret differs from one level to the next.
    let mut annotations = json!({"example.dev/level": level.to_string()});
    if case.quote() == Quote::Copy && is_quoting {
        annotations["example.dev/original"] = json!(format!("{secret} {value}"));
    }
    secret["metadata"]["labels"] = labels;
    secret["metadata"]["annotations"] = annotations;
    Ok(SyncResponse::status(json!({})).child(secret))
}

/// Whether an object in the cluster shows that the value is secret, and not the handler alone.
fn is_known(case: Case, request: &SyncRequest) -> bool {
    match case.place() {
        Place::Marked | Place::MarkedMap | Place::Related => true,
        Place::Data | Place::StringData => !request.children::<Secret>().is_empty(),
        Place::Rotated => false,
    }
}

fn of(parent: &Object) -> (Case, u64) {
    let spec = parent.field("spec").unwrap_or_default();
    let number = |field: &str| spec[field].as_u64().unwrap_or_default();
    (Case(number("case")), number("level"))
}

fn related(parent: &Object) -> Related {
    let (case, _) = of(parent);
    match case.place() {
        Place::Related => Related::new().named::<Secret>(&*related_name(case)),
        _ => Related::new(),
    }
}

fn config() -> OperatorConfig {
    OperatorConfig::new("keeper", K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2))
        .child::<Secret>(ChildConfig::apply())
        .related::<Secret>()
        .with_error_backoff(Duration::from_mins(5), Duration::from_mins(10))
}

/// Refuses each Secret that asks for it, and quotes all of it.
async fn install_policy(world: &World) {
    let name = format!("quotes-{}", world.namespace);
    let rules = json!([{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["secrets"],
        "operations": ["CREATE", "UPDATE"]}]);
    let policy = json!({"metadata": {"name": name}, "spec": {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": rules, "namespaceSelector": {"matchLabels":
            {"kubernetes.io/metadata.name": world.namespace}}},
        "validations": [{
            "expression": "!has(object.metadata.labels) || !('refused' in object.metadata.labels)",
            "messageExpression": "'the policy quotes ' + object.data.map(key, object.data[key]).join(' ')",
        }],
    }});
    world.create(POLICY, policy).await;
    let binding = json!({"metadata": {"name": name}, "spec": {
        "policyName": name, "validationActions": ["Deny"]}});
    world.create(BINDING, binding).await;
}

/// Answers that quote the Secrets, as webhooks word them.
fn quoting_answers(cases: &[Case]) -> FaultPlan {
    let plan = FaultPlan::new();
    let quoting = cases.iter().filter(|case| case.quote() == Quote::Answer);
    for case in quoting {
        let from = if case.is_quoted_at_once() { 1 } else { 2 };
        let level = if case.is_quoted_at_once() { 1 } else { 2 };
        let message = format!("admission webhook denied: it quotes {}", case.value(level));
        let refusal = Fault::Refuse(Refusal::new(403).message(&message));
        let rule = Rule::new(refusal).verb("patch").resource("secrets").name(&case.name());
        plan.add(rule.from_nth(from));
    }
    plan
}

#[operetta_harness::test]
async fn no_planted_secret_is_shown_whoever_quotes_it() {
    watch_logs();
    let count = env::var("OPERETTA_PLANTED_SECRETS").ok().and_then(|count| count.parse().ok());
    let cases: Vec<Case> = (0..count.unwrap_or(CASES)).map(Case).collect();
    for cases in cases.chunks(AT_ONCE) {
        quote_all(cases).await;
    }
    let shown = leaked();
    assert!(
        shown.is_empty(),
        "{} lines of the log: {:#?}",
        shown.len(),
        &shown[..shown.len().min(5)]
    );
}

async fn quote_all(cases: &[Case]) {
    let world = World::new().await;
    world.install_recipes_with_secrets().await;
    install_policy(&world).await;
    for case in cases.iter().filter(|case| case.place() == Place::Related) {
        let mut secret = case.secret(1);
        secret["metadata"]["name"] = json!(related_name(*case));
        world.create(SECRET, secret).await;
    }
    let plan = quoting_answers(cases);
    let handler = || with_related(sync, related);
    let connector = world.cluster.connector_through(&plan);
    let operators =
        world.start_over(connector, |builder| builder.register(config(), handler())).await;
    for level in [1, 2] {
        for case in cases {
            world.apply(RECIPE, case.parent(level)).await;
        }
        operators.settled().await;
        search(&world, &operators, cases, level).await;
    }
    operators.stop().await;
}

/// Searches everything that is shown of these cases, and checks that what quotes a secret is shown otherwise.
async fn search(world: &World, operators: &Operators, cases: &[Case], level: u64) {
    let events = world.list(EVENT).await;
    for case in cases {
        let name = case.name();
        let parent = world.get(RECIPE, &name).await;
        let shown = parent["status"].to_string();
        assert!(!leaks(&shown), "{case:?} level {level}: {shown}");
        let is_quoting = case.is_quoted_at_once() || level > 1;
        if is_quoting && case.quote() != Quote::Copy {
            let is_synced = condition(&parent, "Synced")["status"] == "True";
            assert!(
                !is_synced || case.place() == Place::Rotated,
                "{case:?} level {level}: {shown}"
            );
        }
        join_all(paths(&world.namespace, &name).iter().map(|path| look(operators, path))).await;
    }
    let leaking: Vec<_> = events.iter().filter(|event| leaks(&event.to_string())).collect();
    assert!(leaking.is_empty(), "{leaking:#?}");
    for path in ["/metrics", "/", "/api/v1/operators/keeper/parents", "/api/v1/operators/keeper"] {
        look(operators, path).await;
    }
}

fn paths(namespace: &str, name: &str) -> Vec<String> {
    let parent = format!("operators/keeper/parents/{namespace}/{name}?diff=1&events=1");
    let object = |ty: &str| format!("cache/{ty}/{namespace}/{name}");
    let places = [parent, object("recipes.test.operetta.dev"), object("secrets")];
    let forms = |place: String| [format!("/api/v1/{place}"), format!("/ui/{place}")];
    let yaml = format!("/api/v1/{}?output=yaml", object("secrets"));
    places.into_iter().flat_map(forms).chain([yaml]).collect()
}

async fn look(operators: &Operators, path: &str) {
    let address = operators.running().web().unwrap();
    let (_, answer) = http(address, &format!("GET {path}"), "Accept: text/html, */*\r\n").await;
    assert!(!leaks(&answer), "{path}: {answer}");
}
