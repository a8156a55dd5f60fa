//! Interruptions between the steps of an adoption.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use operetta::prelude::*;

use super::*;
use crate::recipe::{config_map, recipe};

/// The patches of the child: the refused create, the dry run, the ownership transfer, the apply.
const OWNERSHIP_TRANSFER: usize = 3;

#[operetta_harness::test]
async fn an_adoption_in_progress_is_completed_although_the_operator_is_paused() {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent)
        .child::<ConfigMap>(ChildConfig::apply().adopting())
        .child::<Secret>(ChildConfig::apply());
    let register = |builder: SupervisorBuilder| builder.register(config, recipe::handler());
    let faults = Faults::start_as(FaultPlan::new(), register).await;
    let (world, operators) = (&faults.world, &faults.operators);
    world.apply(CONFIG_MAP, config_map("c", json!({"salt": "little"}))).await;
    let held = Rule::new(Fault::HoldReply).verb("patch").resource("configmaps").name("c");
    let held = faults.add(held.from_nth(OWNERSHIP_TRANSFER).times(1));
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    until_hits(&held, 1).await;
    let (code, answer) = operators.post("/api/v1/operators/cook/pause").await;
    assert_eq!(code / 100, 2, "{answer}");
    held.end();
    let is_ours = |child: &Value| child["metadata"]["ownerReferences"].is_array();
    let child = world.until(CONFIG_MAP, "c", "a child", is_ours).await;
    assert_eq!(child["data"], json!({"salt": "much"}));
    faults.end().await;
}
