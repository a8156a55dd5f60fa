//! Who deploys a configuration changes it while the program keeps its `caBundle`.

use super::*;

/// As `kubectl apply --server-side`, Flux and Helm do.
#[operetta_harness::test(server)]
async fn an_owner_takes_a_webhook_out_of_a_configuration_by_server_side_apply() {
    let sharing = Sharing::start(LONG).await;
    sharing.configure_for(&["first"]).await;
    let live = sharing.world.get(VALIDATING, &sharing.program).await;
    let names: Vec<&Value> =
        live["webhooks"].as_array().unwrap().iter().map(|entry| &entry["name"]).collect();
    assert_eq!(names, ["first.configmaps.core"]);
    // The other one is called as before, and the new one is trusted again.
    sharing.admit().await.unwrap();
    sharing.configure().await;
    sharing.until_trusted().await;
    sharing.stop().await;
}

/// As who takes the last old version away: the program keeps nothing in `spec.conversion`.
#[operetta_harness::test(server)]
async fn an_owner_takes_the_conversion_out_of_a_crd_by_server_side_apply() {
    let converting = converted::Converting::start("unconverted").await;
    let is_free = |crd: &Value| {
        let managers = crd["metadata"]["managedFields"].as_array().unwrap();
        managers.iter().all(|entry| entry["manager"] != "operetta-webhooks")
    };
    converting.world.until(CRD, converted::KIOSKS, "a bundle of nobody", is_free).await;
    // Who deploys it again as it was changes nothing.
    converting.world.apply(CRD, converting.crd()).await;
    converting.until_trusted().await;
    let mut crd = converting.crd();
    crd["spec"].as_object_mut().unwrap().remove("conversion");
    converting.world.apply(CRD, crd).await;
    let live = converting.world.get(CRD, converted::KIOSKS).await;
    assert_eq!(live["spec"]["conversion"], json!({"strategy": "None"}));
    converting.stop().await;
}
