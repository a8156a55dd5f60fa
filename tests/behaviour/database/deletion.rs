//! What is left of a database: its data, unless somebody asked for something else.

use super::*;

async fn delete(tenant: &Tenant) {
    tenant.world.delete(DATABASE, "main").await;
    tenant.world.until(DATABASE, "main", "its end", Value::is_null).await;
    for (kind, name) in [(STATEFUL_SET, "main"), (POD, "main-0"), (SERVICE, "main")] {
        tenant.world.until(kind, name, "its end", Value::is_null).await;
    }
}

async fn assert_kept(tenant: &Tenant, kind: Kind, before: &[(String, String)]) {
    assert_eq!(tenant.uids(kind).await, before);
    for object in tenant.world.list(kind).await {
        assert!(object["metadata"]["deletionTimestamp"].is_null(), "{object}");
    }
}

#[operetta_harness::test]
async fn by_default_the_data_stays_and_a_new_database_of_the_name_takes_it_over() {
    let tenant = Tenant::start().await;
    tenant.create(standalone()).await;
    let (claims, secrets) = (tenant.uids(CLAIM).await, tenant.uids(SECRET).await);
    let secret = tenant.world.get(SECRET, "main-credentials").await;
    delete(&tenant).await;
    assert_kept(&tenant, CLAIM, &claims).await;
    assert_kept(&tenant, SECRET, &secrets).await;
    tenant.create(standalone()).await;
    assert_kept(&tenant, CLAIM, &claims).await;
    let same = tenant.world.get(SECRET, "main-credentials").await;
    assert_eq!(same["data"], secret["data"], "the data knows no other password");
    tenant.operators.stop().await;
}

#[operetta_harness::test]
async fn a_last_backup_is_complete_before_the_database_goes() {
    let tenant = Tenant::start().await;
    tenant.create(with(standalone(), "deletionPolicy", json!("Backup"))).await;
    let claims = tenant.uids(CLAIM).await;
    assert_eq!(tenant.names(CLAIM).await, ["data-main-0", "main-backups"]);
    let [jobs, databases] = [tenant.version(JOB).await, tenant.version(DATABASE).await];
    delete(&tenant).await;
    let backups = tenant.events(JOB, &jobs, |job| holds(&job.object, "Complete")).await;
    let backup = backups.last().unwrap();
    assert_eq!(backup.name, "main-last-backup");
    let parents = tenant.events(DATABASE, &databases, |parent| parent.is_gone).await;
    let end = parents.last().unwrap();
    assert!(version_of(&end.object) > version_of(&backup.object), "the backup came first");
    assert_kept(&tenant, CLAIM, &claims).await;
    tenant.operators.stop().await;
}
