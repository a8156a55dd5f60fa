//! The claims that a last backup needs are held until it is made, and only while one is asked for.

use super::*;

async fn set_policy(tenant: &Tenant, policy: &str) {
    tenant.change(json!({"deletionPolicy": policy})).await;
}

async fn until_held(tenant: &Tenant, names: &[&str], held: bool) -> Vec<Value> {
    let mut claims = Vec::new();
    for name in names {
        let is_right = |claim: &Value| claim.is_object() && is_held(claim) == held;
        claims.push(tenant.world.until(CLAIM, name, "its finalizer", is_right).await);
    }
    claims
}

#[operetta_harness::test(server)]
async fn claims_are_held_while_a_last_backup_is_asked_for() {
    let tenant = Tenant::start().await;
    tenant.create(standalone()).await;
    let uids = tenant.uids(CLAIM).await;
    until_held(&tenant, &["data-main-0"], false).await;
    set_policy(&tenant, "Backup").await;
    let held = until_held(&tenant, &["data-main-0", "main-backups"], true).await;
    let protection = json!("kubernetes.io/pvc-protection");
    let is_protected = |claim: &Value| {
        let finalizers = claim["metadata"]["finalizers"].as_array();
        finalizers.is_some_and(|finalizers| finalizers.contains(&protection))
    };
    assert!(is_protected(&held[0]), "{}", held[0]);
    set_policy(&tenant, "Delete").await;
    until_held(&tenant, &["data-main-0", "main-backups"], false).await;
    // kube-apiserver drops the items of a set that nobody applied with the last one of an applier, and the controller of
    // the protection adds its own again.
    tenant.world.until(CLAIM, "data-main-0", "its protection", is_protected).await;
    assert_eq!(tenant.uids(CLAIM).await[0], uids[0]);
    tenant.operators.stop().await;
}

/// A claim that somebody deletes stays until the policy lets it go.
#[operetta_harness::test(server)]
async fn a_claim_that_is_deleted_is_let_go_when_no_last_backup_is_asked_for_any_more() {
    let tenant = Tenant::start().await;
    tenant.create(with(standalone(), "deletionPolicy", json!("Backup"))).await;
    until_held(&tenant, &["main-backups"], true).await;
    let before = tenant.world.get(CLAIM, "main-backups").await;
    tenant.world.delete(CLAIM, "main-backups").await;
    let waits = |parent: &Value| {
        let message =
            condition(parent, "Synced")["message"].as_str().unwrap_or_default().to_owned();
        message.contains("database.operetta.dev/last-backup")
    };
    tenant.world.until(DATABASE, "main", "who holds the claim", waits).await;
    let spec = json!({"spec": {"deletionPolicy": "Retain"}});
    tenant.world.patch(DATABASE, "main", spec).await;
    let is_new = |claim: &Value| claim["metadata"]["uid"] != before["metadata"]["uid"];
    tenant.world.until(CLAIM, "main-backups", "the end of the old claim", is_new).await;
    tenant.operators.stop().await;
}
