//! From one version of a `Database` to the other.
//!
//! | `v1alpha1` | `v1` | |
//! |---|---|---|
//! | `version: "17.7"` | `version: {major: 17, minor: 7}` | split: only one of both can be changed |
//! | `storage.class` | `storage.storageClassName` | renamed, as a claim calls it |
//! | `mode` | | dropped: the number of replicas says it |
//! | | `backup.size` | `v1alpha1` keeps it in an annotation |

use operetta::operator::conversion::Versions;

use super::{
    v1::{Backup, Database, DatabaseSpec, Storage, Version},
    v1alpha1,
};

/// Both versions, and what converts between them. `v1` is stored.
pub fn versions() -> Versions {
    Versions::hub::<Database>().keeping::<v1alpha1::Database>(&["spec.backup.size"], &[]).into()
}

/// An object that its schema would have refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("spec.version: {0:?} is no version of PostgreSQL such as 17.7")]
pub struct NoVersion(String);

impl TryFrom<v1alpha1::Database> for Database {
    type Error = NoVersion;

    fn try_from(old: v1alpha1::Database) -> Result<Self, NoVersion> {
        let v1alpha1::Database { metadata, spec, status } = old;
        let v1alpha1::DatabaseSpec { version, mode: _, replicas, storage, backup, .. } = spec;
        let v1alpha1::DatabaseSpec { restore_from, read_replicas, resources, .. } = spec;
        let v1alpha1::DatabaseSpec { deletion_policy, image, .. } = spec;
        let backup = backup.map(|v1alpha1::Backup { schedule, retention }| Backup {
            schedule,
            retention,
            size: None,
        });
        let spec = DatabaseSpec {
            version: split(&version).ok_or(NoVersion(version))?,
            replicas,
            storage: Storage { size: storage.size, storage_class_name: storage.class },
            backup,
            restore_from,
            read_replicas,
            resources,
            deletion_policy,
            image,
        };
        Ok(Self { metadata, spec, status })
    }
}

impl From<Database> for v1alpha1::Database {
    fn from(new: Database) -> Self {
        let Database { metadata, spec, status } = new;
        let DatabaseSpec { version, replicas, storage, backup, restore_from, .. } = spec;
        let DatabaseSpec { read_replicas, resources, deletion_policy, image, .. } = spec;
        let backup = backup.map(|Backup { schedule, retention, size: _ }| v1alpha1::Backup {
            schedule,
            retention,
        });
        let is_alone = replicas == 1;
        let spec = v1alpha1::DatabaseSpec {
            version: version.to_string(),
            mode: if is_alone {
                v1alpha1::Mode::Standalone
            } else {
                v1alpha1::Mode::HighAvailability
            },
            replicas,
            storage: v1alpha1::Storage { size: storage.size, class: storage.storage_class_name },
            backup,
            restore_from,
            read_replicas,
            resources,
            deletion_policy,
            image,
        };
        Self { metadata, spec, status }
    }
}

fn split(version: &str) -> Option<Version> {
    let (major, minor) = version.split_once('.')?;
    Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use operetta::testkit::assert_round_trips;
    use serde_json::json;

    use super::*;

    #[test]
    fn each_version_comes_back_as_it_was() {
        assert_round_trips::<Database, v1alpha1::Database>(&versions(), 500);
    }

    #[test]
    fn a_client_of_the_first_version_sees_what_it_knows() {
        let new = json!({
            "apiVersion": "example.operetta.dev/v1", "kind": "Database", "metadata": {"name": "main"},
            "spec": {
                "version": {"major": 17, "minor": 7}, "replicas": 3,
                "storage": {"size": "10Gi", "storageClassName": "fast"},
                "backup": {"schedule": "@daily", "size": "5Gi"},
            },
        });
        let old = versions().convert(new, "example.operetta.dev/v1alpha1").unwrap();
        assert_eq!(old["spec"]["version"], "17.7");
        assert_eq!(old["spec"]["mode"], "HighAvailability");
        assert_eq!(old["spec"]["storage"], json!({"size": "10Gi", "class": "fast"}));
        assert_eq!(old["spec"]["backup"], json!({"schedule": "@daily", "retention": 7}));
    }

    #[test]
    fn what_is_no_version_is_refused() {
        let odd = json!({
            "apiVersion": "example.operetta.dev/v1alpha1", "kind": "Database", "metadata": {"name": "main"},
            "spec": {"version": "latest", "storage": {"size": "1Gi"}},
        });
        let error = versions().convert(odd, "example.operetta.dev/v1").unwrap_err().to_string();
        assert!(error.contains("spec.version: \"latest\" is no version"), "{error}");
    }
}
