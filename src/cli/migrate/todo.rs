//! What is left to do for a type, from its CRD. Pure.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

/// What is left to do.
#[derive(Debug)]
pub(super) enum Todo {
    /// No object is stored in another version.
    Nothing { storage: String },
    /// Objects may be.
    Rewrite(Box<Rewrite>),
}

/// To write all objects of a type, and then to remove the old versions.
#[derive(Debug)]
pub(super) struct Rewrite {
    /// The name of the CRD.
    pub(super) name: String,
    pub(super) resource: ApiResource,
    /// The version in which objects are stored now.
    storage: String,
    /// Those in which they may be stored still.
    old: Vec<String>,
    /// Of the CRD, as it was read.
    pub(super) resource_version: String,
    uid: Option<String>,
    generation: Option<i64>,
}

/// The type cannot be migrated.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TodoError {
    #[error("the CRD has no storage version")]
    NoStorage,
    #[error(
        "the CRD serves no version: let it serve {0}, which is stored, and run `migrate` again"
    )]
    NotServed(String),
}

/// Why the old versions stay, although every object was written.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Changed {
    #[error("the CRD was deleted meanwhile")]
    Gone,
    #[error(
        "{now} is stored now instead of {before}, so that objects may be stored in both: status.storedVersions stays as it \
         is. Run `migrate` again"
    )]
    Storage { before: String, now: String },
    #[error(
        "the CRD was changed meanwhile, so that objects may be stored in another version again: status.storedVersions stays \
         as it is. Run `migrate` again"
    )]
    Definition,
}

impl Todo {
    pub(super) fn of(crd: &CustomResourceDefinition) -> Result<Self, TodoError> {
        let storage = storage(crd).ok_or(TodoError::NoStorage)?;
        let old: Vec<String> = stored(crd).filter(|name| **name != storage).cloned().collect();
        if old.is_empty() {
            return Ok(Self::Nothing { storage });
        }
        // Objects are stored in the storage version, by whichever version they are written.
        let served = || crd.spec.versions.iter().filter(|version| version.served);
        let served = served().find(|version| version.storage).or_else(|| served().next());
        let served = served.ok_or_else(|| TodoError::NotServed(storage.clone()))?;
        let kind = GroupVersionKind::gvk(&crd.spec.group, &served.name, &crd.spec.names.kind);
        Ok(Self::Rewrite(Box::new(Rewrite {
            name: crd.metadata.name.clone().unwrap_or_default(),
            resource: ApiResource::from_gvk_with_plural(&kind, &crd.spec.names.plural),
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
    pub(super) fn patch(&self, resource_version: &str) -> Value {
        json!({
            "metadata": {"resourceVersion": resource_version},
            "status": {"storedVersions": [self.storage]},
        })
    }

    /// The version of the CRD as it is now, if nothing changed that decides how objects are stored.
    pub(super) fn still_holds(
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

    pub(super) fn said(&self) -> String {
        format!("objects may be stored in {}; {} is stored now", self.old.join(", "), self.storage)
    }

    pub(super) fn kept(&self) -> String {
        format!(
            "status.storedVersions keeps {}: correct these objects, and run `migrate` again",
            self.old.join(", ")
        )
    }

    pub(super) fn would_remove(&self) -> String {
        format!("would remove {} from status.storedVersions", self.old.join(", "))
    }

    pub(super) fn removed(&self) -> String {
        format!(
            "removed {} from status.storedVersions: the CRD may lose the version",
            self.old.join(", ")
        )
    }
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
        assert_eq!(
            (&*todo.resource.api_version, &*todo.resource.plural),
            ("example.com/v1", "shops")
        );
        assert_eq!(todo.said(), "objects may be stored in v1alpha1; v1 is stored now");
        let expected =
            json!({"metadata": {"resourceVersion": "7"}, "status": {"storedVersions": ["v1"]}});
        assert_eq!(todo.patch("7"), expected);
    }

    #[test]
    fn a_storage_version_that_is_not_served_is_written_by_another() {
        let mut unserved = crd("v1", &["v1alpha1", "v1"]);
        unserved.spec.versions[1].served = false;
        assert_eq!(rewrite(&unserved).resource.version, "v1alpha1");
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
