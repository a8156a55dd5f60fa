//! Access to the web endpoint: the API server reviews tokens and the permissions of their users.

use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::ServiceAccount,
};
use kube::{Api, api::PostParams};
use operetta::{
    cli::permissions,
    manifests::{Account, Manifest},
    supervisor::SupervisorBuilder,
    testkit::eventually,
    web::Auth,
};
use operetta_apiserver::Running;
use serde_json::{Value, json};

use crate::{
    cluster::{Cluster, connector_to},
    started::http,
    world::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, Kind, Operators, World},
};

const SERVICE_ACCOUNT: Kind = Kind("v1", "ServiceAccount", "serviceaccounts");
const OPERATORS: &str = "/api/v1/operators";
/// The user of the operators with RBAC. Its role stays bound, so other tests use other users.
const USER: &str = "guarded-operator";

/// A user with a token and all permissions.
struct Admin {
    token: String,
    /// The token is valid while this runs.
    _running: Option<Running>,
}

impl Admin {
    async fn of(world: &World) -> Self {
        if let Cluster::Embedded(server, _) = &world.cluster {
            let running = server.serve("127.0.0.1:0".parse().unwrap()).unwrap();
            let kubeconfig: Value = serde_yaml_ng::from_str(running.kubeconfig()).unwrap();
            let token = kubeconfig["users"][0]["user"]["token"].as_str().unwrap().to_owned();
            return Self { token, _running: Some(running) };
        }
        let token = visitor(world, "admin", &[]).await;
        let everything = json!([{"nonResourceURLs": ["*"], "verbs": ["*"]}]);
        allow(world, "admin", everything).await;
        Self { token, _running: None }
    }
}

/// The token of a new account, for these audiences.
async fn visitor(world: &World, name: &str, audiences: &[&str]) -> String {
    world.apply(SERVICE_ACCOUNT, json!({"metadata": {"name": name}})).await;
    let accounts: Api<ServiceAccount> = Api::namespaced(world.client.clone(), &world.namespace);
    let audiences = audiences.iter().map(|&audience| audience.to_owned()).collect();
    let spec = TokenRequestSpec { audiences: Some(audiences), ..TokenRequestSpec::default() };
    let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
    let answer = accounts.create_token_request(name, &PostParams::default(), &request).await;
    answer.unwrap().status.unwrap().token.unwrap()
}

/// Gives an account of the world's namespace exactly these rules.
async fn allow(world: &World, account: &str, rules: Value) {
    let name = format!("{}-{account}", world.namespace);
    let subject = json!({"kind": "ServiceAccount", "name": account, "namespace": world.namespace});
    bind(world, &name, subject, rules).await;
}

async fn bind(world: &World, role: &str, subject: Value, rules: Value) {
    let group = "rbac.authorization.k8s.io";
    world.apply(CLUSTER_ROLE, json!({"metadata": {"name": role}, "rules": rules})).await;
    let binding = json!({
        "metadata": {"name": role},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
        "subjects": [subject],
    });
    world.apply(CLUSTER_ROLE_BINDING, binding).await;
}

/// The rules of a generated cluster role.
fn rules(name: &str) -> Value {
    let named = |manifest| match manifest {
        Manifest::ClusterRole(role) if role.metadata.name.as_deref() == Some(name) => role.rules,
        _ => None,
    };
    let account = Account::new(operators::NAME, operators::NAMESPACE);
    let manifests = permissions(&operators::all()).unwrap().manifests(&account);
    serde_json::to_value(manifests.into_iter().find_map(named).unwrap()).unwrap()
}

fn guarded(builder: SupervisorBuilder) -> SupervisorBuilder {
    operators::register_all(builder.auth(Auth::delegated()), operators::all())
}

/// Returns the code, and the head with the body.
async fn ask(operators: &Operators, path: &str, token: Option<&str>) -> (u16, String) {
    let address = operators.running().web().unwrap();
    let token = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
    http(address, &format!("GET {path}"), &token).await
}

#[operetta_harness::test(server)]
async fn a_valid_token_has_access_and_others_see_only_the_outcome_of_probes() {
    let world = World::new().await;
    let admin = Admin::of(&world).await;
    let operators = world.start(guarded).await;
    for path in [OPERATORS, "/metrics", "/", "/api/v1/cache/pods"] {
        assert_eq!(ask(&operators, path, None).await.0, 401, "{path}");
        let (code, answer) = ask(&operators, path, Some("guessed")).await;
        assert_eq!(code, 401, "{path}: {answer}");
        assert!(answer.to_lowercase().contains("www-authenticate: bearer"), "{answer}");
        let (code, answer) = ask(&operators, path, Some(&admin.token)).await;
        assert_eq!(code, 200, "{path}: {answer}");
    }
    for path in ["/livez?verbose", "/readyz?verbose"] {
        let (code, answer) = ask(&operators, path, None).await;
        assert!(code == 200 && answer.ends_with("\r\n\r\nok"), "{path}: {answer}");
        let (_, answer) = ask(&operators, path, Some(&admin.token)).await;
        assert!(answer.ends_with("check passed\n"), "{path}: {answer}");
    }
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_scraper_reads_only_the_metrics_until_a_role_grants_more() {
    let (world, config) = World::that_enforces_rbac(USER).await;
    let token = visitor(&world, "scraper", &[]).await;
    allow(&world, "scraper", rules("operetta-metrics-reader")).await;
    // The operators have only their generated rules, which include reviews.
    let (mut own, reviews) = (rules("operetta"), rules("operetta-access-reviewer"));
    own.as_array_mut().unwrap().extend(reviews.as_array().unwrap().clone());
    bind(&world, "operetta-guarded", json!({"kind": "User", "name": USER}), own).await;
    let operators = world.start_over(connector_to(config), guarded).await;
    let (code, answer) = ask(&operators, "/metrics", Some(&token)).await;
    assert!(code == 200 && answer.contains("operetta_"), "{answer}");
    // Every account may read `/api/*` of the API server, but the reviewed path has a prefix.
    let (code, answer) = ask(&operators, OPERATORS, Some(&token)).await;
    assert_eq!(code, 403, "{answer}");
    let user = format!("system:serviceaccount:{}:scraper", world.namespace);
    let expected = format!(r#"User \"{user}\" cannot get path \"/operetta/api/v1/operators\""#);
    assert!(answer.contains(&expected), "{answer}");
    allow(&world, "scraper", rules("operetta-reader")).await;
    let look = || ask(&operators, OPERATORS, Some(&token));
    eventually("the reader's access", look, |(code, _)| *code == 200).await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_token_for_another_audience_is_refused() {
    let (world, _) = World::that_enforces_rbac(USER).await;
    let (ours, api) =
        (visitor(&world, "reader", &["operetta"]).await, visitor(&world, "reader", &[]).await);
    allow(&world, "reader", rules("operetta-reader")).await;
    for (audiences, good, bad) in
        [(vec!["operetta".to_owned()], &ours, &api), (vec![], &api, &ours)]
    {
        let auth = Auth::Delegated { audiences };
        let register = |builder: SupervisorBuilder| {
            operators::register_all(builder.auth(auth), operators::all())
        };
        let operators = world.start(register).await;
        let (code, answer) = ask(&operators, OPERATORS, Some(bad)).await;
        assert_eq!(code, 401, "{answer}");
        let (code, answer) = ask(&operators, OPERATORS, Some(good)).await;
        assert_eq!(code, 200, "{answer}");
        operators.stop().await;
    }
}
