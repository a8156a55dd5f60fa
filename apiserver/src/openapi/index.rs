//! The list of documents with their versions.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};

use super::{
    definitions,
    document::INFORMATION,
    place::{group_version_path, is_custom},
};
use crate::{
    discovery,
    resource::{Resource, Resources},
    version_tag::Content,
};

/// `/openapi/v3`.
pub(crate) fn index(resources: &Resources) -> Value {
    let mut paths = Map::new();
    let mut add = |path: String| {
        let url = format!("/openapi/v3/{path}?hash={}", version(resources, &path));
        paths.insert(path, json!({ "serverRelativeURL": url }));
    };
    INFORMATION.iter().chain(&["api/v1"]).map(|&path| path.to_owned()).for_each(&mut add);
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

/// The custom types that a document is made of; those of all documents with an empty path.
pub(crate) fn made_of<'r>(
    resources: &'r Resources,
    path: &'r str,
) -> impl Iterator<Item = &'r Arc<Resource>> {
    let is_below = move |resource: &Resource| {
        let own = group_version_path(&resource.id.group, &resource.version);
        path.is_empty()
            || own == path
            || own.strip_prefix(path).is_some_and(|it| it.starts_with('/'))
    };
    resources.iter().filter(move |resource| resource.is_custom() && is_below(resource))
}

/// The version of a document; that of version 2 has an empty path.
pub(crate) fn version(resources: &Resources, path: &str) -> String {
    let mut content = BUILT_IN.clone();
    content.add(path.as_bytes());
    for resource in made_of(resources, path) {
        // The epoch stands for the schema.
        let Resource { id, kind, has_status, scale, namespaced, epoch, .. } = &**resource;
        content.add(format!("{id}{kind}{has_status}{scale:?}{namespaced}{epoch}").as_bytes());
    }
    content.tag()
}
