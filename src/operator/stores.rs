//! Read access to the caches of the operators of a process, for its own routes and its webhooks.

use std::{fmt, sync::Arc};

use kube::Resource;
use serde::{Serialize, de::DeserializeOwned};

use super::request::example;
use crate::object::{
    K8sType, KeyRef, Object, ObjectKey, ParseAsError, ParseObjectError, TypeRef, TypedResource,
};

/// The caches of the operators of this process: the parent and child types that they watch. Cheap to
/// clone. In a route it is an extractor of actix-web, in a webhook it is
/// [`AdmissionRequest::stores`](super::admission::AdmissionRequest::stores).
///
/// A read returns copies of the current cache, which may be some milliseconds old. Before the first list of a type it is
/// empty for a route, and an error for a webhook.
///
/// ```
/// use actix_web::{Responder, web};
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operetta::web::{Stores, StoresError};
///
/// async fn texts(stores: Stores) -> Result<impl Responder, StoresError> {
///     let texts = stores.list::<ConfigMap>()?.into_iter().filter_map(|map| map.data);
///     Ok(web::Json(texts.collect::<Vec<_>>()))
/// }
/// ```
///
/// Secrets are not redacted: a route that shows them has to do that itself.
#[derive(Clone)]
pub struct Stores(Arc<dyn ReadStores>);

/// Where the objects come from.
pub(crate) trait ReadStores: Send + Sync {
    fn get(&self, ty: TypeRef<'_>, key: &ObjectKey) -> Result<Option<Object>, StoresError>;

    /// By key.
    fn list(&self, ty: TypeRef<'_>) -> Result<Vec<Object>, StoresError>;
}

/// A read of the stores failed.
#[derive(Debug, thiserror::Error)]
pub enum StoresError {
    /// No operator of this process watches the type.
    #[error("no operator watches {kind}.{api_version}")]
    NotWatched {
        /// `v1` or `group/version`.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// The first list of the type is not complete, so that a webhook cannot decide yet.
    #[error("{kind}.{api_version} are not listed yet")]
    NotListed {
        /// `v1` or `group/version`.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// A cached object does not fit the Rust type.
    #[error(transparent)]
    Unreadable(#[from] ParseAsError),
}

impl Stores {
    pub(crate) fn reading(source: impl ReadStores + 'static) -> Self {
        Self(Arc::new(source))
    }

    /// The same with one more object, for unit tests of webhooks. Required fields are added where they are missing: a
    /// uid, a version, and the namespace `default`.
    ///
    /// # Errors
    /// The value is not an object with a name.
    pub fn with<K: TypedResource>(self, value: impl Serialize) -> Result<Self, ParseObjectError> {
        self.with_type(&K8sType::of::<K>(), value)
    }

    /// The same for a type that is known by its names.
    ///
    /// # Errors
    /// The value is not an object with a name.
    pub fn with_type(self, ty: &K8sType, value: impl Serialize) -> Result<Self, ParseObjectError> {
        let object = example(ty, value, "default")?;
        Ok(Self::reading(With { object, others: self }))
    }

    /// One object: by `("namespace", "name")`, or by its name if it is cluster-scoped.
    ///
    /// # Errors
    /// When no operator watches the type, or the object does not fit it.
    pub fn get<'k, K>(&self, key: impl Into<KeyRef<'k>>) -> Result<Option<K>, StoresError>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        let object = self.get_object((&*K::api_version(&()), &*K::kind(&())), key)?;
        Ok(object.as_ref().map(Object::parse_as).transpose()?)
    }

    /// All objects of a type, by key.
    ///
    /// # Errors
    /// When no operator watches the type, or an object does not fit it.
    pub fn list<K>(&self) -> Result<Vec<K>, StoresError>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        self.list_objects((&*K::api_version(&()), &*K::kind(&())))?
            .iter()
            .map(|object| Ok(object.parse_as()?))
            .collect()
    }

    /// One object of a type given by its names, such as `("v1", "Pod")`.
    ///
    /// # Errors
    /// When no operator watches the type.
    pub fn get_object<'k, 't>(
        &self,
        ty: impl Into<TypeRef<'t>>,
        key: impl Into<KeyRef<'k>>,
    ) -> Result<Option<Object>, StoresError> {
        let KeyRef { namespace, name } = key.into();
        self.0.get(ty.into(), &ObjectKey::new(namespace, name))
    }

    /// All objects of a type given by its names, by key.
    ///
    /// # Errors
    /// When no operator watches the type.
    pub fn list_objects<'t>(&self, ty: impl Into<TypeRef<'t>>) -> Result<Vec<Object>, StoresError> {
        self.0.list(ty.into())
    }
}

impl Default for Stores {
    /// Without objects, for tests.
    fn default() -> Self {
        Self::reading(Nothing)
    }
}

impl fmt::Debug for Stores {
    /// Without what they hold.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stores")
    }
}

/// No objects, of whatever type.
struct Nothing;

/// An object of a test, and others.
struct With {
    object: Object,
    others: Stores,
}

impl ReadStores for Nothing {
    fn get(&self, _: TypeRef<'_>, _: &ObjectKey) -> Result<Option<Object>, StoresError> {
        Ok(None)
    }

    fn list(&self, _: TypeRef<'_>) -> Result<Vec<Object>, StoresError> {
        Ok(Vec::new())
    }
}

impl With {
    fn is_of(&self, TypeRef { api_version, kind }: TypeRef<'_>) -> bool {
        self.object.ty().is(api_version, kind)
    }
}

impl ReadStores for With {
    fn get(&self, ty: TypeRef<'_>, key: &ObjectKey) -> Result<Option<Object>, StoresError> {
        if self.is_of(ty) && self.object.key() == key {
            return Ok(Some(self.object.clone()));
        }
        self.others.0.get(ty, key)
    }

    fn list(&self, ty: TypeRef<'_>) -> Result<Vec<Object>, StoresError> {
        let mut all = self.others.0.list(ty)?;
        if self.is_of(ty) {
            all.retain(|other| other.key() != self.object.key());
            all.push(self.object.clone());
            all.sort_by(|a, b| a.key().cmp(b.key()));
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
    use serde_json::json;

    use super::*;

    fn named(name: &str, value: &str) -> serde_json::Value {
        json!({"metadata": {"name": name}, "data": {"a": value}})
    }

    #[test]
    fn those_of_a_test_have_its_objects() {
        let stores = [("b", "1"), ("a", "1"), ("b", "2")]
            .into_iter()
            .try_fold(Stores::default(), |stores, (name, value)| {
                stores.with::<ConfigMap>(named(name, value))
            })
            .unwrap()
            .with::<Namespace>(json!({"metadata": {"name": "team"}}))
            .unwrap();
        let b: ConfigMap = stores.get(("default", "b")).unwrap().unwrap();
        assert_eq!(b.data.unwrap()["a"], "2");
        let all: Vec<ConfigMap> = stores.list().unwrap();
        let names: Vec<_> = all.iter().filter_map(|it| it.metadata.name.as_deref()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(stores.get::<Namespace>("team").unwrap().is_some());
        assert!(stores.list::<Secret>().unwrap().is_empty());
        assert!(stores.get::<ConfigMap>(("default", "c")).unwrap().is_none());
    }
}
