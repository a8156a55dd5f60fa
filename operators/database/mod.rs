//! `database`: a `Database` is a `PostgreSQL` server with its volumes, replicas, Services and backups.
//!
//! ```text
//!   crd       what can be asked for, and what the API server refuses
//!   admission what the API server asks before it stores a Database
//!   refusal   what a schema cannot refuse, before anything is written
//!   children  the objects, as pure functions of the parent
//!   stages    which of them are returned, and in which order they are written
//!   deletion  what happens to the data at the end
//!   no_backup why there is no last backup, and what a user can do
//!   claim     what of a claim counts
//!   status    what is shown
//! ```
//!
//! Invariants:
//! - a claim or a Secret is deleted only by `deletionPolicy: Delete`: otherwise `sync` always returns an existing
//!   one, and it stays when its Database is deleted;
//! - a Database with `deletionPolicy: Backup` and data goes only after its last backup, whatever was deleted first;
//! - the Pods of a set that is created again keep running: it is deleted without them;
//! - a restore comes before the Service of the primary, and never again after it.

use k8s_openapi::api::{
    apps::v1::StatefulSet,
    autoscaling::v2::HorizontalPodAutoscaler,
    batch::v1::{CronJob, Job},
    core::v1::{ConfigMap, PersistentVolumeClaim, Secret, Service},
    networking::v1::NetworkPolicy,
    policy::v1::PodDisruptionBudget,
};
use operetta::operator::{
    AnyOperator, ChildConfig, ErrorResponse, FinalizeResponse, Handler, OperatorConfig, Permanent,
    Related, SyncRequest, SyncResponse, TypedView,
};

use self::{
    children::{names, storage},
    claim::Claim,
    deletion::Remains,
    no_backup::NoLastBackup,
    status::Observed,
};

mod admission;
mod children;
mod claim;
mod crd;
mod deletion;
mod no_backup;
mod refusal;
mod stages;
mod status;

pub use admission::{DEFAULT_STORAGE_CLASS, webhooks};
pub use crd::{
    Amount, Backup, Database, DatabaseSpec, DatabaseStatus, DeletionPolicy, LastBackup,
    ReadReplicas, Resources, RestoreFrom, Storage, VERSIONS, Version, v1alpha1, versions,
};

/// The operator as the binary registers it.
pub fn operator() -> AnyOperator {
    AnyOperator::new(config(), Databases)
}

/// Its name and types.
pub fn config() -> OperatorConfig {
    let applied = ChildConfig::apply();
    // Data: it stays without its Database, and a new one of the same name takes it over.
    let kept = applied.adopting().orphan_on_delete();
    OperatorConfig::custom::<Database>("database")
        .child::<Secret>(kept)
        // A claim may be bound only when a Pod uses it.
        .child::<PersistentVolumeClaim>(kept.ignoring_readiness())
        .child::<ConfigMap>(applied)
        .child::<Service>(applied)
        .child::<NetworkPolicy>(applied)
        .child::<StatefulSet>(applied)
        .child::<PodDisruptionBudget>(applied)
        .child::<HorizontalPodAutoscaler>(applied)
        .child::<CronJob>(applied)
        .child::<Job>(applied)
        .related::<Job>()
        .related::<PersistentVolumeClaim>()
        .related::<Secret>()
        .related::<StatefulSet>()
}

/// The handler. It needs no settings.
#[derive(Debug, Clone, Copy)]
pub struct Databases;

impl Handler for Databases {
    type Parent = Database;
    type Response = SyncResponse<DatabaseStatus>;

    /// The backup Jobs, the backups to restore, and the objects that a last backup needs; all of them whoever owns
    /// them.
    fn related(&self, database: &Database) -> Related {
        let jobs = Related::new().labelled::<Job>(&names::backup_jobs(database));
        let is_ending = database.metadata.deletion_timestamp.is_some();
        if is_ending && database.spec.deletion_policy == DeletionPolicy::Backup {
            let claims = storage::needed(database).into_iter();
            let jobs = claims.fold(jobs, |all, it| all.named::<PersistentVolumeClaim>(&*it));
            let secrets = names::secrets(database).into_iter();
            let secrets = secrets.fold(jobs, |all, it| all.named::<Secret>(&*it));
            return secrets.named::<StatefulSet>(&*names::primary(database));
        }
        match pending_restore(database) {
            Some(from) => jobs.named::<PersistentVolumeClaim>(&*names::backups(&from.database)),
            None => jobs,
        }
    }

    fn sync(
        &self,
        request: &SyncRequest<Database>,
    ) -> anyhow::Result<SyncResponse<DatabaseStatus>> {
        let database = &request.parent;
        let namespace = names::namespace(database);
        let backups = request.related::<PersistentVolumeClaim>();
        let has_backups = |claim: &str| backups.exists((&*namespace, claim));
        // No retry fixes it, a change of the parent or of the claim does.
        refusal::check(&database.spec, pending_restore(database), has_backups)
            .map_err(|refused| Permanent(format!("{}: {refused}", refused.field())))?;
        let restore = request.child::<Job>(&names::restore(database))?;
        let claims = request.children::<PersistentVolumeClaim>().iter().map(|it| it.map(Claim::of));
        let claims = claims.collect::<Result<Vec<_>, _>>()?;
        let observed = Observed {
            set: request.child::<StatefulSet>(&names::primary(database))?,
            is_served: request.child::<Service>(&names::primary(database))?.is_some(),
            is_restored: pending_restore(database).is_none() || restore.is_some_and(is_complete),
            backups: request.related::<Job>().iter().collect::<Result<_, _>>()?,
        };
        let status = status::status(database, &observed);
        Ok(stages::response(database, &claims, restore.is_some()).with_status(status))
    }

    /// `deletionPolicy` is known only then.
    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(&self, request: &SyncRequest<Database>) -> anyhow::Result<FinalizeResponse> {
        let database = &request.parent;
        Ok(deletion::finalize(database, &remains(request)?)?)
    }

    fn on_error(&self, request: &SyncRequest<Database>, error: &anyhow::Error) -> ErrorResponse {
        let why = error.downcast_ref::<NoLastBackup>();
        let status = why.map(|why| status::no_last_backup(&request.parent, why));
        status.map_or_else(ErrorResponse::default, ErrorResponse::status)
    }
}

/// What is left of a database that is being deleted.
fn remains(request: &SyncRequest<Database>) -> anyhow::Result<Remains<'_>> {
    let database = &request.parent;
    let read = |claims: TypedView<'_, PersistentVolumeClaim>| {
        let claims = claims.iter().map(|it| it.map(Claim::of));
        claims.collect::<Result<Vec<_>, _>>()
    };
    let own_claims = read(request.children())?;
    let secrets = request.related::<Secret>();
    let namespace = names::namespace(database);
    let is_missing = |name: &String| !secrets.exists((&*namespace, &**name));
    Ok(Remains {
        own_claims,
        claims: read(request.related())?,
        missing_secrets: names::secrets(database).into_iter().filter(is_missing).collect(),
        set: request.related_object::<StatefulSet>(&names::primary(database))?,
        job: request.child::<Job>(&names::last_backup(database))?,
    })
}

/// The backup that is still to be restored.
fn pending_restore(database: &Database) -> Option<&RestoreFrom> {
    let is_done = database.status.as_ref().is_some_and(|it| it.restored_from.is_some());
    database.spec.restore_from.as_ref().filter(|_| !is_done)
}

fn is_complete(job: &Job) -> bool {
    let mut conditions = job.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.any(|it| it.type_ == "Complete" && it.status == "True")
}

#[cfg(test)]
mod tests;
