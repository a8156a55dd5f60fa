//! Backups and their restore.

use super::*;

fn backed_up() -> Value {
    with(standalone(), "backup", json!({"schedule": "30 3 * * *", "retention": 5}))
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
