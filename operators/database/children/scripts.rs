//! The scripts that run in the containers, as files of a `ConfigMap`.
//!
//! They are written for the official image: `init.sh` is run by its entry point after `initdb`, the others
//! are the commands of containers. `scripts/` has them as files, so that a shell checks them.

use serde_json::{Value, json};

use super::names;
use crate::database::crd::Database;

/// Where the scripts are mounted.
pub(super) const FOLDER: &str = "/scripts";

const INIT: &str = include_str!("../scripts/init.sh");
const CLONE: &str = include_str!("../scripts/clone.sh");
const BACKUP: &str = include_str!("../scripts/backup.sh");
const RESTORE: &str = include_str!("../scripts/restore.sh");

/// The scripts.
pub(in crate::database) fn config_map(database: &Database) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": names::metadata(database, &names::config(database)),
        "data": {"init.sh": INIT, "clone.sh": CLONE, "backup.sh": BACKUP, "restore.sh": RESTORE},
    })
}
