//! The last backup is made, or its absence is said, whatever was deleted first.

use kube::api::{DeleteParams, Patch, PatchParams, PropagationPolicy};

use super::*;

fn with_last_backup() -> Value {
    with(standalone(), "deletionPolicy", json!("Backup"))
}

async fn delete_with(world: &World, kind: Kind, name: &str, policy: PropagationPolicy) {
    let params = DeleteParams { propagation_policy: Some(policy), ..DeleteParams::default() };
    world.api(kind).delete(name, &params).await.unwrap();
}

/// Waits for the end of the database, which must come after a backup; claims and their data stay, and nobody
/// holds them any more.
async fn assert_backed_up(tenant: &Tenant, from: [&str; 2], claims: &[(String, String)]) {
    let backups = tenant.events(JOB, from[0], |job| holds(&job.object, "Complete")).await;
    let backup = backups.last().unwrap();
    assert_eq!(backup.name, "main-last-backup");
    let parents = tenant.events(DATABASE, from[1], |parent| parent.is_gone).await;
    let end = parents.last().unwrap();
    assert!(version_of(&end.object) > version_of(&backup.object), "the backup came first");
    assert_eq!(tenant.uids(CLAIM).await, claims);
    for claim in tenant.world.list(CLAIM).await {
        let metadata = &claim["metadata"];
        assert!(metadata["deletionTimestamp"].is_null(), "{claim}");
        assert!(!is_held(&claim), "nobody would remove it: {claim}");
    }
    for (kind, name) in [(STATEFUL_SET, "main"), (SERVICE, "main-pods"), (JOB, "main-last-backup")]
    {
        tenant.world.until(kind, name, "its end", Value::is_null).await;
    }
}

async fn assert_backed_up_without_its_set(policy: PropagationPolicy) {
    let tenant = Tenant::start().await;
    tenant.create(with_last_backup()).await;
    let claims = tenant.uids(CLAIM).await;
    let [jobs, databases] = [tenant.version(JOB).await, tenant.version(DATABASE).await];
    let leaves_pods = policy == PropagationPolicy::Orphan;
    let delete = async |world: &World| {
        delete_with(world, STATEFUL_SET, "main", policy).await;
        world.until(STATEFUL_SET, "main", "its end", Value::is_null).await;
        if !leaves_pods {
            world.until(POD, "main-0", "its end", Value::is_null).await;
        }
        world.delete(DATABASE, "main").await;
    };
    let tenant = tenant.restarted(delete).await;
    assert_backed_up(&tenant, [&jobs, &databases], &claims).await;
    tenant.operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_set_that_was_deleted_first_is_made_again_for_the_last_backup() {
    assert_backed_up_without_its_set(PropagationPolicy::Background).await;
}

#[operetta_harness::test(server)]
async fn a_set_that_was_deleted_without_its_pods_is_made_again_around_them() {
    assert_backed_up_without_its_set(PropagationPolicy::Orphan).await;
}

/// The garbage collector deletes the set and its Pods before the database.
#[operetta_harness::test(server)]
async fn a_deletion_in_the_foreground_waits_for_the_last_backup() {
    let tenant = Tenant::start().await;
    tenant.create(with_last_backup()).await;
    let claims = tenant.uids(CLAIM).await;
    let [jobs, databases] = [tenant.version(JOB).await, tenant.version(DATABASE).await];
    delete_with(&tenant.world, DATABASE, "main", PropagationPolicy::Foreground).await;
    assert_backed_up(&tenant, [&jobs, &databases], &claims).await;
    tenant.operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_deletion_that_orphans_waits_for_the_last_backup() {
    let tenant = Tenant::start().await;
    tenant.create(with_last_backup()).await;
    let [jobs, databases] = [tenant.version(JOB).await, tenant.version(DATABASE).await];
    delete_with(&tenant.world, DATABASE, "main", PropagationPolicy::Orphan).await;
    tenant.events(JOB, &jobs, |job| holds(&job.object, "Complete")).await;
    tenant.events(DATABASE, &databases, |parent| parent.is_gone).await;
    tenant.operators.stop().await;
}

/// Waits until the database says why there is no last backup, and what to do.
async fn until_said(tenant: &Tenant, reason: &str, words: &[&str]) {
    let words = [words, &["set spec.deletionPolicy to Retain or Delete"]].concat();
    let is_said = |parent: &Value| {
        let condition = condition(parent, "LastBackup");
        let message = condition["message"].as_str().unwrap_or_default();
        condition["reason"] == reason
            && condition["status"] == "False"
            && words.iter().all(|words| message.contains(words))
    };
    tenant.world.until(DATABASE, "main", &format!("{reason}: {words:?}"), is_said).await;
}

async fn release(tenant: &Tenant) {
    tenant.world.patch(DATABASE, "main", json!({"spec": {"deletionPolicy": "Retain"}})).await;
    tenant.world.until(DATABASE, "main", "its end", Value::is_null).await;
}

/// Nothing can be created there any more, and everything else is deleted.
#[operetta_harness::test(server)]
async fn the_data_outlives_the_deletion_of_its_namespace_until_somebody_lets_go() {
    let tenant = Tenant::start().await;
    tenant.create(with_last_backup()).await;
    let claims = tenant.uids(CLAIM).await;
    let namespace = tenant.world.namespace.clone();
    tenant.world.delete(NAMESPACE, &namespace).await;
    for (kind, name) in [(STATEFUL_SET, "main"), (POD, "main-0"), (SECRET, "main-superuser")] {
        tenant.world.until(kind, name, "its end", Value::is_null).await;
    }
    let claim = tenant.world.get(CLAIM, "data-main-0").await;
    let volume = claim["spec"]["volumeName"].as_str().unwrap();
    let words = ["data-main-0 is being deleted", volume];
    until_said(&tenant, "ClaimIsBeingDeleted", &words).await;
    assert_eq!(tenant.uids(CLAIM).await, claims);
    assert_eq!(tenant.names(JOB).await, [""; 0]);
    release(&tenant).await;
    for (name, _) in &claims {
        tenant.world.until(CLAIM, name, "its end", Value::is_null).await;
    }
    tenant.world.until(NAMESPACE, &namespace, "its end", Value::is_null).await;
    tenant.operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_database_whose_data_is_lost_says_so_and_waits() {
    let tenant = Tenant::start().await;
    let parent = tenant.create(with_last_backup()).await;
    assert_eq!(parent["status"]["initialised"], true);
    let lose = async |world: &World| {
        world.delete(STATEFUL_SET, "main").await;
        world.until(POD, "main-0", "its end", Value::is_null).await;
        world.patch(CLAIM, "data-main-0", json!({"metadata": {"finalizers": null}})).await;
        world.delete(CLAIM, "data-main-0").await;
        world.until(CLAIM, "data-main-0", "its end", Value::is_null).await;
        world.delete(DATABASE, "main").await;
    };
    let tenant = tenant.restarted(lose).await;
    until_said(&tenant, "DataIsGone", &["data-main-0 does not exist"]).await;
    assert!(tenant.world.get(STATEFUL_SET, "main").await.is_null(), "it would make an empty one");
    assert!(tenant.world.get(JOB, "main-last-backup").await.is_null());
    release(&tenant).await;
    tenant.operators.stop().await;
}

/// Its status is not what decides alone.
#[operetta_harness::test]
async fn a_status_that_was_cleared_does_not_let_the_database_go_without_its_last_backup() {
    let tenant = Tenant::start().await;
    tenant.create(with_last_backup()).await;
    let [jobs, databases] = [tenant.version(JOB).await, tenant.version(DATABASE).await];
    let claims = tenant.uids(CLAIM).await;
    // The Pods of a test are ready before they have a volume.
    let is_bound = |claim: &Value| claim["status"]["phase"] == "Bound";
    tenant.world.until(CLAIM, "data-main-0", "its volume", is_bound).await;
    let clear = async |world: &World| {
        let params = PatchParams::default();
        let patch = Patch::Merge(json!({"status": null}));
        world.api(DATABASE).patch_status("main", &params, &patch).await.unwrap();
        world.delete(STATEFUL_SET, "main").await;
        world.delete(DATABASE, "main").await;
    };
    let tenant = tenant.restarted(clear).await;
    assert_backed_up(&tenant, [&jobs, &databases], &claims).await;
    tenant.operators.stop().await;
}
