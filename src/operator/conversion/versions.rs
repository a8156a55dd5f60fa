//! The versions of a type, and how objects are converted between them.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde_json::Value;

use super::kept::carry;
use crate::{object::K8sType, operator::Definition};

/// The versions of a custom resource, as Rust types with `From` or `TryFrom` between each and one of them, the hub.
///
/// # Guarantees
/// - Metadata stays as it is, but for one annotation with what a version [cannot hold](super::Hub::keeping). A conversion sees it
///   without `managedFields`.
/// - An object that cannot be converted fails with its name; nothing is made up.
///
/// # Assumptions
/// - A conversion gives the same result for the same object. It is called for each read in a version that is not stored.
///
/// ```
/// # mod v1 {
/// #     #[derive(kube::CustomResource, serde::Serialize, serde::Deserialize, Clone, Debug, schemars::JsonSchema)]
/// #     #[kube(group = "example.com", version = "v1", kind = "Shop", namespaced)]
/// #     pub struct ShopSpec { pub size: u32 }
/// # }
/// # mod v1alpha1 {
/// #     #[derive(kube::CustomResource, serde::Serialize, serde::Deserialize, Clone, Debug, schemars::JsonSchema)]
/// #     #[kube(group = "example.com", version = "v1alpha1", kind = "Shop", namespaced)]
/// #     pub struct ShopSpec { pub rooms: u32 }
/// # }
/// use operetta::operator::conversion::Versions;
///
/// impl From<v1alpha1::Shop> for v1::Shop {
///     fn from(old: v1alpha1::Shop) -> Self {
///         Self { metadata: old.metadata, spec: v1::ShopSpec { size: old.spec.rooms } }
///     }
/// }
/// # impl From<v1::Shop> for v1alpha1::Shop {
/// #     fn from(new: v1::Shop) -> Self {
/// #         Self { metadata: new.metadata, spec: v1alpha1::ShopSpec { rooms: new.spec.size } }
/// #     }
/// # }
///
/// let versions = Versions::hub::<v1::Shop>().version::<v1alpha1::Shop>();
/// let old = serde_json::json!({
///     "apiVersion": "example.com/v1alpha1", "kind": "Shop", "metadata": {"name": "a"}, "spec": {"rooms": 3},
/// });
/// assert_eq!(versions.convert(old, "example.com/v1").unwrap()["spec"]["size"], 3);
/// ```
#[derive(Clone)]
#[must_use]
pub struct Versions {
    pub(crate) hub: K8sType,
    pub(super) definition: Definition,
    pub(super) spokes: BTreeMap<String, Spoke>,
    /// The version that the API server stores.
    pub(super) stored: String,
    /// The first version that does not belong here.
    pub(super) problem: Option<VersionsError>,
}

#[derive(Clone)]
pub(super) struct Spoke {
    pub(super) definition: Definition,
    pub(super) to_hub: Step,
    pub(super) from_hub: Step,
    /// The fields of the hub that it cannot hold.
    pub(super) lost_by_it: Vec<String>,
    /// Its fields that the hub cannot hold.
    pub(super) lost_by_hub: Vec<String>,
}

const MANAGED_FIELDS: &str = "managedFields";

/// Converts an object of one version to another, as JSON.
pub(super) type Step = Arc<dyn Fn(&Value) -> Result<Value, String> + Send + Sync>;

/// An object cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {name} cannot be converted from {from} to {to}: {why}")]
pub struct ConversionError {
    kind: String,
    /// Namespace and name.
    name: String,
    from: String,
    to: String,
    why: String,
}

/// The versions do not belong together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionsError {
    /// It is another type.
    #[error("{version} is no version of {hub}: group, kind and plural must be the same")]
    OtherType {
        /// The type.
        version: String,
        /// The type of the hub.
        hub: String,
    },
    /// It is there already.
    #[error("{0} is named twice")]
    Twice(String),
    /// The API server is to store a version that is not there.
    #[error(
        "{stored} of {resource} is to be stored, and is none of its versions ({versions}): add it by `version`"
    )]
    NotStored {
        /// The version.
        stored: String,
        /// The type.
        resource: String,
        /// Those that are there.
        versions: String,
    },
}

impl Versions {
    /// Converts an object to another version, as the API server asks for it.
    ///
    /// # Errors
    /// The version is not known, the object does not fit its type, or the conversion fails.
    pub fn convert(&self, object: Value, desired: &str) -> Result<Value, ConversionError> {
        let from = object["apiVersion"].as_str().unwrap_or_default().to_owned();
        let named = (kind_of(&object), name_of(&object));
        self.converted(object, &from, desired).map_err(|why| {
            let (kind, name) = named;
            ConversionError { kind, name, from, to: desired.to_owned(), why }
        })
    }

    fn converted(&self, object: Value, from: &str, desired: &str) -> Result<Value, String> {
        if from == desired {
            return Ok(object);
        }
        let (from, to) = (self.version_of(from)?, self.version_of(desired)?);
        let hub = match self.spokes.get(from) {
            Some(spoke) => {
                self.step(&spoke.to_hub, object, (from, &spoke.lost_by_hub), self.hub.version())?
            }
            None => object,
        };
        match self.spokes.get(to) {
            Some(spoke) => {
                self.step(&spoke.from_hub, hub, (self.hub.version(), &spoke.lost_by_it), to)
            }
            None => Ok(hub),
        }
    }

    /// Metadata is that of the original: a Rust type may not know all of it. The managed fields, which are often larger
    /// than all else of it, wait beside.
    fn step(
        &self,
        step: &Step,
        mut original: Value,
        from: (&str, &[String]),
        to: &str,
    ) -> Result<Value, String> {
        let metadata = original.get_mut("metadata").and_then(Value::as_object_mut);
        let managed_fields = metadata.and_then(|metadata| metadata.remove(MANAGED_FIELDS));
        let mut converted = step(&original)?;
        converted["apiVersion"] = format!("{}/{to}", self.hub.group()).into();
        converted["kind"] = self.hub.kind().into();
        converted["metadata"] = original["metadata"].take();
        if let Some(managed_fields) = managed_fields {
            converted["metadata"][MANAGED_FIELDS] = managed_fields;
        }
        Ok(carry(&original, converted, from, to))
    }

    /// The version of an `apiVersion` that is one of these.
    fn version_of<'a>(&self, api_version: &'a str) -> Result<&'a str, String> {
        let unknown = || {
            let all: Vec<&str> = self.names().collect();
            format!(
                "`{api_version}` is none of the versions of {} ({})",
                self.hub.resource_name(),
                all.join(", ")
            )
        };
        let (group, version) = api_version.split_once('/').ok_or_else(unknown)?;
        let is_known = version == self.hub.version() || self.spokes.contains_key(version);
        if group == self.hub.group() && is_known { Ok(version) } else { Err(unknown()) }
    }

    /// The names of all versions, the hub first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.hub.version()).chain(self.spokes.keys().map(String::as_str))
    }

    /// The version that the API server stores.
    pub fn stored(&self) -> &str {
        &self.stored
    }

    /// The CRD of the hub.
    pub(crate) fn hub_definition(&self) -> &Definition {
        &self.definition
    }

    /// The CRDs of the others, in the order of their names.
    pub(crate) fn other_definitions(&self) -> impl Iterator<Item = &Definition> {
        self.spokes.values().map(|spoke| &spoke.definition)
    }

    /// The path at which it is served.
    pub(crate) fn path(&self) -> String {
        format!("/webhooks/convert/{}", self.hub.resource_name())
    }

    /// # Errors
    /// A version is of another type, or named twice, or the stored one is not there.
    pub(crate) fn check(&self) -> Result<(), VersionsError> {
        self.problem.clone().map_or(Ok(()), Err)?;
        if self.names().any(|name| name == self.stored) {
            return Ok(());
        }
        let versions = self.names().collect::<Vec<_>>().join(", ");
        let (stored, resource) = (self.stored.clone(), self.hub.resource_name());
        Err(VersionsError::NotStored { stored, resource, versions })
    }
}

fn kind_of(object: &Value) -> String {
    object["kind"].as_str().unwrap_or("an object").to_owned()
}

fn name_of(object: &Value) -> String {
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    match metadata["namespace"].as_str() {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

impl fmt::Debug for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.names().collect();
        f.debug_struct("Versions")
            .field("type", &self.hub.resource_name())
            .field("versions", &names)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
