//! `OpenAPI`: what `kubectl explain`, `apply` and code generators read, in version 3 (a document for each group
//! version) and version 2 (one document).
//!
//! ```text
//!  data file ── definitions ─────────────────────────┐
//!  discovery ── operations ── paths ── (text) ───────┼─ document (v3) ── version_2
//!  registry ─── custom: schemas of custom types ─────┘
//! ```
//!
//! **Invariants**: a document holds the definitions that its paths refer to, and those that they refer to. Documents
//! are made when they are asked for and not kept; a version of a document changes with what it is made of.

mod custom;
mod definitions;
mod document;
mod downgrade;
mod message;
mod naming;
mod operation;
mod parameter;
mod paths;
mod protobuf;
mod shared_parameter;
mod version_2;

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

pub(crate) use self::{document::document, version_2::document as version_2};
use crate::{
    discovery,
    resource::{Origin, Resource, Resources},
    version_tag::Content,
};

/// A version of `OpenAPI`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// One document.
    Two,
    /// A document for each group version.
    Three,
}

impl Version {
    /// The media type of its protobuf.
    pub(crate) fn protobuf(self) -> &'static str {
        match self {
            Self::Two => "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
            Self::Three => "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
        }
    }

    /// A document in protobuf.
    pub(crate) fn encode(self, document: &str) -> Vec<u8> {
        let table = if self == Self::Two { message::VERSION_2 } else { message::VERSION_3 };
        let document = serde_json::from_str(document).unwrap_or_default();
        protobuf::encode(&message::Messages::new(table), &document)
    }
}

/// `/openapi/v3`.
pub(crate) fn index(resources: &Resources) -> Value {
    let mut paths = Map::new();
    let mut add = |path: String| {
        let url = format!("/openapi/v3/{path}?hash={}", version(resources, &path));
        paths.insert(path, json!({ "serverRelativeURL": url }));
    };
    ["api", "api/v1", "apis", "version"].map(str::to_owned).into_iter().for_each(&mut add);
    for group in discovery::others(resources) {
        // Groups of custom types have no document of their own.
        if group.versions.iter().any(|version| !is_custom(resources, &group.name, &version.version))
        {
            add(format!("apis/{}", group.name));
        }
        group
            .versions
            .iter()
            .for_each(|version| add(format!("apis/{}/{}", group.name, version.version)));
    }
    json!({ "paths": paths })
}

/// The content that all documents are made of.
static BUILT_IN: LazyLock<Content> = LazyLock::new(|| Content::new(definitions::COMPRESSED));

/// The version of a document; that of version 2 has an empty path.
pub(crate) fn version(resources: &Resources, path: &str) -> String {
    let mut content = BUILT_IN.clone();
    content.add(path.as_bytes());
    for resource in resources.iter() {
        if let Origin::Custom(custom) = &resource.origin
            && (path.is_empty()
                || path == group_version_path(&resource.id.group, &resource.version))
        {
            let Resource { id, kind, has_status, scale, namespaced, .. } = &**resource;
            let schema = &custom.open_api;
            let shape = format!("{id}{kind}{has_status}{scale:?}{namespaced}{schema}");
            content.add(shape.as_bytes());
        }
    }
    content.tag()
}

fn is_custom(resources: &Resources, group: &str, version: &str) -> bool {
    resources.of_group_version(group, version).any(|resource| resource.is_custom())
}

/// `api/v1`, `apis/apps/v1`.
fn group_version_path(group: &str, version: &str) -> String {
    match group {
        "" => format!("api/{version}"),
        _ => format!("apis/{group}/{version}"),
    }
}
