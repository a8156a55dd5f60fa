//! What happens to the data when a `Database` is deleted.
//!
//! ```text
//!   Retain   claims and Secrets stay; a new Database of the same name takes them over
//!   Backup   as Retain, after a last backup
//!   Delete   claims and Secrets go, too
//! ```

use k8s_openapi::api::batch::v1::Job;
use operetta::operator::FinalizeResponse;

use super::{
    children::{backup, storage},
    crd::{Database, DeletionPolicy},
};

/// The last backup failed. The database stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the last backup failed: its log says why; delete the Job {0} to try again, or set \
     spec.deletionPolicy to Retain or Delete to go without it"
)]
pub(super) struct LastBackupFailed(String);

/// The next step of the deletion. A database without Pods, because it was refused or has just been made,
/// has nothing to be backed up.
pub(super) fn finalize(
    database: &Database,
    has_data: bool,
    job: Option<&Job>,
) -> Result<FinalizeResponse, LastBackupFailed> {
    let done = FinalizeResponse::done();
    match database.spec.deletion_policy {
        DeletionPolicy::Retain => Ok(done),
        DeletionPolicy::Delete => Ok(done.deleting_orphans()),
        DeletionPolicy::Backup if !has_data || holds(job, "Complete") => Ok(done),
        DeletionPolicy::Backup if holds(job, "Failed") => {
            let name = job.and_then(|job| job.metadata.name.clone());
            Err(LastBackupFailed(name.unwrap_or_default()))
        }
        DeletionPolicy::Backup => Ok(FinalizeResponse::wait()
            .ensure(storage::backups(database))
            .ensure(backup::last(database))),
    }
}

fn holds(job: Option<&Job>, condition: &str) -> bool {
    let status = job.and_then(|job| job.status.as_ref());
    let conditions = status.and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|it| it.type_ == condition && it.status == "True")
}
