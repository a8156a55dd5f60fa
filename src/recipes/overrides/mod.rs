//! Fields of users over those of a handler: `podTemplate`, `objectOverrides`.
//!
//! ```text
//!  child of the handler --+
//!                         +-- merge --> merged child --+
//!  override of the user --+   list_keys                +-- own_paths --> the child, or a conflict
//!                             child of the handler ----+
//! ```
//!
//! Pure. The API server validates what comes out; nothing here knows the fields of a type but the keys of its lists.
//!
//! Invariant: a child that is returned has the handler's values at all paths that the handler keeps.

mod error;
mod list_keys;
mod merge;
mod own_paths;

use serde::Serialize;
use serde_json::Value;

pub use error::OverrideError;
use list_keys::ListKeys;
use own_paths::OwnPath;

use crate::object::{K8sType, TypeRef};

/// How partial objects of users are merged over the objects of a handler.
///
/// The merge is the strategic merge patch of kubectl:
///
/// - objects merge field by field, and `null` removes a field;
/// - lists of Kubernetes' own types merge by the key of their items (`containers` by `name`, `volumeMounts` by
///   `mountPath`); any other list is replaced, and so is each list of a custom resource;
/// - `$patch: delete` in an item of a list removes the item, and `$patch: replace` in any item replaces the list by
///   the others; in an object they empty it, or replace it by the rest. `$retainKeys` names all fields that an
///   object keeps.
///
/// Other than with kubectl, items of the handler stay where they are, and those that a user adds follow them: the first
/// container stays the first, and a variable may refer to those before it. Ports are also distinguished by their
/// protocol, where an override has one.
///
/// The handler names the paths that are its own. An override that changes one of them is an error.
///
/// ```
/// use operetta::recipes::Overrides;
/// use serde_json::json;
///
/// let deployment = json!({
///     "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "shop"},
///     "spec": {
///         "selector": {"matchLabels": {"app": "shop"}},
///         "template": {"spec": {"containers": [{"name": "shop", "image": "shop:1"}]}},
///     },
/// });
/// let overrides = Overrides::of_objects().keeping(".spec.selector")?;
/// let users = json!({"spec": {"template": {"spec": {"containers": [
///     {"name": "shop", "resources": {"limits": {"memory": "1Gi"}}},
///     {"name": "proxy", "image": "proxy:2"},
/// ]}}}});
/// let merged = overrides.merge(&deployment, &users)?;
/// let containers = &merged["spec"]["template"]["spec"]["containers"];
/// assert_eq!(containers[0]["image"], "shop:1");
/// assert_eq!(containers[0]["resources"]["limits"]["memory"], "1Gi");
/// assert_eq!(containers[1]["name"], "proxy");
///
/// let users = json!({"spec": {"selector": {"matchLabels": {"app": "mine"}}}});
/// let error = overrides.merge(&deployment, &users).unwrap_err().to_string();
/// assert_eq!(
///     error,
///     "the override changes `.spec.selector`, which the operator sets: it has \
///      {\"matchLabels\":{\"app\":\"mine\"}}, and the operator {\"matchLabels\":{\"app\":\"shop\"}}. \
///      Remove the field from the override"
/// );
/// # Ok::<(), operetta::anyhow::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Overrides {
    of: Of,
    own: Vec<OwnPath>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Objects,
    PodTemplates,
}

/// Who an object is never changes by an override.
const IDENTITY: [&str; 4] = [".apiVersion", ".kind", ".metadata.name", ".metadata.namespace"];

impl Overrides {
    /// For whole children, with `apiVersion` and `kind`. These, the name and the namespace are always the handler's.
    pub fn of_objects() -> Self {
        Self { of: Of::Objects, own: IDENTITY.into_iter().map(OwnPath::known).collect() }
    }

    /// For Pod templates: objects with `metadata` and `spec`, as in `spec.template` of a Deployment.
    pub fn of_pod_templates() -> Self {
        Self { of: Of::PodTemplates, own: Vec::new() }
    }

    /// Keeps the value at a path as the handler returned it, also where the handler has none:
    /// `.spec.selector`, `.metadata.labels["example.dev/app"]`, `.spec.containers[name="shop"].image`.
    ///
    /// # Errors
    /// The text is no such path.
    pub fn keeping(mut self, path: &str) -> Result<Self, OverrideError> {
        self.own.push(OwnPath::parse(path)?);
        Ok(self)
    }

    /// The object of the handler with the fields of the user over it. `null` as override is none.
    ///
    /// Return the error from the handler as a [`Permanent`](crate::operator::Permanent) one: only a change of
    /// the parent helps.
    ///
    /// # Errors
    /// The override changes a path that is kept, has another JSON type than the object of the handler at some path, or
    /// an item of a list without its key; or one of both is no JSON object. Values of a Secret are not in the text.
    pub fn merge(
        &self,
        object: &(impl Serialize + ?Sized),
        overriding: &(impl Serialize + ?Sized),
    ) -> Result<Value, OverrideError> {
        let json = |error: serde_json::Error| OverrideError::Unserializable(error.to_string());
        let object = without_nulls(serde_json::to_value(object).map_err(json)?);
        let overriding = serde_json::to_value(overriding).map_err(json)?;
        if overriding.is_null() {
            return Ok(object);
        }
        let merged = merge::merged(self.lists(&object), &object, &overriding)?;
        let is_secret = self.of == Of::Objects && object["kind"] == "Secret";
        match self.own.iter().find(|own| own.value(&object) != own.value(&merged)) {
            Some(own) => Err(own.conflict(&object, &merged, is_secret)),
            None => Ok(merged),
        }
    }

    fn lists(&self, object: &Value) -> ListKeys {
        let is_builtin =
            |ty: TypeRef<'_>| K8sType::namespaced(ty.api_version, ty.kind, "").is_builtin();
        match (self.of, TypeRef::in_value(object)) {
            (Of::PodTemplates, _) => ListKeys::of_pod_template(),
            (Of::Objects, Some(ty)) if is_builtin(ty) => ListKeys::of_kind(ty.kind),
            (Of::Objects, _) => ListKeys::none(),
        }
    }
}

/// Rust types of Kubernetes serialize some absent values as `null`.
fn without_nulls(mut value: Value) -> Value {
    crate::diff::nulls::drop_nulls(&mut value);
    value
}

#[cfg(test)]
mod tests;
