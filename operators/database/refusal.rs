//! What this operator refuses and a schema cannot: it needs a calendar, or another object.

use operetta::recipes::{CronSchedule, ScheduleError};

use super::{
    children::names,
    crd::{DatabaseSpec, RestoreFrom},
};

/// Why a Database is not made or changed. Each is one sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// The backups would never be made. The schema refuses texts that are no schedule, and not those that are never due.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// There is nothing to restore.
    #[error(
        "there are no backups of `{0}` in this namespace: the PersistentVolumeClaim {claim} does not exist",
        claim = names::backups(.0)
    )]
    NoBackups(String),
}

impl Refusal {
    /// What has to be corrected.
    pub(super) fn field(&self) -> &'static str {
        match self {
            Self::Schedule(_) => "spec.backup.schedule",
            Self::NoBackups(_) => "spec.restoreFrom",
        }
    }
}

/// The claim with the backups of a restore.
pub(super) fn claim_of(restore: &RestoreFrom) -> String {
    names::backups(&restore.database)
}

/// Checks a specification; `restore` is the restore that is still to be made.
pub(super) fn check(
    spec: &DatabaseSpec,
    restore: Option<&RestoreFrom>,
    claim_exists: impl Fn(&str) -> bool,
) -> Result<(), Refusal> {
    if let Some(backup) = &spec.backup {
        CronSchedule::parse(&backup.schedule, "UTC")?;
    }
    match restore {
        Some(from) if !claim_exists(&claim_of(from)) => {
            Err(Refusal::NoBackups(from.database.clone()))
        }
        _ => Ok(()),
    }
}
