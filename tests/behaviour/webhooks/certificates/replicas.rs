//! Replicas that start together, and a Secret that is lost or renewed.

use kube::api::{DeleteParams, PostParams};

use super::*;

#[operetta_harness::test(server)]
async fn replicas_that_start_together_share_one_authority() {
    let sharing = Sharing::start(LONG).await;
    let secret = sharing.secret().await;
    assert_eq!(secret["type"], "kubernetes.io/tls");
    assert_eq!(authorities(&secret), 1);
    // Both are trusted by the same, and asked.
    let salted = object(CONFIG_MAP, json!({"metadata": {"name": "a"}, "data": {"salt": "much"}}));
    let api = sharing.world.api(CONFIG_MAP);
    let Err(kube::Error::Api(denied)) = api.create(&PostParams::default(), &salted).await else {
        panic!("it was stored");
    };
    assert!(denied.message.contains("too much"), "{}", denied.message);

    // The deployer's YAML without a bundle, by another verb than apply.
    let live = sharing.world.get(VALIDATING, &sharing.program).await;
    let mut emptied = live.clone();
    for entry in emptied["webhooks"].as_array_mut().unwrap() {
        entry["clientConfig"].as_object_mut().unwrap().remove("caBundle");
    }
    let patch = json!({"webhooks": emptied["webhooks"]});
    sharing.world.patch(VALIDATING, &sharing.program, patch).await;
    sharing.until_trusted().await;
    let repaired = sharing.world.get(VALIDATING, &sharing.program).await;
    assert_eq!(repaired["webhooks"], live["webhooks"], "nothing else changed");
    let managers = repaired["metadata"]["managedFields"].as_array().unwrap();
    let of_us = managers.iter().find(|it| it["manager"] == "operetta-webhooks").unwrap();
    let fields = of_us["fieldsV1"].to_string();
    assert!(fields.contains("f:caBundle") && !fields.contains("f:rules"), "{fields}");
    assert_eq!(sharing.secret().await["data"], secret["data"], "it is written once");
    sharing.stop().await;
}

#[operetta_harness::test(server)]
async fn a_secret_that_is_deleted_is_made_again_and_refuses_nothing() {
    let sharing = Sharing::start(LONG).await;
    let load = Load::start(&sharing);
    let (api, name) = sharing.secrets();
    let before = sharing.secret().await["data"].clone();
    api.delete(&name, &DeleteParams::default()).await.unwrap();
    let renewed = |secret: &Value| {
        let data = &secret["data"];
        data.is_object() && data["tls.crt"] != before["tls.crt"] && authorities(secret) == 1
    };
    let after = eventually("another authority alone", || sharing.secret(), renewed).await;
    assert_ne!(after["data"]["ca.key"], before["ca.key"]);
    load.end().await;
    sharing.until_trusted().await;
    sharing.stop().await;
}

#[operetta_harness::test(server)]
async fn both_certificates_are_renewed_under_load_and_nothing_is_refused() {
    let sharing = Sharing::start([24, 15, 4].map(Duration::from_secs)).await;
    let load = Load::start(&sharing);
    let before = sharing.secret().await["data"].clone();
    let is_serving_renewed = |secret: &Value| secret["data"]["tls.crt"] != before["tls.crt"];
    eventually("a serving certificate", || sharing.secret(), is_serving_renewed).await;
    let is_authority_renewed =
        |secret: &Value| secret["data"]["ca.key"] != before["ca.key"] && authorities(secret) == 1;
    eventually("another authority alone", || sharing.secret(), is_authority_renewed).await;
    load.end().await;
    sharing.stop().await;
}
