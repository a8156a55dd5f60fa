//! What a handler states about the order of its children: values.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::object::{KeyRef, TypeRef};

/// A child that another child of the same response waits for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Prerequisite {
    /// `v1` or `group/version`.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The namespace; `None` for the one of the parent, and for a cluster-scoped child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

/// A stage of a response: children that are written together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stage {
    /// How long the children of the next stage may wait for those of this stage before the reconcile
    /// counts as failed. `None` for as long as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_within: Option<Duration>,
}

impl Prerequisite {
    /// The child with these names.
    pub fn new<'t, 'k>(ty: impl Into<TypeRef<'t>>, key: impl Into<KeyRef<'k>>) -> Self {
        let (TypeRef { api_version, kind }, KeyRef { namespace, name }) = (ty.into(), key.into());
        Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        }
    }
}

impl fmt::Display for Prerequisite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { api_version, kind, namespace, name } = self;
        write!(f, "{kind}.{api_version} ")?;
        namespace.iter().try_for_each(|namespace| write!(f, "{namespace}/"))?;
        f.write_str(name)
    }
}
