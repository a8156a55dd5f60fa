//! What others do to our objects: owner references taken off, images rewritten, namespaces deleted.

use super::*;
use crate::{
    recipe::{config_map, recipe},
    world::{Kind, NAMESPACE, POD},
};

const POLICY: Kind =
    Kind("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "mutatingadmissionpolicies");
const BINDING: Kind = Kind(
    "admissionregistration.k8s.io/v1",
    "MutatingAdmissionPolicyBinding",
    "mutatingadmissionpolicybindings",
);

#[tokio::test(flavor = "multi_thread")]
async fn a_child_whose_owner_reference_was_taken_off_is_left_alone_and_that_is_said() {
    let Some(faults) = Faults::start().await else { return };
    let world = &faults.world;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    faults.until_well("r").await;
    let owned = world.get(CONFIG_MAP, "c").await;
    let strip = json!({"metadata": {"ownerReferences": null}, "data": {"salt": "mine"}});
    let stripped = world.patch(CONFIG_MAP, "c", strip).await;
    faults.until_said("r", "exists and is not ours").await;
    faults.until_warned("r", "exists and is not ours").await;
    // Not even when nobody wants it any more.
    world.apply(RECIPE, recipe("r", &[config_map("d", json!({}))])).await;
    faults.until_well("r").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, stripped);
    // Who gives it back gets it repaired.
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    faults.until_said("r", "exists and is not ours").await;
    let owners = &owned["metadata"]["ownerReferences"];
    world.patch(CONFIG_MAP, "c", json!({"metadata": {"ownerReferences": owners}})).await;
    faults.until_well("r").await;
    let repaired = world.get(CONFIG_MAP, "c").await;
    assert_eq!(repaired["data"]["salt"], "much");
    assert_eq!(repaired["metadata"]["uid"], owned["metadata"]["uid"]);
    faults.end().await;
}

fn pod() -> Value {
    let container = json!({"name": "main", "image": "registry.example/soup:1"});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [container]}})
}

/// The pod has another image than its parent wants, for ever; it is neither written nor replaced
/// for that, across a restart neither.
async fn lives_with_another_image(faults: Faults) -> Faults {
    faults.world.apply(RECIPE, recipe("r", &[pod()])).await;
    faults.until_well("r").await;
    let pod = faults.world.get(POD, "p").await;
    assert_eq!(pod["spec"]["containers"][0]["image"], "mirror.example/soup:1");
    let faults = faults.restart().await;
    faults.until_well("r").await;
    let namespace = faults.world.namespace.clone();
    let runs = faults.operators.runs("cook", &namespace, "r");
    faults.touch("r").await;
    faults.operators.until_runs("cook", &namespace, "r", runs + 1).await;
    faults.until_well("r").await;
    let now = faults.world.get(POD, "p").await;
    assert_eq!(now["metadata"]["uid"], pod["metadata"]["uid"], "it is not replaced");
    assert_eq!(now["spec"], pod["spec"]);
    let parent = faults.world.get(RECIPE, "r").await;
    assert!(condition(&parent, "Flapping").is_null(), "{parent}");
    faults
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_rewrites_an_image_makes_no_loop() {
    let Some(faults) = Faults::start().await else { return };
    let rewrite = Fault::rewrite_request(|pod| {
        pod["spec"]["containers"][0]["image"] = "mirror.example/soup:1".into();
    });
    faults.add(Rule::new(rewrite).verb("patch").resource("pods"));
    lives_with_another_image(faults).await.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mutating_admission_policy_that_rewrites_an_image_makes_no_loop() {
    let Some(faults) = Faults::start().await else { return };
    let name = format!("{}-mirror", faults.world.namespace);
    let here = format!("object.metadata.namespace == '{}'", faults.world.namespace);
    let image = "[JSONPatch{op: 'replace', path: '/spec/containers/0/image', \
                 value: 'mirror.example/soup:1'}]";
    let policy = json!({"metadata": {"name": name}, "spec": {
        "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE"], "resources": ["pods"]}]},
        "matchConditions": [{"name": "here", "expression": here}],
        "failurePolicy": "Fail", "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": image}}],
    }});
    if !faults.world.cluster.takes_policies() {
        return faults.end().await;
    }
    if faults.world.try_create(POLICY, policy).await.is_err() {
        eprintln!("skipped: this server has no mutating admission policies");
        return faults.end().await;
    }
    let binding = json!({"metadata": {"name": name}, "spec": {"policyName": name}});
    faults.world.create(BINDING, binding).await;
    // A policy takes effect some time after it was created.
    let probe = || async {
        let mut probe = pod();
        probe["metadata"]["name"] = json!("probe");
        let probe = faults.world.create(POD, probe).await;
        faults.world.delete_now(POD, "probe").await;
        probe["spec"]["containers"][0]["image"].clone()
    };
    eventually("the policy", probe, |image| image == "mirror.example/soup:1").await;
    let faults = lives_with_another_image(faults).await;
    faults.world.delete(BINDING, &name).await;
    faults.world.delete(POLICY, &name).await;
    faults.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_is_deleted_under_a_parent_is_said_without_a_storm() {
    let Some(faults) = Faults::start().await else { return };
    let world = &faults.world;
    let terminating = "configmaps \"c\" is forbidden: unable to create new content in namespace \
                       test because it is being terminated";
    let refusal = Fault::Refuse(Refusal::new(403).message(terminating));
    let rule = Rule::new(refusal).verb("patch").resource("configmaps").name("c");
    let refused = faults.add(rule);
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    faults.until_said("r", "because it is being terminated").await;
    until_hits(&refused, 3).await;
    let runs = faults.operators.runs("cook", &world.namespace, "r");
    let (hits, runs) = (refused.hits(), usize::try_from(runs).unwrap());
    assert!(hits <= runs + 1, "one request a run: {hits} in {runs}");
    refused.end();
    faults.until_well("r").await;
    // And really: all goes, and is forgotten.
    world.delete(NAMESPACE, &world.namespace).await;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    let is_forgotten = |(code, _): &(u16, String)| *code == 404;
    eventually("the parent forgotten", || faults.operators.http(&path), is_forgotten).await;
    world.until(NAMESPACE, &world.namespace, "the namespace gone", Value::is_null).await;
    assert_eq!(faults.operators.http("/readyz/cook").await.0, 200);
    faults.operators.stop().await;
}
