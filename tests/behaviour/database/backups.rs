//! Backups and their restore.

use super::*;

fn backed_up() -> Value {
    with(standalone(), "backup", json!({"schedule": "30 3 * * *", "retention": 5}))
}

/// As `kubectl create job NAME --from=cronjob/main-backups`.
async fn back_up_now(tenant: &Tenant, name: &str) {
    let cron_job = tenant.world.get(CRON_JOB, "main-backups").await;
    let template = &cron_job["spec"]["jobTemplate"];
    let labels = &template["metadata"]["labels"];
    let job = json!({"metadata": {"name": name, "labels": labels}, "spec": template["spec"]});
    tenant.world.create(JOB, job).await;
}

#[operetta_harness::test]
async fn the_status_shows_the_last_backup_whoever_asked_for_it() {
    let tenant = Tenant::start().await;
    let parent = tenant.create(backed_up()).await;
    assert_eq!(condition(&parent, "BackedUp")["reason"], "NoBackup");
    back_up_now(&tenant, "by-hand").await;
    let is_shown = |parent: &Value| parent["status"]["lastBackup"]["job"] == "by-hand";
    let parent = tenant.world.until(DATABASE, "main", "the backup", is_shown).await;
    assert!(parent["status"]["lastBackup"]["time"].is_string() && holds(&parent, "BackedUp"));
    let params = kube::api::DeleteParams::background();
    tenant.world.api(JOB).delete("by-hand", &params).await.unwrap();
    tenant.world.until(JOB, "by-hand", "its end", Value::is_null).await;
    let parent = tenant.change(json!({"backup": {"schedule": "0 4 * * *"}})).await;
    assert!(is_shown(&parent), "what it made is not gone: {parent}");
    let cron_job = tenant.world.get(CRON_JOB, "main-backups").await;
    assert_eq!(cron_job["spec"]["schedule"], "0 4 * * *");
    tenant.operators.stop().await;
}

#[operetta_harness::test]
async fn without_backups_their_claim_stays_and_the_schedule_goes() {
    let tenant = Tenant::start().await;
    tenant.create(backed_up()).await;
    let claims = tenant.uids(CLAIM).await;
    tenant.change(json!({"backup": null})).await;
    tenant.world.until(CRON_JOB, "main-backups", "its end", Value::is_null).await;
    assert_eq!(tenant.uids(CLAIM).await, claims);
    tenant.operators.stop().await;
}

#[operetta_harness::test]
async fn a_backup_is_restored_once_before_the_service_appears() {
    let tenant = Tenant::start().await;
    let claim = json!({"metadata": {"name": "old-backups"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": GROWING,
        "resources": {"requests": {"storage": "1Gi"}}}});
    tenant.world.create(CLAIM, claim).await;
    let version = tenant.version(JOB).await;
    let parent = tenant.create(with(backed_up(), "restoreFrom", json!({"database": "old"}))).await;
    let events = tenant.events(JOB, &version, |job| holds(&job.object, "Complete")).await;
    let restore = events.last().unwrap();
    assert_eq!(restore.name, "main-restore");
    let service = tenant.world.get(SERVICE, "main").await;
    assert!(version_of(&service) > version_of(&restore.object), "the restore came first");
    assert_eq!(parent["status"]["restoredFrom"], "old");
    tenant.world.delete(JOB, "main-restore").await;
    tenant.world.until(JOB, "main-restore", "its end", Value::is_null).await;
    // A reconcile after that.
    tenant.change(json!({"backup": {"schedule": "0 4 * * *"}})).await;
    assert!(tenant.world.get(JOB, "main-restore").await.is_null(), "it is not restored again");
    tenant.operators.stop().await;
}
