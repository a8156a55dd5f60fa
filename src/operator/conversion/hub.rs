//! The versions of a type are named one by one, beginning with the hub.

use std::{any::type_name, collections::BTreeMap, fmt, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::versions::{Spoke, Versions, VersionsError};
use crate::{
    object::K8sType,
    operator::{CustomType, Definition},
};

impl Versions {
    /// Begins with the version that all others are converted to and from. It should be able to hold most of what the others
    /// can. It is the stored one, unless [`Hub::storing`] names another.
    pub fn hub<H: CustomType>() -> Hub<H> {
        let hub = K8sType::of::<H>();
        let versions = Self {
            definition: defined::<H>(),
            spokes: BTreeMap::new(),
            stored: hub.version().to_owned(),
            problem: None,
            hub,
        };
        Hub { versions, hub: std::marker::PhantomData }
    }
}

/// The hub of a type, to which versions are added.
#[must_use]
pub struct Hub<H> {
    versions: Versions,
    hub: std::marker::PhantomData<fn() -> H>,
}

impl<H> Hub<H>
where
    H: CustomType + Serialize + DeserializeOwned + 'static,
{
    /// Adds a version that is converted by `From` or `TryFrom` in both directions.
    pub fn version<V>(self) -> Self
    where
        V: CustomType + Serialize + DeserializeOwned + TryFrom<H> + 'static,
        H: TryFrom<V>,
        <V as TryFrom<H>>::Error: fmt::Display,
        <H as TryFrom<V>>::Error: fmt::Display,
    {
        self.keeping::<V>(&[], &[])
    }

    /// The same for a version that cannot hold these fields of the hub, and has those that the hub cannot hold. They are
    /// kept in the annotation `operetta.dev/fields-of-versions` meanwhile, so that a client of the one version loses nothing
    /// of the other. A path is written as `spec.storage.class`, without lists.
    pub fn keeping<V>(mut self, of_hub: &[&str], of_version: &[&str]) -> Self
    where
        V: CustomType + Serialize + DeserializeOwned + TryFrom<H> + 'static,
        H: TryFrom<V>,
        <V as TryFrom<H>>::Error: fmt::Display,
        <H as TryFrom<V>>::Error: fmt::Display,
    {
        let (ty, hub) = (K8sType::of::<V>(), &self.versions.hub);
        let is_of_hub =
            ty.group() == hub.group() && ty.kind() == hub.kind() && ty.plural() == hub.plural();
        let is_known =
            ty.version() == hub.version() || self.versions.spokes.contains_key(ty.version());
        let problem = match (is_of_hub, is_known) {
            (false, _) => {
                Some(VersionsError::OtherType { version: ty.to_string(), hub: hub.to_string() })
            }
            (true, true) => Some(VersionsError::Twice(ty.to_string())),
            (true, false) => None,
        };
        if problem.is_some() {
            self.versions.problem = self.versions.problem.or(problem);
            return self;
        }
        let owned = |paths: &[&str]| paths.iter().map(|&path| path.to_owned()).collect();
        let spoke = Spoke {
            definition: defined::<V>(),
            to_hub: Arc::new(step::<V, H>),
            from_hub: Arc::new(step::<H, V>),
            lost_by_it: owned(of_hub),
            lost_by_hub: owned(of_version),
        };
        self.versions.spokes.insert(ty.version().to_owned(), spoke);
        self
    }

    /// Lets the API server store this version. Default is the hub. A new version should be stored one release after it is
    /// served, so that the release before can be installed again.
    pub fn storing<V: CustomType>(mut self) -> Self {
        K8sType::of::<V>().version().clone_into(&mut self.versions.stored);
        self
    }
}

impl<H> From<Hub<H>> for Versions {
    fn from(hub: Hub<H>) -> Self {
        hub.versions
    }
}

impl<H> std::ops::Deref for Hub<H> {
    type Target = Versions;

    fn deref(&self) -> &Versions {
        &self.versions
    }
}

fn defined<V: CustomType>() -> Definition {
    Definition::Derived { rust_type: type_name::<V>(), make: V::crd }
}

fn step<A, B>(object: &Value) -> Result<Value, String>
where
    A: DeserializeOwned,
    B: TryFrom<A> + Serialize,
    B::Error: fmt::Display,
{
    // The path of a misfit costs a second reading, and all others nothing.
    let object = A::deserialize(object).or_else(|_| {
        serde_path_to_error::deserialize(object)
            .map_err(|error| format!("{}: it does not fit its version", error.path()))
    })?;
    let converted = B::try_from(object).map_err(|error| error.to_string())?;
    serde_json::to_value(converted).map_err(|error| error.to_string())
}

impl<H> fmt::Debug for Hub<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.versions.fmt(f)
    }
}
