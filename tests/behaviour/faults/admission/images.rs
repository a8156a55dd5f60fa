//! Images that admission rewrites, and other changes of written objects.

use super::*;
use crate::{
    recipe::{config_map, recipe},
    world::POD,
};

fn pod(name: &str) -> Value {
    let container = json!({"name": "main", "image": "registry.example/soup:1"});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [container]}})
}

/// Asserts that a pod whose image is rewritten is neither written nor recreated again, also after a
/// restart.
async fn assert_rewritten_image_is_accepted(faults: Faults) -> Faults {
    let counted = ("operetta_children_altered", [("operator", "cook"), ("type", "pods")]);
    faults.world.apply(RECIPE, recipe("r", &[pod("p")])).await;
    faults.until_settled("r").await;
    faults.until_counted(counted.0, &counted.1).await;
    let pod = faults.world.get(POD, "p").await;
    assert_eq!(pod["spec"]["containers"][0]["image"], "mirror.example/soup:1");
    let faults = faults.restart().await;
    // The end of the first process has sent all its Events.
    assert!(altered_events(&faults).await.is_empty(), "such Events are not configured");
    faults.until_settled("r").await;
    faults.touch("r").await;
    faults.operators.settled().await;
    faults.until_settled("r").await;
    let now = faults.world.get(POD, "p").await;
    assert_eq!(now["metadata"]["uid"], pod["metadata"]["uid"], "it is not replaced");
    assert_eq!(now["spec"], pod["spec"]);
    let parent = faults.world.get(RECIPE, "r").await;
    assert!(condition(&parent, "Flapping").is_null(), "{parent}");
    faults.until_counted(counted.0, &counted.1).await;
    let expected =
        format!("{}/p: the server has changed .spec.containers[name=", faults.world.namespace);
    let path = format!("/api/v1/operators/cook/parents/{}/r", faults.world.namespace);
    let (_, page) = faults.operators.http(&path).await;
    for text in [condition(&parent, "Synced")["message"].as_str().unwrap(), &page] {
        assert!(text.contains(&expected), "{text}");
    }
    faults
}

/// The Events about children that the server altered.
async fn altered_events(faults: &Faults) -> Vec<Value> {
    let events = faults.world.list(EVENT).await.into_iter();
    events.filter(|event| event["reason"] == "Altered").collect()
}

#[operetta_harness::test]
async fn a_child_that_a_webhook_alters_is_counted_and_reported_in_one_event_if_configured() {
    let with_events = |builder: SupervisorBuilder| {
        builder.register(recipe::config("cook").with_normal_events(), recipe::handler())
    };
    let faults = Faults::start_as(FaultPlan::new(), with_events).await;
    let rewrite = Fault::rewrite_request(|child| child["data"]["salt"] = "sea".into());
    faults.add(Rule::new(rewrite).verb("patch").resource("configmaps").name("c"));
    let wanted = |data: Value| recipe("r", &[config_map("c", data)]);
    faults.world.apply(RECIPE, wanted(json!({"salt": "much"}))).await;
    faults.until_settled("r").await;
    let altered = || altered_events(&faults);
    eventually("an Event", altered, |events: &Vec<Value>| !events.is_empty()).await;
    faults.touch("r").await;
    faults.operators.settled().await;
    let Faults { world, plan, operators, bystander } = faults;
    operators.stop().await;
    let operators = world.start_over(world.cluster.connector_through(&plan), with_events).await;
    let faults = Faults { world, plan, operators, bystander };
    faults.until_settled("r").await;
    let labels = r#"{operator="cook",type="configmaps"}"#;
    let metrics = || faults.operators.http("/metrics");
    for (data, altered) in [(json!({"salt": "much"}), 1), (json!({"salt": "sea", "x": "y"}), 0)] {
        faults.world.apply(RECIPE, wanted(data)).await;
        let line = format!("operetta_children_altered{labels} {altered}\n");
        eventually(&line, metrics, |(_, body)| body.contains(&line)).await;
    }
    // A repeated Event would have been published before this one.
    let updated = |events: &Vec<Value>| events.iter().any(|event| event["reason"] == "Updated");
    eventually("a later Event", || faults.world.list(EVENT), updated).await;
    let events = altered_events(&faults).await;
    let [event] = &*events else { panic!("{events:#?}") };
    assert!(event["type"] == "Normal" && event["series"].is_null(), "{event}");
    let words = "/c: the server has changed .data.salt of what was applied";
    assert!(event["note"].as_str().unwrap().ends_with(words), "{event}");
    faults.end().await;
}

#[operetta_harness::test(server)]
async fn a_mutating_admission_policy_that_rewrites_an_image_causes_no_repeated_writes() {
    needs(Need::Policies);
    let faults = Faults::start().await;
    let patch = "[JSONPatch{op: 'replace', path: '/spec/containers/0/image', \
                 value: 'mirror.example/soup:1'}]";
    let policy = Policy::install(&faults, "pods", "true", patch).await;
    let is_rewritten =
        |pod: &Value| pod["spec"]["containers"][0]["image"] == "mirror.example/soup:1";
    until_admitted(&faults, POD, &pod("probe"), is_rewritten).await;
    let faults = assert_rewritten_image_is_accepted(faults).await;
    policy.uninstall(&faults).await;
    faults.end().await;
}

/// The policy does not change updates.
#[operetta_harness::test(server)]
async fn a_policy_that_changes_only_creates_causes_no_repeated_writes_and_no_deletion_after_a_restart()
 {
    needs(Need::Policies);
    let faults = Faults::start().await;
    let patch = "[JSONPatch{op: 'add', path: '/spec/hostname', value: 'kitchen'}, \
                 JSONPatch{op: 'replace', path: '/spec/containers/0/image', \
                 value: 'mirror.example/soup:1'}]";
    let policy = Policy::install_for(&["CREATE"], &faults, "pods", "true", patch).await;
    let is_rewritten =
        |pod: &Value| pod["spec"]["containers"][0]["image"] == "mirror.example/soup:1";
    until_admitted(&faults, POD, &pod("probe"), is_rewritten).await;
    let faults = assert_rewritten_image_is_accepted(faults).await;
    let old = faults.world.get(POD, "p").await;
    let wanted = |hostname: &str| {
        let mut wanted = pod("p");
        wanted["spec"]["hostname"] = hostname.into();
        json!({"spec": {"children": [wanted]}})
    };
    // The field is immutable, and the policy would also change it in a new pod.
    faults.world.patch(RECIPE, "r", wanted("oven")).await;
    let is_reported = |parent: &Value| {
        let synced = condition(parent, "Synced");
        synced["status"] == "True" && synced["message"].to_string().contains(".spec.hostname")
    };
    faults.world.until(RECIPE, "r", "what the server makes of it", is_reported).await;
    assert_eq!(faults.world.get(POD, "p").await["metadata"]["uid"], old["metadata"]["uid"]);
    policy.uninstall(&faults).await;
    until_admitted(&faults, POD, &pod("probe"), |pod| !is_rewritten(pod)).await;
    // Without the policy a new pod can have the desired value.
    faults.world.patch(RECIPE, "r", wanted("stove")).await;
    let is_new = |pod: &Value| pod["spec"]["hostname"] == "stove";
    let new = faults.world.until(POD, "p", "another pod", is_new).await;
    assert_ne!(new["metadata"]["uid"], old["metadata"]["uid"]);
    faults.end().await;
}

// === reverted writes ===
