//! A related type that may not be read, or is not served, degrades those who ask for it and no others.

use k8s_openapi::api::rbac::v1::PolicyRule;
use operetta::manifests::Permissions;

use super::*;
use crate::{
    cluster::connector_to,
    reported::ExpectedFailure,
    world::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, CRD, Kind},
};

/// The user of the operators. No other test has it, as its permissions stay on a shared server.
const USER: &str = "reader";
const ROLE: &str = "operetta-reader-under-test";

async fn allow(world: &World, rules: &[PolicyRule]) {
    world.apply(CLUSTER_ROLE, json!({"metadata": {"name": ROLE}, "rules": rules})).await;
    let binding = json!({
        "metadata": {"name": ROLE},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ROLE},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER}],
    });
    world.apply(CLUSTER_ROLE_BINDING, binding).await;
}

#[operetta_harness::test(server)]
async fn a_type_that_may_not_be_read_fails_those_who_ask_until_it_may() {
    let (world, user) = World::that_enforces_rbac(USER).await;
    let all = Permissions::of([&config()]).unwrap().with_web_endpoint().rules();
    let is_of_secrets = |rule: &PolicyRule| {
        rule.resources.as_ref().is_some_and(|resources| resources.contains(&"secrets".to_owned()))
    };
    let without: Vec<_> = all.iter().filter(|rule| !is_of_secrets(rule)).cloned().collect();
    assert!(without.len() < all.len());
    allow(&world, &without).await;
    let operators = world.start_over(connector_to(user), register).await;
    let failure = ExpectedFailure::before(&world, &operators, READER, "RelatedUnavailable").await;
    world.apply(SECRET, secret("ca", &["a"])).await;
    world.apply(RECIPE, reading("r", json!({"secrets": ["ca"]}))).await;
    world.apply(RECIPE, reading("good", json!({}))).await;
    failure.until_reported("r", "missing permission: get, list, watch on secrets").await;
    until_seen(&world, "good", "").await;
    let (code, body) = operators.http(&format!("/readyz/{READER}?verbose")).await;
    assert!(code == 503 && body.contains("missing permission"), "{body}");
    let shown = shown(&world, &operators, "r").await;
    assert!(shown["related"][0]["problem"].to_string().contains("missing permission"), "{shown}");
    assert!(shown["why"].to_string().contains("Grant get,list,watch of secrets"), "{shown}");
    allow(&world, &all).await;
    until_seen(&world, "r", "ca=a").await;
    world.until_synced(RECIPE, "r").await;
    let path = format!("/readyz/{READER}");
    eventually("it is well", || operators.http(&path), |(code, _)| *code == 200).await;
    operators.stop().await;
}

fn spices() -> K8sType {
    K8sType::namespaced("test.operetta.dev/v1", "Spice", "spices")
}

fn crd_of_spices() -> Value {
    json!({
        "metadata": {"name": "spices.test.operetta.dev"},
        "spec": {
            "group": "test.operetta.dev",
            "scope": "Namespaced",
            "names": {"kind": "Spice", "plural": "spices", "singular": "spice", "listKind": "SpiceList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}

#[operetta_harness::test(server)]
async fn a_type_that_is_not_served_fails_those_who_ask_until_it_is() {
    fn related(parent: &Object) -> Related {
        let spec = parent.field("spec").unwrap_or_default();
        texts(&spec, "spices")
            .iter()
            .fold(Related::new(), |related, name| related.named_of_type(&spices(), &**name))
    }
    #[expect(clippy::unnecessary_wraps, reason = "a handler")]
    fn sync(request: &SyncRequest) -> Result<SyncResponse> {
        let found = request.related_of_type(&spices()).len().to_string();
        let name = format!("{}-seen", request.parent.name());
        Ok(SyncResponse::new().child(config_map(&name, json!({"seen": found}))))
    }
    let world = World::new().await;
    let register = |builder: SupervisorBuilder| {
        let config = config().related_of_type(spices());
        builder.register(config, with_related(sync, related))
    };
    let operators = world.start(register).await;
    let failure = ExpectedFailure::before(&world, &operators, READER, "RelatedUnavailable").await;
    world.apply(RECIPE, reading("r", json!({"spices": ["salt"]}))).await;
    world.apply(RECIPE, reading("good", json!({}))).await;
    failure.until_reported("r", "does not serve spices.test.operetta.dev in version v1").await;
    until_seen(&world, "good", "0").await;
    world.apply(CRD, crd_of_spices()).await;
    until_seen(&world, "r", "0").await;
    let spice = Kind("test.operetta.dev/v1", "Spice", "spices");
    world.apply(spice, json!({"metadata": {"name": "salt"}})).await;
    until_seen(&world, "r", "1").await;
    operators.stop().await;
    world.delete(CRD, "spices.test.operetta.dev").await;
}
