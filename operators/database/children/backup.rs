//! Backups: at regular times, a last one, and the restore of one.

use serde_json::{Value, json};

use super::{
    names::{self, BACKUP_OF, Part},
    pod::{self, command, container, variable, with_variables},
};
use crate::database::crd::{Backup, Database, RestoreFrom};

/// How many of the backups are kept that a Database without a schedule makes.
const RETENTION: i32 = 7;
/// How often a Job tries.
const RETRIES: i32 = 3;

/// Backups at regular times.
pub(in crate::database) fn cron_job(database: &Database, backup: &Backup) -> Value {
    let name = names::backups(&names::primary(database));
    json!({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": names::metadata(database, &name),
        "spec": {
            "schedule": backup.schedule,
            "concurrencyPolicy": "Forbid",
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 3,
            "jobTemplate": {
                "metadata": {"labels": backup_labels(database)},
                "spec": job(database, dump(database)),
            },
        },
    })
}

/// The backup before the database is deleted.
pub(in crate::database) fn last(database: &Database) -> Value {
    let mut metadata = names::metadata(database, &names::last_backup(database));
    metadata["labels"] = backup_labels(database);
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata,
        "spec": job(database, dump(database)),
    })
}

/// Restores a backup into the new database.
pub(in crate::database) fn restore(database: &Database, from: &RestoreFrom) -> Value {
    let metadata = names::metadata(database, &names::restore(database));
    let backup = from.backup.as_ref().map(|file| variable("BACKUP", file));
    let restore = client(database, "restore", backup);
    let pod = pod(&names::backups(&from.database), &restore, true);
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": job(database, pod)})
}

/// The labels by which the Jobs that make backups are found, also those of users
/// (`kubectl create job --from=cronjob/...`).
fn backup_labels(database: &Database) -> Value {
    let mut labels = names::labels(database);
    labels.insert(BACKUP_OF, names::primary(database));
    json!(labels)
}

/// A Pod that makes a backup.
fn dump(database: &Database) -> Value {
    let kept = database.spec.backup.as_ref().map_or(RETENTION, |backup| backup.retention);
    let dump = client(database, "backup", [variable("RETENTION", &kept)]);
    pod(&names::backups(&names::primary(database)), &dump, false)
}

fn job(database: &Database, pod: Value) -> Value {
    json!({"backoffLimit": RETRIES, "template": pod::template(database, Part::Job, pod)})
}

/// A container that runs the script of its name as a client of the primary.
fn client(database: &Database, name: &str, more: impl IntoIterator<Item = Value>) -> Value {
    let script = json!({"command": command(&format!("{name}.sh"))});
    let container = container(database, name, &[("backups", "/backups")], script);
    with_variables(container, pod::client(database).into_iter().chain(more))
}

fn pod(claim: &str, container: &Value, is_read_only: bool) -> Value {
    let mut backups = json!({"claimName": claim});
    if is_read_only {
        backups["readOnly"] = json!(true);
    }
    json!({
        "restartPolicy": "Never",
        "containers": [container],
        "volumes": [{"name": "backups", "persistentVolumeClaim": backups}],
    })
}
