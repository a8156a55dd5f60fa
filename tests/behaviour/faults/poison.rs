//! Objects that cannot be read among others that can.

use super::*;
use crate::recipe::{config_map, recipe};

/// No object has no uid.
fn undecodable() -> Fault {
    Fault::rewrite_objects(|object| {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("uid");
        }
    })
}

async fn until_counted(faults: &Faults, ty: &str) {
    let counted = format!("undecodable_objects_total{{type=\"{ty}\"}}");
    let metrics = || faults.operators.http("/metrics");
    let is_counted = |(_, body): &(u16, String)| {
        body.lines().any(|line| line.contains(&counted) && !line.ends_with(" 0"))
    };
    eventually(&counted, metrics, is_counted).await;
    let path = "/api/v1/operators";
    let (code, body) = faults.operators.http(path).await;
    assert_eq!(code, 200, "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_cannot_be_read_is_said_and_hides_no_other_across_a_restart() {
    let Some(faults) = Faults::start().await else { return };
    let both = |salt: &str| {
        [config_map("good", json!({"salt": salt})), config_map("bad", json!({"salt": "much"}))]
    };
    faults.world.apply(RECIPE, recipe("r", &both("little"))).await;
    faults.world.apply(RECIPE, recipe("other", &[config_map("o", json!({}))])).await;
    faults.until_well("r").await;
    faults.until_well("other").await;
    let bad = faults.world.get(CONFIG_MAP, "bad").await;
    let poison = Rule::new(undecodable()).resource("configmaps").name("bad");
    let poison = faults.add(poison);
    let faults = faults.restart().await;
    faults.world.apply(RECIPE, recipe("r", &both("much"))).await;
    let is_salted = |child: &Value| child["data"]["salt"] == "much";
    faults.world.until(CONFIG_MAP, "good", "the good one changed", is_salted).await;
    faults.until_said("r", "ConfigMap.v1").await;
    faults.until_warned("r", "bad").await;
    until_counted(&faults, "configmaps").await;
    let more = [config_map("o", json!({"pepper": "some"}))];
    faults.world.apply(RECIPE, recipe("other", &more)).await;
    faults.until_well("other").await;
    assert_eq!(faults.world.get(CONFIG_MAP, "bad").await, bad, "it is not touched");
    poison.end();
    faults.until_well("r").await;
    assert_eq!(faults.world.get(CONFIG_MAP, "bad").await, bad, "it was right all the time");
    faults.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_that_cannot_be_read_loses_no_child_and_hides_no_other_across_a_restart() {
    let Some(faults) = Faults::start().await else { return };
    for name in ["bad", "good"] {
        faults.world.apply(RECIPE, recipe(name, &[config_map(name, json!({}))])).await;
        faults.until_well(name).await;
    }
    let child = faults.world.get(CONFIG_MAP, "bad").await;
    let poison = faults.add(Rule::new(undecodable()).resource("recipes").name("bad"));
    let faults = faults.restart().await;
    until_counted(&faults, "recipes.test.operetta.dev").await;
    let more = recipe("good", &[config_map("good", json!({"salt": "much"}))]);
    faults.world.apply(RECIPE, more).await;
    faults.until_well("good").await;
    assert_eq!(faults.world.get(CONFIG_MAP, "bad").await, child);
    poison.end();
    let mended = recipe("bad", &[config_map("bad", json!({"salt": "much"}))]);
    faults.world.apply(RECIPE, mended).await;
    faults.until_well("bad").await;
    let now = faults.world.get(CONFIG_MAP, "bad").await;
    assert_eq!(now["metadata"]["uid"], child["metadata"]["uid"]);
    assert_eq!(now["data"]["salt"], "much");
    faults.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_child_that_cannot_be_read_is_noticed() {
    let Some(faults) = Faults::start().await else { return };
    faults.world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    faults.until_well("r").await;
    let child = faults.world.get(CONFIG_MAP, "c").await;
    faults.add(Rule::new(undecodable()).verb("watch").resource("configmaps").name("c").times(1));
    faults.world.delete(CONFIG_MAP, "c").await;
    let is_back =
        |now: &Value| now.is_object() && now["metadata"]["uid"] != child["metadata"]["uid"];
    faults.world.until(CONFIG_MAP, "c", "the child again", is_back).await;
    faults.until_well("r").await;
    until_counted(&faults, "configmaps").await;
    faults.end().await;
}
