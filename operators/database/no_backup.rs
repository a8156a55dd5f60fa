//! Why there is no last backup of a database that is being deleted, and what its user can do. The database stays.

/// Each is one sentence, and ends with the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoLastBackup {
    /// The Job failed.
    #[error(
        "the last backup failed: its log says why; delete the Job {0} to try again, or {way_out}",
        way_out = WAY_OUT
    )]
    Failed(String),
    /// The claim of the primary does not exist.
    #[error(
        "there can be no last backup: the PersistentVolumeClaim {0} does not exist any more, and the data with it: \
         {way_out}", way_out = WAY_OUT
    )]
    DataIsGone(String),
    /// Its volume does not exist.
    #[error(
        "there can be no last backup: the volume of the PersistentVolumeClaim {0} does not exist any more, and the \
         data with it: {way_out}", way_out = WAY_OUT
    )]
    VolumeIsLost(String),
    /// No new Pod may use a claim, alone or with its namespace; with the volume of the data.
    #[error(
        "there can be no last backup: the PersistentVolumeClaim {0} is being deleted, alone or with its namespace, \
         so no Pod can use it any more; the data is kept until you decide: to keep its volume, set \
         persistentVolumeReclaimPolicy of the PersistentVolume {volume} to Retain; then {way_out}",
        volume = .1.as_deref().unwrap_or("of the data"), way_out = WAY_OUT
    )]
    ClaimIsBeingDeleted(String, Option<String>),
    /// The Pods need its passwords.
    #[error(
        "there can be no last backup: the Secret {0} with a password of the database does not exist any more: \
         create it again, or {way_out}", way_out = WAY_OUT
    )]
    SecretIsGone(String),
}

/// What the user can always do.
pub(super) const WAY_OUT: &str =
    "set spec.deletionPolicy to Retain or Delete to go without a last backup";

impl NoLastBackup {
    /// The reason of the condition.
    pub(super) fn reason(&self) -> &'static str {
        match self {
            Self::Failed(_) => "BackupFailed",
            Self::DataIsGone(_) => "DataIsGone",
            Self::VolumeIsLost(_) => "VolumeIsLost",
            Self::ClaimIsBeingDeleted(..) => "ClaimIsBeingDeleted",
            Self::SecretIsGone(_) => "SecretIsGone",
        }
    }
}
