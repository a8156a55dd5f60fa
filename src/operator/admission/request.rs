//! What the API server asks.

use std::collections::BTreeMap;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::Operation;
use crate::{object::ObjectKey, operator::Stores};

/// A request to the API server, before its effect is stored.
///
/// `T` is the type of the object: a Rust type, or [`serde_json::Value`]. Of a subresource it is what that has, such as
/// `Scale`.
///
/// # Guarantees
/// - [`subject`](Self::subject) is there for each operation.
/// - The object has passed the schema and the webhooks before this one; later ones may change it.
///
/// # Assumptions
/// - A handler gives the same answer to the same request. It may be asked again, and for requests that fail later.
/// - It changes nothing outside, unless [`Webhook::side_effects`](super::Webhook::side_effects) says so; then it changes
///   nothing if [`dry_run`](Self::dry_run) is set.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AdmissionRequest<T = Value> {
    /// Identifies the question, not the object.
    pub uid: String,
    /// What is done.
    pub operation: Operation,
    /// The object as it would be stored; absent of a deletion.
    pub object: Option<T>,
    /// The object as it is stored; absent of a creation.
    pub old: Option<T>,
    /// Namespace and name. The name is empty where the API server generates it afterwards.
    pub key: ObjectKey,
    /// `status`, `scale`; absent of the object itself.
    pub subresource: Option<String>,
    /// Who asks.
    pub user: AdmissionUser,
    /// Whether nothing will be stored.
    pub dry_run: bool,
    /// `CreateOptions`, `UpdateOptions`, `PatchOptions`, `DeleteOptions`.
    pub options: Value,
    /// The caches of the operators of this process. They may be some milliseconds old, so that two requests at once can
    /// both pass: a webhook is no lock. In tests they have what [`with_stores`](Self::with_stores) says.
    pub stores: Stores,
}

/// The user of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct AdmissionUser {
    /// The name; of a service account `system:serviceaccount:NAMESPACE:NAME`.
    #[serde(default)]
    pub username: String,
    /// The uid, where users have one.
    #[serde(default)]
    pub uid: String,
    /// The groups.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Further facts of the authenticator.
    #[serde(default)]
    pub extra: BTreeMap<String, Vec<String>>,
}

impl<T> AdmissionRequest<T> {
    /// A request to create this object, for tests.
    pub fn create(key: ObjectKey, object: T) -> Self {
        Self::about(Operation::Create, key, Some(object), None)
    }

    /// A request to change an object, for tests.
    pub fn update(key: ObjectKey, old: T, object: T) -> Self {
        Self::about(Operation::Update, key, Some(object), Some(old))
    }

    /// A request to delete an object, for tests.
    pub fn delete(key: ObjectKey, old: T) -> Self {
        Self::about(Operation::Delete, key, None, Some(old))
    }

    fn about(operation: Operation, key: ObjectKey, object: Option<T>, old: Option<T>) -> Self {
        Self {
            uid: String::new(),
            operation,
            object,
            old,
            key,
            subresource: None,
            user: AdmissionUser::default(),
            dry_run: false,
            options: Value::Null,
            stores: Stores::default(),
        }
    }

    /// The same with these caches, for tests.
    #[must_use]
    pub fn with_stores(self, stores: Stores) -> Self {
        Self { stores, ..self }
    }

    /// The same by this user.
    #[must_use]
    pub fn by(self, username: impl Into<String>) -> Self {
        let user = AdmissionUser { username: username.into(), ..self.user };
        Self { user, ..self }
    }

    /// The object, or of a deletion the one that is deleted.
    ///
    /// # Panics
    /// If the request was made by hand with neither.
    pub fn subject(&self) -> &T {
        self.object.as_ref().or(self.old.as_ref()).expect("each request has an object")
    }

    /// The same with objects of another type.
    pub(crate) fn map<U, E>(
        self,
        convert: impl Fn(T) -> Result<U, E>,
    ) -> Result<AdmissionRequest<U>, E> {
        let Self { uid, operation, object, old, key, subresource, user, dry_run, options, stores } =
            self;
        Ok(AdmissionRequest {
            object: object.map(&convert).transpose()?,
            old: old.map(&convert).transpose()?,
            uid,
            operation,
            key,
            subresource,
            user,
            dry_run,
            options,
            stores,
        })
    }
}

/// The object does not fit the Rust type of the handler.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}")]
pub(crate) struct Misfit {
    pub(crate) path: String,
    pub(crate) why: String,
}

/// The path of a misfit costs a second reading, and all others nothing.
pub(crate) fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, Misfit> {
    T::deserialize(value).or_else(|_| {
        serde_path_to_error::deserialize(value).map_err(|error| {
            let path = error.path().to_string();
            Misfit { path, why: error.into_inner().to_string() }
        })
    })
}
