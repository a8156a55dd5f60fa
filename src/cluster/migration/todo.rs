//! What is left to do for a type, from its CRD. Pure.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion,
};
use serde_json::{Value, json};

use crate::object::{K8sType, SecretFields};

/// What is left to do.
#[derive(Debug)]
pub(crate) enum Todo {
    /// No object is stored in another version.
    Nothing { storage: String },
    /// Objects may be.
    Rewrite(Box<Rewrite>),
}

/// To write all objects of a type, and then to remove the old versions.
#[derive(Debug)]
pub(crate) struct Rewrite {
    /// The name of the CRD.
    pub(crate) name: String,
    /// In the version in which they are read and written.
    pub(crate) ty: K8sType,
    /// The fields of this version that are secret.
    pub(crate) secrets: SecretFields,
    /// The version in which objects are stored now.
    pub(crate) storage: String,
    /// Those in which they may be stored still.
    pub(crate) old: Vec<String>,
    /// Of the CRD, as it was read.
    pub(super) resource_version: String,
    uid: Option<String>,
    pub(crate) generation: Option<i64>,
}

/// The type cannot be migrated.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TodoError {
    #[error("the CRD has no storage version")]
    NoStorage,
    #[error(
        "the CRD serves no version, so that no object can be written: let it serve {0}, which is stored"
    )]
    NotServed(String),
}

/// Why the old versions stay, although every object was written.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Changed {
    #[error("the CRD was deleted meanwhile")]
    Gone,
    #[error(
        "{now} is stored now instead of {before}, so that objects may be stored in both: status.storedVersions stays as it is"
    )]
    Storage { before: String, now: String },
    #[error(
        "the CRD was changed meanwhile, so that objects may be stored in another version again: status.storedVersions stays \
         as it is"
    )]
    Definition,
}

impl Todo {
    pub(crate) fn of(crd: &CustomResourceDefinition) -> Result<Self, TodoError> {
        let storage = storage(crd).ok_or(TodoError::NoStorage)?;
        let old: Vec<String> = stored(crd).filter(|name| **name != storage).cloned().collect();
        if old.is_empty() {
            return Ok(Self::Nothing { storage });
        }
        // Objects are stored in the storage version, by whichever version they are written.
        let served = || crd.spec.versions.iter().filter(|version| version.served);
        let served = served().find(|version| version.storage).or_else(|| served().next());
        let served = served.ok_or_else(|| TodoError::NotServed(storage.clone()))?;
        Ok(Self::Rewrite(Box::new(Rewrite {
            name: crd.metadata.name.clone().unwrap_or_default(),
            ty: type_of(crd, &served.name),
            secrets: secrets_of(served),
            storage,
            old,
            resource_version: version_of(crd),
            uid: crd.metadata.uid.clone(),
            generation: crd.metadata.generation,
        })))
    }
}

impl Rewrite {
    /// The patch of the subresource `status`, for the CRD in this version.
    pub(crate) fn patch(&self, resource_version: &str) -> Value {
        json!({
            "metadata": {"resourceVersion": resource_version},
            "status": {"storedVersions": [self.storage]},
        })
    }

    /// The version of the CRD as it is now, if nothing changed that decides how objects are stored.
    pub(crate) fn still_holds(
        &self,
        now: Option<&CustomResourceDefinition>,
    ) -> Result<String, Changed> {
        let now = now.filter(|now| now.metadata.uid == self.uid).ok_or(Changed::Gone)?;
        match storage(now) {
            Some(storage) if storage != self.storage => {
                Err(Changed::Storage { before: self.storage.clone(), now: storage })
            }
            // It may have been another one in between.
            _ if now.metadata.generation != self.generation => Err(Changed::Definition),
            _ => Ok(version_of(now)),
        }
    }

    pub(crate) fn said(&self) -> String {
        format!("objects may be stored in {}; {} is stored now", self.old.join(", "), self.storage)
    }

    pub(crate) fn removed(&self) -> String {
        format!(
            "removed {} from status.storedVersions: the CRD may lose the version",
            self.old.join(", ")
        )
    }
}

fn type_of(crd: &CustomResourceDefinition, version: &str) -> K8sType {
    let (group, names) = (&crd.spec.group, &crd.spec.names);
    let api_version = format!("{group}/{version}");
    match crd.spec.scope.as_str() {
        "Cluster" => K8sType::cluster_scoped(&api_version, &names.kind, &names.plural),
        _ => K8sType::namespaced(&api_version, &names.kind, &names.plural),
    }
}

/// The fields that the schema of a version marks.
fn secrets_of(version: &CustomResourceDefinitionVersion) -> SecretFields {
    let schema = version.schema.as_ref().and_then(|it| it.open_api_v3_schema.as_ref());
    let schema = schema.and_then(|schema| serde_json::to_value(schema).ok());
    schema.map(|schema| SecretFields::of_schema_with(&schema, &|_| None)).unwrap_or_default()
}

fn storage(crd: &CustomResourceDefinition) -> Option<String> {
    let stored = crd.spec.versions.iter().find(|version| version.storage);
    stored.map(|version| version.name.clone())
}

fn stored(crd: &CustomResourceDefinition) -> impl Iterator<Item = &String> {
    crd.status.iter().flat_map(|status| status.stored_versions.iter().flatten())
}

fn version_of(crd: &CustomResourceDefinition) -> String {
    crd.metadata.resource_version.clone().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A CRD of v1 and v1alpha1, with this version of storage, and those in which objects may be stored.
    fn crd(storage: &str, stored: &[&str]) -> CustomResourceDefinition {
        let version =
            |name: &str| json!({"name": name, "served": true, "storage": name == storage});
        serde_json::from_value(json!({
            "metadata": {"name": "shops.example.com", "resourceVersion": "7", "uid": "u", "generation": 2},
            "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"kind": "Shop", "plural": "shops"},
                "versions": [version("v1alpha1"), version("v1")]},
            "status": {"storedVersions": stored},
        }))
        .unwrap()
    }

    fn rewrite(crd: &CustomResourceDefinition) -> Box<Rewrite> {
        match Todo::of(crd).unwrap() {
            Todo::Rewrite(rewrite) => rewrite,
            Todo::Nothing { .. } => panic!("there is something to do"),
        }
    }

    #[test]
    fn what_may_be_stored_in_another_version_is_to_be_written() {
        for stored in [&["v1"][..], &[]] {
            let todo = Todo::of(&crd("v1", stored)).unwrap();
            assert!(matches!(todo, Todo::Nothing { storage } if storage == "v1"));
        }
        let todo = rewrite(&crd("v1", &["v1alpha1", "v1"]));
        assert_eq!(todo.ty, K8sType::namespaced("example.com/v1", "Shop", "shops"));
        assert_eq!(todo.said(), "objects may be stored in v1alpha1; v1 is stored now");
        let expected =
            json!({"metadata": {"resourceVersion": "7"}, "status": {"storedVersions": ["v1"]}});
        assert_eq!(todo.patch("7"), expected);
    }

    #[test]
    fn a_storage_version_that_is_not_served_is_written_by_another() {
        let mut unserved = crd("v1", &["v1alpha1", "v1"]);
        unserved.spec.versions[1].served = false;
        assert_eq!(rewrite(&unserved).ty.version(), "v1alpha1");
        unserved.spec.versions[0].served = false;
        assert_eq!(Todo::of(&unserved).unwrap_err(), TodoError::NotServed("v1".to_owned()));
    }

    #[test]
    fn versions_stay_if_the_crd_changed_meanwhile() {
        let todo = rewrite(&crd("v1", &["v1alpha1", "v1"]));
        let mut now = crd("v1", &["v1alpha1", "v1"]);
        now.metadata.resource_version = Some("9".to_owned());
        assert_eq!(todo.still_holds(Some(&now)), Ok("9".to_owned()), "a label, for example");
        now.metadata.generation = Some(3);
        assert_eq!(todo.still_holds(Some(&now)), Err(Changed::Definition));
        let (before, after) = ("v1".to_owned(), "v1alpha1".to_owned());
        let switched = crd("v1alpha1", &["v1alpha1", "v1"]);
        let expected = Changed::Storage { before, now: after };
        assert_eq!(todo.still_holds(Some(&switched)), Err(expected));
        now.metadata.uid = Some("another".to_owned());
        assert_eq!(todo.still_holds(Some(&now)), Err(Changed::Gone));
        assert_eq!(todo.still_holds(None), Err(Changed::Gone));
    }
}
