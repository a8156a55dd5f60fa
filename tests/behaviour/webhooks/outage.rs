//! What still works while nobody answers webhooks whose failure policy is `Fail`.

use kube::api::{DeleteParams, PostParams};

use super::*;
use crate::{
    needs::{Need, needs},
    recipe::config_map,
};

/// A world in which a webhook about `ConfigMap`s is not answered, for these operations.
struct Outage {
    world: World,
    configuration: String,
}

impl Outage {
    async fn of(operations: &[&str]) -> Self {
        let world = World::new().await;
        let configuration = format!("outage-{}", world.namespace);
        let entry = json!({
            "name": "down.configmaps.core",
            "clientConfig": {"url": format!("https://127.0.0.1:{}/", free_port())},
            "rules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
                "operations": operations,
            }],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": world.namespace}},
            "failurePolicy": "Fail", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        });
        let made = world.try_create(CONFIG_MAP, config_map("before", json!({}))).await;
        made.unwrap();
        let body = json!({"metadata": {"name": configuration}, "webhooks": [entry]});
        world.apply(VALIDATING, body).await;
        Self { world, configuration }
    }

    async fn end(&self) {
        self.world.delete(VALIDATING, &self.configuration).await;
    }

    async fn until_namespace_is_gone(&self) {
        self.world.until(NAMESPACE, &self.world.namespace, "its end", Value::is_null).await;
    }
}

#[operetta_harness::test(server)]
async fn a_namespace_ends_while_a_webhook_of_creations_and_updates_is_down() {
    let outage = Outage::of(&["CREATE", "UPDATE"]).await;
    let world = &outage.world;
    let params = PostParams { dry_run: true, ..<_>::default() };
    let probe = object(CONFIG_MAP, config_map("probe", json!({})));
    let refused = || async { world.api(CONFIG_MAP).create(&params, &probe).await.is_err() };
    eventually("a refusal", refused, |is_refused| *is_refused).await;
    world.delete(NAMESPACE, &world.namespace).await;
    outage.until_namespace_is_gone().await;
    outage.end().await;
}

/// Waits until nobody may delete the `ConfigMap` because nobody answers.
async fn until_kept(world: &World) {
    let params = DeleteParams { dry_run: true, ..<_>::default() };
    let refused = || async { world.api(CONFIG_MAP).delete("before", &params).await.err() };
    let error = eventually("a refusal", refused, Option::is_some).await.unwrap();
    assert!(error.to_string().contains("failed calling webhook"), "{error}");
}

#[operetta_harness::test(server)]
async fn a_webhook_of_deletions_that_is_down_keeps_its_own_type_alone() {
    let outage = Outage::of(&["DELETE"]).await;
    let world = &outage.world;
    until_kept(world).await;
    world.create(SECRET, json!({"metadata": {"name": "other"}})).await;
    world.delete(SECRET, "other").await;
    world.patch(CONFIG_MAP, "before", json!({"data": {"a": "b"}})).await;
    outage.end().await;
    let params = DeleteParams::default();
    let deleted = || async { world.api(CONFIG_MAP).delete("before", &params).await.is_ok() };
    eventually("a deletion", deleted, |is_deleted| *is_deleted).await;
}

#[operetta_harness::test(server)]
async fn a_namespace_waits_for_a_webhook_of_deletions_and_ends_after_the_outage() {
    needs(Need::FullAdmission);
    let outage = Outage::of(&["DELETE"]).await;
    let world = &outage.world;
    until_kept(world).await;
    world.create(SECRET, json!({"metadata": {"name": "other"}})).await;
    world.delete(NAMESPACE, &world.namespace).await;
    world.until(SECRET, "other", "its end", Value::is_null).await;
    let kept = world.get(CONFIG_MAP, "before").await;
    assert!(kept.is_object(), "nobody has allowed its deletion");
    outage.end().await;
    outage.until_namespace_is_gone().await;
}
