//! Which children a `Database` has, and in which order they are written: each stage waits until the one
//! before it is ready.
//!
//! ```text
//!   Secrets, scripts, claims, Service of the Pods ──> the Pods with the data ──> restore, once ──>
//!   Services, backups, copies for reading
//! ```

use std::time::Duration;

use k8s_openapi::api::apps::v1::StatefulSet;
use operetta::operator::{ChildConfig, Propagation, SyncResponse};
use serde_json::{Value, json};

use super::{
    children::{access, backup, names, network, scripts, storage, workload},
    claim::{Claim, Phase},
    crd::{Database, DeletionPolicy},
};

/// How long the first copy of a database may take until somebody should look at it.
const PATIENCE: Duration = Duration::from_hours(1);

/// The children; `claims` are those that exist, `restores` whether the Job of the restore does.
pub(super) fn response(database: &Database, claims: &[Claim], restores: bool) -> SyncResponse {
    let foundations = foundations(database, claims);
    let pods = foundations.then().child_with(recreated(), workload::set(database));
    let pods_and_data = restore(pods.ready_within(PATIENCE), database, restores);
    services(pods_and_data.then(), database)
}

/// The server of a database that is being deleted: the primary, and the objects that its Pod needs. An existing set that
/// is not being deleted stays as it is.
pub(super) fn server(database: &Database, set: Option<&StatefulSet>) -> Vec<Value> {
    let is_alive = set.is_some_and(|set| set.metadata.deletion_timestamp.is_none());
    let mut primary = workload::set(database);
    primary["spec"]["replicas"] = json!(1);
    let needed =
        [scripts::config_map(database), network::pods(database), network::policy(database)];
    needed.into_iter().chain((!is_alive).then_some(primary)).collect()
}

/// What the Pods need.
fn foundations(database: &Database, existing: &[Claim]) -> SyncResponse {
    let response = SyncResponse::new()
        .ensure(access::credentials(database))
        .ensure(access::superuser(database))
        .child(scripts::config_map(database))
        .child(network::pods(database))
        .child(network::policy(database));
    claims(response, database, existing)
}

/// The desired claims, and the existing ones: a claim that is not returned would be deleted. Existing claims stay as
/// they are. A claim of an earlier Database of the same name becomes a child.
fn claims(response: SyncResponse, database: &Database, existing: &[Claim]) -> SyncResponse {
    let backups = has_backups(database).then(|| storage::backups(database));
    let desired: Vec<_> = storage::claims(database).into_iter().chain(backups).collect();
    let is_desired = |it: &&Claim| desired.iter().any(|claim| claim["metadata"]["name"] == it.name);
    let kept = existing.iter().filter(|it| !is_desired(it));
    let response = kept.fold(response, |response, kept| {
        left(response, database, kept, &storage::claim(database, &kept.name))
    });
    desired.iter().fold(response, |response, claim| {
        match existing.iter().find(|it| claim["metadata"]["name"] == it.name) {
            // Kubernetes lets only bound claims grow.
            Some(found) if found.phase == Phase::Bound => response.child(claim),
            Some(found) => left(response, database, found, claim),
            None => response.ensure(claim),
        }
    })
}

/// A claim that stays as it is, but for the finalizer that a last backup needed.
fn left(response: SyncResponse, database: &Database, found: &Claim, claim: &Value) -> SyncResponse {
    if found.is_held && !storage::is_held(database, &found.name) {
        response.child(storage::released(database, &found.name, &found.spec))
    } else {
        response.ensure(claim)
    }
}

/// The templates of claims are immutable: the set is made again around its running Pods.
fn recreated() -> ChildConfig {
    ChildConfig::apply().recreate_if_immutable().with_propagation(Propagation::Orphan)
}

/// The restore, until it is known to be done. Its Job stays as long as it exists, and is never made again.
fn restore(response: SyncResponse, database: &Database, exists: bool) -> SyncResponse {
    let is_done = database.status.as_ref().is_some_and(|it| it.restored_from.is_some());
    match &database.spec.restore_from {
        Some(from) if exists || !is_done => response.then().ensure(backup::restore(database, from)),
        _ => response,
    }
}

/// What a database with data offers.
fn services(response: SyncResponse, database: &Database) -> SyncResponse {
    let spec = &database.spec;
    let reader = names::has_readers(database).then(|| network::read(database));
    let backups = spec.backup.as_ref().map(|it| backup::cron_job(database, it));
    let copies = spec.read_replicas.as_ref().map(|_| workload::read_replicas(database));
    let autoscaler = spec.read_replicas.as_ref().map(|it| workload::autoscaler(database, it));
    response
        .child(network::primary(database))
        .children(reader)
        .children(workload::disruption_budget(database))
        .children(backups)
        .children(copies)
        .children(autoscaler)
}

fn has_backups(database: &Database) -> bool {
    database.spec.backup.is_some() || database.spec.deletion_policy == DeletionPolicy::Backup
}
