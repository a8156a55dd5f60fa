//! Images that are rewritten, and what of a write is not kept.

use super::{super::watches::with_child, *};
use crate::{
    recipe::{config_map, recipe},
    world::POD,
};

fn pod(name: &str) -> Value {
    let container = json!({"name": "main", "image": "registry.example/soup:1"});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [container]}})
}

/// The pod has another image than its parent wants, for ever; it is neither written nor replaced
/// for that, across a restart neither.
async fn lives_with_another_image(faults: Faults) -> Faults {
    let counted = ("operetta_children_altered", [("operator", "cook"), ("type", "pods")]);
    faults.world.apply(RECIPE, recipe("r", &[pod("p")])).await;
    faults.until_well("r").await;
    faults.until_counted(counted.0, &counted.1).await;
    let pod = faults.world.get(POD, "p").await;
    assert_eq!(pod["spec"]["containers"][0]["image"], "mirror.example/soup:1");
    let faults = faults.restart().await;
    faults.until_well("r").await;
    let namespace = faults.world.namespace.clone();
    let runs = faults.operators.runs("cook", &namespace, "r");
    faults.touch("r").await;
    faults.operators.until_reconciles("cook", &namespace, "r", runs + 1).await;
    faults.until_well("r").await;
    let now = faults.world.get(POD, "p").await;
    assert_eq!(now["metadata"]["uid"], pod["metadata"]["uid"], "it is not replaced");
    assert_eq!(now["spec"], pod["spec"]);
    let parent = faults.world.get(RECIPE, "r").await;
    assert!(condition(&parent, "Flapping").is_null(), "{parent}");
    faults.until_counted(counted.0, &counted.1).await;
    // And nobody has to guess.
    let told =
        format!("{}/p: the server has changed .spec.containers[name=", faults.world.namespace);
    let path = format!("/api/v1/operators/cook/parents/{}/r", faults.world.namespace);
    let (_, page) = faults.operators.http(&path).await;
    for said in [condition(&parent, "Ready")["message"].as_str().unwrap(), &page] {
        assert!(said.contains(&told), "{said}");
    }
    assert!(told_to_be_altered(&faults).await.is_empty(), "it did not ask for such Events");
    faults
}

/// The Events that say what the server makes of children.
async fn told_to_be_altered(faults: &Faults) -> Vec<Value> {
    let events = faults.world.list(EVENT).await.into_iter();
    events.filter(|event| event["reason"] == "Altered").collect()
}

#[operetta_harness::test]
async fn what_a_webhook_makes_of_a_child_is_counted_while_it_is_so_and_told_once_where_asked_for() {
    let telling = |builder: SupervisorBuilder| {
        builder.register(recipe::config("cook").with_normal_events(), recipe::sync)
    };
    let faults = Faults::start_as(FaultPlan::new(), telling).await;
    let rewrite = Fault::rewrite_request(|child| child["data"]["salt"] = "sea".into());
    faults.add(Rule::new(rewrite).verb("patch").resource("configmaps").name("c"));
    let wanted = |data: Value| recipe("r", &[config_map("c", data)]);
    faults.world.apply(RECIPE, wanted(json!({"salt": "much"}))).await;
    faults.until_well("r").await;
    let told = || told_to_be_altered(&faults);
    eventually("an Event", told, |told: &Vec<Value>| !told.is_empty()).await;
    let runs = faults.operators.runs("cook", &faults.world.namespace, "r");
    faults.touch("r").await;
    faults.operators.until_reconciles("cook", &faults.world.namespace, "r", runs + 1).await;
    let Faults { world, plan, operators, bystander } = faults;
    operators.stop().await;
    let operators = world.start_over(world.cluster.connector_through(&plan), telling).await;
    let faults = Faults { world, plan, operators, bystander };
    faults.until_well("r").await;
    let labels = r#"{operator="cook",type="configmaps"}"#;
    let metrics = || faults.operators.http("/metrics");
    for (data, altered) in [(json!({"salt": "much"}), 1), (json!({"salt": "sea", "x": "y"}), 0)] {
        faults.world.apply(RECIPE, wanted(data)).await;
        let line = format!("operetta_children_altered{labels} {altered}\n");
        eventually(&line, metrics, |(_, body)| body.contains(&line)).await;
    }
    // It would have been told before this.
    let updated = |events: &Vec<Value>| events.iter().any(|event| event["reason"] == "Updated");
    eventually("a later Event", || faults.world.list(EVENT), updated).await;
    let told = told_to_be_altered(&faults).await;
    let [told] = &*told else { panic!("{told:#?}") };
    assert!(told["type"] == "Normal" && told["series"].is_null(), "{told}");
    let words = "/c: the server has changed .data.salt of what was applied";
    assert!(told["note"].as_str().unwrap().ends_with(words), "{told}");
    faults.end().await;
}

#[operetta_harness::test]
async fn a_webhook_that_rewrites_an_image_makes_no_loop() {
    let faults = Faults::start().await;
    let rewrite = Fault::rewrite_request(|pod| {
        pod["spec"]["containers"][0]["image"] = "mirror.example/soup:1".into();
    });
    faults.add(Rule::new(rewrite).verb("patch").resource("pods"));
    lives_with_another_image(faults).await.end().await;
}

#[operetta_harness::test]
async fn a_mutating_admission_policy_that_rewrites_an_image_makes_no_loop() {
    needs(Need::Policies);
    let faults = Faults::start().await;
    let patch = "[JSONPatch{op: 'replace', path: '/spec/containers/0/image', \
                 value: 'mirror.example/soup:1'}]";
    let policy = Policy::put_up(&faults, "pods", "true", patch).await;
    let is_made = |pod: &Value| pod["spec"]["containers"][0]["image"] == "mirror.example/soup:1";
    until_admitted(&faults, POD, &pod("probe"), is_made).await;
    let faults = lives_with_another_image(faults).await;
    policy.take_down(&faults).await;
    faults.end().await;
}

#[operetta_harness::test]
async fn a_webhook_that_rewrites_only_what_is_created_makes_no_loop() {
    let faults = Faults::start().await;
    let rewrite = Fault::rewrite_request(|pod| {
        if pod["metadata"].get("uid").is_none() {
            pod["spec"]["containers"][0]["image"] = "mirror.example/soup:1".into();
        }
    });
    faults.add(Rule::new(rewrite).verb("patch").resource("pods"));
    lives_with_another_image(faults).await.end().await;
}

/// It looks as if it waited to be deleted, and so it did after each start.
#[operetta_harness::test]
async fn a_child_that_changes_on_delete_and_that_a_webhook_rewrites_is_well_after_a_restart() {
    let on_delete = |builder: SupervisorBuilder| {
        builder.register(recipe::config_on_delete("cook"), recipe::sync)
    };
    let faults = Faults::start_as(FaultPlan::new(), on_delete).await;
    let rewrite = Fault::rewrite_request(|child| child["data"]["salt"] = "sea".into());
    faults.add(Rule::new(rewrite).verb("patch").resource("configmaps"));
    faults.world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    faults.until_well("r").await;
    let Faults { world, plan, operators, bystander } = faults;
    operators.stop().await;
    let operators = world.start_over(world.cluster.connector_through(&plan), on_delete).await;
    let faults = Faults { world, plan, operators, bystander };
    faults.until_well("r").await;
    let says = |parent: &Value, words: &str| {
        condition(parent, "Ready")["message"].as_str().is_some_and(|said| said.contains(words))
    };
    let parent = faults.world.get(RECIPE, "r").await;
    assert!(says(&parent, "the server has changed .data.salt of what was applied"), "{parent}");
    assert!(!says(&parent, "deleted"), "{parent}");
    // Of what is really wanted otherwise it is said.
    faults.world.apply(RECIPE, recipe("r", &[config_map("c", json!({"pepper": "much"}))])).await;
    let differs = |parent: &Value| says(parent, ".data.pepper");
    faults.world.until(RECIPE, "r", "that it waits", differs).await;
    assert_eq!(faults.world.get(CONFIG_MAP, "c").await["data"], json!({"salt": "sea"}));
    faults.end().await;
}

/// It changes what is created only: an update would be as it is asked for, or refused.
#[operetta_harness::test]
async fn a_policy_that_changes_only_what_is_created_makes_no_loop_and_no_restart_deletes_for_it() {
    needs(Need::Policies);
    let faults = Faults::start().await;
    let patch = "[JSONPatch{op: 'add', path: '/spec/hostname', value: 'kitchen'}, \
                 JSONPatch{op: 'replace', path: '/spec/containers/0/image', \
                 value: 'mirror.example/soup:1'}]";
    let policy = Policy::put_up_for(&["CREATE"], &faults, "pods", "true", patch).await;
    let is_made = |pod: &Value| pod["spec"]["containers"][0]["image"] == "mirror.example/soup:1";
    until_admitted(&faults, POD, &pod("probe"), is_made).await;
    let faults = lives_with_another_image(faults).await;
    let old = faults.world.get(POD, "p").await;
    let wanted = |hostname: &str| {
        let mut wanted = pod("p");
        wanted["spec"]["hostname"] = hostname.into();
        json!({"spec": {"children": [wanted]}})
    };
    // What cannot be changed, and would not be in a new one.
    faults.world.patch(RECIPE, "r", wanted("oven")).await;
    let is_told = |parent: &Value| {
        let ready = condition(parent, "Ready");
        ready["status"] == "True" && ready["message"].to_string().contains(".spec.hostname")
    };
    faults.world.until(RECIPE, "r", "what the server makes of it", is_told).await;
    assert_eq!(faults.world.get(POD, "p").await["metadata"]["uid"], old["metadata"]["uid"]);
    policy.take_down(&faults).await;
    until_admitted(&faults, POD, &pod("probe"), |pod| !is_made(pod)).await;
    // What a new one can be, it becomes.
    faults.world.patch(RECIPE, "r", wanted("stove")).await;
    let is_new = |pod: &Value| pod["spec"]["hostname"] == "stove";
    let new = faults.world.until(POD, "p", "another pod", is_new).await;
    assert_ne!(new["metadata"]["uid"], old["metadata"]["uid"]);
    faults.end().await;
}

// === nothing ===

#[operetta_harness::test]
async fn a_write_of_which_a_webhook_leaves_nothing_is_counted_once_and_not_repeated() {
    let (faults, child) = with_child().await;
    let rewrite = Fault::rewrite_request(|child| child["data"]["salt"] = "much".into());
    let rule = faults.add(Rule::new(rewrite).verb("patch").resource("configmaps").name("c"));
    faults.world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "none"}))])).await;
    faults.until_well("r").await;
    let runs = faults.operators.runs("cook", &faults.world.namespace, "r");
    faults.touch("r").await;
    faults.operators.until_reconciles("cook", &faults.world.namespace, "r", runs + 1).await;
    faults.until_well("r").await;
    let counted = "operetta_noop_writes_total{operator=\"cook\",type=\"configmaps\"} 1\n";
    let metrics = faults.operators.running().metrics().render();
    assert!(metrics.contains(counted), "{metrics}");
    assert_eq!(rule.hits(), 1, "requests for what the server will not change");
    assert_eq!(faults.world.get(CONFIG_MAP, "c").await, child);
    faults.end().await;
}
