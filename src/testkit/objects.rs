//! Scenarios on a test cluster: given an object, when it changes, eventually another is right.

use std::{fmt, marker::PhantomData};

use kube::{
    Api,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{TestCluster, eventually};
use crate::object::{K8sType, ObjectKey, TypedResource};

/// The objects of one type on a cluster, as a Rust type or as JSON. Returned by [`TestCluster::of`] and
/// [`TestCluster::of_type`].
///
/// An object is named as `name` or `namespace/name`; without a namespace it is in `default`.
pub struct Objects<'a, K> {
    pub(super) cluster: &'a TestCluster,
    pub(super) ty: K8sType,
    form: PhantomData<fn() -> K>,
}

/// The objects of Rust types. The methods are those of [`Objects`].
impl TestCluster {
    /// The objects of a Rust type.
    pub fn of<K>(&self) -> Objects<'_, K>
    where
        K: TypedResource,
    {
        Objects { cluster: self, ty: K8sType::of::<K>(), form: PhantomData }
    }

    /// The objects of a type that is known by its names, as JSON.
    pub fn of_type(&self, ty: &K8sType) -> Objects<'_, Value> {
        Objects { cluster: self, ty: ty.clone(), form: PhantomData }
    }

    /// See [`Objects::given`].
    ///
    /// # Errors
    /// The server refuses the object.
    pub async fn given<K>(&self, object: K) -> kube::Result<K>
    where
        K: TypedResource + Serialize + DeserializeOwned,
    {
        self.of::<K>().given(object).await
    }

    /// See [`Objects::when`].
    ///
    /// # Errors
    /// There is no such object, or the server refuses the change.
    pub async fn when<K>(&self, name: &str, change: impl FnOnce(&mut K)) -> kube::Result<()>
    where
        K: TypedResource + Serialize + DeserializeOwned,
    {
        self.of::<K>().when(name, change).await
    }

    /// See [`Objects::when_deleted`].
    ///
    /// # Errors
    /// There is no such object, or the server refuses the deletion.
    pub async fn when_deleted<K>(&self, name: &str) -> kube::Result<()>
    where
        K: TypedResource + Serialize + DeserializeOwned,
    {
        self.of::<K>().when_deleted(name).await
    }

    /// See [`Objects::get`].
    ///
    /// # Errors
    /// The server refuses the request.
    pub async fn get<K>(&self, name: &str) -> kube::Result<Option<K>>
    where
        K: TypedResource + Serialize + DeserializeOwned,
    {
        self.of::<K>().get(name).await
    }

    /// See [`Objects::eventually`].
    ///
    /// # Panics
    /// After a minute, with the object.
    pub async fn eventually<K>(&self, name: &str, is_right: impl Fn(&K) -> bool) -> K
    where
        K: TypedResource + Serialize + DeserializeOwned,
    {
        self.of::<K>().eventually(name, is_right).await
    }
}

impl<K: Serialize + DeserializeOwned> Objects<'_, K> {
    /// Creates an object, waits until the operators have [settled](TestCluster::settled), and returns it as
    /// it is then. Without a namespace it is created in `default`.
    ///
    /// # Errors
    /// The server refuses the object.
    pub async fn given(&self, object: K) -> kube::Result<K> {
        let object: DynamicObject = parsed(json(&object)?)?;
        let namespace = object.metadata.namespace.as_deref();
        let name = object.metadata.name.clone().unwrap_or_default();
        let key = self.key(&ObjectKey::new(namespace, &name).to_string());
        let created = self.api(&key).create(&PostParams::default(), &object).await?;
        self.cluster.settled().await;
        let name = created.metadata.name.clone().unwrap_or_default();
        let now = self.api(&key).get_opt(&name).await?;
        parsed(json(&now.unwrap_or(created))?)
    }

    /// Changes an object, its status included, and waits until the operators have
    /// [settled](TestCluster::settled). Only what the closure changes is sent.
    ///
    /// # Errors
    /// There is no such object, or the server refuses the change.
    pub async fn when(&self, name: &str, change: impl FnOnce(&mut K)) -> kube::Result<()> {
        let key = self.key(name);
        let (api, params) = (self.api(&key), PatchParams::default());
        let mut object: K = parsed(json(&api.get(&key.name).await?)?)?;
        let before = json(&object)?;
        change(&mut object);
        let mut patch = merge_patch(&before, &json(&object)?).unwrap_or_else(|| json!({}));
        let status = patch.as_object_mut().and_then(|patch| patch.remove("status"));
        if patch != json!({}) {
            api.patch(&key.name, &params, &Patch::Merge(patch)).await?;
        }
        if let Some(status) = status {
            let patch = Patch::Merge(json!({"status": status}));
            api.patch_status(&key.name, &params, &patch).await?;
        }
        self.cluster.settled().await;
        Ok(())
    }

    /// Deletes an object, and waits until the operators have [settled](TestCluster::settled). It exists until
    /// its finalizers are removed, and its dependents until they are collected: wait for that with
    /// [`eventually_gone`](Self::eventually_gone).
    ///
    /// # Errors
    /// There is no such object, or the server refuses the deletion.
    pub async fn when_deleted(&self, name: &str) -> kube::Result<()> {
        let key = self.key(name);
        self.api(&key).delete(&key.name, &DeleteParams::background()).await?;
        self.cluster.settled().await;
        Ok(())
    }

    /// The object as it is now; `None` if it does not exist.
    ///
    /// # Errors
    /// The server refuses the request.
    pub async fn get(&self, name: &str) -> kube::Result<Option<K>> {
        let key = self.key(name);
        let object = self.api(&key).get_opt(&key.name).await?;
        object.map(|object| parsed(json(&object)?)).transpose()
    }

    /// Waits until the object is right, and returns it: for what other controllers do, and what comes later.
    ///
    /// # Panics
    /// After a minute, with the object.
    pub async fn eventually(&self, name: &str, is_right: impl Fn(&K) -> bool) -> K {
        let what = format!("{} {} as expected", self.ty.kind(), self.key(name));
        let is_right = |seen: &Seen<K>| matches!(&seen.0, Ok(Some(object)) if is_right(object));
        let seen = eventually(&what, || self.see(name), is_right).await;
        seen.0.ok().flatten().expect("it is right")
    }

    /// Waits until the object does not exist.
    ///
    /// # Panics
    /// After a minute, with the object.
    pub async fn eventually_gone(&self, name: &str) {
        let what = format!("the end of {} {}", self.ty.kind(), self.key(name));
        eventually(&what, || self.see(name), |seen| matches!(seen.0, Ok(None))).await;
    }

    async fn see(&self, name: &str) -> Seen<K> {
        Seen(self.get(name).await)
    }

    pub(super) fn key(&self, name: &str) -> ObjectKey {
        match name.split_once('/') {
            Some((namespace, name)) => ObjectKey::namespaced(namespace, name),
            None if self.ty.is_namespaced() => ObjectKey::namespaced("default", name),
            None => ObjectKey::cluster(name),
        }
    }

    fn api(&self, key: &ObjectKey) -> Api<DynamicObject> {
        let (ty, client) = (&self.ty, self.cluster.client());
        let kind = GroupVersionKind::gvk(ty.group(), ty.version(), ty.kind());
        let resource = ApiResource::from_gvk_with_plural(&kind, ty.plural());
        match &key.namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &resource),
            None => Api::all_with(client, &resource),
        }
    }
}

/// What was seen of an object. `Debug` shows it as JSON.
struct Seen<K>(kube::Result<Option<K>>);

impl<K: Serialize> fmt::Debug for Seen<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(Some(object)) => {
                f.write_str(&serde_json::to_string_pretty(object).unwrap_or_default())
            }
            Ok(None) => f.write_str("it does not exist"),
            Err(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl<K> fmt::Debug for Objects<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Objects({})", self.ty)
    }
}

/// The JSON merge patch from one value to another, unless they are the same.
fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        return (before != after).then(|| after.clone());
    };
    let gone =
        old.keys().filter(|key| !new.contains_key(*key)).map(|key| (key.clone(), Value::Null));
    let changed = new.iter().filter_map(|(key, value)| {
        let patch = merge_patch(old.get(key).unwrap_or(&Value::Null), value)?;
        Some((key.clone(), patch))
    });
    let patch: Map<String, Value> = gone.chain(changed).collect();
    (!patch.is_empty()).then_some(Value::Object(patch))
}

fn json(object: &impl Serialize) -> kube::Result<Value> {
    serde_json::to_value(object).map_err(kube::Error::SerdeError)
}

fn parsed<T: DeserializeOwned>(value: Value) -> kube::Result<T> {
    serde_json::from_value(value).map_err(kube::Error::SerdeError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_has_only_what_differs() {
        let before = json!({"a": 1, "b": {"c": 2, "d": [1, 2]}, "e": {"f": 3}});
        for (after, patch) in [
            (before.clone(), None),
            (json!({"a": 2, "b": {"c": 2, "d": [1, 2]}, "e": {"f": 3}}), Some(json!({"a": 2}))),
            (
                json!({"a": 1, "b": {"d": [2]}, "g": {"h": 4}}),
                Some(json!({"b": {"c": null, "d": [2]}, "e": null, "g": {"h": 4}})),
            ),
        ] {
            assert_eq!(merge_patch(&before, &after), patch, "{after}");
        }
    }
}
