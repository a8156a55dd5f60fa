//! What happens to the data when a `Database` is deleted.
//!
//! ```text
//!   Retain   claims and Secrets stay; a new Database of the same name takes them over
//!   Backup   as Retain, after a last backup
//!   Delete   claims and Secrets go, too
//! ```
//!
//! The claims and the status show whether there is something to back up. The Pods do not: a deletion of the namespace,
//! or in the foreground, deletes them first. A Database whose data is not in a backup is never let go, also when no backup
//! is possible any more: the user decides that.

use k8s_openapi::api::{apps::v1::StatefulSet, batch::v1::Job};
use kube::ResourceExt;
use operetta::operator::{FinalizeResponse, ORPHAN_LABEL};

use super::{
    children::{backup, names, storage},
    claim::{Claim, Phase},
    crd::{Database, DeletionPolicy},
    no_backup::NoLastBackup,
    stages,
    status::{self, LastBackupStep},
};

/// What is left of a database that is being deleted.
#[derive(Debug, Default)]
pub(super) struct Remains<'a> {
    /// The claims that belong to the database.
    pub(super) own_claims: Vec<Claim>,
    /// The claims that a last backup needs, whoever owns them.
    pub(super) claims: Vec<Claim>,
    /// The Secrets without which no Pod starts, and that do not exist.
    pub(super) missing_secrets: Vec<String>,
    /// The set of Pods with the data.
    pub(super) set: Option<&'a StatefulSet>,
    /// The Job that makes the last backup.
    pub(super) job: Option<&'a Job>,
}

/// The next step of the deletion.
pub(super) fn finalize(
    database: &Database,
    remains: &Remains<'_>,
) -> Result<FinalizeResponse, NoLastBackup> {
    let done = FinalizeResponse::done();
    match database.spec.deletion_policy {
        DeletionPolicy::Retain => Ok(release(database, remains, done)),
        DeletionPolicy::Delete => Ok(release(database, remains, done.deleting_orphans())),
        DeletionPolicy::Backup if is_backed_up(database, remains) => {
            Ok(release(database, remains, done))
        }
        DeletionPolicy::Backup => {
            check(database, remains)?;
            Ok(back_up(database, remains))
        }
    }
}

/// Removes the finalizers of the claims before the Database goes: nobody would do that after it.
fn release(database: &Database, remains: &Remains<'_>, done: FinalizeResponse) -> FinalizeResponse {
    let others = remains.claims.iter().filter(|claim| !remains.own_claims.contains(claim));
    let all = remains.own_claims.iter().chain(others);
    let held: Vec<_> = all.filter(|claim| claim.is_held).collect();
    if held.is_empty() {
        return done;
    }
    held.into_iter().fold(FinalizeResponse::wait(), |response, claim| {
        response.child(storage::released(database, &claim.name, &claim.spec))
    })
}

/// Whether the data is in the last backup, or there never was any.
fn is_backed_up(database: &Database, remains: &Remains<'_>) -> bool {
    let was_initialised = database.status.as_ref().is_some_and(|status| status.initialised);
    let own = primary(database, &remains.own_claims);
    let may_have_data = own.is_some_and(Claim::may_have_data);
    holds(remains.job, "Complete") || (!was_initialised && !may_have_data)
}

/// Whether a last backup can still be made.
fn check(database: &Database, remains: &Remains<'_>) -> Result<(), NoLastBackup> {
    if holds(remains.job, "Failed") {
        return Err(NoLastBackup::Failed(names::last_backup(database)));
    }
    let data = match primary(database, &remains.claims) {
        None => return Err(NoLastBackup::DataIsGone(names::claim(database, 0))),
        Some(claim) if claim.phase == Phase::Lost => {
            return Err(NoLastBackup::VolumeIsLost(claim.name.clone()));
        }
        Some(claim) => claim,
    };
    check_usable(remains, data)?;
    match remains.missing_secrets.first() {
        Some(secret) => Err(NoLastBackup::SecretIsGone(secret.clone())),
        None => Ok(()),
    }
}

/// Whether Pods can use the claims. One that is being deleted is of use to the Pods that have it already.
fn check_usable(remains: &Remains<'_>, data: &Claim) -> Result<(), NoLastBackup> {
    let is_used = |claim: &Claim| claim.name == data.name && is_ready(remains.set);
    let ending = remains.claims.iter().filter(|claim| claim.is_deleting && !is_used(claim));
    // That of the data says most.
    match ending.min_by_key(|claim| claim.name != data.name) {
        Some(Claim { name, .. }) => {
            Err(NoLastBackup::ClaimIsBeingDeleted(name.clone(), data.volume.clone()))
        }
        None => Ok(()),
    }
}

/// Makes the last backup, of a server that is started again if it does not run any more.
fn back_up(database: &Database, remains: &Remains<'_>) -> FinalizeResponse {
    let is_served = is_ready(remains.set) && !is_about_to_go(database, remains.set);
    let begins = remains.job.is_none() && is_served;
    let step = match remains.job {
        _ if begins => LastBackupStep::Begins,
        Some(_) => LastBackupStep::Runs,
        None => LastBackupStep::WaitsForPod,
    };
    let server = if is_left(database, remains.set) {
        Vec::new()
    } else {
        stages::server(database, remains.set)
    };
    let job = (begins || remains.job.is_some()).then(|| backup::last(database));
    let response = FinalizeResponse::wait()
        .ensure(storage::backups(database))
        .with_status(status::last_backup(database, step));
    let response = server.into_iter().fold(response, FinalizeResponse::ensure);
    job.into_iter().fold(response, FinalizeResponse::ensure)
}

/// Whether Kubernetes will delete the set before the Database: the Pods end during the backup.
fn is_about_to_go(database: &Database, set: Option<&StatefulSet>) -> bool {
    let is_owned = |set: &StatefulSet| {
        set.owner_references().iter().any(|owner| Some(&owner.uid) == database.uid().as_ref())
    };
    has_finalizer(database, "foregroundDeletion") && set.is_some_and(is_owned)
}

/// Whether the user wants what runs to stay: `kubectl delete --cascade=orphan`. What this finalization makes goes with
/// the Database, so it makes nothing that is there already.
fn is_left(database: &Database, set: Option<&StatefulSet>) -> bool {
    let is_orphan = |set: &StatefulSet| {
        set.owner_references().is_empty() && !set.labels().contains_key(ORPHAN_LABEL)
    };
    has_finalizer(database, "orphan") || set.is_some_and(is_orphan)
}

fn has_finalizer(database: &Database, name: &str) -> bool {
    database.finalizers().iter().any(|finalizer| finalizer == name)
}

fn is_ready(set: Option<&StatefulSet>) -> bool {
    let is_alive = |set: &&StatefulSet| set.metadata.deletion_timestamp.is_none();
    let status = set.filter(is_alive).and_then(|set| set.status.as_ref());
    status.is_some_and(|status| status.ready_replicas > Some(0))
}

fn holds(job: Option<&Job>, condition: &str) -> bool {
    let status = job.and_then(|job| job.status.as_ref());
    let conditions = status.and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|it| it.type_ == condition && it.status == "True")
}

/// The claim of the primary among others.
fn primary<'a>(database: &Database, claims: &'a [Claim]) -> Option<&'a Claim> {
    let name = names::claim(database, 0);
    claims.iter().find(|claim| claim.name == name)
}
